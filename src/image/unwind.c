/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From frame to frame; see unwind.h. */
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>

#include "image/unwind.h"
#include "image/unwind_expression.h"
#include "image/unwind_row.h"

enum {
	STACK_FAR = 64 << 20, /* bytes between two frames beyond which they are of no stack */
	START_BYTES = 64,     /* of a program's first code */
};

/* Code without tables is trusted to have left a frame record: frame pointer and return address. */
static const struct unwind_row frame_record = {
	.cfa = UNWIND_CFA_REGISTER,
	.base = UNWIND_FRAME,
	.offset = 16,
	.count = 2,
	.rules = { { .number = UNWIND_FRAME, .how = UNWIND_AT, .offset = -16 },
		   { .number = UNWIND_RETURN, .how = UNWIND_AT, .offset = -8 } },
};

struct walk {
	const struct unwind_sample *sample;
	struct unwind_memory stack;
	struct unwind_registers now; /* in the frame that was reached */
	bool exact;   /* it was there, not in a call before: innermost, or interrupted by a signal */
	bool trusted; /* a frame record led there */
	unwind_lookup *lookup;
	void *context;
	uint64_t *places;
	unsigned max, count;
};

#if defined(__aarch64__)
static const unsigned char perf_numbers[UNWIND_GENERAL] = { 0,	1,  2,	3,  4,	5,  6,	7,  8,	9,  10,
							    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
							    22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
static const unsigned perf_pc = PERF_REG_ARM64_PC;

/* Return addresses may be signed, in the bits that no address of a process has. */
static uint64_t plain_address(uint64_t address)
{
	return address & ((UINT64_C(1) << 48) - 1);
}
#else
static const unsigned char perf_numbers[UNWIND_GENERAL] = {
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,
	PERF_REG_X86_SI,  PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,
	PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
};
static const unsigned perf_pc = PERF_REG_X86_IP;

static uint64_t plain_address(uint64_t address)
{
	return address;
}
#endif

/* The value of one of perf's registers: values come in the order of the mask's bits. */
static bool perf_value(uint64_t mask, const uint64_t *values, unsigned number, uint64_t *value)
{
	if (!(mask >> number & 1))
		return false;
	*value = values[__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1))];
	return true;
}

static bool known(const struct unwind_registers *registers, unsigned number)
{
	return number < UNWIND_REGISTERS && registers->known >> number & 1;
}

int unwind_registers_from_perf(struct unwind_registers *registers, uint64_t abi, uint64_t mask,
			       const uint64_t *values)
{
	registers->known = 0;
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return -ENOTSUP;
	for (unsigned n = 0; n < UNWIND_GENERAL; n++) {
		if (perf_value(mask, values, perf_numbers[n], &registers->value[n]))
			registers->known |= UINT64_C(1) << n;
	}
	if (!perf_value(mask, values, perf_pc, &registers->pc) || !known(registers, UNWIND_STACK))
		return -EINVAL;
	return 0;
}

/*
 * What lies below the stack pointer is in no copy. But there a rule points to only in a function's end, which
 * popped the register already without saying so: the caller's value is in it again.
 */
static int load_saved(const struct walk *walk, unsigned number, uint64_t address, uint64_t *value)
{
	if (address < walk->now.value[UNWIND_STACK] && number < UNWIND_GENERAL && known(&walk->now, number)) {
		*value = walk->now.value[number];
		return 0;
	}
	return unwind_load(&walk->stack, address, 8, value);
}

/* A caller's register. Return: 0; -ENOENT: it is lost; -EFAULT: beyond the copy; -EINVAL: no sound rule. */
static int recover(const struct walk *walk, const struct unwind_table *table, const struct unwind_rule *rule,
		   uint64_t cfa, uint64_t *value)
{
	int error;

	switch (rule->how) {
	case UNWIND_AT:
		return load_saved(walk, rule->number, cfa + (uint64_t)rule->offset, value);
	case UNWIND_VALUE:
		*value = cfa + (uint64_t)rule->offset;
		return 0;
	case UNWIND_REGISTER:
		if (!known(&walk->now, (unsigned)rule->offset))
			return -EINVAL;
		*value = walk->now.value[rule->offset];
		return 0;
	case UNWIND_AT_EXPRESSION:
	case UNWIND_EXPRESSION:
		error = unwind_evaluate(unwind_table_expression(table, rule->offset), &walk->now,
					&walk->stack, &cfa, value);
		if (!error && rule->how == UNWIND_AT_EXPRESSION)
			error = unwind_load(&walk->stack, *value, 8, value);
		return error;
	default:
		return -ENOENT;
	}
}

static int frame_address(const struct walk *walk, const struct unwind_table *table,
			 const struct unwind_row *row, uint64_t *cfa)
{
	switch (row->cfa) {
	case UNWIND_CFA_REGISTER:
		if (!known(&walk->now, row->base))
			return -EINVAL;
		*cfa = walk->now.value[row->base] + (uint64_t)row->offset;
		return 0;
	case UNWIND_CFA_EXPRESSION:
		return unwind_evaluate(unwind_table_expression(table, row->offset), &walk->now, &walk->stack,
				       NULL, cfa);
	default:
		return -EINVAL;
	}
}

static void set_register(struct unwind_registers *registers, unsigned number, uint64_t value)
{
	registers->value[number] = value;
	registers->known |= UINT64_C(1) << number;
}

/*
 * Go to the caller by a row. All rules are about the registers as they are, so none is changed before the
 * last was read.
 * Return: 0; else as recover() of the return address; the walk is where it was then.
 */
static int step(struct walk *walk, const struct unwind_table *table, const struct unwind_row *row)
{
	struct unwind_registers *now = &walk->now;
	const uint64_t reached = now->value[UNWIND_STACK];
	uint64_t values[UNWIND_RULES], lost = 0, stack, cfa;
	bool returns = UNWIND_RETURN < UNWIND_GENERAL && known(now, UNWIND_RETURN); /* leaves of aarch64 */
	int error = frame_address(walk, table, row, &cfa);

	if (error)
		return error;
	stack = cfa;
	for (unsigned n = 0; n < row->count; n++) {
		const unsigned number = row->rules[n].number;

		error = recover(walk, table, &row->rules[n], cfa, &values[n]);
		if (error && number == UNWIND_RETURN)
			return error;
		if (error)
			lost |= UINT64_C(1) << number;
		else if (number == UNWIND_STACK)
			stack = values[n];
		returns |= number == UNWIND_RETURN;
	}
	if (!returns)
		return -EINVAL;
	/* a frame lies further out than those that it called, or we would go round for ever */
	if (!row->signal && (stack < reached || (stack == reached && !walk->exact)))
		return -EINVAL;
	set_register(now, UNWIND_STACK, cfa);
	for (unsigned n = 0; n < row->count; n++) {
		if (!(lost >> row->rules[n].number & 1))
			set_register(now, row->rules[n].number, values[n]);
	}
	now->known &= ~lost;
	now->pc = plain_address(now->value[UNWIND_RETURN]);
	walk->exact = row->signal;
	return 0;
}

static uint64_t place_of(const struct walk *walk)
{
	return walk->exact ? walk->now.pc : walk->now.pc - 1;
}

/* What code lies where the walk is; NULL and @why as the look-up says. */
static struct unwind_table *look_up(const struct walk *walk, uint64_t place, uint64_t *bias,
				    enum wire_cut *why)
{
	*bias = 0;
	*why = WIRE_CUT_TABLES;
	return walk->lookup(walk->context, place, bias, why);
}

/* Whether there may be a frame record of a frame that begins at @from, or of one further out. */
static bool is_outward(uint64_t record, uint64_t from)
{
	return record % 8 == 0 && record >= from && record - from <= STACK_FAR;
}

/*
 * Go to the caller of code without tables, if the frame pointer leads outwards and to code. A frame pointer
 * of 0 is the outermost frame's, as the ABI has it, if a frame record says so; otherwise it is likelier a
 * register like any other.
 * Return: as step().
 */
static int step_trusting(struct walk *walk)
{
	const struct walk before = *walk;
	const uint64_t frame = walk->now.value[UNWIND_FRAME];
	enum wire_cut why;
	uint64_t bias;
	int error;

	if (!known(&walk->now, UNWIND_FRAME))
		return -EINVAL;
	if (frame == 0 && walk->trusted)
		return -ENOENT;
	if (!is_outward(frame, walk->now.value[UNWIND_STACK]))
		return -EINVAL;
	error = step(walk, NULL, &frame_record);
	if (!error && walk->now.pc && !look_up(walk, place_of(walk), &bias, &why) && why == WIRE_CUT_MEMORY) {
		*walk = before;
		return -EINVAL;
	}
	walk->trusted = true;
	return error;
}

/*
 * Whether code without tables is where all began: the start of a program, whose few instructions many leave without
 * tables; or a function to whose very beginning is returned (a context's, made by makecontext). No call left such an
 * address there, but who made the stack.
 */
static bool is_beginning(const struct walk *walk, struct unwind_table *table, uint64_t bias, uint64_t *place)
{
	const uint64_t address = walk->now.pc - bias;

	if (!table || address - unwind_table_start(table) < START_BYTES)
		return table;
	*place = walk->now.pc;
	return !walk->exact && unwind_table_row(table, address)->cfa != UNWIND_CFA_UNKNOWN;
}

/* Is there more to find at `places[count - 1]`'s caller? Return: whether so; if not, @cut tells why. */
static bool next_frame(struct walk *walk, struct unwind_table *table, uint64_t bias, enum wire_cut *cut)
{
	const struct unwind_row *row = table ? unwind_table_row(table, place_of(walk) - bias) : NULL;
	uint64_t place = place_of(walk);
	int error;

	if (row && row->cfa != UNWIND_CFA_UNKNOWN) {
		if (row->signal)
			walk->places[walk->count - 1] = walk->now.pc;
		walk->trusted = false;
		error = step(walk, table, row);
	} else if (is_beginning(walk, table, bias, &place)) {
		walk->places[walk->count - 1] = place;
		error = -ENOENT;
	} else {
		error = step_trusting(walk);
	}
	if (error == -EFAULT)
		*cut = WIRE_CUT_STACK;
	else if (error == -ENOENT || (!error && walk->now.pc == 0))
		*cut = WIRE_CUT_NONE;
	else if (!error)
		return true;
	return false;
}

/* As far as the copy of the stack leads. */
static enum wire_cut walk_stack(struct walk *walk)
{
	enum wire_cut cut;

	for (;;) {
		enum wire_cut why;
		uint64_t bias;
		struct unwind_table *table = look_up(walk, place_of(walk), &bias, &why);

		if (!table && why == WIRE_CUT_MEMORY)
			return why;
		if (walk->count == walk->max)
			return WIRE_CUT_DEPTH;
		walk->places[walk->count++] = place_of(walk);
		cut = table ? WIRE_CUT_TABLES : why;
		if (!next_frame(walk, table, bias, &cut))
			return cut;
	}
}

/*
 * The kernel's chain goes outwards along the same stack as the tables did. Where each of its frame records
 * lies is found by following them in the copy, as the kernel has. An entry of the chain goes on where the
 * tables stopped if its record lies further out than the frame that they came to. That of the first record
 * beyond the copy does too, if all before were as the kernel saw them, and if it is no farther than stacks
 * are long; the kernel has looked into it, we cannot.
 * Return: the first such entry; chain_count: none.
 */
static unsigned find_splice(const struct walk *walk)
{
	const struct unwind_sample *sample = walk->sample;
	const uint64_t reached = walk->now.value[UNWIND_STACK], begin = walk->stack.begin;
	uint64_t frame = sample->registers->value[UNWIND_FRAME];

	if (!known(sample->registers, UNWIND_FRAME))
		return sample->chain_count;
	for (unsigned n = 1; n < sample->chain_count; n++) {
		uint64_t caller, outer;

		if (!is_outward(frame, begin))
			break;
		if (unwind_load(&walk->stack, frame, 8, &outer) ||
		    unwind_load(&walk->stack, frame + 8, 8, &caller))
			return frame >= reached ? n : sample->chain_count;
		if (caller != sample->chain[n] || outer <= frame)
			break;
		if (frame >= reached)
			return n;
		frame = outer;
	}
	return sample->chain_count;
}

/* Whether the tables say of the outermost frame that nobody called it. */
static bool is_outermost(const struct unwind_table *table, const struct unwind_row *row)
{
	for (unsigned n = 0; table && n < row->count; n++) {
		if (row->rules[n].number == UNWIND_RETURN)
			return row->rules[n].how == UNWIND_UNDEFINED;
	}
	return false;
}

/* Go on with the kernel's chain, as far as it leads to code. Return: why no further. */
static enum wire_cut splice(struct walk *walk, enum wire_cut cut)
{
	const struct unwind_sample *sample = walk->sample;

	for (unsigned n = find_splice(walk); n < sample->chain_count; n++) {
		const uint64_t place = plain_address(sample->chain[n]) - 1;
		enum wire_cut why;
		uint64_t bias;
		struct unwind_table *table = look_up(walk, place, &bias, &why);

		if (!table && why == WIRE_CUT_MEMORY)
			break;
		if (walk->count == walk->max)
			return WIRE_CUT_DEPTH;
		walk->places[walk->count++] = place;
		if (table && is_outermost(table, unwind_table_row(table, place - bias)))
			return WIRE_CUT_NONE;
	}
	return cut;
}

unsigned unwind_frames(const struct unwind_sample *sample, unwind_lookup *lookup, void *context,
		       uint64_t *places, unsigned max, enum wire_cut *cut)
{
	struct walk walk = {
		.sample = sample,
		.stack = { .bytes = sample->stack,
			   .begin = sample->registers->value[UNWIND_STACK],
			   .size = sample->stack_bytes },
		.now = *sample->registers,
		.exact = true,
		.lookup = lookup,
		.context = context,
		.places = places,
		.max = max,
	};

	if (UNWIND_RETURN >= UNWIND_GENERAL) { /* in expressions, its number means the program counter */
		walk.now.value[UNWIND_RETURN] = walk.now.pc;
		walk.now.known |= UINT64_C(1) << UNWIND_RETURN;
	}
	*cut = walk_stack(&walk);
	if (*cut != WIRE_CUT_NONE && walk.count && walk.count < max)
		*cut = splice(&walk, *cut);
	return walk.count;
}
