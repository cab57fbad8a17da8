/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parts of programs; see kernel_put.h.
 *
 * Registers of a process are read in two ways. With the kernel's types (`typed`) a program loads them by pointers
 * that the verifier follows. Without, kernel_put_registers() copies those that are needed to its stack by a helper,
 * and later parts read the copy (kernel_put_copy_of()). So each part asks kernel_put_register(), and works in both.
 *
 * The verifier follows each way through a program to its end, unless it comes to a state that includes one seen
 * before. Texts and arguments multiply the ways. Several parts are as they are for that: the size of a mark is made
 * by instructions whose result the verifier does not know (kernel_put_mark()), and the usual way is the straight one
 * (kernel_put_long_text()).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "source/kernel/bpf/kernel_put.h"

enum {
	REGISTERS_BYTES = 88, /* of all ranges */
	/* Bytes of a thread's stack in the kernel; larger if the kernel was built with KASAN. */
	STACK_OF_TASK = 16 << 10,
	STACK_SHARED =
		48, /* bytes of a program's stack; the kernel rounds more up to the 64 from which on it is one apart */
	MARK_BIT = 23, /* one that is 1 in both marks, as text_number() has them */
};

static_assert(sizeof(WIRE_NULL) == 4 && TRACEPOINT_TEXT_MAX == 1 << 8, "sizes that have one bit");

/* The ranges of struct pt_regs that are copied, one behind the other. */
#ifdef __x86_64__
static const struct {
	int begin, end;
} ranges[] = { { 56, 144 } }; /* r10 to cs */

const int kernel_argument_places[KERNEL_ARGUMENTS] = {
	112, 104, 96, 56, 72, 64
}; /* rdi, rsi, rdx, r10, r8, r9 */
#else
static const struct {
	int begin, end;
} ranges[] = { { 8, 48 }, { 264, 288 } }; /* x1 to x5; pstate to syscallno */

const int kernel_argument_places[KERNEL_ARGUMENTS] = {
	272, 8, 16, 24, 32, 40
}; /* orig_x0, since x0 has the result; x1 to x5 */
#endif

/* Where the copy of a register is. */
static int kernel_put_copy_of(int place)
{
	int at = KERNEL_STACK_REGISTERS;
	unsigned n = 0;

	for (; n + 1 < sizeof(ranges) / sizeof(ranges[0]) && place >= ranges[n].end; n++)
		at += ranges[n].end - ranges[n].begin;
	return at + place - ranges[n].begin;
}

/* The unicode of WIRE_NULL and of WIRE_TRUNCATED, each with its NUL, as a number. */
static int text_number(const char *text)
{
	int number;

	memcpy(&number, text, sizeof(number));
	return number;
}

/* 1: events of others at this tracepoint go on; with 0 the kernel passes it to no perf event. */
void kernel_put_exit(struct bpf_program *to)
{
	bpf_put_set(to, BPF_REG_0, 1);
	bpf_put_end(to);
}

unsigned kernel_size_code(unsigned bytes)
{
	return bytes == 8 ? BPF_DW : bytes == 4 ? BPF_W : bytes == 2 ? BPF_H : BPF_B;
}

void kernel_put_registers(struct bpf_program *to)
{
	for (unsigned n = 0; n < sizeof(ranges) / sizeof(ranges[0]); n++) {
		bpf_put_load(to, BPF_DW, BPF_REG_3, BPF_REG_6, 0);
		bpf_put_alu(to, BPF_ADD, BPF_REG_3, ranges[n].begin);
		bpf_put_address(to, BPF_REG_1, kernel_put_copy_of(ranges[n].begin));
		bpf_put_set(to, BPF_REG_2, ranges[n].end - ranges[n].begin);
		bpf_put_call(to, BPF_FUNC_probe_read_kernel);
	}
}

void kernel_put_no_registers(struct bpf_program *to)
{
	for (int n = 0; n < REGISTERS_BYTES; n += 8)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, KERNEL_STACK_REGISTERS + n, 0);
}

void kernel_put_set_register(struct bpf_program *to, int place, unsigned source)
{
	kernel_put_store(to, BPF_REG_10, kernel_put_copy_of(place), source);
}

void kernel_put_register(struct bpf_program *to, const struct kernel_layout *layout, unsigned size,
			 unsigned target, int place)
{
	if (layout->typed) {
		bpf_put_load(to, BPF_DW, target, BPF_REG_6, 0);
		bpf_put_load(to, size, target, target, place);
	} else {
		bpf_put_load(to, size, target, BPF_REG_10, kernel_put_copy_of(place));
	}
}

bool kernel_has_registers(const struct kernel_layout *layout)
{
	return !layout->without_calls;
}

/* Register 0: the current task. Return: a jump if it is in a call of another interface, by what the kernel notes in its flags. */
static unsigned put_task_is_other(struct bpf_program *to, const struct kernel_layout *layout)
{
	bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_0, (int)layout->task.status);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, TASK_COMPAT);
	return bpf_put_jump(to, BPF_JNE, BPF_REG_1, 0);
}

bool kernel_tells_interfaces(const struct kernel_layout *layout)
{
#ifdef __x86_64__
	return layout->typed && layout->task.status;
#else
	(void)layout;
	return true;
#endif
}

unsigned kernel_put_other_interface(struct bpf_program *to, const struct kernel_layout *layout)
{
	if (layout->typed && layout->task.status) {
		bpf_put_call(to, BPF_FUNC_get_current_task_btf);
		return put_task_is_other(to, layout);
	}
	kernel_put_register(to, layout, BPF_H, BPF_REG_1, REGISTERS_MODE);
	if (REGISTERS_MODE_MASK != 0xffff)
		bpf_put_alu(to, BPF_AND, BPF_REG_1, REGISTERS_MODE_MASK);
	return bpf_put_jump(to, BPF_JEQ, BPF_REG_1, REGISTERS_MODE_32);
}

/* The number of the system call in the registers at register 0, with its sign. */
static void kernel_put_number(struct bpf_program *to, unsigned target)
{
#ifdef __x86_64__
	kernel_put_load(to, target, BPF_REG_0, REGISTERS_NUMBER);
#else
	bpf_put_load(to, BPF_W, target, BPF_REG_0, REGISTERS_NUMBER);
	bpf_put_alu(to, BPF_LSH, target, 32);
	bpf_put_alu(to, BPF_ARSH, target, 32);
#endif
}

/* The kernel stores the number with the registers of the process. A thread of the kernel has no such registers. */
void kernel_put_call_of(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned other, compat = 0;

	if (layout->task.status) {
		bpf_put_set(to, BPF_REG_2, KERNEL_CALL_UNKNOWN);
		compat = put_task_is_other(to, layout);
	}
	bpf_put_copy(to, BPF_REG_1, BPF_REG_0);
	bpf_put_call(to, BPF_FUNC_task_pt_regs);
	bpf_put_load(to, BPF_DW, BPF_REG_1, BPF_REG_0, REGISTERS_MODE);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, REGISTERS_MODE_MASK);
	bpf_put_set(to, BPF_REG_2, KERNEL_CALL_NONE);
	other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, REGISTERS_MODE_64);
	kernel_put_number(to, BPF_REG_2);
	bpf_land(to, other);
	if (layout->task.status)
		bpf_land(to, compat);
}

void kernel_put_call(struct bpf_program *to, const struct kernel_layout *layout)
{
	if (!kernel_has_registers(layout)) {
		bpf_put_set(to, BPF_REG_2, KERNEL_CALL_UNKNOWN);
		return;
	}
	bpf_put_call(to, BPF_FUNC_get_current_task_btf);
	kernel_put_call_of(to, layout);
}

/*
 * An interrupt in the kernel has another stack than the one that has the registers of the process at its end; one of a process shares
 * it, but then no system call brought the process into the kernel. A fault looks the same. The numbers of both addresses are
 * taken by way of a map's value, since the verifier does not compare addresses.
 */
void kernel_put_interrupt(struct bpf_program *to, int scratch)
{
	unsigned other, called, far;

	bpf_put_call(to, BPF_FUNC_get_current_task_btf);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_0);
	bpf_put_call(to, BPF_FUNC_task_pt_regs);
	kernel_put_store(to, BPF_REG_7, scratch, BPF_REG_0);
	kernel_put_load(to, BPF_REG_1, BPF_REG_7, scratch);
	kernel_put_store(to, BPF_REG_7, scratch, BPF_REG_10);
	kernel_put_load(to, BPF_REG_3, BPF_REG_7, scratch);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_7, 0, scratch, 0);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_1, BPF_REG_3);
	bpf_put_set(to, BPF_REG_2, KERNEL_INTERRUPT);
	far = bpf_put_jump(to, BPF_JGE, BPF_REG_1, STACK_OF_TASK);
	bpf_put_set(to, BPF_REG_2, KERNEL_INTERRUPT_NONE);
	kernel_put_load(to, BPF_REG_1, BPF_REG_0, REGISTERS_MODE);
	bpf_put_alu(to, BPF_AND, BPF_REG_1, REGISTERS_MODE_MASK);
	other = bpf_put_jump(to, BPF_JNE, BPF_REG_1, REGISTERS_MODE_64);
	kernel_put_number(to, BPF_REG_1);
	called = bpf_put_jump(to, BPF_JSGE, BPF_REG_1, 0);
	bpf_put_set(to, BPF_REG_2, KERNEL_INTERRUPT);
	bpf_land(to, far);
	bpf_land(to, other);
	bpf_land(to, called);
}

bool kernel_interrupt_holds(const struct bpf_program *program)
{
	bool compares = false;

	for (unsigned n = 0; n < program->count; n++)
		compares |= program->code[n].code == (BPF_STX | BPF_MEM | BPF_DW) &&
			    program->code[n].src_reg == BPF_REG_10;
	return !compares || bpf_stack_bytes(program) <= STACK_SHARED;
}

/* Register 3: an address in the program. */
static void kernel_put_place(struct bpf_program *to, const struct tracepoint_source *source)
{
	bpf_put_number(to, BPF_REG_3, (uint64_t)source->number);
	if (source->base != TRACEPOINT_NO_REGISTER) {
		bpf_put_load(to, BPF_DW, BPF_REG_1, BPF_REG_6, source->base);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_3, BPF_REG_1);
	}
	if (source->index != TRACEPOINT_NO_REGISTER) {
		bpf_put_load(to, BPF_DW, BPF_REG_1, BPF_REG_6, source->index);
		bpf_put_alu(to, BPF_LSH, BPF_REG_1, source->scale);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_3, BPF_REG_1);
	}
}

/* Register 1: the value of some bytes at register 3, which are in the kernel; 0: they cannot be read. */
static void put_read_kernel(struct bpf_program *to, unsigned bytes)
{
	bpf_put_address(to, BPF_REG_1, KERNEL_STACK_VALUE);
	bpf_put_set(to, BPF_REG_2, (int)bytes);
	bpf_put_call(to, BPF_FUNC_probe_read_kernel);
	bpf_put_load(to, kernel_size_code(bytes), BPF_REG_1, BPF_REG_10, KERNEL_STACK_VALUE);
}

/* Register 1: a value in the context, or what is behind that pointer. */
static void put_from_context(struct bpf_program *to, const struct tracepoint_field *field)
{
	const struct tracepoint_source *source = &field->source;

	bpf_put_copy(to, BPF_REG_3, BPF_REG_6);
	bpf_put_alu(to, BPF_ADD, BPF_REG_3, source->base);
	put_read_kernel(to, 8);
	for (unsigned n = 0; n < source->steps; n++) {
		const bool last = n + 1 == source->steps;

		bpf_put_copy(to, BPF_REG_3, BPF_REG_1);
		bpf_put_alu(to, BPF_ADD, BPF_REG_3, source->offsets[n]);
		if (last && source->is_address)
			bpf_put_copy(to, BPF_REG_1, BPF_REG_3);
		else
			put_read_kernel(to, last ? field->bytes : 8);
	}
}

void kernel_put_argument(struct bpf_program *to, const struct tracepoint_field *field)
{
	const struct tracepoint_source *source = &field->source;

	if (source->place == TRACEPOINT_NUMBER) {
		bpf_put_number(to, BPF_REG_1, (uint64_t)source->number);
	} else if (source->place == TRACEPOINT_REGISTER) {
		bpf_put_load(to, BPF_DW, BPF_REG_1, BPF_REG_6, source->base);
		if (source->shift)
			bpf_put_alu(to, BPF_RSH, BPF_REG_1, source->shift);
	} else if (source->place == TRACEPOINT_CONTEXT) {
		put_from_context(to, field);
	} else {
		kernel_put_place(to, source);
		bpf_put_address(to, BPF_REG_1, KERNEL_STACK_VALUE);
		bpf_put_set(to, BPF_REG_2, field->bytes);
		bpf_put_call(to, BPF_FUNC_probe_read_user);
		bpf_put_load(to, kernel_size_code(field->bytes), BPF_REG_1, BPF_REG_10, KERNEL_STACK_VALUE);
	}
}

void kernel_put_text_address(struct bpf_program *to, unsigned target, const struct tracepoint_field *field)
{
	if (field->kind == TRACEPOINT_TEXT) {
		bpf_put_load(to, BPF_W, BPF_REG_1, BPF_REG_6, field->offset);
		bpf_put_alu(to, BPF_AND, BPF_REG_1, 0xffff);
	} else {
		bpf_put_set(to, BPF_REG_1, field->offset);
	}
	bpf_put_copy(to, target, BPF_REG_6);
	bpf_put_alu_register(to, BPF_ADD, target, BPF_REG_1);
}

/*
 * Store a mark of 4 bytes. Register 0: a size that has one bit, by a bit of the mark. With a constant, the verifier would follow this way to the
 * program's end, and each text would double the ways.
 */
static void kernel_put_mark(struct bpf_program *to, unsigned base, int offset, const char *mark, unsigned bit)
{
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, base, 0, offset, text_number(mark));
	bpf_put_load(to, BPF_W, BPF_REG_0, base, offset);
	bpf_put_alu(to, BPF_RSH, BPF_REG_0, (int)(MARK_BIT - bit));
	bpf_put_alu(to, BPF_AND, BPF_REG_0, 1 << bit);
}

/* Handle memory at register 1 that was not read. */
static void put_unread(struct bpf_program *to, struct kernel_unread *unread)
{
	const unsigned null = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);

	if (unread->jumps) {
		unread->jump = bpf_put_jump(to, BPF_JA, 0, 0);
	} else {
		bpf_put_alu(to, BPF_OR, BPF_REG_1, 1);
		bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_UNREAD, BPF_REG_1);
	}
	bpf_land(to, null);
}

void kernel_put_unread(struct bpf_program *to, const struct kernel_layout *layout,
		       struct kernel_unread *unread)
{
	kernel_put_register(to, layout, BPF_DW, BPF_REG_1, unread->place);
	put_unread(to, unread);
}

/* ---- addresses of sockets */

/* One whose header cannot be read gets an address that no process has. A header that is missing has no address. */
static void kernel_put_message(struct bpf_program *to, const struct kernel_layout *layout)
{
	unsigned good, null;

	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, kernel_argument_places[1]);
	bpf_put_address(to, BPF_REG_1, KERNEL_STACK_SOCKET);
	bpf_put_set(to, BPF_REG_2, 16);
	bpf_put_call(to, BPF_FUNC_probe_read_user);
	good = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, 0);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_1, kernel_argument_places[1]);
	null = bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, KERNEL_STACK_SOCKET, -1);
	bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 1);
	bpf_land(to, null);
	bpf_land(to, good);
}

/* A length that cannot be read is 0, as all that the kernel's helper cannot read. */
void kernel_put_socket_place(struct bpf_program *to, const struct kernel_layout *layout,
			     enum tracepoint_socket socket, bool exits)
{
	const unsigned first = socket == TRACEPOINT_SOCKET_FIFTH    ? 4
			       : socket == TRACEPOINT_SOCKET_FOURTH ? 3
								    : 1;
	const int *places = &kernel_argument_places[first];

	if (socket == TRACEPOINT_SOCKET_MESSAGE) {
		kernel_put_message(to, layout);
		return;
	}
	kernel_put_register(to, layout, BPF_DW, BPF_REG_1, places[0]);
	kernel_put_store(to, BPF_REG_10, KERNEL_STACK_SOCKET, BPF_REG_1);
	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, places[1]);
	if (exits) {
		unsigned null;

		bpf_put(to, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, KERNEL_STACK_SOCKET_BYTES, 0);
		null = bpf_put_jump(to, BPF_JEQ, BPF_REG_3, 0);
		bpf_put_address(to, BPF_REG_1, KERNEL_STACK_SOCKET_BYTES);
		bpf_put_set(to, BPF_REG_2, 4);
		bpf_put_call(to, BPF_FUNC_probe_read_user);
		bpf_land(to, null);
	} else {
		bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES, BPF_REG_3);
	}
}

void kernel_put_socket(struct bpf_program *to, unsigned base, int offset)
{
	unsigned whole, positive, null;

	bpf_put_load(to, BPF_W, BPF_REG_2, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES);
	whole = bpf_put_jump(to, BPF_JLE, BPF_REG_2, TRACEPOINT_SOCKET_MAX);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_2);
	bpf_put_set(to, BPF_REG_2, TRACEPOINT_SOCKET_MAX);
	positive = bpf_put_jump(to, BPF_JLE, BPF_REG_1, INT32_MAX);
	bpf_put_set(to, BPF_REG_2, 0); /* no length: there is no address */
	bpf_land(to, positive);
	bpf_land(to, whole);
	bpf_put_store(to, BPF_W, BPF_REG_10, KERNEL_STACK_SOCKET_BYTES, BPF_REG_2);
	bpf_put_copy(to, BPF_REG_1, base);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, offset);
	kernel_put_load(to, BPF_REG_3, BPF_REG_10, KERNEL_STACK_SOCKET);
	bpf_put_set(to, BPF_REG_0, -EFAULT);
	/* A fault would find that out, too, and take longer. */
	null = bpf_put_jump(to, BPF_JEQ, BPF_REG_3, 0);
	bpf_put_call(to, BPF_FUNC_probe_read_user);
	bpf_land(to, null);
}

void kernel_put_unread_socket(struct bpf_program *to, struct kernel_unread *unread)
{
	kernel_put_load(to, BPF_REG_1, BPF_REG_10, KERNEL_STACK_SOCKET);
	put_unread(to, unread);
}

/* ---- texts */

/*
 * The usual way is the straight one, which the verifier follows first: the others prove to be parts of it.
 * @unread: NULL: a text that cannot be read is WIRE_NULL only
 */
static void kernel_put_long_text(struct bpf_program *to, const struct kernel_layout *layout, unsigned base,
				 int offset, const struct tracepoint_field *field,
				 struct kernel_unread *unread)
{
	const bool fixed = field->kind == TRACEPOINT_CHARS; /* it has its whole size */
	const int bytes = fixed ? field->size : TRACEPOINT_TEXT_MAX;
	const bool of_user = field->kind == TRACEPOINT_USER_TEXT;
	unsigned bad, empty = 0, whole = 0, good, marked;

	bpf_put_copy(to, BPF_REG_1, base);
	bpf_put_alu(to, BPF_ADD, BPF_REG_1, offset);
	bpf_put_set(to, BPF_REG_2, bytes);
	bpf_put_call(to, of_user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str);
	bad = bpf_put_jump(to, BPF_JSLE, BPF_REG_0, 0);
	if (!fixed)
		whole = bpf_put_jump(to, BPF_JEQ, BPF_REG_0, bytes);
	good = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, bad);
	if (of_user) { /* of an empty text, older kernels (6.1) count and copy not even the NUL */
		const unsigned failed = bpf_put_jump(to, BPF_JNE, BPF_REG_0, 0);

		bpf_put(to, BPF_ST | BPF_MEM | BPF_B, base, 0, offset, 0);
		bpf_put_set(to, BPF_REG_0, 1);
		empty = bpf_put_jump(to, BPF_JA, 0, 0);
		bpf_land(to, failed);
	}
	if (unread)
		kernel_put_unread(to, layout, unread);
	kernel_put_mark(to, base, offset, WIRE_NULL, 2);
	marked = bpf_put_jump(to, BPF_JA, 0, 0);
	if (!fixed) {
		bpf_land(to, whole);
		kernel_put_mark(to, base, offset + bytes - 4, WIRE_TRUNCATED, 8);
	}
	bpf_land(to, marked);
	if (of_user)
		bpf_land(to, empty);
	bpf_land(to, good);
}

void kernel_put_text(struct bpf_program *to, unsigned base, int offset, const struct tracepoint_field *field)
{
	kernel_put_long_text(to, NULL, base, offset, field, NULL);
}

void kernel_put_argument_text(struct bpf_program *to, const struct kernel_layout *layout, unsigned base,
			      int offset, struct kernel_unread *unread)
{
	const struct tracepoint_field text = { .kind = layout->in_kernel ? TRACEPOINT_KERNEL_TEXT
									 : TRACEPOINT_USER_TEXT };

	kernel_put_register(to, layout, BPF_DW, BPF_REG_3, unread->place);
	kernel_put_long_text(to, layout, base, offset, &text, layout->late < 0 ? NULL : unread);
}
