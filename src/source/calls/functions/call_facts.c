/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Facts of files that are loaded later; see call_facts.h. */
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/print.h"
#include "session/calls/call_known.h"
#include "source/calls/functions/call_facts.h"
#include "source/calls/functions/call_symbols.h"
#include "source/tracepoint/thread.h"

enum {
	ANSWER_S = 10, /* the recorder gives itself less for a file */
	LOOK_MS = 100, /* a recorder that is killed wakes none */
};

static bool gave_up;

static void ask(struct wire_calls *calls, uint32_t image)
{
	uint32_t seen = __atomic_load_n(&calls->known_wanted, __ATOMIC_RELAXED);

	while (seen < image && !__atomic_compare_exchange_n(&calls->known_wanted, &seen, image, false,
							    __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
	}
	syscall(SYS_futex, &calls->known_wanted, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Acquire: the facts of the images that it counts can be read. Pairs with the release in later_files.c. */
static bool is_answered(const struct wire_calls *calls, uint32_t image)
{
	return __atomic_load_n(&calls->known_done, __ATOMIC_ACQUIRE) >= image ||
	       !__atomic_load_n(&calls->known_reader, __ATOMIC_ACQUIRE);
}

static void wait_shortly(struct wire_calls *calls)
{
	const struct timespec most = { .tv_nsec = LOOK_MS * 1000000 };
	const uint32_t done = __atomic_load_n(&calls->known_done, __ATOMIC_RELAXED);

	syscall(SYS_futex, &calls->known_done, FUTEX_WAIT, done, &most, NULL, 0);
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void report(uint32_t image)
{
	const struct call_image named = { .number = image };
	char text[512];

	print_text(text, sizeof(text),
		   "burin: --auto-args, file:GLOB: %.350s: the recorder did not read it in time; nothing is "
		   "known "
		   "of its functions\n",
		   call_symbols_path(&named));
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

void call_facts_wait(uint32_t image)
{
	struct wire_calls *calls = tracepoint_session.calls.header;
	const int saved = errno;
	time_t until;

	if (!__atomic_load_n(&calls->known_reader, __ATOMIC_RELAXED) || gave_up ||
	    is_answered(calls, image) || call_known_has(&tracepoint_session, image))
		return;
	for (until = now() + ANSWER_S; now() < until && !is_answered(calls, image);) {
		ask(calls, image);
		if (!is_answered(calls, image))
			wait_shortly(calls);
	}
	if (!is_answered(calls, image) && !__atomic_exchange_n(&gave_up, true, __ATOMIC_RELAXED))
		report(image);
	errno = saved;
}
