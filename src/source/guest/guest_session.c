/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session of a guest's calls; see guest_session.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "base/print.h"
#include "source/guest/guest_options.h"
#include "source/guest/guest_session.h"

enum {
	SNAPSHOT_MS = 10000, /* how long a vCPU waits for a recorder, which may be dead */
};

struct session guest_session;
const uint8_t *guest_switch;
uint16_t guest_event;
static const uint8_t *task_switch; /* of the event of switches of tasks */
static uint16_t task_event;

void guest_session_report(const char *format, ...)
{
	char line[1024] = "burin: ";
	size_t used = strlen(line);
	va_list arguments;

	va_start(arguments, format);
	print_arguments(line + used, sizeof(line) - used - 1, format, arguments);
	va_end(arguments);
	used = strlen(line);
	line[used] = '\n';
	if (write(STDERR_FILENO, line, used + 1) < 0)
		return;
}

uint32_t guest_session_thread(void)
{
	static __thread uint32_t tid;

	if (!tid)
		tid = nolibc_tid();
	return tid;
}

/* Only what is recorded has an event. Return: whether the event of calls has a number in the session. */
static bool register_event(void)
{
	const struct session_event calls = { .name = WIRE_CALL_EVENT,
					     .format = WIRE_CALL_FORMAT,
					     .file = "",
					     .types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U16 << 8 |
						      WIRE_U16 << 12 },
				   tasks = { .name = WIRE_GUEST_SWITCH_EVENT,
					     .format = WIRE_GUEST_SWITCH_FORMAT,
					     .file = "",
					     .types = WIRE_U32 | WIRE_U32 << 4 | WIRE_U32 << 8 };

	if (session_event_register(&guest_session, &calls, 1, &guest_event) == 0 && guest_event)
		guest_switch = &guest_session.switches[guest_event - 1];
	if (guest_options.has_tasks && session_event_register(&guest_session, &tasks, 1, &task_event) == 0 &&
	    task_event)
		task_switch = &guest_session.switches[task_event - 1];
	return guest_switch != NULL;
}

bool guest_session_begin(const char *path)
{
	const char *why = "";
	int error;

	error = session_join(&guest_session, path, &why);
	if (error) {
		guest_session_report("%.250s: %s (%s); the guest is not recorded", path, why,
				     strerror(-error));
		return false;
	}
	if (!guest_session.calls.header || guest_session.geometry.context || !register_event()) {
		guest_session_report("%.250s: it is not a session for a guest; use: burin record --guest",
				     path);
		session_leave(&guest_session);
		return false;
	}
	session_announce_process(&guest_session, session_self(), guest_session_thread());
	return true;
}

void guest_session_end(void)
{
	if (guest_session.base)
		session_exit(&guest_session);
}

void guest_session_snapshot(void)
{
	struct wire_calls *calls = guest_session.calls.header;
	const uint32_t wanted = __atomic_add_fetch(&calls->snapshots_wanted, 1, __ATOMIC_RELEASE);

	for (unsigned n = 0; n < SNAPSHOT_MS; n++) {
		if ((int32_t)(__atomic_load_n(&calls->snapshots_written, __ATOMIC_ACQUIRE) - wanted) >= 0 ||
		    __atomic_load_n(&guest_session.shared->over, __ATOMIC_RELAXED))
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

void guest_session_moved(uint64_t distance)
{
	__atomic_store_n(&guest_session.calls.header->guest_moved, (uint32_t)(distance / WIRE_GUEST_STEP) + 1,
			 __ATOMIC_RELAXED);
}

bool guest_session_is_function(uint64_t address)
{
	const struct session_calls *calls = &guest_session.calls;
	size_t from = 0, count = calls->header->described_files[0].count;

	if (!__atomic_load_n(&calls->header->described, __ATOMIC_ACQUIRE))
		return false;
	if (count > guest_session.geometry.functions_max)
		count = guest_session.geometry.functions_max;
	while (count) { /* functions before `from` have lower addresses, those from from + count on do not */
		const size_t half = count / 2;

		if (calls->specs[from + half].offset < address) {
			from += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return from < guest_session.geometry.functions_max && calls->specs[from].offset == address;
}

/* Both events have three words. */
static void put(uint16_t event, uint32_t tid, uint32_t one, uint32_t two, uint32_t three)
{
	struct {
		char room[WIRE_HEADROOM];
		uint32_t one, two, three;
	} __attribute__((packed, aligned(8))) record = { .one = one, .two = two, .three = three };

	ring_prepare(&record, event, GUEST_RECORD_BYTES, tid);
	session_write_record(&guest_session, (struct ring_record){ (char *)&record, GUEST_RECORD_BYTES },
			     guest_session_thread(), false);
}

void guest_session_put(uint32_t tid, uint32_t function, uint64_t start, uint32_t depth)
{
	if (*guest_switch != WIRE_OFF)
		put(guest_event, tid, function, (uint32_t)start,
		    (uint32_t)(start >> 32 & 0xffff) | depth << 16);
}

void guest_session_put_switch(uint32_t tid, uint32_t vcpu, uint32_t from, uint32_t to)
{
	if (task_switch && *task_switch != WIRE_OFF)
		put(task_event, tid, vcpu, from, to);
}
