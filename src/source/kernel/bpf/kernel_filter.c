/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Filters in the kernel; see kernel_filter.h.
 *
 * Tests lead to later tests only, as jumps of such programs do. Register 1 has the value that a test is about; of two values, register
 * BYTES keeps the first one, since it survives calls. A text is copied to the
 * stack first, and ends in the same way as in the record.
 *
 * A test becomes instructions that jump to one of four places: a later test, YES, NO, or LATER: the last one is for a text or an address that
 * is not in memory at the entry of a call; the filter runs again at the exit (struct kernel_late). Jumps are remembered in `jumps`
 * until their place is written. If there are more than JUMPS, the program is full, as one of too many instructions.
 *
 * A text that the process changes between the filter and the record can pass with a content that the filter would refuse; both are
 * copies of their own moments.
 */
#include <string.h>

#include "filter/filter.h"
#include "source/kernel/bpf/kernel_filter.h"
#include "source/kernel/in_kernel/kernel_input.h"
#include "source/kernel/bpf/kernel_put.h"
#include "source/kernel/in_kernel/kernel_parts.bpf.h"

enum {
	TESTS = WIRE_FILTER_TESTS_MAX,
	JUMPS = 1024,
	YES = TESTS,
	NO = TESTS + 1,
	LATER = TESTS + 2, /* the text is not in memory */

	TASK_NAME = 16,				    /* bytes, with the NUL */
	KERNEL_STACK_NAME = KERNEL_STACK_TEXT + 32, /* before it is copied to KERNEL_STACK_TEXT */
};

/* Jumps that wait for the place where they lead to: a test, YES or NO. */
struct jumps {
	struct {
		unsigned jump, target;
	} all[JUMPS];
	unsigned count;
	bool full;
};

static unsigned target_of(unsigned number)
{
	return number == WIRE_FILTER_YES ? YES : number == WIRE_FILTER_NO ? NO : number;
}

static void kernel_filter_add_jump(struct jumps *jumps, unsigned jump, unsigned target)
{
	jumps->full |= jumps->count == JUMPS;
	if (jumps->full)
		return;
	jumps->all[jumps->count].jump = jump;
	jumps->all[jumps->count++].target = target;
}

static void land_all(struct bpf_program *to, const struct jumps *jumps, unsigned target)
{
	for (unsigned n = 0; n < jumps->count; n++)
		if (jumps->all[n].target == target)
			bpf_land(to, jumps->all[n].jump);
}

static bool has_target(const struct jumps *jumps, unsigned target)
{
	for (unsigned n = 0; n < jumps->count; n++)
		if (jumps->all[n].target == target)
			return true;
	return false;
}

/* ---- what fits */

static bool kernel_filter_is_text(const struct wire_filter_test *test)
{
	const unsigned op = test->op % WIRE_FILTER_WALK;

	return op == WIRE_FILTER_TEXT || op == WIRE_FILTER_GLOB;
}

static const struct tracepoint_field *field_of(const struct tracepoint *point, unsigned arg)
{
	for (unsigned n = 0; n < point->count; n++)
		if (point->fields[n].recorded && !arg--)
			return &point->fields[n];
	return &point->fields[0]; /* the filter was compiled for these fields */
}

static bool comes_later(enum tracepoint_kind kind)
{
	return kind == TRACEPOINT_INTERRUPT || kind == TRACEPOINT_LIST || kind == TRACEPOINT_LIST_COUNT ||
	       kind == TRACEPOINT_POINTED || kind == TRACEPOINT_VECTORS;
}

/* Whether an operand of a test is known where programs filter. @place: of the operand */
static bool comes_in_time(const struct kernel_filter *of, const struct wire_filter_test *place)
{
	return filter_source(place) == WIRE_FILTER_SUBJECT ||
	       !comes_later(field_of(of->point, place->arg)->kind);
}

static const char *test_fits(const struct kernel_filter *of, const struct wire_filter_test *test)
{
	const struct wire_filter_more *more = filter_more(test);
	const struct wire_filter_test other = more ? filter_other(more) : *test;
	const char *text;

	if (!comes_in_time(of, test) || !comes_in_time(of, &other))
		return "the kernel's programs find `interrupt`, arguments of an exec, `memory`, "
		       "`vectors` and `data` later than they filter";
	if (more && kernel_filter_is_text(test))
		return "in the kernel a text is compared with a constant, not with another text";
	if (more && (filter_source(test) == WIRE_FILTER_ANY || filter_source(test) == WIRE_FILTER_COUNT ||
		     filter_source(&other) == WIRE_FILTER_COUNT))
		return "in the kernel elements of arrays and their count have no & and no %, and are "
		       "compared with constants";
	if (test->op % WIRE_FILTER_WALK != WIRE_FILTER_GLOB)
		return NULL;
	text = (const char *)of->filter + test->low;
	if (strpbrk(text, "?[") || strchr(text, '*') != strrchr(text, '*'))
		return "in the kernel a glob has one *, and no ? and [";
	return NULL;
}

const char *kernel_filter_fits(const struct kernel_filter *of, bool in_kernel)
{
	const struct wire_filter *filter = of->filter;
	const unsigned facts = filter_facts(filter);
	const char *wrong = NULL;

	if (facts & (FILTER_DEPTH | FILTER_CORRELATION))
		return "events of the kernel have no depth and no correlation";
	if (facts & FILTER_PROGRAM)
		return "events of the kernel have no program; use pid or thread";
	if (facts & FILTER_THREAD && !in_kernel)
		return "the thread's name is known to programs in the kernel (BPF) only, which are not used "
		       "here; "
		       "use tid";
	for (unsigned n = 0; in_kernel && !wrong && n < filter->tests; n += filter_step(&filter->test[n]))
		wrong = test_fits(of, &filter->test[n]);
	return wrong;
}

bool kernel_filter_needs_pid(const struct wire_filter *filter)
{
	return filter && filter_facts(filter) & FILTER_PID;
}

/* ---- where values are */

static bool same_place(const struct tracepoint *point, const struct tracepoint *other_point,
		       const struct wire_filter_test *test)
{
	const struct tracepoint_field *one = field_of(point, test->arg),
				      *other = field_of(other_point, test->arg);

	return filter_source(test) == WIRE_FILTER_SUBJECT ||
	       (one->kind == other->kind && one->offset == other->offset && one->socket == other->socket);
}

bool kernel_filter_same(const struct kernel_filter *a, const struct kernel_filter *b)
{
	if (a->filter->bytes != b->filter->bytes || a->filter->tests != b->filter->tests ||
	    memcmp(a->filter->test, b->filter->test, a->filter->bytes - offsetof(struct wire_filter, test)) !=
		    0)
		return false;
	for (unsigned n = 0; n < a->filter->tests; n += filter_step(&a->filter->test[n])) {
		const struct wire_filter_test *test = &a->filter->test[n];
		const struct wire_filter_more *more = filter_more(test);
		const struct wire_filter_test other = more ? filter_other(more) : *test;

		if (!same_place(a->point, b->point, test) || !same_place(a->point, b->point, &other))
			return false;
	}
	return true;
}

uint8_t kernel_filters_add(struct kernel_filters *filters, const struct wire_filter *filter,
			   const struct tracepoint *point)
{
	const struct kernel_filter added = { filter, point };

	for (unsigned n = 0; n < filters->count; n++)
		if (kernel_filter_same(&filters->list[n], &added))
			return (uint8_t)(n + 1);
	if (filters->count == KERNEL_FILTERS_MAX)
		return 0;
	filters->list[filters->count++] = added;
	return (uint8_t)filters->count;
}

#define INPUT(member) ((int)offsetof(struct kernel_input, member))

/* An argument of a system call. In the kernel's record each has 8 bytes, behind the number of the call. */
static int argument_place(const struct tracepoint_field *field)
{
	return INPUT(arguments) + (field->offset - 16) / 8 % KERNEL_ARGUMENTS * 8;
}

/* Register 1: an integer of a field, or of element @n of an array. */
static void kernel_filter_put_value(struct bpf_program *to, const struct kernel_filter *filter,
				    const struct tracepoint_field *field, unsigned n)
{
	bool enters;

	if (field->kind == TRACEPOINT_CALL)
		bpf_put_copy(to, BPF_REG_1, KERNEL_REG_FOUND);
	else if (field->kind == TRACEPOINT_CALL_NUMBER)
		bpf_put_load(to, BPF_W, BPF_REG_1, KERNEL_REG_PLACE, INPUT(number));
	else if (field->source.place != TRACEPOINT_RECORD)
		kernel_put_argument(to, field);
	else if (tracepoint_syscall(filter->point, &enters))
		bpf_put_load(to, BPF_DW, BPF_REG_1, KERNEL_REG_PLACE,
			     enters ? argument_place(field) : INPUT(result));
	else
		bpf_put_load(to, kernel_size_code(field->element ? field->element : field->bytes), BPF_REG_1,
			     KERNEL_REG_CONTEXT, (int)(field->offset + n * field->element));
}

/* Register 1: a property of the thread. */
static void put_subject(struct bpf_program *to, unsigned offset)
{
	if (offset == offsetof(struct filter_subject, cpu))
		bpf_put_call(to, BPF_FUNC_get_smp_processor_id);
	else
		bpf_put_call(to, BPF_FUNC_get_current_pid_tgid);
	bpf_put_copy(to, BPF_REG_1, BPF_REG_0);
	if (offset == offsetof(struct filter_subject, pid))
		bpf_put_alu(to, BPF_RSH, BPF_REG_1, 32);
}

/* The bytes of a text in the record, at most. @field: NULL: the thread's name */
static unsigned text_max(const struct tracepoint_field *field)
{
	if (!field)
		return TASK_NAME - 1;
	return field->kind == TRACEPOINT_CHARS ? field->size : TRACEPOINT_TEXT_MAX;
}

/* Jump to LATER unless it is too late for that. */
static void put_later(struct bpf_program *to, struct jumps *jumps)
{
	bpf_put_load(to, BPF_W, BPF_REG_1, KERNEL_REG_PLACE, INPUT(last_chance));
	kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JEQ, BPF_REG_1, 0), LATER);
}

/* Copy the thread's name to the stack. Register 0: its bytes with the NUL. */
static void put_thread(struct bpf_program *to)
{
	unsigned read;

	bpf_put_address(to, BPF_REG_1, KERNEL_STACK_NAME);
	bpf_put_set(to, BPF_REG_2, TASK_NAME);
	bpf_put_call(to, BPF_FUNC_get_current_comm);
	bpf_put_address(to, BPF_REG_1, KERNEL_STACK_TEXT);
	bpf_put_set(to, BPF_REG_2, TASK_NAME);
	bpf_put_address(to, BPF_REG_3, KERNEL_STACK_NAME);
	bpf_put_call(to, BPF_FUNC_probe_read_kernel_str); /* for its size */
	read = bpf_put_jump(to, BPF_JSGE, BPF_REG_0, 0);  /* always; the verifier does not know */
	bpf_put_set(to, BPF_REG_0, 0);
	bpf_land(to, read);
}

/* Copy a text to the stack. @field: NULL: the thread's name. Register 0: its bytes with the NUL. */
static void kernel_filter_put_text(struct bpf_program *to, const struct tracepoint_field *field,
				   struct jumps *jumps)
{
	unsigned read;

	if (!field) {
		put_thread(to);
		return;
	}

	if (field->source.place != TRACEPOINT_RECORD || field->kind != TRACEPOINT_USER_TEXT) {
		kernel_put_text(to, BPF_REG_10, KERNEL_STACK_TEXT, field);
		return;
	}
	bpf_put_load(to, BPF_DW, BPF_REG_2, KERNEL_REG_PLACE, argument_place(field));
	kernel_put_user_text(to, BPF_REG_10, KERNEL_STACK_TEXT);
	read = bpf_put_jump(to, BPF_JSGE, BPF_REG_0, 0);
	put_later(to, jumps);
	bpf_put_set(to, BPF_REG_0, KERNEL_NULL_BYTES);
	bpf_land(to, read);
}

/* ---- tests */

/* Jump if the number in register 1 is in the test's range. @op: of the filter, which has its width. Return: the jump. */
static unsigned put_range(struct bpf_program *to, const struct wire_filter_test *test)
{
	static const uint64_t masks[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX };
	const uint64_t mask = masks[test->op % WIRE_FILTER_WALK & 3];

	if (mask <= UINT16_MAX) { /* less code for the elements of an array */
		bpf_put_alu(to, BPF_SUB, BPF_REG_1, (int)(test->low & mask));
		bpf_put_alu(to, BPF_AND, BPF_REG_1, (int)mask);
		return bpf_put_jump(to, BPF_JLE, BPF_REG_1, (int)(test->span & mask));
	}
	bpf_put_number(to, BPF_REG_2, test->low);
	bpf_put_alu_register(to, BPF_SUB, BPF_REG_1, BPF_REG_2);
	if (mask != UINT64_MAX) {
		bpf_put_number(to, BPF_REG_2, mask);
		bpf_put_alu_register(to, BPF_AND, BPF_REG_1, BPF_REG_2);
	}
	bpf_put_number(to, BPF_REG_2, test->span);
	return bpf_put_jump_register(to, BPF_JLE, BPF_REG_1, BPF_REG_2);
}

/* Jump to @target unless these bytes lie at register @base plus an offset. */
static void kernel_filter_put_bytes(struct bpf_program *to, struct jumps *jumps, unsigned target,
				    unsigned base, int offset, const char *text, unsigned bytes)
{
	for (unsigned n = 0; n < bytes; n++) {
		bpf_put_load(to, BPF_B, BPF_REG_1, base, offset + (int)n);
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JNE, BPF_REG_1, (uint8_t)text[n]), target);
	}
}

/* A text equals another one, or has its beginning and its end. */
static void put_text_test(struct bpf_program *to, struct jumps *jumps, const struct wire_filter *filter,
			  const struct wire_filter_test *test, const struct tracepoint_field *field)
{
	const int place = KERNEL_STACK_TEXT;
	const char *text = (const char *)filter + test->low;
	const unsigned otherwise = target_of(test->otherwise), bytes = (unsigned)strlen(text);
	const char *star = test->op % WIRE_FILTER_WALK == WIRE_FILTER_GLOB ? strchr(text, '*') : NULL;
	const unsigned before = star ? (unsigned)(star - text) : bytes + 1;

	if (bytes - (star != NULL) > text_max(field)) { /* longer than any */
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JGE, BPF_REG_0, 0),
				       otherwise); /* always */
		return;
	}
	/* Without the star it is as long as the shortest text with its NUL. */
	kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JLT, BPF_REG_0, (int)(star ? bytes : bytes + 1)),
			       otherwise);
	if (star && star[1]) {
		const unsigned after = bytes - before - 1;

		bpf_put_address(to, BPF_REG_2, place - (int)after - 1);
		bpf_put_alu_register(to, BPF_ADD, BPF_REG_2, BPF_REG_0);
		kernel_filter_put_bytes(to, jumps, otherwise, BPF_REG_2, 0, star + 1, after);
	}
	kernel_filter_put_bytes(to, jumps, otherwise, BPF_REG_10, place, text, before);
}

/* Copy a socket's address to the stack. Register 0: its bytes */
static void kernel_filter_put_socket(struct bpf_program *to, const struct kernel_filter *filter,
				     const struct tracepoint_field *field, struct jumps *jumps)
{
	bool enters = false;
	unsigned read;

	tracepoint_syscall(filter->point, &enters);
	/* The verifier does not know how much is copied, so it takes all that may be for read. */
	for (int n = 0; n < TRACEPOINT_TEXT_MAX; n += 8)
		bpf_put(to, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, KERNEL_STACK_TEXT + n, 0);
	bpf_put_copy(to, BPF_REG_1, KERNEL_REG_PLACE);
	bpf_put_set(to, BPF_REG_2, field->socket);
	bpf_put_set(to, BPF_REG_3, !enters);
	bpf_put_address(to, BPF_REG_4, KERNEL_STACK_TEXT);
	bpf_put_code_call(to, &kernel_copy_socket);
	read = bpf_put_jump(to, BPF_JSGE, BPF_REG_0, 0);
	put_later(to, jumps);
	bpf_put_set(to, BPF_REG_0, 0);
	bpf_land(to, read);
}

/* The count of a socket's address, or any byte of it. */
static void put_socket_test(struct bpf_program *to, const struct wire_filter_test *test, struct jumps *jumps)
{
	const unsigned then = target_of(test->then);

	if (filter_source(test) == WIRE_FILTER_COUNT) {
		bpf_put_copy(to, BPF_REG_1, BPF_REG_0);
		kernel_filter_add_jump(jumps, put_range(to, test), then);
		return;
	}
	for (int n = 0; n < TRACEPOINT_SOCKET_MAX; n++) {
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JLE, BPF_REG_0, n),
				       target_of(test->otherwise));
		bpf_put_load(to, BPF_B, BPF_REG_1, BPF_REG_10, KERNEL_STACK_TEXT + n);
		kernel_filter_add_jump(jumps, put_range(to, test), then);
	}
}

/* ---- tests with a second half */

/* Register 1: an integer, extended to 64 bits. @place: of it */
static void put_integer(struct bpf_program *to, const struct kernel_filter *filter,
			const struct wire_filter_test *place, bool has_sign)
{
	const int unused = 64 - (8 << (place->op % WIRE_FILTER_WALK & 3));

	if (filter_source(place) == WIRE_FILTER_SUBJECT)
		put_subject(to, place->offset);
	else
		kernel_filter_put_value(to, filter, field_of(filter->point, place->arg), 0);
	if (unused) {
		bpf_put_alu(to, BPF_LSH, BPF_REG_1, unused);
		bpf_put_alu(to, has_sign ? BPF_ARSH : BPF_RSH, BPF_REG_1, unused);
	}
}

/* Change the integer in register 1. Programs divide without a sign only. */
static void kernel_filter_put_change(struct bpf_program *to, const struct wire_filter_more *more)
{
	unsigned positive, done;

	if (more->change == WIRE_FILTER_AS_IS)
		return;
	bpf_put_number(to, BPF_REG_2, more->by);
	if (more->change == WIRE_FILTER_AND) {
		bpf_put_alu_register(to, BPF_AND, BPF_REG_1, BPF_REG_2);
		return;
	}
	if (!more->has_sign) {
		bpf_put_alu_register(to, BPF_MOD, BPF_REG_1, BPF_REG_2);
		return;
	}
	positive = bpf_put_jump(to, BPF_JSGE, BPF_REG_1, 0);
	bpf_put_alu(to, BPF_NEG, BPF_REG_1, 0);
	bpf_put_alu_register(to, BPF_MOD, BPF_REG_1, BPF_REG_2);
	bpf_put_alu(to, BPF_NEG, BPF_REG_1, 0);
	done = bpf_put_jump(to, BPF_JA, 0, 0);
	bpf_land(to, positive);
	bpf_put_alu_register(to, BPF_MOD, BPF_REG_1, BPF_REG_2);
	bpf_land(to, done);
}

/* Jump if the first integer, in register BYTES, is in a relation to the other one in register 1. */
static void put_relation(struct bpf_program *to, const struct wire_filter_test *test,
			 const struct wire_filter_more *more, struct jumps *jumps)
{
	static const uint8_t codes[WIRE_FILTER_RELATIONS][2] = {
		[WIRE_FILTER_EQUAL] = { BPF_JEQ, BPF_JEQ },
		[WIRE_FILTER_LESS] = { BPF_JLT, BPF_JSLT },
		[WIRE_FILTER_LESS_EQUAL] = { BPF_JLE, BPF_JSLE },
		[WIRE_FILTER_GREATER] = { BPF_JGT, BPF_JSGT },
		[WIRE_FILTER_GREATER_EQUAL] = { BPF_JGE, BPF_JSGE },
	};
	const bool is_less = more->relation == WIRE_FILTER_LESS || more->relation == WIRE_FILTER_LESS_EQUAL,
		   is_greater = more->relation == WIRE_FILTER_GREATER ||
				more->relation == WIRE_FILTER_GREATER_EQUAL;
	const unsigned then = target_of(test->then), otherwise = target_of(test->otherwise);

	/* One that is negative is less than any number without a sign. */
	if (more->has_sign && !more->other_has_sign)
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JSLT, KERNEL_REG_BYTES, 0),
				       is_less ? then : otherwise);
	if (more->other_has_sign && !more->has_sign)
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JSLT, BPF_REG_1, 0),
				       is_greater ? then : otherwise);
	kernel_filter_add_jump(
		jumps,
		bpf_put_jump_register(to, codes[more->relation][more->has_sign && more->other_has_sign],
				      KERNEL_REG_BYTES, BPF_REG_1),
		then);
}

static void put_more(struct bpf_program *to, const struct kernel_filter *filter,
		     const struct wire_filter_test *test, struct jumps *jumps)
{
	const struct wire_filter_more *more = filter_more(test);
	const struct wire_filter_test other = filter_other(more);

	put_integer(to, filter, test, more->has_sign);
	kernel_filter_put_change(to, more);
	if (more->relation == WIRE_FILTER_IN_RANGE) {
		struct wire_filter_test range = *test;

		range.op = WIRE_FILTER_64;
		kernel_filter_add_jump(jumps, put_range(to, &range), target_of(test->then));
	} else {
		bpf_put_copy(to, KERNEL_REG_BYTES, BPF_REG_1);
		put_integer(to, filter, &other, more->other_has_sign);
		put_relation(to, test, more, jumps);
	}
	kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JA, 0, 0), target_of(test->otherwise));
}

static void put_test(struct bpf_program *to, const struct kernel_filter *filter,
		     const struct wire_filter_test *test, struct jumps *jumps)
{
	const unsigned source = filter_source(test), then = target_of(test->then);
	const struct tracepoint_field *field =
		source == WIRE_FILTER_SUBJECT ? NULL : field_of(filter->point, test->arg);
	const unsigned count = field && field->element ? field->size / field->element : 1;

	if (filter_more(test)) {
		put_more(to, filter, test, jumps);
		return;
	}
	if (kernel_filter_is_text(test)) {
		kernel_filter_put_text(to, field, jumps);
		put_text_test(to, jumps, filter->filter, test, field);
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JA, 0, 0), then);
		return;
	}
	if (field && field->kind == TRACEPOINT_SOCKET) {
		kernel_filter_put_socket(to, filter, field, jumps);
		put_socket_test(to, test, jumps);
		kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JA, 0, 0), target_of(test->otherwise));
		return;
	}
	for (unsigned n = 0; n < (source == WIRE_FILTER_ANY ? count : 1); n++) {
		if (source == WIRE_FILTER_COUNT)
			bpf_put_set(to, BPF_REG_1, (int)count);
		else if (field)
			kernel_filter_put_value(to, filter, field, n);
		else
			put_subject(to, test->offset);
		kernel_filter_add_jump(jumps, put_range(to, test), then);
	}
	kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JA, 0, 0), target_of(test->otherwise));
}

/* A filter that is always true or always false, its only test. The kernel refuses programs where no jump leads to an instruction. */
static void put_constant(struct bpf_program *to, const struct wire_filter_test *test, struct jumps *jumps)
{
	bpf_put_set(to, BPF_REG_1, target_of(test->then) == YES);
	kernel_filter_add_jump(jumps, bpf_put_jump(to, BPF_JNE, BPF_REG_1, 0), YES);
}

/* One filter, which ends with its verdict. */
static void kernel_filter_put_one(struct bpf_program *to, const struct kernel_filter *filter)
{
	struct jumps jumps = { .count = 0 };

	if (filter->filter->test[0].then == filter->filter->test[0].otherwise)
		put_constant(to, &filter->filter->test[0], &jumps);
	else
		for (unsigned n = 0; n < filter->filter->tests; n += filter_step(&filter->filter->test[n])) {
			land_all(to, &jumps, n);
			put_test(to, filter, &filter->filter->test[n], &jumps);
		}
	to->full |= jumps.full;
	land_all(to, &jumps, NO);
	kernel_put_result(to, KERNEL_REFUSED);
	if (has_target(&jumps, LATER)) {
		land_all(to, &jumps, LATER);
		kernel_put_result(to, KERNEL_UNDECIDED);
	}
	if (has_target(&jumps, YES)) {
		land_all(to, &jumps, YES);
		kernel_put_result(to, KERNEL_ACCEPTED);
	}
}

void kernel_filter_put(struct bpf_program *to, const struct kernel_filter *filters, unsigned count)
{
	bpf_put_copy(to, KERNEL_REG_CONTEXT, BPF_REG_1);
	bpf_put_copy(to, KERNEL_REG_FOUND, BPF_REG_3);
	if (tracepoint_syscall(filters->point, &(bool){ false }))
		bpf_put_copy(to, KERNEL_REG_PLACE, BPF_REG_4);
	for (unsigned n = 0; n + 1 < count; n++) {
		const unsigned other = bpf_put_jump(to, BPF_JNE, KERNEL_REG_FOUND, (int)n + 1);

		kernel_filter_put_one(to, &filters[n]);
		bpf_land(to, other);
	}
	kernel_filter_put_one(to, &filters[count - 1]);
}
