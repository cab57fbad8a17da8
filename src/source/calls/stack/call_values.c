/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Arguments and results of calls; see call_values.h.
 *
 * A block is free, or of one open call. Free ones are a list without a lock, since signal handlers take and give
 * back, too. Its head has a count of changes above the number: without that, a thread that was interrupted between
 * reading the head and exchanging it could put in a next block that is in use by now. A block's memory is never
 * freed, so reading `next` of a block that another thread has taken is harmless.
 *
 * A layout says what is recorded of a function. It is made once, and never changes but for its generation; a later
 * one takes its place, and the former stays, since blocks of open calls refer to it.
 *
 * Memory of the program may be unmapped or changed at any moment by another thread. So it is read by the kernel
 * (copy_bytes()), or without a system call only where it cannot go away (readable_bytes()). Each byte is read once,
 * and the length is what was read: a text that grows in between cannot lead out of its room.
 *
 * The copy in the session is for readers only. Its start is stored last, and cleared before the block is given back;
 * its payload may be damaged by others, so the record is made from the private block. The number of the block comes
 * from the frame, in shared memory. So it is bounded, and a block that was never filled has no layout.
 */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/nolibc.h"
#include "session/calls/call_arguments.h"
#include "source/calls/functions/call_rules.h"
#include "source/calls/stack/call_segment.h"
#include "source/calls/functions/call_symbols.h"
#include "source/calls/stack/call_values.h"
#include "wire/wire_format.h"

enum {
	PAGE = 4096,
	PARTS_MAX = 16,
	STACK_MAX = 64 << 20,
	FIRST_BYTES = 32, /* of a text */
	MARK_BYTES = sizeof(WIRE_TRUNCATED) - 1,
	TEXT_LEAST = 24, /* room for an address that cannot be read */
	NAMES_TRIED = 9, /* functions of one name with different arguments */
	CALL_BYTES = 12, /* function, start, depth */
};

/* A function's recorded values, and the event that they belong to. */
struct call_layout {
	struct burin_site site; /* id 0: there is no event */
	struct call_arguments arguments;
	unsigned texts;	     /* arguments that are texts ... */
	unsigned scalars;    /* ... and bytes of the others */
	uint32_t generation; /* of the rules that it was made by, or that were the same since */
	char name[WIRE_NAME_MAX + 1], format[WIRE_FORMAT_MAX + 1];
};

struct call_values *call_values_chunks[CALL_VALUES_CHUNKS];

static uint32_t used; /* blocks that were ever used */
static uint64_t
	freed; /* number of the first free block, and above it a count of changes: numbers come again */
static struct call_layout **layouts; /* by function; NULL: not known yet */

/* Segments with the copies of the blocks in the session: of block n, one of shown[(n - 1) / WIRE_CALL_VALUES]. NULL: none yet */
static struct wire_call_segment *shown[CALL_VALUES_CHUNKS * CALL_VALUES_CHUNK / WIRE_CALL_VALUES];

static void *map(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Store memory where another thread may do the same. @before: what is there. Return: what is there now. */
static void *replace(void **place, void *before, void *memory, size_t bytes)
{
	if (!memory || memory == before ||
	    __atomic_compare_exchange_n(place, &before, memory, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return memory;
	munmap(memory, bytes);
	return before;
}

static void *install(void **place, void *memory, size_t bytes)
{
	return replace(place, NULL, memory, bytes);
}

/* ---- memory that can surely be read */

/* Parts of the program's file in memory, which stay as long as the process. */
static struct {
	uint64_t begin, end;
} parts[PARTS_MAX];
static unsigned part_count;
static uint64_t stack_end; /* of the first thread, below its arguments and environment */

/* By the kernel's own description. Other threads may do the same meanwhile, with the same result. */
static void find_parts(void)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	const uint64_t count = headers ? getauxval(AT_PHNUM) : 0;
	uint64_t base = UINT64_MAX;
	unsigned found = 0;

	for (uint64_t n = 0; n < count; n++)
		if (headers[n].p_type == PT_PHDR)
			base = (uint64_t)(uintptr_t)headers - headers[n].p_vaddr;
	for (uint64_t n = 0; base != UINT64_MAX && n < count && found < PARTS_MAX; n++) {
		if (headers[n].p_type != PT_LOAD || !(headers[n].p_flags & PF_R))
			continue;
		parts[found].begin = base + headers[n].p_vaddr;
		parts[found++].end = base + headers[n].p_vaddr + headers[n].p_memsz;
	}
	stack_end = getauxval(AT_RANDOM);
	__atomic_store_n(&part_count, found, __ATOMIC_RELEASE);
}

/*
 * How many bytes from an address on can surely be read: in the program's own constants and variables, and on the stack of
 * the first thread above the function that begins. Nothing else is mapped within STACK_MAX below that stack's end. 0: unknown.
 */
static size_t readable_bytes(uint64_t address, const struct call_registers *registers)
{
	const unsigned count = __atomic_load_n(&part_count, __ATOMIC_ACQUIRE);

	if (registers && address >= registers->slot && address < stack_end &&
	    stack_end - registers->slot < STACK_MAX)
		return stack_end - address;
	for (unsigned n = 0; n < count; n++)
		if (address - parts[n].begin < parts[n].end - parts[n].begin)
			return parts[n].end - address;
	return 0;
}

/* ---- layouts */

/* "burin.call.open"; "burin.call.open-2" if another function of that name has other arguments. */
static bool make_name(struct call_layout *layout, const struct session_event *event, const char *function)
{
	struct nolibc_string out;

	for (unsigned n = 1; n <= NAMES_TRIED; n++) {
		out = (struct nolibc_string){ layout->name, sizeof(layout->name) - 2, 0, false };
		nolibc_text(&out, WIRE_CALL_PREFIX);
		nolibc_text(&out, function);
		for (char *at = layout->name; *at; at++)
			if (!(*at >= '0' && *at <= '9') && !((*at | 32) >= 'a' && (*at | 32) <= 'z') &&
			    !strchr("_.:-", *at))
				*at = '_';
		if (n > 1) {
			out.size = sizeof(layout->name);
			nolibc_text(&out, "-");
			nolibc_decimal(&out, n);
		}
		if (!session_event_is_taken(&tracepoint_session, event))
			return true;
	}
	return false;
}

static void make_event(struct call_layout *layout, const struct call_image *image, const char *function)
{
	struct session_event event = { .name = layout->name,
				       .format = layout->format,
				       .enums = *layout->arguments.enums ? layout->arguments.enums : NULL };
	uint16_t id = 0;

	event.types = call_arguments_format(&layout->arguments, layout->format);
	event.file = call_symbols_path(image);
	if (event.types && make_name(layout, &event, function) &&
	    session_event_register(&tracepoint_session, &event, 1, &id) == 0 && id)
		layout->site = (struct burin_site){ .state = &tracepoint_session.switches[id - 1],
						    .name = layout->name,
						    .format = layout->format,
						    .file = event.file,
						    .types = event.types,
						    .id = id };
}

static void count_bytes(struct call_layout *layout)
{
	for (unsigned n = 0; n < layout->arguments.count; n++)
		if (layout->arguments.list[n].type == WIRE_STR)
			layout->texts++;
		else
			layout->scalars += format_type_bytes(layout->arguments.list[n].type);
}

/* For call_apart(). @former: what was recorded of the function so far; NULL: nothing. Return: the same, if it is still right. */
static uint64_t make_layout(uint64_t function, uint64_t former)
{
	struct call_layout *before = (struct call_layout *)(uintptr_t)former;
	const struct wire_call_function *entry = &tracepoint_session.calls.functions[function];
	const struct call_image image = { entry->image, entry->offset };
	const uint32_t generation = call_rules_generation();
	char spec[CALL_RULE_MAX], name[WIRE_NAME_MAX + 1];
	struct call_layout *layout;
	const char *why;
	bool valid;

	if (!call_rules_arguments(&image, spec, sizeof(spec), name, sizeof(name)))
		return former;
	layout = map(sizeof(*layout));
	if (!layout)
		return former;
	valid = call_arguments_parse(&layout->arguments, spec, &why) == 0;
	if (before &&
	    (!valid || memcmp(&layout->arguments, &before->arguments, sizeof(layout->arguments)) == 0)) {
		munmap(layout, sizeof(*layout));
		before->generation = generation;
		return former;
	}
	find_parts();
	layout->generation = generation;
	if (valid) {
		count_bytes(layout);
		make_event(layout, &image, name);
	}
	return (uint64_t)(uintptr_t)layout;
}

/* Return: NULL: there is no event for the function's arguments. */
static struct call_layout *layout_of(uint32_t function)
{
	const size_t bytes = tracepoint_session.geometry.functions_max * sizeof(*layouts);
	struct call_layout **place, *layout;

	if (!__atomic_load_n(&layouts, __ATOMIC_ACQUIRE) && !install((void **)&layouts, map(bytes), bytes))
		return NULL;
	place = &layouts[function];
	layout = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	/* Another recorder may want other arguments. Calls that are open refer to the former layout, so it stays. */
	if (!layout || layout->generation != call_rules_generation())
		layout = replace(
			(void **)place, layout,
			(void *)(uintptr_t)call_apart(make_layout, function, (uint64_t)(uintptr_t)layout),
			sizeof(*layout));
	return layout && layout->site.id ? layout : NULL;
}

/* ---- blocks */

static uint32_t number_of(const struct wire_call_frame *frame)
{
	return (frame->flags & WIRE_CALL_WITH_VALUES) >> CALL_VALUES_SHIFT;
}

static struct call_values *block_at(uint32_t number)
{
	return &call_values_chunks[(number - 1) / CALL_VALUES_CHUNK][(number - 1) % CALL_VALUES_CHUNK];
}

/* A block that was never used. Return: 0: there is no memory. */
static uint32_t new_block(void)
{
	const size_t bytes = CALL_VALUES_CHUNK * sizeof(struct call_values);
	uint32_t number, chunk;

	if (__atomic_load_n(&used, __ATOMIC_RELAXED) >= CALL_VALUES_CHUNKS * CALL_VALUES_CHUNK)
		return 0;
	number = __atomic_add_fetch(&used, 1, __ATOMIC_RELAXED);
	chunk = (number - 1) / CALL_VALUES_CHUNK;
	if (chunk >= CALL_VALUES_CHUNKS || (!__atomic_load_n(&call_values_chunks[chunk], __ATOMIC_ACQUIRE) &&
					    !install((void **)&call_values_chunks[chunk], map(bytes), bytes)))
		return 0;
	return number;
}

static uint32_t take_block(void)
{
	uint64_t seen = __atomic_load_n(&freed, __ATOMIC_ACQUIRE), next;

	do {
		if (!(uint32_t)seen)
			return new_block();
		next = ((seen >> 32) + 1) << 32 |
		       __atomic_load_n(&block_at((uint32_t)seen)->next, __ATOMIC_RELAXED);
	} while (
		!__atomic_compare_exchange_n(&freed, &seen, next, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return (uint32_t)seen;
}

/* The copy of a block in the session; NULL: it has none. */
static struct wire_call_values *copy_of(uint32_t number)
{
	struct wire_call_segment *segment =
		__atomic_load_n(&shown[(number - 1) / WIRE_CALL_VALUES], __ATOMIC_ACQUIRE);

	return segment ? (struct wire_call_values *)(segment + 1) + (number - 1) % WIRE_CALL_VALUES : NULL;
}

/* The same, which is made if there is memory. Arguments take at most half of the segments. */
static struct wire_call_values *make_copy(uint32_t number)
{
	const uint32_t group = (number - 1) / WIRE_CALL_VALUES;
	struct wire_call_segment *segment, *none = NULL;

	if (!copy_of(number) && group < tracepoint_session.geometry.call_segments / 2) {
		segment = call_segment_take(WIRE_CALL_VALUES_STACK, 0, 0);
		if (segment && !__atomic_compare_exchange_n(&shown[group], &none, segment, false,
							    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			call_segment_free(segment); /* another thread, or a signal handler, was first */
	}
	return copy_of(number);
}

void call_values_place(uint32_t number, const struct wire_call_frame *frame)
{
	const struct call_values *values = block_at(number);
	const struct call_arguments *arguments = &values->layout->arguments;
	struct wire_call_values *copy = make_copy(number);

	if (!copy)
		return;
	copy->segment = call_segment_number(call_segment_of(frame));
	copy->slot = call_segment_slot(frame);
	copy->event = values->layout->site.id;
	copy->bytes = values->bytes;
	copy->result_bytes = 0;
	if (arguments->has_result) /* its mark, and an empty value */
		copy->result_bytes = (uint16_t)(1 + (arguments->result.type == WIRE_STR
							     ? 1
							     : format_type_bytes(arguments->result.type)));
	memcpy(copy->payload, values->record.payload, values->bytes);
}

void call_values_show(uint32_t number, const struct wire_call_frame *frame)
{
	struct wire_call_values *copy = copy_of(number);

	if (copy)
		__atomic_store_n(&copy->start, frame->start, __ATOMIC_RELEASE);
}

void call_values_copied(const struct wire_call_frame *frame)
{
	if (!call_values_of(frame) || !call_values_of(frame)->layout)
		return;
	call_values_place(number_of(frame), frame);
	call_values_show(number_of(frame), frame);
}

void call_values_fork(void)
{
	const uint32_t count =
		used < CALL_VALUES_CHUNKS * CALL_VALUES_CHUNK ? used : CALL_VALUES_CHUNKS * CALL_VALUES_CHUNK;

	memset(shown, 0, (count + WIRE_CALL_VALUES - 1) / WIRE_CALL_VALUES * sizeof(*shown));
}

void call_values_drop(uint32_t number)
{
	uint64_t seen = __atomic_load_n(&freed, __ATOMIC_RELAXED), next;
	struct wire_call_values *copy = copy_of(number);

	if (copy)
		__atomic_store_n(&copy->start, 0, __ATOMIC_RELAXED);

	do {
		__atomic_store_n(&block_at(number)->next, (uint32_t)seen, __ATOMIC_RELAXED);
		next = ((seen >> 32) + 1) << 32 | number;
	} while (
		!__atomic_compare_exchange_n(&freed, &seen, next, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void call_values_free(struct wire_call_frame *frame)
{
	if (!call_values_of(frame))
		return;
	call_values_drop(number_of(frame));
	frame->flags &= WIRE_CALL_ENDING | ((1u << CALL_VALUES_SHIFT) - 1);
}

/* ---- values */

/* As memcpy(), which a sanitizer may have replaced by one that reports bytes behind the end of a text. */
static void copy_plain(uint8_t *to, uint64_t from, size_t bytes)
{
	__asm__ volatile("" : "+r"(from) : : "memory");
#if defined(__x86_64__)
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
	for (size_t n = 0; n < bytes; n++)
		to[n] = ((const volatile uint8_t *)(uintptr_t)from)[n];
#endif
}

/* Copy bytes that may not be readable, and may change. Return: how many were. */
static size_t copy_bytes(uint8_t *to, uint64_t from, size_t bytes)
{
	const size_t first = PAGE - from % PAGE < bytes ? PAGE - from % PAGE : bytes;
	const struct iovec here = { to, bytes };
	/* The kernel copies all of a part or, as documented, none. */
	const struct iovec there[] = { { (void *)(uintptr_t)from, first },
				       { (void *)(uintptr_t)(from + first), bytes - first } };
	const ssize_t got =
		syscall(SYS_process_vm_readv, session_self(), &here, 1, there, bytes > first ? 2 : 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* The largest length up to `length` that does not cut a UTF-8 character. */
static size_t whole_length(const uint8_t *text, size_t length)
{
	size_t at = length;

	while (at > 0 && length - at < 3 && (text[at] & 0xc0) == 0x80)
		at--;
	return (text[at] & 0xc0) == 0x80 ? length : at;
}

/*
 * Copy the begin of a text: its first bytes without a system call if they are surely readable. Texts are short, so the
 * rest is seldom needed.
 */
static size_t copy_text(uint8_t *to, uint64_t address, size_t room, const struct call_registers *registers)
{
	const size_t known = readable_bytes(address, registers);

	for (size_t bytes = FIRST_BYTES;; bytes *= FIRST_BYTES) {
		bytes = bytes < room ? bytes : room;
		if (known < bytes)
			return copy_bytes(to, address, room);
		copy_plain(to, address, bytes);
		if (bytes == room || memchr(to, 0, bytes))
			return bytes;
	}
}

/* Write a text of at most @room bytes with its NUL, at least TEXT_LEAST. @registers: NULL: a result. Return: its bytes. */
static size_t put_text(uint8_t *to, uint64_t address, size_t room, const struct call_registers *registers)
{
	struct nolibc_string out = { (char *)to, room, 0, false };
	const size_t got = address ? copy_text(to, address, room, registers) : 0;
	const uint8_t *nul = memchr(to, 0, got);

	if (nul)
		return (size_t)(nul - to) + 1;
	if (got == room) {
		const size_t length = whole_length(to, room - MARK_BYTES - 1);

		memcpy(to + length, WIRE_TRUNCATED, MARK_BYTES + 1);
		return length + MARK_BYTES + 1;
	}
	nolibc_text(&out, WIRE_NULL);
	if (address) {
		nolibc_text(&out, "0x");
		nolibc_hex(&out, address);
	}
	return out.used + 1;
}

static size_t put_scalar(uint8_t *to, unsigned type, uint64_t value)
{
	const size_t bytes = format_type_bytes(type);

	if (type == WIRE_BOOL)
		value = (uint8_t)value != 0;
	memcpy(to, &value, bytes); /* little-endian */
	return bytes;
}

static uint64_t value_of(const struct call_argument *argument, const struct call_registers *registers)
{
	uint64_t value = 0;

	if (argument->place == CALL_IN_VECTOR)
		return registers->vectors[argument->index % CALL_VECTORS];
	if (argument->place == CALL_IN_INTEGER)
		return registers->integers[argument->index % CALL_INTEGERS];
	/* Behind the return address. A function with fewer arguments than were asked for may have nothing there. */
	copy_bytes((uint8_t *)&value, (registers->slot & ~(uint64_t)1) + 8 + 8 * (uint64_t)argument->index,
		   sizeof(value));
	return value;
}

static void take(struct call_values *values, struct call_layout *layout,
		 const struct call_registers *registers)
{
	const struct call_arguments *arguments = &layout->arguments;
	size_t room = CALL_VALUES_BYTES - layout->scalars;
	unsigned texts = layout->texts;
	uint8_t *at = values->record.payload;

	values->layout = layout;
	values->returned = false;
	for (unsigned n = 0; n < arguments->count; n++) {
		const uint64_t value = value_of(&arguments->list[n], registers);

		if (arguments->list[n].type != WIRE_STR) {
			at += put_scalar(at, arguments->list[n].type, value);
		} else {
			/* Each gets its part of the room, and what those before it have left. */
			const size_t bytes = put_text(at, value, room / texts--, registers);

			at += bytes;
			room -= bytes;
		}
	}
	values->bytes = (uint16_t)(at - values->record.payload);
}

static_assert(CALL_ARGUMENTS_MAX * TEXT_LEAST < CALL_VALUES_BYTES, "room for each text");

uint32_t call_values_keep(uint32_t function, const struct call_registers *registers)
{
	struct call_layout *layout = layout_of(function);
	const uint32_t number = layout ? take_block() : 0;

	if (number)
		take(block_at(number), layout, registers);
	else
		session_call_lose(&tracepoint_session, WIRE_CALL_LOST_ARGUMENTS, 1);
	return number;
}

/* Append the result. Return: its bytes. */
static size_t put_result(uint8_t *to, const struct call_values *values, const struct call_argument *result)
{
	const uint64_t value = !values->returned		 ? 0
			       : result->place == CALL_IN_VECTOR ? values->vector
								 : values->integer;

	*to++ = values->returned;
	return 1 + (result->type == WIRE_STR ? put_text(to, value, CALL_VALUES_BYTES, NULL)
					     : put_scalar(to, result->type, value));
}

void call_values_record(const struct wire_call_frame *frame, struct call_values *values)
{
	/* A process that damages the session may have made up the block's number. */
	const unsigned state = values->layout ? *values->layout->site.state : WIRE_OFF;
	uint8_t *const payload = values->record.payload;
	const int saved = errno;
	size_t bytes = values->bytes;

	if (state == WIRE_OFF)
		return;
	values->record.function = frame->function;
	values->record.low = (uint32_t)frame->start;
	values->record.high = (uint16_t)(frame->start >> 32);
	values->record.depth = (uint16_t)call_depth(frame);
	if (values->layout->arguments.has_result)
		bytes += put_result(payload + bytes, values, &values->layout->arguments.result);
	memset(payload + bytes, 0, 8);
	burin_emit(&values->layout->site, state, &values->record, CALL_BYTES + bytes);
	errno = saved;
}
