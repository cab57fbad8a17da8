/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The code that a thread of another process executes when it calls a function there (control/running/remote_call.h), and the memory below its
 * stack pointer that this code works on (x86-64).
 *
 * The thread puts all its registers back by itself. So it need not be stopped again, for which it would wait for a CPU twice more.
 */
#ifndef BURIN_CONTROL_RUNNING_REMOTE_CODE_H
#define BURIN_CONTROL_RUNNING_REMOTE_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum {
	REMOTE_CODE_TEXT = 4096,      /* longest text, with its NUL */
	REMOTE_CODE_NAME = 64,	      /* longest name, with its NUL */
	REMOTE_CODE_STATE = 16 << 10, /* of vector registers */
	REMOTE_CODE_WAITS =
		1 << 8, /* added to the steps: the thread waits for the caller to put its registers back */
};

/* The thread writes it. The caller reads it when the thread is elsewhere again. */
struct remote_code_result {
	uint64_t steps; /* 0: it has not returned; functions that were called, and REMOTE_CODE_WAITS */
	uint64_t value; /* of the last one */
};

/* The pointers are addresses of that process. */
struct remote_frame {
	uint64_t errno_location; /* the C library's function */
	uint64_t function, arguments[2];
	/* 0: none. It is called with the first one's result and the name, and its result without arguments. A result of 0 ends this. */
	uint64_t next;
	uint64_t next_name;
	/* Signals for which the thread waits for the caller: the kernel ends its system call by them. */
	uint64_t awaited;
	uint64_t pending;
	uint64_t waits;			  /* whether the thread waits in each case */
	struct remote_code_result result; /* if there is no other place */
	uint64_t blocked;		  /* signals of the thread */
	struct user_regs_struct registers;
	char name[REMOTE_CODE_NAME], text[REMOTE_CODE_TEXT];
	_Alignas(64) uint8_t state[REMOTE_CODE_STATE]; /* as ptrace() has it, and the processor wants it */
};

/* The code begins at its first byte with rbx: the frame, which rsp is, too; r12: where the result goes. */
extern const uint8_t remote_code_begin[] __attribute__((visibility("hidden")));
extern const uint8_t remote_code_end[] __attribute__((visibility("hidden")));

static inline size_t remote_code_bytes(void)
{
	return (size_t)(remote_code_end - remote_code_begin);
}

#endif
