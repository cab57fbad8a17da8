/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A session with events, records, names, functions and open calls, so small that an input reaches all of it. */
#ifndef BURIN_TESTS_FUZZ_SOUND_SESSION_H
#define BURIN_TESTS_FUZZ_SOUND_SESSION_H

#include "session/session.h"

enum {
	SOUND_PACKET = 4096,
	SOUND_RINGS = 2,
	SOUND_SLOTS = 4, /* of each ring */
};

/* sound_session - make it, in memory. */
struct session *sound_session(enum wire_mode mode);

/* sound_session_records - add records of a ring. */
void sound_session_records(unsigned ring);

/* sound_session_file - write it to a file. Return: the file, to be closed. */
int sound_session_file(const char *path);

/* sound_session_place - where a number stands in its file that is worth a change. @number: any */
uint64_t sound_session_place(uint64_t number);

#endif
