// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls: an event for each call's begin and one for its end, as `burin record --kernel` has them. One probe at each of
 * the kernel's two tracepoints serves all calls. It is attached while one of its events is on.
 *
 * A record has the call's own arguments only, in the sizes that C gives them. Pointers stay addresses, but for texts: calls
 * that have any take a path of their own. With the parameter texts=0 these are addresses, too.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/syscalls.h>

#include "calls.h"
#include "points.h"
#include "record.h"
#include "source/tracepoint/fields/serialize.h"
#include "user_text.h"

enum {
	CALLS_MAX = 512,
	ARGUMENTS_MAX = 6,
	PAYLOAD_MAX = 8 * ARGUMENTS_MAX,
	TEXT_MAX = 256, /* with its NUL */
	SIZE_TEXT = 1,
	FORMAT_ROOM = 160,
};

static const struct call_description {
	u16 number;
	const char *name, *format, *types;
} descriptions[] = {
#include "syscall_table.h"
};

/* For the record of a call's begin, by its number: two tables of 8 bytes, which an instruction can address by a number. */
static struct call {
	u32 head;   /* of the record: id | length << 16; 0: the event is off */
	u32 commit; /* what it adds to the tail */
} calls[CALLS_MAX] __read_mostly;
static struct shape {
	u8 bytes;  /* of the record, with its padding */
	u8 end;	   /* of the payload */
	bool many; /* it has more than three arguments */
	/* Places of arguments; the payload's end for those that the call has not. */
	u8 second, third, fourth, fifth, sixth;
} shapes[CALLS_MAX] __read_mostly;

/* The heads of the records of calls' ends. */
static u32 leaves[CALLS_MAX] __read_mostly;

/* Calls whose records have texts, by their numbers. They have no head above. */
static struct text_call {
	u16 id;	   /* of the event; 0: off */
	u16 bytes; /* of the longest record, and what may be written behind it; 0: it has no texts */
	u8 sizes[ARGUMENTS_MAX]; /* 0: it has no more; SIZE_TEXT */
} text_calls[CALLS_MAX] __read_mostly;
static u32 text_room __read_mostly; /* for each */
static DEFINE_STATIC_KEY_FALSE(texts_on);

/* Events by their index: numbers of calls, and whether it is the end. */
static u32 first_index;
static unsigned int enters_on, leaves_on;
static struct tracepoint *enter_point, *leave_point;

enum {
	LEAVE_LENGTH = sizeof(struct wire_compact) + 8,
	LEAVE_BYTES = 24,
};
static_assert(sizeof(struct call) == 8 && sizeof(struct shape) == 8);

/* Each argument overwrites the upper half of an int before it, or of the last one: those that a call has not, and the zeros. */
static __always_inline void put_arguments(char *payload, unsigned long number, const struct pt_regs *regs)
{
	u64 zeros = 0;

	memcpy(payload, &regs->di, 8);
	memcpy(payload + shapes[number].second, &regs->si, 8);
	memcpy(payload + shapes[number].third, &regs->dx, 8);
	if (shapes[number].many) {
		memcpy(payload + shapes[number].fourth, &regs->r10, 8);
		memcpy(payload + shapes[number].fifth, &regs->r8, 8);
		memcpy(payload + shapes[number].sixth, &regs->r9, 8);
	}
	memcpy(payload + shapes[number].end, &zeros, 8);
}

/* The parameters, here and below, are in the registers of those of the probes, so that these need not move them. */
static notrace noinline __noclone void enter_slow(void *data, struct pt_regs *regs, long number)
{
	u64 buffer[(WIRE_HEADROOM + PAYLOAD_MAX) / 8 + 2];
	const u32 head = READ_ONCE(calls[number].head);

	if (!head) /* it was switched off meanwhile */
		return;
	put_arguments((char *)buffer + WIRE_HEADROOM, number, regs);
	record_slow(buffer, head & U16_MAX, head >> 16);
}

static __always_inline char *put_one(char *at, u8 size, unsigned long argument)
{
	if (size == SIZE_TEXT)
		return at + user_text_copy(at, text_room, argument);
	memcpy(at, &argument, 8);
	return at + size;
}

/* The arguments in their order, and zeros behind them. */
static notrace u32 put_with_texts(char *payload, const u8 *sizes, const struct pt_regs *regs)
{
	char *at = put_one(payload, sizes[0], regs->di);

	if (sizes[1])
		at = put_one(at, sizes[1], regs->si);
	if (sizes[2])
		at = put_one(at, sizes[2], regs->dx);
	if (sizes[3])
		at = put_one(at, sizes[3], regs->r10);
	if (sizes[4])
		at = put_one(at, sizes[4], regs->r8);
	if (sizes[5])
		at = put_one(at, sizes[5], regs->r9);
	memset(at, 0, 8);
	return at - payload;
}

/*
 * The usual case: it is written in the ring, and takes its room when its length is known. Page faults are off, so a fault of the copy
 * comes back at once. A fault may reach tracepoints, whose records are written at this place, which then moves. A fault notes for lockdep that
 * interrupts are off, so local_irq_disable() has to, too.
 * Return: false: it is to be written again.
 */
static __always_inline bool put_here(const struct text_call *call, u16 id, const struct pt_regs *regs)
{
	u64 *at, *taken;
	bool done = false;
	u32 length, bytes;

	local_irq_disable();
	if (likely(record_has(call->bytes, &at))) {
		length = sizeof(struct wire_compact) +
			 put_with_texts((char *)at + sizeof(struct wire_compact), call->sizes, regs);
		bytes = wire_stride(length);
		record_head(at, id | length << 16, current->pid);
		done = likely(record_take(bytes, &taken)) && likely(taken == at) &&
		       likely(record_time(false, at));
		if (done)
			record_commit(bytes, record_added(bytes));
	}
	local_irq_enable();
	return done;
}

static notrace noinline __noclone void enter_with_texts(void *data, const struct pt_regs *regs,
							unsigned long number)
{
	const struct text_call *call = &text_calls[number];
	u64 buffer[(WIRE_HEADROOM + PAYLOAD_MAX + ARGUMENTS_MAX * TEXT_MAX) / 8 + 2];
	const u16 id = READ_ONCE(call->id);
	u32 length;

	if (!id || (!checks_wanted(id) && put_here(call, id, regs)))
		return;
	buffer[WIRE_HEADROOM / 8] = 0;
	length = put_with_texts((char *)buffer + WIRE_HEADROOM, call->sizes, regs);
	record_slow(buffer, id, sizeof(struct wire_compact) + length);
}

/*
 * System calls begin and end with interrupts on and not in an NMI, so these probes need not save the flags. They are
 * compiled for each clock.
 */
static __always_inline void enter(bool tsc, struct pt_regs *regs, long number)
{
	const struct task_struct *task = current;
	u32 head, bytes;
	u64 *at;

	/* A call of another interface (32 bits) has other numbers. */
	if (unlikely((unsigned long)number >= CALLS_MAX) || unlikely(task->thread_info.status & TS_COMPAT))
		return;
	number = array_index_nospec((unsigned long)number, CALLS_MAX); /* the caller has chosen it */
	head = READ_ONCE(calls[number].head);
	if (!head) {
		if (static_branch_unlikely(&texts_on))
			enter_with_texts(NULL, regs, number);
		return;
	}
	if (!checks_wanted(head & U16_MAX)) {
		bytes = shapes[number].bytes;
		raw_local_irq_disable();
		if (likely(record_take(bytes, &at))) {
			record_head(at, head, task->pid);
			put_arguments((char *)at + sizeof(struct wire_compact), number, regs);
			record_finish(tsc, at, bytes, calls[number].commit, RECORD_INTERRUPTS_ON);
			return;
		}
		raw_local_irq_enable();
	}
	enter_slow(NULL, regs, number);
}

static __always_inline void put_result(char *payload, long result)
{
	const u32 zeros = 0;

	memcpy(payload, &result, 8);
	memcpy(payload + 8, &zeros, 4);
}

/* The number is the lower half of the register, whatever the upper half is. */
static __always_inline u32 number_of(const struct pt_regs *regs)
{
	return READ_ONCE(*(const u32 *)&regs->orig_ax);
}

static notrace noinline __noclone void leave_slow(void *data, struct pt_regs *regs, long result)
{
	const u32 head = READ_ONCE(leaves[array_index_nospec(number_of(regs), CALLS_MAX)]);
	u64 buffer[(WIRE_HEADROOM + 12) / 8];

	if (!head)
		return;
	put_result((char *)buffer + WIRE_HEADROOM, result);
	record_slow(buffer, head & U16_MAX, head >> 16);
}

static __always_inline void leave(bool tsc, struct pt_regs *regs, long result)
{
	const struct task_struct *task = current;
	u32 number = number_of(regs), head;
	u64 *at;

	if (unlikely(number >= CALLS_MAX) || unlikely(task->thread_info.status & TS_COMPAT))
		return;
	number = array_index_nospec(number, CALLS_MAX);
	head = READ_ONCE(leaves[number]);
	if (!head)
		return;
	if (!checks_wanted(head & U16_MAX)) {
		raw_local_irq_disable();
		if (likely(record_take(LEAVE_BYTES, &at))) {
			record_head(at, head, task->pid);
			put_result((char *)at + sizeof(struct wire_compact), result);
			record_finish(tsc, at, LEAVE_BYTES, record_added(LEAVE_BYTES), RECORD_INTERRUPTS_ON);
			return;
		}
		raw_local_irq_enable();
	}
	leave_slow(NULL, regs, result);
}

static notrace void on_enter_tsc(void *data, struct pt_regs *regs, long number)
{
	enter(true, regs, number);
}

static notrace void on_enter_mono(void *data, struct pt_regs *regs, long number)
{
	enter(false, regs, number);
}

static notrace void on_leave_tsc(void *data, struct pt_regs *regs, long result)
{
	leave(true, regs, result);
}

static notrace void on_leave_mono(void *data, struct pt_regs *regs, long result)
{
	leave(false, regs, result);
}

static void *probe_of(bool leaves)
{
	if (ring_clock_source == WIRE_CLOCK_TSC)
		return leaves ? (void *)on_leave_tsc : (void *)on_enter_tsc;
	return leaves ? (void *)on_leave_mono : (void *)on_enter_mono;
}

/* ---- registration */

static u64 types_of(const char *letters)
{
	u64 types = 0;

	for (unsigned int n = 0; letters[n]; n++)
		types |= (u64)(letters[n] == 's'   ? (static_key_enabled(&texts_on) ? WIRE_STR : WIRE_PTR)
			       : letters[n] == 'p' ? WIRE_PTR
			       : letters[n] == 'd' ? WIRE_I32
			       : letters[n] == 'u' ? WIRE_U32
			       : letters[n] == 'l' ? WIRE_I64
						   : WIRE_U64)
			 << 4 * n;
	return types;
}

static void describe(u32 number, const char *letters)
{
	const size_t count = strlen(letters);
	u8 places[ARGUMENTS_MAX + 1] = { 0 };

	for (unsigned int n = 0; n < ARGUMENTS_MAX; n++)
		places[n + 1] = places[n] + (n >= count ? 0 : letters[n] == 'd' || letters[n] == 'u' ? 4 : 8);
	shapes[number] = (struct shape){
		.bytes = wire_stride(sizeof(struct wire_compact) + places[ARGUMENTS_MAX]),
		.end = places[ARGUMENTS_MAX],
		.many = count > 3,
		.second = places[1],
		.third = places[2],
		.fourth = places[3],
		.fifth = places[4],
		.sixth = places[5],
	};
	calls[number].commit = (u32)record_added(shapes[number].bytes);
}

static u8 size_of(char letter)
{
	return letter == 's' ? SIZE_TEXT : letter == 'd' || letter == 'u' ? 4 : 8;
}

static void describe_texts(struct text_call *call, const char *letters)
{
	u32 bytes = sizeof(struct wire_compact) + 8;

	for (unsigned int n = 0; letters[n]; n++) {
		const u8 size = size_of(letters[n]);

		call->sizes[n] = size;
		bytes += size == SIZE_TEXT ? TEXT_MAX : size;
	}
	call->bytes = wire_stride(bytes);
}

/* Without texts, they are addresses. */
static const char *format_of(const struct call_description *from, char *room, size_t bytes)
{
	char *at = room;

	if (static_key_enabled(&texts_on))
		return from->format;
	strscpy(room, from->format, bytes);
	while ((at = strstr(at, "%s")) != NULL)
		at[1] = 'p';
	return room;
}

static void register_call(const struct call_description *from, u16 ids[2])
{
	char enter[WIRE_NAME_MAX + 1], leave[WIRE_NAME_MAX + 1], format[FORMAT_ROOM];
	const struct session_event events[] = {
		{ .name = enter,
		  .format = format_of(from, format, sizeof(format)),
		  .file = "kernel",
		  .types = types_of(from->types) },
		{ .name = leave, .format = "ret=%lld", .file = "kernel", .types = WIRE_I64 }
	};

	snprintf(enter, sizeof(enter), "kernel.syscalls:sys_enter_%s", from->name);
	snprintf(leave, sizeof(leave), "kernel.syscalls:sys_exit_%s", from->name);
	session_event_register(&burin_session, events, 2, ids);
}

int calls_register(bool texts)
{
	u16 ids[2];

	if (texts)
		static_branch_enable(&texts_on);
	text_room = min_t(u32, burin_string_max + 1, TEXT_MAX);

	enter_point = points_find("sys_enter");
	leave_point = points_find("sys_exit");
	if (!enter_point || !leave_point)
		return 0; /* a kernel without them */
	check_trace_callback_type_sys_enter(on_enter_tsc);
	check_trace_callback_type_sys_enter(on_enter_mono);
	check_trace_callback_type_sys_exit(on_leave_tsc);
	check_trace_callback_type_sys_exit(on_leave_mono);
	first_index = session_event_count(&burin_session);
	for (u32 n = 0; n < ARRAY_SIZE(descriptions); n++) {
		register_call(&descriptions[n], ids);
		/* calls_switch() finds the call by the place of its events in the table. */
		if (ids[0] != first_index + 2 * n + 1 || ids[1] != ids[0] + 1)
			return -EINVAL;
		describe(descriptions[n].number, descriptions[n].types);
		if (texts && strchr(descriptions[n].types, 's'))
			describe_texts(&text_calls[descriptions[n].number], descriptions[n].types);
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

/* Switch an event of a call. @id: of the event; 0: off. Return: whether that is a change. */
static bool set_id(u32 number, bool is_leave, u16 id)
{
	u32 *head = is_leave ? &leaves[number] : &calls[number].head;
	const u32 length = is_leave ? LEAVE_LENGTH : sizeof(struct wire_compact) + shapes[number].end,
		  value = id ? id | length << 16 : 0;
	bool changes;

	if (!is_leave && text_calls[number].bytes) {
		changes = text_calls[number].id != id;
		WRITE_ONCE(text_calls[number].id, id);
	} else {
		changes = *head != value;
		WRITE_ONCE(*head, value);
	}
	return changes;
}

bool calls_switch(u32 index, bool on)
{
	const u32 n = index - first_index;
	const bool is_leave = n % 2;
	u32 number;

	if (!enter_point || index < first_index || n >= 2 * ARRAY_SIZE(descriptions))
		return false;
	number = descriptions[n / 2].number;
	if (set_id(number, is_leave, on ? index + 1 : 0) &&
	    count_on(is_leave ? &leaves_on : &enters_on, is_leave ? leave_point : enter_point,
		     probe_of(is_leave), on))
		set_id(number, is_leave, 0);
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
		at += scnprintf(text + at, WIRE_ENUMS_MAX - at, " %s=%u", descriptions[n].name,
				descriptions[n].number);
	scnprintf(text + at, WIRE_ENUMS_MAX - at, " none=-1 unknown=-2\n");
	return text;
}
