/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Writers that wait for the reader where others lose a record. */
#ifndef BURIN_SESSION_EVENTS_WAIT_FOR_READER_H
#define BURIN_SESSION_EVENTS_WAIT_FOR_READER_H

#include <stdbool.h>

/*
 * session_waits - session_write_record() waits while a ring is full: until the reader has made room, the session is over, or nothing was read
 * for ten seconds. The emulator of a guest sets it: its guest stands still meanwhile. Programs never wait.
 */
extern bool session_waits;

#endif
