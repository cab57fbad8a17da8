/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Evaluates the DWARF expressions of unwind tables, on a stack of numbers; see unwind_expression.h.
 *
 * DWARF 5, section 2.5, defines the operations; section 6.4.2 says where tables use them. They are rare:
 * linkers describe the stubs of a PLT by one, C libraries the registers in a signal frame, compilers a stack
 * that a function aligns. Operations that these do not need (division, addresses of data, frame bases,
 * pieces) are refused: an expression that has one is -EINVAL, and the walk ends there.
 *
 * An evaluation lives in one call. Its state is the position in the code, a stack, and the first error. An
 * operation that fails still leaves the stack valid: a pop from the empty one is 0, a push onto the full one
 * is dropped. So no operation has to check others, and unwind_evaluate() looks at the error between two of
 * them.
 *
 * All bytes are foreign. Loads go through unwind_load(), which has only the copy of the stack. Jumps stay
 * inside the expression, since bytes_left() is the loop's condition. Jumps may go back, so STEPS_MAX is what
 * ends a loop. Numbers are unsigned and wrap, where signed ones would be undefined in C.
 */
#include <dwarf.h>

#include "image/unwind/unwind_expression.h"

enum {
	DEPTH_MAX = 32,	 /* numbers */
	STEPS_MAX = 256, /* operations: expressions may have loops */
};

struct evaluation {
	const unsigned char *begin;
	struct bytes code;
	const struct unwind_registers *registers;
	const struct unwind_memory *memory;
	uint64_t stack[DEPTH_MAX];
	unsigned depth;
	int error;
};

/* The first error counts: later ones may follow from it. */
static void unwind_expression_fail(struct evaluation *e, int error)
{
	if (!e->error)
		e->error = error;
}

static void unwind_expression_push(struct evaluation *e, uint64_t value)
{
	if (e->depth == DEPTH_MAX)
		unwind_expression_fail(e, -EINVAL);
	else
		e->stack[e->depth++] = value;
}

static uint64_t unwind_expression_pop(struct evaluation *e)
{
	if (e->depth)
		return e->stack[--e->depth];
	unwind_expression_fail(e, -EINVAL);
	return 0;
}

/* Pushes a copy of the number at a depth; 0 is the top. */
static void unwind_expression_pick(struct evaluation *e, uint64_t index)
{
	if (index < e->depth)
		unwind_expression_push(e, e->stack[e->depth - 1 - index]);
	else
		unwind_expression_fail(e, -EINVAL);
}

/* Moves the topmost number below the next `count` - 1. */
static void unwind_expression_rotate(struct evaluation *e, unsigned count)
{
	uint64_t top;

	if (e->depth < count) {
		unwind_expression_fail(e, -EINVAL);
		return;
	}
	top = e->stack[e->depth - 1];
	memmove(&e->stack[e->depth - count + 1], &e->stack[e->depth - count], (count - 1) * sizeof(top));
	e->stack[e->depth - count] = top;
}

static void push_register(struct evaluation *e, uint64_t number, uint64_t offset)
{
	/*
	 * Not all are known: a sample may lack some, and a rule of an inner frame may say that the value is
	 * lost.
	 */
	if (number < UNWIND_REGISTERS && e->registers->known >> number & 1)
		unwind_expression_push(e, e->registers->value[number] + offset);
	else
		unwind_expression_fail(e, -EINVAL);
}

/*
 * Other sizes are refused, since bytes_number() takes them for 8. A failed load pushes 0, so the depth stays
 * right.
 */
static void unwind_expression_dereference(struct evaluation *e, uint64_t size)
{
	uint64_t value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		unwind_expression_fail(e, -EINVAL);
	else if (unwind_load(e->memory, unwind_expression_pop(e), (unsigned)size, &value))
		unwind_expression_fail(e, -EFAULT);
	unwind_expression_push(e, value);
}

/*
 * The distance counts from behind its own two bytes (DWARF). The end is a valid target. A wrap is one beyond
 * the end.
 */
static void unwind_expression_jump(struct evaluation *e, uint64_t distance)
{
	const uint64_t target = (uint64_t)(e->code.at - e->begin) + distance;

	if (target > (uint64_t)(e->code.end - e->begin))
		unwind_expression_fail(e, -EINVAL);
	else
		e->code.at = e->begin + target;
}

static void unwind_expression_constant(struct evaluation *e, unsigned operation)
{
	switch (operation) {
	case DW_OP_const1u:
		return unwind_expression_push(e, bytes_number(&e->code, 1));
	case DW_OP_const1s:
		return unwind_expression_push(e, bytes_signed(&e->code, 1));
	case DW_OP_const2u:
		return unwind_expression_push(e, bytes_number(&e->code, 2));
	case DW_OP_const2s:
		return unwind_expression_push(e, bytes_signed(&e->code, 2));
	case DW_OP_const4u:
		return unwind_expression_push(e, bytes_number(&e->code, 4));
	case DW_OP_const4s:
		return unwind_expression_push(e, bytes_signed(&e->code, 4));
	case DW_OP_const8u: /* of 64 bits, both are the same */
	case DW_OP_const8s:
		return unwind_expression_push(e, bytes_number(&e->code, 8));
	case DW_OP_constu:
		return unwind_expression_push(e, bytes_uleb(&e->code));
	case DW_OP_consts:
		return unwind_expression_push(e, bytes_sleb(&e->code));
	default:
		return unwind_expression_fail(e, -EINVAL);
	}
}

/* C leaves shifts by 64 or more undefined, and the processor takes them modulo 64. */
static uint64_t unwind_expression_shifted(uint64_t value, uint64_t by, bool left)
{
	if (by > 63)
		return 0;
	return left ? value << by : value >> by;
}

/* Operations on two numbers; `a` was below `b`. Return: false: it is not such an operation. */
static bool unwind_expression_combine(unsigned operation, uint64_t a, uint64_t b, uint64_t *value)
{
	const int64_t signed_a = (int64_t)a, signed_b = (int64_t)b;

	switch (operation) {
	case DW_OP_and:
		*value = a & b;
		return true;
	case DW_OP_or:
		*value = a | b;
		return true;
	case DW_OP_xor:
		*value = a ^ b;
		return true;
	case DW_OP_plus:
		*value = a + b;
		return true;
	case DW_OP_minus:
		*value = a - b;
		return true;
	case DW_OP_mul:
		*value = a * b;
		return true;
	case DW_OP_shl:
		*value = unwind_expression_shifted(a, b, true);
		return true;
	case DW_OP_shr:
		*value = unwind_expression_shifted(a, b, false);
		return true;
	case DW_OP_shra:
		*value = (uint64_t)(signed_a >> (b > 63 ? 63 : b)); /* 63: nothing but the sign is left */
		return true;
	case DW_OP_eq:
		*value = a == b;
		return true;
	case DW_OP_ne:
		*value = a != b;
		return true;
	/* Comparisons are signed (DWARF 5, 2.5.1.5). */
	case DW_OP_lt:
		*value = signed_a < signed_b;
		return true;
	case DW_OP_le:
		*value = signed_a <= signed_b;
		return true;
	case DW_OP_gt:
		*value = signed_a > signed_b;
		return true;
	case DW_OP_ge:
		*value = signed_a >= signed_b;
		return true;
	default:
		return false;
	}
}

static void unwind_expression_binary(struct evaluation *e, unsigned operation)
{
	const uint64_t b = unwind_expression_pop(e), a = unwind_expression_pop(e);
	uint64_t value;

	if (unwind_expression_combine(operation, a, b, &value))
		unwind_expression_push(e, value);
	else
		unwind_expression_fail(e, -EINVAL);
}

static void unwind_expression_operate(struct evaluation *e, unsigned operation)
{
	uint64_t number;

	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
		return unwind_expression_push(e, operation - DW_OP_lit0);
	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
		return push_register(e, operation - DW_OP_breg0, bytes_sleb(&e->code));
	if (operation >= DW_OP_const1u && operation <= DW_OP_consts)
		return unwind_expression_constant(e, operation);
	switch (operation) {
	case DW_OP_bregx:
		number = bytes_uleb(&e->code);
		return push_register(e, number, bytes_sleb(&e->code));
	case DW_OP_deref:
		return unwind_expression_dereference(e, 8);
	case DW_OP_deref_size:
		return unwind_expression_dereference(e, bytes_number(&e->code, 1));
	case DW_OP_dup:
		return unwind_expression_pick(e, 0);
	case DW_OP_over:
		return unwind_expression_pick(e, 1);
	case DW_OP_pick:
		return unwind_expression_pick(e, bytes_number(&e->code, 1));
	case DW_OP_drop:
		unwind_expression_pop(e);
		return;
	case DW_OP_swap:
		return unwind_expression_rotate(e, 2);
	case DW_OP_rot:
		return unwind_expression_rotate(e, 3);
	case DW_OP_neg:
		return unwind_expression_push(e, -unwind_expression_pop(e));
	case DW_OP_not:
		return unwind_expression_push(e, ~unwind_expression_pop(e));
	case DW_OP_plus_uconst:
		return unwind_expression_push(e, unwind_expression_pop(e) + bytes_uleb(&e->code));
	case DW_OP_skip:
		return unwind_expression_jump(e, bytes_signed(&e->code, 2));
	case DW_OP_bra:
		number = bytes_signed(&e->code, 2); /* also without a jump: the next operation is behind it */
		if (unwind_expression_pop(e))
			unwind_expression_jump(e, number);
		return;
	case DW_OP_nop:
		return;
	default:
		return unwind_expression_binary(e, operation);
	}
}

int unwind_evaluate(struct bytes expression, const struct unwind_registers *registers,
		    const struct unwind_memory *memory, const uint64_t *cfa, uint64_t *value)
{
	struct evaluation e = {
		.begin = expression.at, .code = expression, .registers = registers, .memory = memory
	};

	if (cfa)
		unwind_expression_push(&e, *cfa);
	for (unsigned steps = 0; bytes_left(&e.code) && !e.error; steps++) {
		if (steps == STEPS_MAX)
			return -EINVAL;
		unwind_expression_operate(&e, (unsigned)bytes_number(&e.code, 1));
	}
	/* The last operation may have ended inside its operand: then its value is made of zeros. */
	if (e.code.broken)
		return -EINVAL;
	*value = unwind_expression_pop(&e);
	return e.error;
}
