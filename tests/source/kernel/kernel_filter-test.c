/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Filters as programs of the kernel: interpreted here, they accept the same events as filter_passes() does of the records, for random
 * expressions and random events. The kernel is not needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/filter.h"
#include "filter/filter_entry.h"
#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/programs/kernel_program.h"
#include "source/kernel/programs/kernel_raw.h"

#define COMMON                                                                 \
	"name: it\nID: 321\nformat:\n"                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char event_format[] = COMMON "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
					  "\tfield:int number;\toffset:24;\tsize:4;\tsigned:1;\n"
					  "\tfield:u8 small;\toffset:28;\tsize:1;\tsigned:0;\n"
					  "\tfield:s16 middle;\toffset:30;\tsize:2;\tsigned:1;\n"
					  "\tfield:__data_loc char[] text;\toffset:32;\tsize:4;\tsigned:0;\n"
					  "\tfield:u64 large;\toffset:40;\tsize:8;\tsigned:0;\n"
					  "\tfield:u16 list[3];\toffset:48;\tsize:6;\tsigned:0;\n";

static const char call_format[] = COMMON "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\n"
					 "\tfield:int number;\toffset:16;\tsize:8;\tsigned:0;\n"
					 "\tfield:const char * text;\toffset:24;\tsize:8;\tsigned:0;\n"
					 "\tfield:umode_t small;\toffset:32;\tsize:8;\tsigned:0;\n"
					 "\tfield:size_t large;\toffset:40;\tsize:8;\tsigned:0;\n";

static const char thread_name[16] = "a thread: abcde";

enum {
	EXPRESSIONS = 8000,
	EVENTS = 25, /* of each */
	TEXT_PLACE = 56,
	TID = 4711,
	PID = 4700,
	CPU = 5,
};

/* ---- a small interpreter */

struct machine {
	uint64_t registers[11];
};

/* Return: the bytes with the NUL. */
static uint64_t read_text(char *out, uint64_t room, const char *from)
{
	const size_t length = strnlen(from, room - 1);

	memcpy(out, from, length);
	out[length] = 0;
	return length + 1;
}

static void call(struct machine *machine, int function)
{
	uint64_t *registers = machine->registers;

	switch (function) {
	case BPF_FUNC_get_current_pid_tgid:
		registers[0] = (uint64_t)PID << 32 | TID;
		break;
	case BPF_FUNC_get_smp_processor_id:
		registers[0] = CPU;
		break;
	case BPF_FUNC_get_current_comm:
		assert_int_equal(registers[2], sizeof(thread_name));
		memcpy((char *)registers[1], thread_name, sizeof(thread_name));
		registers[0] = 0;
		break;
	case BPF_FUNC_probe_read_user_str:
		if (!*(const char *)registers[3] && random() % 2) { /* as Linux 6.1 does */
			registers[0] = 0;
			break;
		}
		__attribute__((fallthrough));
	case BPF_FUNC_probe_read_kernel_str:
		registers[0] = read_text((char *)registers[1], registers[2], (const char *)registers[3]);
		break;
	default:
		fail_msg("a program calls %d", function);
	}
	for (unsigned n = 1; n <= 5; n++) /* as in the kernel, they are lost */
		registers[n] = 0xdeadbeefdeadbeef;
}

static uint64_t calculate(unsigned op, uint64_t left, uint64_t right)
{
	switch (op) {
	case BPF_ADD:
		return left + right;
	case BPF_SUB:
		return left - right;
	case BPF_AND:
		return left & right;
	case BPF_OR:
		return left | right;
	case BPF_LSH:
		return left << right;
	case BPF_RSH:
		return left >> right;
	case BPF_ARSH:
		return (uint64_t)((int64_t)left >> right);
	case BPF_MOV:
		return right;
	case BPF_MOD:
		assert_int_not_equal(right, 0);
		return left % right;
	case BPF_NEG:
		return 0 - left;
	default:
		fail_msg("a program calculates by %#x", op);
		return 0;
	}
}

static bool compare(unsigned op, uint64_t left, uint64_t right)
{
	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return left == right;
	case BPF_JNE:
		return left != right;
	case BPF_JLT:
		return left < right;
	case BPF_JLE:
		return left <= right;
	case BPF_JGT:
		return left > right;
	case BPF_JGE:
		return left >= right;
	case BPF_JSLT:
		return (int64_t)left < (int64_t)right;
	case BPF_JSLE:
		return (int64_t)left <= (int64_t)right;
	case BPF_JSGT:
		return (int64_t)left > (int64_t)right;
	case BPF_JSGE:
		return (int64_t)left >= (int64_t)right;
	default:
		fail_msg("a program compares by %#x", op);
		return false;
	}
}

static unsigned width_of(unsigned code)
{
	return BPF_SIZE(code) == BPF_DW ? 8 : BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

/* Run one instruction that is no call of the program's own functions. Return: how many to go on by. */
static int step(struct machine *machine, const struct bpf_insn *at)
{
	uint64_t *target = &machine->registers[at->dst_reg], loaded = 0;
	const uint64_t operand =
		BPF_SRC(at->code) == BPF_X ? machine->registers[at->src_reg] : (uint64_t)(int64_t)at->imm;

	switch (BPF_CLASS(at->code)) {
	case BPF_ALU:
		*target = (uint32_t)calculate(BPF_OP(at->code), (uint32_t)*target, (uint32_t)operand);
		return 1;
	case BPF_ALU64:
		*target = calculate(BPF_OP(at->code), *target, operand);
		return 1;
	case BPF_LD: /* of 64 bits, in two */
		*target = (uint32_t)at[0].imm | (uint64_t)(uint32_t)at[1].imm << 32;
		return 2;
	case BPF_LDX:
		memcpy(&loaded, (const char *)machine->registers[at->src_reg] + at->off, width_of(at->code));
		*target = loaded;
		return 1;
	case BPF_ST:
		loaded = (uint64_t)(int64_t)at->imm;
		memcpy((char *)*target + at->off, &loaded, width_of(at->code));
		return 1;
	case BPF_STX:
		memcpy((char *)*target + at->off, &machine->registers[at->src_reg], width_of(at->code));
		return 1;
	case BPF_JMP32:
		return 1 + (compare(BPF_OP(at->code), (uint32_t)*target, (uint32_t)operand) ? at->off : 0);
	case BPF_JMP:
		if (BPF_OP(at->code) == BPF_CALL)
			call(machine, at->imm);
		else
			return 1 + (compare(BPF_OP(at->code), *target, operand) ? at->off : 0);
		return 1;
	default:
		fail_msg("a program has the instruction %#x", at->code);
		return 1;
	}
}

static bool is_own_call(const struct bpf_insn *at)
{
	return at->code == (BPF_JMP | BPF_CALL) && at->src_reg == BPF_PSEUDO_CALL;
}

/* Run a function with these registers, 1 to 5. It has a stack of its own. Return: its result. */
static uint64_t run_function(const struct bpf_program *program, unsigned at, const uint64_t *registers)
{
	struct machine machine;
	char stack[512];

	memcpy(machine.registers, registers, sizeof(machine.registers));
	machine.registers[10] = (uint64_t)(uintptr_t)(stack + sizeof(stack));
	while (at < program->count) {
		const struct bpf_insn *one = &program->code[at];
		int steps = 1;

		if (one->code == (BPF_JMP | BPF_EXIT))
			return machine.registers[0];
		if (is_own_call(one))
			machine.registers[0] =
				run_function(program, at + 1 + (unsigned)one->imm, machine.registers);
		else
			steps = step(&machine, one);
		assert_true(steps > 0); /* forward only */
		at += (unsigned)steps;
	}
	fail_msg("a program has no end");
	return 0;
}

/* Run a filter as a program calls it. */
static uint64_t run_program(const struct bpf_program *program, const void *context,
			    const struct kernel_input *input)
{
	const uint64_t registers[11] = {
		[1] = (uint64_t)(uintptr_t)context, [2] = TID, [3] = 1, [4] = (uint64_t)(uintptr_t)input
	};

	return run_function(program, 0, registers);
}

/* ---- random expressions and events */

static const char *const texts[] = { "",    "a",       "ab",	      "abc",	    "abcabc",
				     "cab", "systemd", "/etc/passwd", "/etc/passwe" };
static const char *const globs[] = { "*", "a*", "*c", "a*c", "ab*bc", "/etc/*", "abc", "*passwd" };

#define ANY_OF(list) (list)[(size_t)random() % (sizeof(list) / sizeof((list)[0]))]

static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=" };

/* A field or a fact, perhaps with & or %. */
static void put_number(char *out, size_t room, bool changes)
{
	static const char *const names[] = { "number", "small", "large", "tid", "$pid", "cpu" };
	static const long long by[] = {
		1, 2, 3, 7, 10, 100, 127, 255, 4096, 0x7fffffff, 0x80000000, INT64_MAX
	};

	if (!changes)
		snprintf(out, room, "%s", ANY_OF(names));
	else if (random() % 2)
		snprintf(out, room, "%s %% %lld", ANY_OF(names), ANY_OF(by));
	else
		snprintf(out, room, "%s & %s%lld", ANY_OF(names), random() % 3 ? "" : "-", ANY_OF(by));
}

/* Tests of bits, of remainders, and of two fields. */
static void put_more_test(char *out, size_t room)
{
	static const long long numbers[] = { 0, 1, 2, -1, -2, 3, 7, 100, 127, -127, 0x7fffffff };
	const bool changes = random() % 2;
	char left[64], right[64];

	put_number(left, sizeof(left), changes);
	put_number(right, sizeof(right), !changes && random() % 2);
	if (random() % 2)
		snprintf(out, room, "%s %s %s", left, ANY_OF(operators), right);
	else if (changes && random() % 4 == 0)
		snprintf(out, room, "%s", left);
	else
		snprintf(out, room, "(%s) %s %lld", left, ANY_OF(operators), ANY_OF(numbers));
}

static void put_test(char *out, size_t room)
{
	static const char *const names[] = { "number", "small", "large", "tid", "pid", "cpu" };
	static const char *const threads[] = { "a thread: abcde",  "a*", "*cde", "b*", "a thread: ab",
					       "a thread: abcde*", "*" };
	static const long long numbers[] = { 0, 1, 2, 3, 5, 127, 128, 255, 4700, 4711, 65535, 0x7fffffff };
	const bool is_glob = random() % 2;

	if (random() % 2)
		put_more_test(out, room);
	else if (random() % 8 == 0)
		snprintf(out, room, "thread %s \"%s\"", random() % 2 ? "==" : "!=", ANY_OF(threads));
	else if (random() % 3)
		snprintf(out, room, "%s %s %lld", ANY_OF(names), ANY_OF(operators), ANY_OF(numbers));
	else
		snprintf(out, room, "text %s \"%s\"",
			 random() % 2 ? "==" : "!=", is_glob ? ANY_OF(globs) : ANY_OF(texts));
}

static void put_expression(char *out, size_t room)
{
	char left[140], middle[140], right[140];

	put_test(left, sizeof(left));
	put_test(middle, sizeof(middle));
	put_test(right, sizeof(right));
	switch (random() % 4) {
	case 0:
		snprintf(out, room, "%s", left);
		break;
	case 1:
		snprintf(out, room, "%s %s %s", left, random() % 2 ? "&&" : "||", right);
		break;
	case 2:
		snprintf(out, room, "!(%s && %s) || %s", left, middle, right);
		break;
	default:
		snprintf(out, room, "(%s || %s) && !(%s)", left, middle, right);
	}
}

static uint64_t some_number(void)
{
	static const uint64_t numbers[] = { 0,	 1,   2,   3,	4,	5,	    6,		126,
					    127, 128, 255, 256, 0xffff, 0x7fffffff, 0x80000000, UINT64_MAX };

	return random() % 8 ? ANY_OF(numbers) : (uint64_t)random() << 33 ^ (uint64_t)random();
}

/* Both results of an event of the kernel must be the same. Return: whether it is accepted. */
static bool check(const struct bpf_program *program, const struct wire_filter *filter, const void *context,
		  const struct kernel_input *input, const char *payload, unsigned bytes,
		  const char *expression)
{
	const struct filter_subject subject = { .pid = PID, .tid = TID, .cpu = CPU, .thread = thread_name };
	const uint64_t result = run_program(program, context, input);
	const bool wanted = filter_passes(filter, payload, bytes, &subject);

	if ((result == KERNEL_ACCEPTED) != wanted)
		fail_msg("'%s' is %d in the kernel", expression, (int)result);
	return wanted;
}

/* An event that the kernel describes by a record. */
static bool check_event(const struct tracepoint *point, const struct bpf_program *program,
			const struct wire_filter *filter, const char *expression)
{
	char raw[512] = "", payload[KERNEL_PAYLOAD_MAX];
	const char *text = ANY_OF(texts);
	const uint32_t place = TEXT_PLACE | (uint32_t)(strlen(text) + 1) << 16;
	const uint64_t numbers[] = { some_number(), some_number(), some_number(), some_number() };

	strcpy(raw + 8, ANY_OF(texts));
	memcpy(raw + 24, &numbers[0], 4);
	memcpy(raw + 28, &numbers[1], 1);
	memcpy(raw + 30, &numbers[2], 2);
	memcpy(raw + 32, &place, 4);
	memcpy(raw + 40, &numbers[3], 8);
	strcpy(raw + TEXT_PLACE, text);
	return check(program, filter, raw, NULL, payload,
		     kernel_raw_convert(point, raw, sizeof(raw), payload), expression);
}

/* The entry of a system call, whose arguments the program has read. */
static bool check_call(const struct bpf_program *program, const struct wire_filter *filter,
		       const char *expression)
{
	struct kernel_input input = { .last_chance = true };
	char payload[512], text[400] = "";
	uint64_t numbers[3] = { some_number(), some_number(), some_number() };
	unsigned used = 4;

	if (random() % 8)
		strcpy(text, ANY_OF(texts));
	else
		memset(text, 'a', 10 + (size_t)random() % 380); /* longer than a record has it */
	input.arguments[0] = numbers[0];
	input.arguments[1] = (uint64_t)(uintptr_t)text;
	input.arguments[2] = numbers[1];
	input.arguments[3] = numbers[2];
	memcpy(payload, &numbers[0], 4);
	used += (unsigned)read_text(payload + used, TRACEPOINT_TEXT_MAX, text);
	if (strlen(text) >= TRACEPOINT_TEXT_MAX - 1)
		memcpy(payload + used - sizeof(WIRE_TRUNCATED), WIRE_TRUNCATED, sizeof(WIRE_TRUNCATED));
	memcpy(payload + used, &numbers[1], 4);
	memcpy(payload + used + 4, &numbers[2], 8);
	return check(program, filter, NULL, &input, payload, used + 12, expression);
}

/* The kernel refuses a program that has an instruction to which no way leads. */
static bool is_reachable(const struct bpf_program *program)
{
	bool reached[BPF_PROGRAM_MAX + 1] = { true };

	for (unsigned at = 0; at < program->count; at++) {
		const struct bpf_insn *one = &program->code[at];
		const bool jumps = (BPF_CLASS(one->code) == BPF_JMP || BPF_CLASS(one->code) == BPF_JMP32) &&
				   BPF_OP(one->code) != BPF_CALL && BPF_OP(one->code) != BPF_EXIT;

		if (!reached[at])
			return false;
		if (jumps)
			reached[at + 1 + (unsigned)one->off] = true;
		if (is_own_call(one))
			reached[at + 1 + (unsigned)one->imm] = true;
		if (one->code != (BPF_JMP | BPF_EXIT) && one->code != (BPF_JMP | BPF_JA))
			reached[at + 1] = true;
		if (BPF_CLASS(one->code) == BPF_LD) { /* it takes two */
			reached[at + 2] = true;
			at++;
		}
	}
	return true;
}

static void agree(const char *system, const char *name, const char *format)
{
	static const struct bpf_symbol symbols[] = { { "in_kernel", BPF_SYMBOL_NUMBER, false }, { 0 } };
	unsigned accepted = 0, rejected = 0, refused = 0;
	struct tracepoint point;
	bool enters;

	assert_true(tracepoint_parse(&point, system, name, format));
	for (unsigned turn = 0; turn < EXPRESSIONS; turn++) {
		struct filter_entry entry;
		struct filter_error fault;
		char expression[600];
		static struct bpf_program program;
		const struct wire_filter *filter = (const struct wire_filter *)entry.bytes;

		bpf_begin(&program);
		put_expression(expression, sizeof(expression));
		if (filter_entry_make(&entry, expression, point.format, "", point.types, &fault) != 0) {
			refused++;
			continue;
		}
		assert_null(kernel_filter_fits(&(struct kernel_filter){ filter, &point }, true));
		if (!strstr(expression, "pid"))
			assert_false(kernel_filter_needs_pid(filter));
		kernel_filter_put(&program, &(struct kernel_filter){ filter, &point }, 1);
		assert_true(bpf_put_called(&program, symbols));
		assert_false(program.full);
		assert_true(is_reachable(&program));
		for (unsigned n = 0; n < EVENTS; n++)
			if (tracepoint_syscall(&point, &enters)
				    ? check_call(&program, filter, expression)
				    : check_event(&point, &program, filter, expression))
				accepted++;
			else
				rejected++;
	}
	assert_true(refused < EXPRESSIONS / 2);
	assert_true(accepted > EXPRESSIONS && rejected > EXPRESSIONS);
}

static void of_events(void **state)
{
	(void)state;
	srandom(1);
	agree("some", "it", event_format);
}

static void of_system_calls(void **state)
{
	(void)state;
	srandom(2);
	agree("syscalls", "sys_enter_openat", call_format);
}

static void refuses_other_globs(void **state)
{
	static const char *const refused[] = { "text == \"a*b*\"", "text == \"a?\"", "text == \"[ab]\"" };
	struct tracepoint point;
	struct filter_entry entry;
	struct filter_error fault;

	(void)state;
	assert_true(tracepoint_parse(&point, "some", "it", event_format));
	for (unsigned n = 0; n < sizeof(refused) / sizeof(refused[0]); n++) {
		const struct kernel_filter filter = { (const struct wire_filter *)entry.bytes, &point };

		assert_int_equal(filter_entry_make(&entry, refused[n], point.format, "", point.types, &fault),
				 0);
		assert_non_null(kernel_filter_fits(&filter, true));
		assert_null(kernel_filter_fits(&filter, false));
	}
}

static void finds_tests_of_processes(void **state)
{
	static const struct {
		const char *text;
		bool needs_pid;
	} cases[] = { { "pid == 3", true },	{ "number == 1 || pid != 3", true },
		      { "tid == 3", false },	{ "number % 2 == 1 && number == $pid", true },
		      { "pid & 1", true },	{ "number % 4711 == tid", false },
		      { "small < 4711", false } };
	struct tracepoint point;
	struct filter_entry entry;
	struct filter_error fault;

	(void)state;
	assert_true(tracepoint_parse(&point, "some", "it", event_format));
	assert_false(kernel_filter_needs_pid(NULL));
	for (unsigned n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		assert_int_equal(
			filter_entry_make(&entry, cases[n].text, point.format, "", point.types, &fault), 0);
		assert_int_equal(kernel_filter_needs_pid((const struct wire_filter *)entry.bytes),
				 cases[n].needs_pid);
	}
}

/* A world refuses, in one line, an expression with a fact that it does not know. */
static void refuses_what_is_not_known(void **state)
{
	static const struct {
		const char *text, *in_kernel, *elsewhere;
	} cases[] = {
		{ "depth == 1", "no depth", "no depth" },
		{ "correlation % 2", "no correlation", "no correlation" },
		{ "program == \"x\"", "no program", "no program" },
		{ "thread == \"x\"", NULL, "thread's name" },
		{ "text == comm", "another text", NULL },
		{ "thread == text", "another text", "thread's name" },
		{ "list & 1 == 1", "elements of arrays", NULL },
		{ "list < number", "elements of arrays", NULL },
		{ "list.count < number", "elements of arrays", NULL },
		{ "number < large", NULL, NULL },
	};
	struct tracepoint point;
	struct filter_entry entry;
	struct filter_error fault;

	(void)state;
	assert_true(tracepoint_parse(&point, "some", "it", event_format));
	for (unsigned n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
		for (unsigned in_kernel = 0; in_kernel < 2; in_kernel++) {
			const struct kernel_filter filter = { (const struct wire_filter *)entry.bytes,
							      &point };
			const char *wanted = in_kernel ? cases[n].in_kernel : cases[n].elsewhere, *why;

			assert_int_equal(filter_entry_make(&entry, cases[n].text, point.format, "",
							   point.types, &fault),
					 0);
			why = kernel_filter_fits(&filter, in_kernel);
			if (!why != !wanted || (why && !strstr(why, wanted)))
				fail_msg("%s: %s", cases[n].text, why ? why : "accepted");
		}
}

/* ---- what a program finds by its own stack: the kernel gives a function one apart if it needs 64 bytes of it */

static const char waking_format[] = COMMON "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
					   "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
					   "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
					   "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n",
		  other_waking_format[] =
			  COMMON "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
				 "\tfield:__data_loc char[] comm;\toffset:12;\tsize:4;\tsigned:0;\n";

/* Write the program of a wake-up. @expression: NULL: no filter */
static void write_waking(struct bpf_program *program, const char *format, const struct kernel_layout *layout,
			 const char *expression)
{
	struct tracepoint point;
	struct filter_entry entry;
	struct filter_error fault;

	assert_true(tracepoint_parse(&point, "sched", "sched_waking", format));
	if (expression)
		assert_int_equal(filter_entry_make(&entry, expression, point.format, "", point.types, &fault),
				 0);
	assert_true(kernel_program_write(program, layout, &point,
					 expression ? (const struct wire_filter *)entry.bytes : NULL, 7));
}

/* Where the function begins that has an instruction, and where it ends: others begin where calls lead to. */
static void find_function(const struct bpf_program *program, unsigned at, unsigned *begin, unsigned *end)
{
	*begin = 0;
	*end = program->count;
	for (unsigned n = 0; n < program->count; n++) {
		const unsigned to = n + 1 + (unsigned)program->code[n].imm;

		if (!is_own_call(&program->code[n]))
			continue;
		if (to <= at && to > *begin)
			*begin = to;
		if (to > at && to < *end)
			*end = to;
	}
}

/* The instruction that stores the address of the stack, for a comparison. Return: program->count: there is none. */
static unsigned find_comparison(const struct bpf_program *program)
{
	unsigned at = 0;

	while (at < program->count && (program->code[at].code != (BPF_STX | BPF_MEM | BPF_DW) ||
				       program->code[at].src_reg != BPF_REG_10))
		at++;
	return at;
}

static void finds_interrupts_on_no_stack(void **state)
{
	static const char *const expressions[] = {
		NULL,
		"tid > 3 && pid != 4",
		"comm == \"0123456789abcdefghij\"",
		"comm != \"a*b\" && (pid < 3 || comm == \"*\" || comm == \"*abc\")",
	};
	const struct kernel_layout layouts[] = {
		{ .members = -1, .met = -1, .packets = -1, .late = -1, .window = 4 },
		{ .members = 5, .met = 6, .packets = 7, .late = 8, .window = 4, .overwrite = true },
	};
	static struct bpf_program program;

	(void)state;
	for (unsigned n = 0; n < 16; n++) {
		unsigned at, begin, end;

		write_waking(&program, n & 1 ? waking_format : other_waking_format, &layouts[n >> 1 & 1],
			     expressions[n >> 2]);
		assert_true(is_reachable(&program));
		at = find_comparison(&program);
		assert_true(at < program.count);
		find_function(&program, at, &begin, &end);
		assert_true(begin > 0);
		for (unsigned other = begin; other < end; other++)
			assert_true(program.code[other].dst_reg != BPF_REG_10 &&
				    (other == at || program.code[other].src_reg != BPF_REG_10));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_events),
		cmocka_unit_test(of_system_calls),
		cmocka_unit_test(refuses_other_globs),
		cmocka_unit_test(finds_tests_of_processes),
		cmocka_unit_test(refuses_what_is_not_known),
		cmocka_unit_test(finds_interrupts_on_no_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
