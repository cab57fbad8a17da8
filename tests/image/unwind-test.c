/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unwinds this process's own stacks, with functions of many shapes, and compares them with backtrace() of the C library;
 * tests single rules, and frames without tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dwarf.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "cases.h"
#include "process.h"
#include "image/unwind/unwind_expression.h"

enum {
	FRAMES_MAX = 1024,
	COPY = 16 << 10,
	COPY_MAX = 256 << 10,
};

/* The results of the latest int3. */
static struct {
	size_t copy;  /* largest copy of the stack, bytes */
	unsigned max; /* frames */
	int with_chain;
	unsigned times;
	unsigned count;
	enum wire_truncation truncation;
	uint64_t locations[FRAMES_MAX], pc;
	void *truth[FRAMES_MAX + 8];
	int truth_count; /* from the frame of the int3 on */
	void **from;
	struct user_regs_struct user;
	unsigned char stack[COPY_MAX];
	size_t bytes;
} seen;

static struct process self;

static void take_user(const ucontext_t *context, struct user_regs_struct *user)
{
	const greg_t *g = context->uc_mcontext.gregs;

	*user = (struct user_regs_struct){
		.rax = (unsigned long)g[REG_RAX],
		.rbx = (unsigned long)g[REG_RBX],
		.rcx = (unsigned long)g[REG_RCX],
		.rdx = (unsigned long)g[REG_RDX],
		.rsi = (unsigned long)g[REG_RSI],
		.rdi = (unsigned long)g[REG_RDI],
		.rbp = (unsigned long)g[REG_RBP],
		.rsp = (unsigned long)g[REG_RSP],
		.rip = (unsigned long)g[REG_RIP],
		.r8 = (unsigned long)g[REG_R8],
		.r9 = (unsigned long)g[REG_R9],
		.r10 = (unsigned long)g[REG_R10],
		.r11 = (unsigned long)g[REG_R11],
		.r12 = (unsigned long)g[REG_R12],
		.r13 = (unsigned long)g[REG_R13],
		.r14 = (unsigned long)g[REG_R14],
		.r15 = (unsigned long)g[REG_R15],
	};
}

static void unwind_seen(void)
{
	uint64_t chain[128];
	struct unwind_registers registers;
	struct unwind_sample sample = { .registers = &registers,
					.stack = seen.stack,
					.stack_bytes = seen.bytes };

	process_registers(&seen.user, &registers);
	if (seen.with_chain) {
		sample.chain = chain;
		sample.chain_count = process_chain(getpid(), &seen.user, chain, 128);
	}
	seen.count =
		unwind_frames(&sample, process_lookup, &self, seen.locations, seen.max, &seen.truncation);
}

/* Threads come and go, so the mappings are read again. */
static void on_trap(int number, siginfo_t *info, void *context)
{
	int n;

	(void)number;
	(void)info;
	take_user(context, &seen.user);
	process_close(&self);
	assert_int_equal(process_open(&self, getpid()), 0);
	seen.bytes = process_stack(&self, seen.user.rsp, seen.stack, seen.copy);
	seen.pc = seen.user.rip;
	seen.truth_count = backtrace(seen.truth, FRAMES_MAX + 8);
	for (n = 0; n < seen.truth_count && (uint64_t)seen.truth[n] != seen.pc; n++)
		;
	seen.from = seen.truth + n;
	seen.truth_count -= n;
	seen.times++;
	unwind_seen();
}

static void here(void)
{
	__asm__ volatile("int3");
}

static int begin(void **state)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	void *first[1];

	(void)state;
	backtrace(first, 1); /* it loads a library the first time */
	seen.copy = COPY;
	seen.max = FRAMES_MAX;
	seen.with_chain = 0;
	seen.times = 0;
	return sigaction(SIGTRAP, &action, NULL);
}

static int has(uint64_t location)
{
	for (unsigned n = 0; n < seen.count; n++) {
		if (seen.locations[n] == location)
			return 1;
	}
	return 0;
}

/* The same as by backtrace(); addresses that a signal interrupted are exact, others minus one. */
static void same_as_truth(unsigned times)
{
	assert_int_equal(seen.times, times);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_NONE);
	assert_true(seen.truth_count > 1);
	assert_int_equal(seen.count, seen.truth_count);
	for (unsigned n = 0; n < seen.count; n++) {
		const uint64_t truth = (uint64_t)seen.from[n];

		if (seen.locations[n] != truth - 1 && (seen.locations[n] != truth))
			fail_msg("frame %u of %u: %#lx instead of %#lx", n, seen.count, seen.locations[n],
				 truth);
	}
	assert_int_equal(seen.locations[0], seen.pc);
	assert_int_equal(seen.locations[1], (uint64_t)seen.from[1] - 1);
}

static void plain(void **state)
{
	(void)state;
	case_plain(here);
	same_as_truth(1);
	case_sort(here);
	same_as_truth(2);
}

static void deep(void **state)
{
	(void)state;
	seen.copy = COPY_MAX;
	case_deep(500, here);
	same_as_truth(1);
	assert_true(seen.count > 500);
}

static void based_on_registers(void **state)
{
	(void)state;
	case_alloca(1000, here);
	same_as_truth(1);
	case_aligned(here);
	same_as_truth(2);
}

/* Two frames are exact then: that of the signal and the one that it interrupted. */
static void signal_frame(void **state)
{
	unsigned exact = 0;

	(void)state;
	case_signal(here);
	same_as_truth(1);
	for (unsigned n = 1; n < seen.count; n++)
		exact += seen.locations[n] == (uint64_t)seen.from[n];
	assert_int_equal(exact, 2);
}

static void thread_entry(void **state)
{
	(void)state;
	case_thread(here);
	same_as_truth(1);
}

static void exceptions(void **state)
{
	(void)state;
#ifdef HAVE_CPP
	case_throw(here);
	same_as_truth(2);
	assert_true(seen.count > 2);
#else
	skip();
#endif
}

/* A function without tables that keeps a frame record: no frame is missed. */
static void frame_record(void **state)
{
	(void)state;
	case_record(here);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_NONE);
	assert_true(has((uint64_t)case_return - 1));
	assert_true(seen.count > 4);
}

/* One that keeps none: the next record is its caller's, so only the caller is missed. */
static void no_record(void **state)
{
	(void)state;
	case_bare(here);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_NONE);
	assert_int_equal(seen.locations[2], (uint64_t)case_return - 1);
	assert_true(seen.count > 4);
}

/* If the frame pointer is not one, no frame is invented. */
static void misled(void **state)
{
	(void)state;
	seen.with_chain = 1;
	case_misled(here);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_TABLES);
	assert_int_equal(seen.count, 2);
}

/* The copy ends after about seventy frames, the kernel's chain does not: all 120 are found, and more. */
static void chain_goes_on(void **state)
{
	unsigned alone;

	(void)state;
	case_framed(120, here);
	alone = seen.count;
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_STACK);
	assert_true(alone > 50 && alone < 100);
	seen.with_chain = 1;
	case_framed(120, here);
	assert_true(seen.count > 120);
	for (unsigned n = 1; n < 122; n++)
		assert_int_equal(seen.locations[n], (uint64_t)seen.from[n] - 1);
}

static void too_deep(void **state)
{
	(void)state;
	seen.copy = COPY_MAX;
	seen.max = 100;
	case_deep(200, here);
	assert_int_equal(seen.count, 100);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_DEPTH);
}

static void copy_ends(void **state)
{
	(void)state;
	seen.copy = 2048;
	case_deep(500, here);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_STACK);
	assert_true(seen.count > 10 && seen.count < 500);
	for (unsigned n = 1; n < seen.count; n++)
		assert_int_equal(seen.locations[n], (uint64_t)seen.from[n] - 1);
	seen.copy = 0;
	case_plain(here);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_STACK);
}

static void nowhere(void **state)
{
	(void)state;
	case_plain(here);
	seen.user.rip = 8;
	unwind_seen();
	assert_int_equal(seen.count, 0);
	assert_int_equal(seen.truncation, WIRE_TRUNCATION_MEMORY);
}

/* Any instruction of the vdso's functions, with the tables of an image in memory. */
static void vdso(void **state)
{
	const uint64_t address = getauxval(AT_SYSINFO_EHDR);
	uint64_t bias = 0;
	enum wire_truncation why = WIRE_TRUNCATION_TABLES;
	struct unwind_table *table;

	(void)state;
	if (!address)
		skip();
	case_plain(here);
	table = process_lookup(&self, address, &bias, &why);
	assert_non_null(table);
	assert_int_equal(bias, address);
}

/* ---- imaginary code: tables by hand ---- */

/* An imaginary process: code everywhere below 2^20, without tables. */
static struct unwind_table *imaginary(void *context, uint64_t address, uint64_t *bias,
				      enum wire_truncation *why)
{
	(void)bias;
	*why = address >= 1 << 20 ? WIRE_TRUNCATION_MEMORY : *(enum wire_truncation *)context;
	return NULL;
}

struct imagined {
	uint64_t stack[64]; /* from address 0x7f0000 on */
	size_t bytes;
	uint64_t frame_pointer;
	uint64_t chain[16];
	unsigned chain_count;
	unsigned char behind[16]; /* the instructions from 0x501 on, and from 0x601 on */
	unsigned char before;	  /* the byte before 0x501 */
	unsigned char jumped[16];
	enum wire_truncation why;
	uint64_t locations[16];
	unsigned count;
	enum wire_truncation truncation;
};

#define AT(word) (0x7f0000 + 8 * (word))

static const struct imagined *imagining;

static bool imagined_code(void *context, uint64_t address, struct unwind_code *code)
{
	(void)context;
	*code = (struct unwind_code){ .known = address == 0x501 || address == 0x601 };
	code->bytes[UNWIND_CODE_BEFORE - 1] = imagining->before;
	memcpy(code->bytes + UNWIND_CODE_BEFORE, address == 0x601 ? imagining->jumped : imagining->behind,
	       16);
	return true;
}

static void imagine(struct imagined *it)
{
	struct unwind_registers registers = { .pc = 0x100, .known = 1 << UNWIND_FRAME | 1 << UNWIND_STACK };
	const struct unwind_sample sample = { .registers = &registers,
					      .stack = (const unsigned char *)it->stack,
					      .stack_bytes = it->bytes,
					      .chain = it->chain,
					      .chain_count = it->chain_count,
					      .code = it->behind[0] ? imagined_code : NULL };

	imagining = it;
	registers.value[UNWIND_FRAME] = it->frame_pointer;
	registers.value[UNWIND_STACK] = AT(0);
	if (!it->why)
		it->why = WIRE_TRUNCATION_TABLES;
	it->count = unwind_frames(&sample, imaginary, &it->why, it->locations, 16, &it->truncation);
}

static void expect(const struct imagined *it, enum wire_truncation truncation, unsigned count,
		   const uint64_t *locations)
{
	assert_int_equal(it->truncation, truncation);
	assert_int_equal(it->count, count);
	assert_memory_equal(it->locations, locations, count * sizeof(*locations));
}

/* Only frame records, as in code made at run time. */
static void records(void **state)
{
	struct imagined it = { .bytes = 512, .frame_pointer = AT(2) };

	(void)state;
	it.stack[2] = AT(8);
	it.stack[3] = 0x201;
	it.stack[8] = 0;
	it.stack[9] = 0x301;
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_NONE, 3, (const uint64_t[]){ 0x100, 0x200, 0x300 });
	it.stack[8] = AT(4); /* inwards */
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_TABLES, 3, (const uint64_t[]){ 0x100, 0x200, 0x300 });
	it.why = WIRE_TRUNCATION_IMAGE;
	it.stack[3] = 1 << 24; /* not code: rejected */
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_IMAGE, 1, (const uint64_t[]){ 0x100 });
	it.frame_pointer = AT(2) + 4;
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_IMAGE, 1, (const uint64_t[]){ 0x100 });
	it.frame_pointer = UINT64_C(1) << 40; /* not in the stack: not the end of the copy */
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_IMAGE, 1, (const uint64_t[]){ 0x100 });
	it.frame_pointer = AT(100);
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_STACK, 1, (const uint64_t[]){ 0x100 });
	it.frame_pointer = 0; /* of the innermost frame: no mark of the outermost */
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_IMAGE, 1, (const uint64_t[]){ 0x100 });
}

/* ---- code that has neither tables nor frame records */

enum {
	ENTRY = 0x40000, /* of the imaginary program */
	MADE = 0x80000,	 /* from here on, code made at run time, whose instructions are unknown */
	EXITS = 0x300,	 /* a return there ends the thread */
};

/* Odd addresses are behind a direct call to 0xf0, others behind none. */
static bool imaginary_code(void *context, uint64_t address, struct unwind_code *code)
{
	const uint64_t distance = 0xf0 - address;

	*code = (struct unwind_code){ .known = address < MADE,
				      .image = address < MADE ? context : NULL,
				      .start = ENTRY };
	if (address % 2) {
		code->bytes[UNWIND_CODE_BEFORE - 5] = 0xe8;
		memcpy(code->bytes + UNWIND_CODE_BEFORE - 4, &distance, 4);
	}
	if (address / 16 == EXITS / 16)
		memcpy(code->bytes + UNWIND_CODE_BEFORE + 2, "\xb0\x3c\x0f\x05",
		       4); /* mov $60,%al; syscall */
	return address < 1 << 20;
}

static void search(struct imagined *it, bool *scanned)
{
	struct unwind_registers registers = { .pc = 0x100, .known = 1 << UNWIND_STACK };
	const struct unwind_sample sample = { .registers = &registers,
					      .stack = (const unsigned char *)it->stack,
					      .stack_bytes = it->bytes,
					      .scanned = scanned,
					      .code = imaginary_code };

	registers.value[UNWIND_STACK] = AT(0);
	it->why = WIRE_TRUNCATION_TABLES;
	it->count = unwind_frames(&sample, imaginary, &it->why, it->locations, 16, &it->truncation);
}

/* Callers are found by return addresses, up to the program's entry point or the end of a thread. */
static void searches(void **state)
{
	struct imagined it = { .bytes = 512 };
	bool scanned;

	(void)state;
	it.stack[1] = 8;
	it.stack[3] = 0x200; /* code, but behind no call */
	it.stack[5] = 0x201;
	it.stack[9] = ENTRY + 9;
	search(&it, &scanned);
	expect(&it, WIRE_TRUNCATION_NONE, 3, (const uint64_t[]){ 0x100, 0x200, ENTRY + 8 });
	assert_true(scanned);
	it.stack[9] = EXITS + 1;
	search(&it, &scanned);
	expect(&it, WIRE_TRUNCATION_NONE, 3, (const uint64_t[]){ 0x100, 0x200, EXITS });
	it.stack[9] = 0;
	search(&it, &scanned);
	expect(&it, WIRE_TRUNCATION_TABLES, 2, (const uint64_t[]){ 0x100, 0x200 });
}

/* A word that an earlier call left behind passes for a return address, and leads nowhere: the next one is tried. */
static void searches_again(void **state)
{
	struct imagined it = { .bytes = 512 };
	bool scanned;

	(void)state;
	it.stack[1] = AT(30); /* it points to the frame record of a frame that is gone */
	it.stack[2] = MADE + 0x100;
	it.stack[31] = 0x201;
	search(&it, &scanned);
	expect(&it, WIRE_TRUNCATION_TABLES, 3, (const uint64_t[]){ 0x100, MADE + 0xff, 0x200 });
	it.stack[9] = ENTRY + 9;
	search(&it, &scanned);
	expect(&it, WIRE_TRUNCATION_NONE, 3, (const uint64_t[]){ 0x100, MADE + 0xff, ENTRY + 8 });
}

/* The chain continues after the copy, if it agrees with the frames before. */
static void splices(void **state)
{
	struct imagined it = { .bytes = 128,
			       .frame_pointer = AT(2),
			       .chain = { 0x100, 0x201, 0x301, 0x401, 0x501, 1 << 24 },
			       .chain_count = 6 };
	struct imagined other;

	(void)state;
	it.stack[2] = AT(8);
	it.stack[3] = 0x201;
	it.stack[8] = AT(100); /* beyond the copy */
	it.stack[9] = 0x301;
	imagine(&it);
	expect(&it, WIRE_TRUNCATION_STACK, 5, (const uint64_t[]){ 0x100, 0x200, 0x300, 0x400, 0x500 });

	other = it; /* the kernel saw something else in the stack */
	other.chain[2] = 0x311;
	imagine(&other);
	expect(&other, WIRE_TRUNCATION_STACK, 3, (const uint64_t[]){ 0x100, 0x200, 0x300 });

	other = it; /* too far to be the stack */
	other.stack[8] = 0x10000000;
	imagine(&other);
	expect(&other, WIRE_TRUNCATION_TABLES, 3, (const uint64_t[]){ 0x100, 0x200, 0x300 });

	other = it; /* the first one that is not code ends it */
	other.chain[3] = 1 << 23;
	imagine(&other);
	expect(&other, WIRE_TRUNCATION_STACK, 3, (const uint64_t[]){ 0x100, 0x200, 0x300 });

	other = it; /* without any copy: the chain alone */
	other.bytes = 0;
	imagine(&other);
	expect(&other, WIRE_TRUNCATION_STACK, 5, (const uint64_t[]){ 0x100, 0x200, 0x300, 0x400, 0x500 });
}

#if defined(__x86_64__)
/* A chain that ends in the C library, where it calls main or a thread's function, is complete. */
static void chain_of_first(void **state)
{
	static const struct {
		unsigned char behind[16], jumped[16];
		enum wire_truncation truncation;
		unsigned char before;
	} cases[] = {
		{ { 0x89, 0xc7, 0xe8 }, { 0 }, WIRE_TRUNCATION_NONE, 0 }, /* mov %eax,%edi; call */
		{ { 0x89, 0xc7, 0xe9 }, { 0 }, WIRE_TRUNCATION_STACK, 0 },
		{ { 0x64, 0x48, 0x89, 0x04, 0x25, 0x28, 0x06, 0, 0 },
		  { 0 },
		  WIRE_TRUNCATION_NONE,
		  0 }, /* mov %rax,%fs:0x628 */
		{ { 0x64, 0x48, 0x89, 0x04, 0x25, 0xf8, 0xff, 0xff, 0xff }, { 0 }, WIRE_TRUNCATION_STACK, 0 },
		{ { 0xe9, 0xfb, 0, 0, 0 },
		  { 0x64, 0x48, 0x89, 0x04, 0x25, 0x28, 0x06, 0, 0 },
		  WIRE_TRUNCATION_NONE,
		  0 },
		{ { 0xe9, 0xfc, 0, 0, 0 },
		  { 0x64, 0x48, 0x89, 0x04, 0x25, 0x28, 0x06, 0, 0 },
		  WIRE_TRUNCATION_STACK,
		  0 },
		{ { 0xe9, 0xfb, 0, 0, 0 }, { 0xeb, 0xfe }, WIRE_TRUNCATION_STACK, 0 },
		{ { 0xeb, 0xfe }, { 0 }, WIRE_TRUNCATION_STACK, 0 },
		{ { 0xe8, 1, 0, 0, 0, 0x90 }, { 0 }, WIRE_TRUNCATION_NONE, 0x90 }, /* nop; call; nop */
		{ { 0xe8, 1, 0, 0, 0, 0x90 }, { 0 }, WIRE_TRUNCATION_STACK, 0 },
		{ { 0xe8, 1, 0, 0, 0, 0xcc }, { 0 }, WIRE_TRUNCATION_STACK, 0x90 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct imagined it = { .frame_pointer = AT(2),
				       .chain = { 0x100, 0x201, 0x301, 0x401, 0x501, 1 << 24 },
				       .chain_count = 6,
				       .why = WIRE_TRUNCATION_STACK };

		memcpy(it.behind, cases[n].behind, 16);
		memcpy(it.jumped, cases[n].jumped, 16);
		it.before = cases[n].before;
		imagine(&it);
		expect(&it, cases[n].truncation, 5, (const uint64_t[]){ 0x100, 0x200, 0x300, 0x400, 0x500 });
	}
}
#endif

static int evaluate(const unsigned char *code, size_t bytes, uint64_t *value)
{
	static const uint64_t stack[] = { 0x1122334455667788, AT(0), 7 };
	struct unwind_registers registers = { .known = 1 << UNWIND_STACK };
	const struct unwind_memory memory = { .bytes = (const unsigned char *)stack,
					      .begin = AT(0),
					      .size = 24 };
	const uint64_t cfa = AT(3);

	registers.value[UNWIND_STACK] = AT(0);
	return unwind_evaluate((struct bytes){ .at = code, .end = code + bytes }, &registers, &memory, &cfa,
			       value);
}

static void evaluates(uint64_t expected, const unsigned char *code, size_t bytes)
{
	uint64_t value = ~expected;

	assert_int_equal(evaluate(code, bytes, &value), 0);
	assert_int_equal(value, expected);
}

static void refuses(int error, const unsigned char *code, size_t bytes)
{
	uint64_t value;

	assert_int_equal(evaluate(code, bytes, &value), error);
}

#define CODE(...)		 ((const unsigned char[]){ __VA_ARGS__ })
#define EVALUATES(expected, ...) evaluates(expected, CODE(__VA_ARGS__), sizeof(CODE(__VA_ARGS__)))
#define REFUSES(error, ...)	 refuses(error, CODE(__VA_ARGS__), sizeof(CODE(__VA_ARGS__)))

static void expressions(void **state)
{
	(void)state;
	EVALUATES(AT(3), DW_OP_nop);
	EVALUATES(7, DW_OP_breg7, 16, DW_OP_deref);
	EVALUATES(0x88, DW_OP_breg7, 0, DW_OP_deref_size, 1);
	EVALUATES(AT(0) - 8, DW_OP_breg7, 0x78);
	EVALUATES(AT(0) + 200, DW_OP_bregx, 7, 0xc8, 1);
	EVALUATES((uint64_t)-2, DW_OP_const1s, 0xfe);
	EVALUATES(0xfe, DW_OP_const1u, 0xfe);
	EVALUATES((uint64_t)-300, DW_OP_consts, 0xd4, 0x7d);
	EVALUATES(300, DW_OP_constu, 0xac, 2);
	EVALUATES(5, DW_OP_lit8, DW_OP_lit3, DW_OP_minus);
	EVALUATES((uint64_t)-1, DW_OP_lit0, DW_OP_not);
	EVALUATES((uint64_t)-4, DW_OP_lit16, DW_OP_neg, DW_OP_lit2, DW_OP_shra);
	EVALUATES(1, DW_OP_lit2, DW_OP_neg, DW_OP_lit1, DW_OP_lt);
	EVALUATES(3, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop, DW_OP_drop);
	EVALUATES(2, DW_OP_lit1, DW_OP_lit2, DW_OP_swap, DW_OP_over);
	EVALUATES(9, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit5, DW_OP_lit9);
	/* as binutils writes it for the stubs that call other libraries */
	EVALUATES(AT(1), DW_OP_breg7, 8, DW_OP_const1u, 12, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
		  DW_OP_lit3, DW_OP_shl, DW_OP_plus, DW_OP_lit8, DW_OP_minus);
	REFUSES(-EFAULT, DW_OP_breg7, 24, DW_OP_deref);
	REFUSES(-EFAULT, DW_OP_lit0, DW_OP_deref);
	REFUSES(-EINVAL, DW_OP_breg3, 0);
	REFUSES(-EINVAL, DW_OP_drop);
	REFUSES(-EINVAL, DW_OP_drop, DW_OP_plus);
	REFUSES(-EINVAL, DW_OP_const8u, 1, 2);
	REFUSES(-EINVAL, DW_OP_skip, 0xfd, 0xff); /* an endless loop */
	REFUSES(-EINVAL, DW_OP_skip, 0xf0, 0xff);
	REFUSES(-EINVAL, DW_OP_dup, DW_OP_skip, 0xfc, 0xff);
	REFUSES(-EINVAL, DW_OP_addr);
}

static void registers_from_perf(void **state)
{
	struct unwind_registers registers;
	const uint64_t values[] = { 1, 2, 3 };

	(void)state;
	/* the frame pointer, the stack pointer, the program counter */
	assert_int_equal(unwind_registers_from_perf(&registers, 2, 0x1c0, values), 0);
	assert_int_equal(registers.known, 1 << UNWIND_FRAME | 1 << UNWIND_STACK);
	assert_int_equal(registers.value[UNWIND_FRAME], 1);
	assert_int_equal(registers.value[UNWIND_STACK], 2);
	assert_int_equal(registers.pc, 3);
	assert_int_equal(unwind_registers_from_perf(&registers, 1, 0x1c0, values), -ENOTSUP);
	assert_int_equal(unwind_registers_from_perf(&registers, 2, 0x0c0, values), -EINVAL);
	assert_int_equal(unwind_registers_from_perf(&registers, 2, 0x140, values), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(plain, begin),
		cmocka_unit_test_setup(deep, begin),
		cmocka_unit_test_setup(based_on_registers, begin),
		cmocka_unit_test_setup(signal_frame, begin),
		cmocka_unit_test_setup(thread_entry, begin),
		cmocka_unit_test_setup(exceptions, begin),
		cmocka_unit_test_setup(frame_record, begin),
		cmocka_unit_test_setup(no_record, begin),
		cmocka_unit_test_setup(misled, begin),
		cmocka_unit_test_setup(chain_goes_on, begin),
		cmocka_unit_test_setup(too_deep, begin),
		cmocka_unit_test_setup(copy_ends, begin),
		cmocka_unit_test_setup(nowhere, begin),
		cmocka_unit_test_setup(vdso, begin),
		cmocka_unit_test(records),
		cmocka_unit_test(searches),
		cmocka_unit_test(searches_again),
		cmocka_unit_test(splices),
#if defined(__x86_64__)
		cmocka_unit_test(chain_of_first),
#endif
		cmocka_unit_test(expressions),
		cmocka_unit_test(registers_from_perf),
	};

	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
