/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The calls of a guest in `burin record`: the plugin that QEMU loads. */
#ifndef BURIN_CMD_RECORD_GUESTS_GUEST_H
#define BURIN_CMD_RECORD_GUESTS_GUEST_H

#include <stdbool.h>

#include "cmd/record/guests/guest_functions.h"
#include "session/session.h"
#include "view/records/selection.h"

enum guest_level {
	GUEST_ALL,
	GUEST_KERNEL, /* code in the upper half of the address space */
	GUEST_USER,
};

enum guest_clock {
	GUEST_CLOCK_HOST,
	GUEST_CLOCK_INSTRUCTIONS, /* that the guest has executed */
};

enum guest_threads {
	GUEST_THREADS_STACKS, /* a thread for each stack of the guest */
	GUEST_THREADS_VCPUS,  /* for each virtual CPU and privilege level */
};

extern const char *const guest_levels[], *const guest_clocks[], *const guest_threads[];

struct guest_options {
	bool on;
	unsigned level;			     /* enum guest_level */
	unsigned clock;			     /* enum guest_clock */
	unsigned threads;		     /* enum guest_threads */
	struct view_globs ranges;	     /* of addresses, "BEGIN-END" */
	const char *kernel;		     /* a file with its functions, its types or both; NULL: none */
	bool named;			     /* it has functions; guest_command() sets this */
	struct view_globs programs;	     /* files with functions of programs */
	struct view_globs calls;	     /* names of functions in these files */
	const char *start, *stop, *snapshot; /* addresses, names of functions in it, or times; NULL: none */
	bool lossless;			     /* the guest waits while the rings are full */
	bool report;
	int socket;		       /* to the plugin that started this recorder; 0: none did */
	char *arguments;	       /* of the plugin; guest_command() sets them */
	struct guest_functions *files; /* of `kernel` and of each of `programs`; the same */
};

/* guest_check - check the options. @flight: only the last calls are kept. Return: 0 or CMD_USAGE. */
int guest_check(const struct guest_options *options, bool flight);

/*
 * guest_files - when the guest has ended: the file of --guest-kernel, and how far KASLR has moved that kernel, and those of --guest-program, as
 * `burin symbols --guest` has them. They are never freed.
 */
void guest_files(const struct guest_options *options, const struct session *session,
		 struct view_globs *files);

/*
 * guest_command - add the plugin to a command as its last arguments, unless it is there. The command is never freed.
 * Return: 0; CMD_USAGE or CMD_FAULTS after a message.
 */
int guest_command(struct guest_options *options, char ***command);

/* guest_publish - before the guest begins: store in the session where functions of --guest-kernel begin: a jump there is a call. */
void guest_publish(const struct guest_options *options, struct session *session);

/* guest_note_uncalled - when the guest has ended: print a line if there are no calls, or none of what an option chose. */
void guest_note_uncalled(const struct guest_options *options, const struct session *session);

#endif
