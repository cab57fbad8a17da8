// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls: an event for each call's begin and one for its end, as `burin record --kernel` has them. One probe at each of
 * the kernel's two tracepoints serves all calls. It is attached while one of its events is on.
 *
 * A record has the call's own arguments only, in the sizes that C gives them. Pointers stay addresses.
 */
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/syscalls.h>

#include "probes.h"
#include "record.h"

enum {
	CALLS_MAX = 512,
	ARGUMENTS_MAX = 6,
	PAYLOAD_MAX = 8 * ARGUMENTS_MAX,
};

static const struct call_description {
	u16 number;
	const char *name, *format, *types;
} descriptions[] = {
#include "syscall_table.h"
};

/* What the probes need of a call. */
static struct call {
	u16 enter, leave; /* ids of its events; 0: off */
	u8 count;	  /* of arguments */
	u8 length;	  /* of the record */
	u8 places[ARGUMENTS_MAX];
} calls[CALLS_MAX] __read_mostly;

/* Events by their index: numbers of calls, and whether it is the end. */
static u32 first_index;
static unsigned int enters_on, leaves_on;
static struct tracepoint *enter_point, *leave_point;

struct call_buffer {
	char head[WIRE_HEADROOM];
	char payload[PAYLOAD_MAX + 12];
} __packed __aligned(8);

/* A call of another interface (32 bits) has other numbers. */
static __always_inline struct call *call_of(long number)
{
	if (unlikely((unsigned long)number >= CALLS_MAX) || unlikely(in_ia32_syscall()))
		return NULL;
	return &calls[number];
}

static __always_inline void put(char *payload, const struct call *call, unsigned int n, unsigned long value)
{
	/* The next argument overwrites the upper half of an int. */
	memcpy(payload + call->places[n], &value, sizeof(value));
}

static notrace void on_enter(void *data, struct pt_regs *regs, long number)
{
	struct call *call = call_of(number);
	struct call_buffer buffer;
	u8 count, length;
	u16 id;

	if (!call)
		return;
	id = READ_ONCE(call->enter);
	if (!id)
		return;
	count = call->count;
	length = call->length;
	if (count) {
		put(buffer.payload, call, 0, regs->di);
		if (count > 1)
			put(buffer.payload, call, 1, regs->si);
		if (count > 2)
			put(buffer.payload, call, 2, regs->dx);
		if (count > 3)
			put(buffer.payload, call, 3, regs->r10);
		if (count > 4)
			put(buffer.payload, call, 4, regs->r8);
		if (count > 5)
			put(buffer.payload, call, 5, regs->r9);
	}
	memset((char *)&buffer + 8 + length, 0, 8);
	record_event(&buffer, id, length);
}

static notrace void on_leave(void *data, struct pt_regs *regs, long result)
{
	struct call *call = call_of(regs->orig_ax);
	struct call_buffer buffer;
	u16 id;

	if (!call)
		return;
	id = READ_ONCE(call->leave);
	if (!id)
		return;
	memcpy(buffer.payload, &result, sizeof(result));
	memset(buffer.payload + sizeof(result), 0, 4);
	record_event(&buffer, id, sizeof(struct wire_compact) + 8);
}

/* ---- registration */

static u64 types_of(const char *letters)
{
	u64 types = 0;

	for (unsigned int n = 0; letters[n]; n++)
		types |= (u64)(letters[n] == 'p'   ? WIRE_PTR
			       : letters[n] == 'd' ? WIRE_I32
			       : letters[n] == 'u' ? WIRE_U32
			       : letters[n] == 'l' ? WIRE_I64
						   : WIRE_U64)
			 << 4 * n;
	return types;
}

static void describe(struct call *call, const char *letters)
{
	u8 at = 0;

	for (unsigned int n = 0; n < ARGUMENTS_MAX && letters[n]; n++) {
		call->places[n] = at;
		at += letters[n] == 'd' || letters[n] == 'u' ? 4 : 8;
		call->count = n + 1;
	}
	call->length = sizeof(struct wire_compact) + at;
}

static void register_call(const struct call_description *from, u16 ids[2])
{
	char enter[WIRE_NAME_MAX + 1], leave[WIRE_NAME_MAX + 1];
	const struct session_event events[] = { { .name = enter,
						  .format = from->format,
						  .file = "kernel",
						  .types = types_of(from->types) },
						{ .name = leave,
						  .format = "ret=%lld",
						  .file = "kernel",
						  .types = WIRE_I64 } };

	snprintf(enter, sizeof(enter), "kernel.syscalls:sys_enter_%s", from->name);
	snprintf(leave, sizeof(leave), "kernel.syscalls:sys_exit_%s", from->name);
	session_event_register(&burin_session, events, 2, ids);
}

int calls_register(void)
{
	u16 ids[2];

	enter_point = probes_find("sys_enter");
	leave_point = probes_find("sys_exit");
	if (!enter_point || !leave_point)
		return 0; /* a kernel without them */
	check_trace_callback_type_sys_enter(on_enter);
	check_trace_callback_type_sys_exit(on_leave);
	first_index = session_event_count(&burin_session);
	for (u32 n = 0; n < ARRAY_SIZE(descriptions); n++) {
		register_call(&descriptions[n], ids);
		/* calls_switch() finds the call by the place of its events in the table. */
		if (ids[0] != first_index + 2 * n + 1 || ids[1] != ids[0] + 1)
			return -EINVAL;
		describe(&calls[descriptions[n].number], descriptions[n].types);
	}
	return 0;
}

/* Attach or detach a probe when the number of its events that are on leaves or reaches 0. */
static int count_on(unsigned int *count, struct tracepoint *point, void *probe, bool on)
{
	int error = 0;

	if (on && *count == 0)
		error = tracepoint_probe_register(point, probe, NULL);
	if (!error)
		*count += on ? 1 : -1;
	if (!on && *count == 0)
		tracepoint_probe_unregister(point, probe, NULL);
	return error;
}

bool calls_switch(u32 index, bool on)
{
	const u32 n = index - first_index;
	struct call *call;
	u16 *id;

	if (!enter_point || index < first_index || n >= 2 * ARRAY_SIZE(descriptions))
		return false;
	call = &calls[descriptions[n / 2].number];
	id = n % 2 ? &call->leave : &call->enter;
	if (on == (*id != 0))
		return true;
	if (on) {
		WRITE_ONCE(*id, index + 1);
		if (count_on(n % 2 ? &leaves_on : &enters_on, n % 2 ? leave_point : enter_point,
			     n % 2 ? (void *)on_leave : (void *)on_enter, true))
			WRITE_ONCE(*id, 0);
	} else {
		WRITE_ONCE(*id, 0);
		count_on(n % 2 ? &leaves_on : &enters_on, n % 2 ? leave_point : enter_point,
			 n % 2 ? (void *)on_leave : (void *)on_enter, false);
	}
	return true;
}

/* "calls read=0 write=1 ... none=-1 unknown=-2", an enum for the field prev_syscall. */
char *calls_enum(void)
{
	char *text = kmalloc(WIRE_ENUMS_MAX + 1, GFP_KERNEL);
	size_t at;

	if (!text)
		return NULL;
	at = scnprintf(text, WIRE_ENUMS_MAX, "calls");
	for (u32 n = 0; n < ARRAY_SIZE(descriptions); n++)
		at += scnprintf(text + at, WIRE_ENUMS_MAX - at, " %s=%u", descriptions[n].name, descriptions[n].number);
	scnprintf(text + at, WIRE_ENUMS_MAX - at, " none=-1 unknown=-2\n");
	return text;
}
