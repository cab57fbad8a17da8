/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Walks a stack from frame to frame; see unwind.h.
 *
 * The state of a walk: the registers of the current frame, with a bit for each that is known, ->exact, and ->trusted.
 * The caller of a frame is found by the first of these ways that applies (next_frame()):
 *
 *	a row of the tables	unwind_step(); where it fails, no other way is tried
 *	the outermost frame	is_beginning(): there is no caller, the stack is whole
 *	a gap in the tables	step_gap(): around the system call that makes a thread
 *	code without tables	step_bare(): step_leaf(), a function without a frame that a direct call has reached;
 *				else step_frame_pointer(); else step_scan(), the next word that leads behind a call
 *	a row that needs a frame pointer, which is not known	step_bare(), too
 *
 * unwind_step() changes all registers or none, since each rule refers to the values before it. Where it leads to what is not
 * code, step_gap() and step_frame_pointer() put them back. So the next way begins from the same state. At the end of
 * the copy, unwind_splice() continues with the kernel's chain.
 *
 * Why it ends. A caller's stack pointer must be further out, so a walk goes through the copy once. A row of a signal
 * frame may lead anywhere, since signals can have stacks of their own; there ->max frames are the bound. Guesses
 * repeat parts of a walk: at most GUESSES are kept, none is tried again after STEPS_MAX frames, and all attempts
 * together search SCAN_WORDS words. If none succeeds, the first is walked once more. The tables bound each row and
 * each expression; what the samples of a process cost in sum is metered (0069).
 *
 * Nothing is trusted. Registers and stack are the process's; tables and code are those of files that it chose. The
 * kernel's chain follows frame records, which the process wrote. So an address has three uses only: unwind_load(),
 * which reads nothing but the copy, ->lookup(), and ->code(). A lie yields wrong frames in the liar's own stacks.
 *
 * Whether guesses were right shows at the end: a stack that reaches the thread's first function confirms them, else
 * others are tried. In a walk that has searched, a frame pointer of 0 and a function at its first instruction are no
 * such end: words that earlier calls left behind lead to both (0027).
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "image/unwind/unwind.h"
#include "image/unwind/unwind_expression.h"
#include "image/unwind/unwind_table.h"

enum {
	STACK_FAR = 64 << 20,	 /* bytes; frames farther apart are not of one stack */
	START_BYTES = 64,	 /* of a program's code at its entry point */
	GAP_BYTES = 16,		 /* of code without tables around a system call */
	RESULT = 0,		 /* the register with the result of a system call */
	FUNCTION_MAX = 64 << 10, /* bytes of code without tables, behind its beginning */
	SCAN_WORDS = 4096,	 /* of a stack that are searched for return addresses, at most */
	GUESSES = 16,		 /* that are tried again, the last ones of a walk */
	STEPS_MAX = 2048,	 /* after so many frames, no guess is tried again */
	FIRST_BYTES = 128,	 /* of the stack of a program's first function, at most */
	ARGUMENTS_MAX = 4096,
};

/* Code without tables is assumed to keep a frame record: frame pointer and return address. */
static const struct unwind_row frame_record = {
	.cfa = UNWIND_CFA_REGISTER,
	.base = UNWIND_FRAME,
	.offset = 16,
	.count = 2,
	.rules = { { .number = UNWIND_FRAME, .how = UNWIND_AT, .offset = -16 },
		   { .number = UNWIND_RETURN, .how = UNWIND_AT, .offset = -8 } },
};

/* The state at a frame of code without tables, whose caller was guessed. */
struct guess {
	struct unwind_registers now;
	uint64_t slot; /* of the stack, where the search for another caller begins */
	unsigned count;
	bool exact, trusted;
};

struct walk {
	const struct unwind_sample *sample;
	struct unwind_memory stack;
	struct unwind_registers now; /* of the current frame */
	bool exact; /* pc is the current instruction, not a return address: innermost, or interrupted by a signal */
	bool trusted; /* found by a frame record */
	unwind_lookup *lookup;
	void *context;
	uint64_t *locations;
	unsigned max, count;
	unsigned scanned; /* words */
	unsigned steps;	  /* frames, in all attempts */
	struct guess guesses[GUESSES];
	unsigned guess_count;
};

#if defined(__aarch64__)
static const unsigned char perf_numbers[UNWIND_GENERAL] = { 0,	1,  2,	3,  4,	5,  6,	7,  8,	9,  10,
							    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
							    22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
static const unsigned perf_pc = PERF_REG_ARM64_PC;

/* Return addresses may have a signature, in bits that no address of a process uses. */
static uint64_t strip_signature(uint64_t address)
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

static uint64_t strip_signature(uint64_t address)
{
	return address;
}
#endif

/* The value of one of perf's registers; values are in the order of the mask's bits. */
static bool perf_value(uint64_t mask, const uint64_t *values, unsigned number, uint64_t *value)
{
	if (!(mask >> number & 1))
		return false;
	*value = values[__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1))];
	return true;
}

static bool unwind_known(const struct unwind_registers *registers, unsigned number)
{
	return number < UNWIND_REGISTERS && registers->known >> number & 1;
}

int unwind_registers_from_perf(struct unwind_registers *registers, uint64_t abi, uint64_t mask,
			       const uint64_t *values)
{
	registers->known = 0;
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return -ENOTSUP;
	for (unsigned n = 0; n < UNWIND_GENERAL; n++)
		if (perf_value(mask, values, perf_numbers[n], &registers->value[n]))
			registers->known |= UINT64_C(1) << n;
	if (!perf_value(mask, values, perf_pc, &registers->pc) || !unwind_known(registers, UNWIND_STACK))
		return -EINVAL;
	return 0;
}

/*
 * The copy begins at the stack pointer. A rule points below it only in a function's epilogue that has popped the register
 * without a change of the rule. So the register has the caller's value again.
 */
static int load_saved(const struct walk *walk, unsigned number, uint64_t address, uint64_t *value)
{
	if (address < walk->now.value[UNWIND_STACK] && number < UNWIND_GENERAL &&
	    unwind_known(&walk->now, number)) {
		*value = walk->now.value[number];
		return 0;
	}
	return unwind_load(&walk->stack, address, 8, value);
}

/* A caller's register. Return: 0; -ENOENT: it is lost; -EFAULT: beyond the copy; -EINVAL: no valid rule. */
static int unwind_recover(const struct walk *walk, const struct unwind_table *table,
			  const struct unwind_rule *rule, uint64_t cfa, uint64_t *value)
{
	int error;

	switch (rule->how) {
	case UNWIND_AT:
		return load_saved(walk, rule->number, cfa + (uint64_t)rule->offset, value);
	case UNWIND_VALUE:
		*value = cfa + (uint64_t)rule->offset;
		return 0;
	case UNWIND_REGISTER:
		if (!unwind_known(&walk->now, (unsigned)rule->offset))
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
		if (!unwind_known(&walk->now, row->base))
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
 * Moves to the caller by a row. All rules refer to the registers of the current frame, so none is changed before all
 * have been read.
 * Return: 0; else as unwind_recover() for the return address, and the walk has not moved.
 */
static int unwind_step(struct walk *walk, const struct unwind_table *table, const struct unwind_row *row)
{
	struct unwind_registers *now = &walk->now;
	const uint64_t reached = now->value[UNWIND_STACK];
	uint64_t values[UNWIND_RULES], lost = 0, stack, cfa;
	bool returns =
		UNWIND_RETURN < UNWIND_GENERAL && unwind_known(now, UNWIND_RETURN); /* leaves of aarch64 */
	int error = frame_address(walk, table, row, &cfa);

	if (error)
		return error;
	stack = cfa;
	for (unsigned n = 0; n < row->count; n++) {
		const unsigned number = row->rules[n].number;

		error = unwind_recover(walk, table, &row->rules[n], cfa, &values[n]);
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
	/* a caller's frame is further out, otherwise the walk would never end */
	if (!row->signal && (stack < reached || (stack == reached && !walk->exact)))
		return -EINVAL;
	set_register(now, UNWIND_STACK, cfa);
	for (unsigned n = 0; n < row->count; n++)
		if (!(lost >> row->rules[n].number & 1))
			set_register(now, row->rules[n].number, values[n]);
	now->known &= ~lost;
	now->pc = strip_signature(now->value[UNWIND_RETURN]);
	walk->exact = row->signal;
	return 0;
}

static uint64_t location_of(const struct walk *walk)
{
	return walk->exact ? walk->now.pc : walk->now.pc - 1;
}

/* The tables for a location; NULL and @why as from unwind_lookup. */
static struct unwind_table *unwind_look_up(const struct walk *walk, uint64_t location, uint64_t *bias,
					   enum wire_truncation *why)
{
	*bias = 0;
	*why = WIRE_TRUNCATION_TABLES;
	return walk->lookup(walk->context, location, bias, why);
}

/* Whether a frame record can belong to a frame at @from or further out. */
static bool is_outward(uint64_t record, uint64_t from)
{
	return record % 8 == 0 && record >= from && record - from <= STACK_FAR;
}

/*
 * Moves to the caller of code without tables, if the frame pointer leads outwards and to code. By the ABI, a frame pointer
 * of 0 marks the outermost frame. That holds only if it came from a frame record; otherwise the register is probably
 * used for other values.
 * Return: as unwind_step().
 */
static int step_frame_pointer(struct walk *walk)
{
	const struct unwind_registers before = walk->now;
	const bool exact = walk->exact;
	const uint64_t frame = walk->now.value[UNWIND_FRAME];
	enum wire_truncation why;
	uint64_t bias;
	int error;

	if (!unwind_known(&walk->now, UNWIND_FRAME))
		return -EINVAL;
	if (frame == 0 && walk->trusted)
		return walk->scanned ? -EINVAL : -ENOENT; /* after a guess, 0 shows nothing */
	if (!is_outward(frame, walk->now.value[UNWIND_STACK]))
		return -EINVAL;
	error = unwind_step(walk, NULL, &frame_record);
	if (!error && walk->now.pc && !unwind_look_up(walk, location_of(walk), &bias, &why) &&
	    why == WIRE_TRUNCATION_MEMORY) {
		walk->now = before;
		walk->exact = exact;
		return -EINVAL;
	}
	walk->trusted = true;
	return error;
}

/*
 * Whether this is the outermost frame. It may be the entry point of a program, whose few instructions often have no
 * tables. Or it is a function whose first instruction is the return address (a context made by makecontext): no call
 * leaves such an address, so it was stored when the stack was made; but a wrong guess may lead to a stored function, too.
 */
static bool is_beginning(const struct walk *walk, struct unwind_table *table, uint64_t bias,
			 uint64_t *location)
{
	const uint64_t address = walk->now.pc - bias;
	struct unwind_code code;

	if (walk->sample->code && !walk->exact && walk->sample->code(walk->context, walk->now.pc, &code) &&
	    (unwind_code_exits(&code) || (code.start && walk->now.pc - code.start < START_BYTES)))
		return true;
	if (!table || address - unwind_table_start(table) < START_BYTES)
		return table;
	*location = walk->now.pc;
	return !walk->exact && !walk->scanned && unwind_table_row(table, address)->cfa != UNWIND_CFA_UNKNOWN;
}

/*
 * In the C library, the few instructions after the system call that creates a thread (clone, clone3) have no tables, since
 * one row cannot hold in both threads: the new thread, where the call returned 0, begins there.
 * Return: the row from before the gap, which holds in the other thread; NULL: there is no such gap.
 */
static const struct unwind_row *row_of_gap(struct unwind_table *table, uint64_t address)
{
	unsigned before = 1, after = 1;

	while (after < GAP_BYTES && unwind_table_row(table, address + after)->cfa == UNWIND_CFA_UNKNOWN)
		after++;
	while (before + after <= GAP_BYTES) {
		const struct unwind_row *row = unwind_table_row(table, address - before++);

		if (row->cfa != UNWIND_CFA_UNKNOWN)
			return row;
	}
	return NULL;
}

/* Return: whether the thread was interrupted in such a gap; then @error is as from unwind_step(). */
static bool step_gap(struct walk *walk, struct unwind_table *table, uint64_t bias, int *error)
{
	const struct unwind_registers before = walk->now;
	const struct unwind_row *row = table && walk->exact ? row_of_gap(table, walk->now.pc - bias) : NULL;
	enum wire_truncation why;

	if (!row || row->signal)
		return false;
	if (unwind_known(&walk->now, RESULT) && walk->now.value[RESULT] == 0) {
		*error = -ENOENT;
		return true;
	}
	*error = unwind_step(walk, table, row);
	if (!*error &&
	    (unwind_look_up(walk, location_of(walk), &bias, &why) || why != WIRE_TRUNCATION_MEMORY))
		return true;
	walk->now = before;
	walk->exact = true;
	return false;
}

/*
 * The kernel's chain goes outwards along the same stack as the tables did. The addresses of its frame records are found
 * by following them in the copy, as the kernel did. An entry of the chain can follow the last frame of the tables if its
 * record is further out than that frame. The first record beyond the copy qualifies too, if all records before it were as
 * the kernel saw them and its distance fits a stack. Only the kernel could read that one.
 * Return: the first such entry; chain_count: none.
 */
static unsigned find_splice(const struct walk *walk)
{
	const struct unwind_sample *sample = walk->sample;
	const uint64_t reached = walk->now.value[UNWIND_STACK], begin = walk->stack.begin;
	uint64_t frame = sample->registers->value[UNWIND_FRAME];

	if (!unwind_known(sample->registers, UNWIND_FRAME))
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

/* Whether the kernel's chain goes on with code. Otherwise a frame pointer beyond the copy is a register with another use. */
static bool can_splice(const struct walk *walk)
{
	const unsigned next = find_splice(walk);
	enum wire_truncation why;
	uint64_t bias;

	return next < walk->sample->chain_count &&
	       (unwind_look_up(walk, strip_signature(walk->sample->chain[next]) - 1, &bias, &why) ||
		why != WIRE_TRUNCATION_MEMORY);
}

/* The registers after a return to @pc, whose address lay at @slot. */
static void return_to(struct walk *walk, uint64_t slot, uint64_t pc)
{
	struct unwind_registers *now = &walk->now;
	const uint64_t frame = now->value[UNWIND_FRAME];
	const bool leaf = slot == now->value[UNWIND_STACK], had_frame = unwind_known(now, UNWIND_FRAME);
	uint64_t saved;

	set_register(now, UNWIND_STACK, slot + 8);
	now->pc = pc;
	walk->exact = walk->trusted = false;
	if (leaf)
		return;
	/* A function mostly saves the frame pointer first, or leaves it alone. All other registers are lost. */
	now->known = UINT64_C(1) << UNWIND_STACK;
	if (unwind_load(&walk->stack, slot - 8, 8, &saved) == 0 && is_outward(saved, slot + 8))
		set_register(now, UNWIND_FRAME, saved);
	else if (had_frame && is_outward(frame, slot + 8))
		set_register(now, UNWIND_FRAME, frame);
}

/*
 * Whether a call of @target can have led to where the walk is. Functions with tables end where these say. Other images' code
 * is called through stubs.
 */
static bool can_lead_here(const struct walk *walk, const struct unwind_code *code, uint64_t target,
			  const struct unwind_code *here)
{
	const uint64_t location = location_of(walk);
	struct unwind_table *table;
	uint64_t bias, begin, bytes;
	enum wire_truncation why;

	if (!target || code->image != here->image)
		return true;
	table = unwind_look_up(walk, target, &bias, &why);
	if (table && unwind_table_extent(table, target - bias, &begin, &bytes) == 0)
		return location - bias - begin < bytes;
	return location - target < FUNCTION_MAX;
}

/*
 * Moves to the caller of code that has neither tables nor a frame record: to the first word of the stack that is the address
 * behind a call. Words that earlier calls left behind may pass for one.
 * @guess: where the search begins; its ->slot becomes the word behind the one found
 * Return: 0; -EINVAL: there is none.
 */
static int step_scan(struct walk *walk, struct guess *guess)
{
	struct unwind_code here, code;
	uint64_t word, bias, target;
	enum wire_truncation why;

	if (!walk->sample->code || !walk->sample->code(walk->context, location_of(walk), &here))
		return -EINVAL;
	for (uint64_t slot = guess->slot; walk->scanned < SCAN_WORDS; slot += 8) {
		walk->scanned++;
		if (slot % 8 || unwind_load(&walk->stack, slot, 8, &word))
			return -EINVAL;
		if (word == 0 ||
		    (!walk->lookup(walk->context, word - 1, &bias, &why) && why == WIRE_TRUNCATION_MEMORY))
			continue;
		if (walk->sample->code(walk->context, word, &code) &&
		    unwind_code_calls(&code, word, &target) && can_lead_here(walk, &code, target, &here)) {
			guess->slot = slot + 8;
			return_to(walk, slot, word);
			return 0;
		}
	}
	return -EINVAL;
}

/*
 * Moves to the caller of a function that has no frame: the stack pointer still points to the return address, and the frame
 * pointer is the caller's. A direct call of the interrupted code shows that.
 * Return: 0; -EINVAL: it may have a frame.
 */
static int step_leaf(struct walk *walk)
{
	const uint64_t slot = walk->now.value[UNWIND_STACK];
	struct unwind_code here, code, begin;
	uint64_t word, target;

	if (!walk->exact || !walk->sample->code || unwind_load(&walk->stack, slot, 8, &word) ||
	    !walk->sample->code(walk->context, walk->now.pc, &here) || !here.known ||
	    !walk->sample->code(walk->context, word, &code) || code.image != here.image ||
	    !unwind_code_calls(&code, word, &target) || !target ||
	    !can_lead_here(walk, &code, target, &here) ||
	    !walk->sample->code(walk->context, target, &begin) || unwind_code_makes_frame(&begin))
		return -EINVAL;
	return_to(walk, slot, word);
	return 0;
}

/* Moves to the caller of code without tables. The state before is kept, for another try. Return: as unwind_step(). */
static int step_bare(struct walk *walk)
{
	struct guess *guess;
	int error;

	if (walk->guess_count == GUESSES)
		memmove(walk->guesses, walk->guesses + 1, (--walk->guess_count) * sizeof(*guess));
	guess = &walk->guesses[walk->guess_count];
	*guess = (struct guess){ .now = walk->now,
				 .slot = walk->now.value[UNWIND_STACK],
				 .count = walk->count,
				 .exact = walk->exact,
				 .trusted = walk->trusted };
	error = step_leaf(walk) ? step_frame_pointer(walk) : 0;
	if (error == -EINVAL || (error == -EFAULT && !can_splice(walk)))
		error = step_scan(walk, guess) ? error : 0;
	walk->guess_count += !error && walk->sample->code;
	return error;
}

/* Goes back to the last guess that has an alternative, and takes that. Return: false: there is none. */
static bool guess_again(struct walk *walk)
{
	while (walk->guess_count && walk->steps < STEPS_MAX) {
		struct guess *guess = &walk->guesses[walk->guess_count - 1];

		walk->now = guess->now;
		walk->count = guess->count;
		walk->exact = guess->exact;
		walk->trusted = guess->trusted;
		if (!step_scan(walk, guess))
			return true;
		walk->guess_count--;
	}
	return false;
}

/*
 * Whether the program's arguments, as the kernel stored them, begin right behind the frame: their number, their addresses, 0.
 * Nothing but the program's first function lies there: Go's begins with a jump to code that is far from the entry point.
 */
static bool is_at_arguments(const struct walk *walk)
{
	const uint64_t reached = walk->now.value[UNWIND_STACK];
	uint64_t count, first, last, end;

	for (uint64_t slot = (reached + 15) & ~UINT64_C(15); slot - reached < FIRST_BYTES; slot += 16) {
		if (unwind_load(&walk->stack, slot, 8, &count))
			return false;
		if (count - 1 < ARGUMENTS_MAX && !unwind_load(&walk->stack, slot + 8, 8, &first) &&
		    !unwind_load(&walk->stack, slot + 8 * count, 8, &last) &&
		    !unwind_load(&walk->stack, slot + 8 * count + 8, 8, &end) && end == 0 &&
		    first > slot + 8 * count && last >= first && last - slot < STACK_FAR)
			return true;
	}
	return false;
}

/*
 * Whether a row needs the frame pointer, which is not known: of a thread that sleeps, only the program counter and the stack pointer
 * are. Then the caller is guessed, as that of code without tables.
 */
static bool is_frame_lost(const struct walk *walk, const struct unwind_row *row)
{
	return row->cfa == UNWIND_CFA_REGISTER && row->base == UNWIND_FRAME &&
	       !unwind_known(&walk->now, UNWIND_FRAME);
}

/* Moves to the caller of locations[count - 1]. Return: false: there is none, or it is unknown for the reason @truncation. */
static bool next_frame(struct walk *walk, struct unwind_table *table, uint64_t bias,
		       enum wire_truncation *truncation)
{
	const struct unwind_row *row = table ? unwind_table_row(table, location_of(walk) - bias) : NULL;
	uint64_t location = location_of(walk);
	int error;

	if (row && row->cfa != UNWIND_CFA_UNKNOWN) {
		if (row->signal)
			walk->locations[walk->count - 1] = walk->now.pc;
		walk->trusted = false;
		error = unwind_step(walk, table, row);
		if (error == -EINVAL && is_frame_lost(walk, row))
			error = step_bare(walk);
	} else if (is_beginning(walk, table, bias, &location)) {
		walk->locations[walk->count - 1] = location;
		error = -ENOENT;
	} else if (!step_gap(walk, table, bias, &error)) {
		error = step_bare(walk);
		if (error == -EINVAL && is_at_arguments(walk))
			error = -ENOENT;
	}
	if (error == -EFAULT)
		*truncation = WIRE_TRUNCATION_STACK;
	else if (error == -ENOENT || (!error && walk->now.pc == 0 && (row == NULL || !walk->guess_count)))
		*truncation = WIRE_TRUNCATION_NONE;
	else if (!error)
		return walk->now.pc; /* as above */
	return false;
}

static void unwind_add_frame(struct walk *walk, uint64_t location, uint64_t pointer)
{
	if (walk->sample->pointers)
		walk->sample->pointers[walk->count] = pointer;
	walk->locations[walk->count++] = location;
}

/* Walks as far as the copy of the stack allows. */
static enum wire_truncation walk_stack(struct walk *walk)
{
	enum wire_truncation truncation;

	for (;;) {
		enum wire_truncation why;
		uint64_t bias;
		struct unwind_table *table = unwind_look_up(walk, location_of(walk), &bias, &why);

		if (!table && why == WIRE_TRUNCATION_MEMORY)
			return why;
		if (walk->count == walk->max)
			return WIRE_TRUNCATION_DEPTH;
		unwind_add_frame(walk, location_of(walk), walk->now.value[UNWIND_STACK]);
		walk->steps++;
		truncation = table ? WIRE_TRUNCATION_TABLES : why;
		if (!next_frame(walk, table, bias, &truncation))
			return truncation;
	}
}

/* Whether the tables mark the frame as the outermost: its return address is undefined. */
static bool is_outermost(const struct unwind_table *table, const struct unwind_row *row)
{
	for (unsigned n = 0; table && n < row->count; n++)
		if (row->rules[n].number == UNWIND_RETURN)
			return row->rules[n].how == UNWIND_UNDEFINED;
	return false;
}

/* Whether the first function of a program or a thread returns to this address. */
static bool is_after_first(const struct walk *walk, uint64_t address)
{
	struct unwind_code code;
	uint64_t next;

	if (!walk->sample->code || !walk->sample->code(walk->context, address, &code))
		return false;
	if (unwind_code_calls_first(&code, address, &next))
		return true;
	return next && walk->sample->code(walk->context, next, &code) &&
	       unwind_code_calls_first(&code, next, &next);
}

/* Continues with the kernel's chain, as far as it leads to code. Return: why it ends there. */
static enum wire_truncation unwind_splice(struct walk *walk, enum wire_truncation truncation)
{
	const struct unwind_sample *sample = walk->sample;
	uint64_t last = 0; /* return address */

	for (unsigned n = find_splice(walk); n < sample->chain_count; n++) {
		const uint64_t location = strip_signature(sample->chain[n]) - 1;
		enum wire_truncation why;
		uint64_t bias;
		struct unwind_table *table = unwind_look_up(walk, location, &bias, &why);

		if (!table && why == WIRE_TRUNCATION_MEMORY)
			break;
		if (walk->count == walk->max)
			return WIRE_TRUNCATION_DEPTH;
		unwind_add_frame(walk, location, 0);
		last = location + 1;
		if (table && is_outermost(table, unwind_table_row(table, location - bias)))
			return WIRE_TRUNCATION_NONE;
	}
	/* C libraries are built without frame pointers, so the chain ends at the caller of main or of a thread's function. */
	return last && is_after_first(walk, last) ? WIRE_TRUNCATION_NONE : truncation;
}

static void unwind_begin(struct walk *walk)
{
	walk->now = *walk->sample->registers;
	walk->exact = true;
	walk->trusted = false;
	walk->count = walk->scanned = walk->guess_count = 0;
	if (UNWIND_RETURN >= UNWIND_GENERAL) { /* in expressions, its number means the program counter */
		walk->now.value[UNWIND_RETURN] = walk->now.pc;
		walk->now.known |= UINT64_C(1) << UNWIND_RETURN;
	}
}

/* A stack that reaches the thread's first function shows that its guesses were right; otherwise others are tried. */
static enum wire_truncation walk_with_guesses(struct walk *walk)
{
	const enum wire_truncation first = walk_stack(walk);
	enum wire_truncation truncation = first;

	if (!walk->guess_count)
		return first;
	while (truncation != WIRE_TRUNCATION_NONE && guess_again(walk))
		truncation = walk_stack(walk);
	if (truncation == WIRE_TRUNCATION_NONE)
		return truncation;
	unwind_begin(walk); /* all are wrong, or the copy of the stack ended: the first is as good as any */
	return walk_stack(walk);
}

unsigned unwind_frames(const struct unwind_sample *sample, unwind_lookup *lookup, void *context,
		       uint64_t *locations, unsigned max, enum wire_truncation *truncation)
{
	struct walk walk; /* its guesses are not initialized, which would take time */

	walk.sample = sample;
	walk.stack = (struct unwind_memory){ .bytes = sample->stack,
					     .begin = sample->registers->value[UNWIND_STACK],
					     .size = sample->stack_bytes };
	walk.lookup = lookup;
	walk.context = context;
	walk.locations = locations;
	walk.max = max;
	walk.steps = 0;
	unwind_begin(&walk);
	*truncation = walk_with_guesses(&walk);
	if (*truncation != WIRE_TRUNCATION_NONE && walk.count && walk.count < max)
		*truncation = unwind_splice(&walk, *truncation);
	if (sample->scanned)
		*sample->scanned = walk.scanned;
	return walk.count;
}
