/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The instructions of guests. Their bytes are those of GNU as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/guest/machines/guest_machine.h"

enum {
	ADDRESS = 0x10000000,
};

struct known {
	const char *text;
	uint8_t bytes[GUEST_INSTRUCTION];
	size_t count;
	struct guest_instruction is;
};

#define CALL(to)                                             \
	{                                                    \
		.kind = GUEST_CALL, .target = ADDRESS + (to) \
	}
#define KIND(what)                   \
	{                            \
		.kind = GUEST_##what \
	}
#define WITH(what, number)                                        \
	{                                                         \
		.kind = GUEST_##what, .register_number = (number) \
	}
#define OTHER                       \
	{                           \
		.kind = GUEST_OTHER \
	}

static void check(const struct guest_machine *machine, const struct known *known, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		const struct guest_instruction found =
			machine->decode(known[n].bytes, known[n].count, ADDRESS);
		const struct guest_instruction *is = &known[n].is;
		const bool jumps = is->kind == GUEST_CALL_REGISTER || is->kind == GUEST_JUMP ||
				   (machine->links && is->kind == GUEST_RETURN);

		if (found.kind != is->kind ||
		    ((is->kind == GUEST_CALL || is->kind == GUEST_JUMP_TO) && found.target != is->target) ||
		    (jumps && found.register_number != is->register_number) || found.segment != is->segment ||
		    found.in_stub != is->in_stub || found.jumps_sp != is->jumps_sp ||
		    found.sp_to != is->sp_to || found.sets_sp != is->sets_sp ||
		    (!found.sets_sp && found.moves_sp != is->moves_sp))
			fail_msg("%s: kind %d, target %#lx, register %u, stub %d, sp %d %ld", known[n].text,
				 (int)found.kind, (unsigned long)found.target, found.register_number,
				 found.in_stub, found.sets_sp, (long)found.moves_sp);
	}
}

static void test_x86(void **state)
{
	static const struct known known[] = {
		{ "call .+0x105", { 0xe8, 0x00, 0x01, 0x00, 0x00 }, 5, CALL(0x105) },
		{ "call .-0xfb", { 0xe8, 0x00, 0xff, 0xff, 0xff }, 5, CALL(-0xfb) },
		{ "callw .+0xf", { 0x66, 0xe8, 0x0b, 0x00 }, 4, CALL(0xf) },
		{ "call *%rax", { 0xff, 0xd0 }, 2, WITH(CALL_REGISTER, 0) },
		{ "call *%r11", { 0x41, 0xff, 0xd3 }, 3, WITH(CALL_REGISTER, 11) },
		{ "notrack call *%rdx", { 0x3e, 0xff, 0xd2 }, 3, WITH(CALL_REGISTER, 2) },
		{ "call *(%rbx)", { 0xff, 0x13 }, 2, KIND(CALL_MEMORY) },
		{ "call *8(%r9)", { 0x41, 0xff, 0x51, 0x08 }, 4, KIND(CALL_MEMORY) },
		{ "ret", { 0xc3 }, 1, KIND(RETURN) },
		{ "repz ret", { 0xf3, 0xc3 }, 2, KIND(RETURN) },
		{ "bnd ret", { 0xf2, 0xc3 }, 2, KIND(RETURN) },
		{ "ret $8", { 0xc2, 0x08, 0x00 }, 3, KIND(RETURN) },
		{ "mov 8(%rdi), %rsp", { 0x48, 0x8b, 0x67, 0x08 }, 4, { .jumps_sp = true } },
		{ "mov 8(%rdi), %r12", { 0x4c, 0x8b, 0x67, 0x08 }, 4, OTHER },
		{ "mov %rdi, %rsp", { 0x48, 0x89, 0xfc }, 3, { .jumps_sp = true } },
		{ "mov %rdi, %r12", { 0x49, 0x89, 0xfc }, 3, OTHER },
		{ "mov %r12, %rsp", { 0x4c, 0x89, 0xe4 }, 3, { .jumps_sp = true } },
		{ "mov %rbp, %rsp", { 0x48, 0x89, 0xec }, 3, OTHER },
		{ "mov %r13, %rsp", { 0x4c, 0x89, 0xec }, 3, { .jumps_sp = true } },
		{ "mov %rsp, %rax", { 0x48, 0x89, 0xe0 }, 3, { .sp_to = 1 } },
		{ "mov %rsp, (%rax)", { 0x48, 0x89, 0x20 }, 3, OTHER },
		{ "lea 8(%rsp), %r10", { 0x4c, 0x8d, 0x54, 0x24, 0x08 }, 5, { .sp_to = 11 } },
		{ "lea -8(%r10), %rsp", { 0x49, 0x8d, 0x62, 0xf8 }, 4, OTHER },
		{ "pop %rsp", { 0x5c }, 1, { .jumps_sp = true } },
		{ "pop %r12", { 0x41, 0x5c }, 2, OTHER },
		{ "xchg %rsp, (%rax)", { 0x48, 0x87, 0x20 }, 3, { .jumps_sp = true } },
		{ "xchg %rax, %rsp", { 0x48, 0x94 }, 2, { .jumps_sp = true } },
		{ "mov $0x1000, %esp", { 0xbc, 0x00, 0x10, 0x00, 0x00 }, 5, { .jumps_sp = true } },
		{ "mov %eax, %ss", { 0x8e, 0xd0 }, 2, { .jumps_sp = true } },
		{ "mov %eax, %ds", { 0x8e, 0xd8 }, 2, OTHER },
		{ "mov, cut off", { 0x48, 0x8b }, 2, OTHER },
		{ "lcall $0x7bf, $0x150",
		  { 0x9a, 0x50, 0x01, 0xbf, 0x07 },
		  5,
		  { .kind = GUEST_CALL_FAR, .target = 0x150, .segment = 0x7bf } },
		{ "lcall $8, $0x10150",
		  { 0x9a, 0x50, 0x01, 0x01, 0x00, 0x08, 0x00 },
		  7,
		  { .kind = GUEST_CALL_FAR, .target = 0x10150, .segment = 8 } },
		{ "lcall *(%rbx)", { 0xff, 0x1b }, 2, KIND(CALL_FAR_MEMORY) },
		{ "lret", { 0xcb }, 1, KIND(RETURN_FAR) },
		{ "lret $4", { 0xca, 0x04, 0x00 }, 3, KIND(RETURN_FAR) },
		{ "iretq", { 0x48, 0xcf }, 2, KIND(SWITCH) },
		{ "sysretq", { 0x48, 0x0f, 0x07 }, 3, KIND(SWITCH) },
		{ "sysexit", { 0x0f, 0x35 }, 2, KIND(SWITCH) },
		{ "mov %rax, %cr3", { 0x0f, 0x22, 0xd8 }, 3, KIND(SWITCH) },
		{ "mov %r9, %cr3", { 0x41, 0x0f, 0x22, 0xd9 }, 4, KIND(SWITCH) },
		{ "mov %rax, %cr4", { 0x0f, 0x22, 0xe0 }, 3, OTHER },
		{ "jmp .", { 0xeb, 0xfe }, 2, { .kind = GUEST_JUMP_TO, .target = ADDRESS } },
		{ "jmp .+0x105",
		  { 0xe9, 0x00, 0x01, 0x00, 0x00 },
		  5,
		  { .kind = GUEST_JUMP_TO, .target = ADDRESS + 0x105 } },
		{ "jmp *%rax", { 0xff, 0xe0 }, 2, OTHER },
		{ "push %rax", { 0x50 }, 1, OTHER },
		{ "syscall", { 0x0f, 0x05 }, 2, OTHER },
		{ "prefixes only", { 0x66, 0x48 }, 2, OTHER },
		{ "nothing", { 0 }, 0, OTHER },
	};

	(void)state;
	check(&guest_x86, known, sizeof(known) / sizeof(*known));
}

static void test_aarch64(void **state)
{
	static const struct known known[] = {
		{ "bl .+8", { 0x02, 0x00, 0x00, 0x94 }, 4, CALL(8) },
		{ "bl .-0x8000000", { 0x00, 0x00, 0x00, 0x96 }, 4, CALL(-0x8000000) },
		{ "blr x3", { 0x60, 0x00, 0x3f, 0xd6 }, 4, WITH(CALL_REGISTER, 3) },
		{ "blraaz x19", { 0x7f, 0x0a, 0x3f, 0xd6 }, 4, WITH(CALL_REGISTER, 19) },
		{ "blrab x8, x9", { 0x09, 0x0d, 0x3f, 0xd7 }, 4, WITH(CALL_REGISTER, 8) },
		{ "ret", { 0xc0, 0x03, 0x5f, 0xd6 }, 4, WITH(RETURN, 30) },
		{ "ret x9", { 0x20, 0x01, 0x5f, 0xd6 }, 4, WITH(RETURN, 9) },
		{ "br x30", { 0xc0, 0x03, 0x1f, 0xd6 }, 4, WITH(RETURN, 30) },
		{ "retaa", { 0xff, 0x0b, 0x5f, 0xd6 }, 4, WITH(RETURN, 30) },
		{ "retab", { 0xff, 0x0f, 0x5f, 0xd6 }, 4, WITH(RETURN, 30) },
		{ "eret", { 0xe0, 0x03, 0x9f, 0xd6 }, 4, { .kind = GUEST_SWITCH, .sets_sp = true } },
		{ "eretaa", { 0xff, 0x0b, 0x9f, 0xd6 }, 4, { .kind = GUEST_SWITCH, .sets_sp = true } },
		{ "br x16", { 0x00, 0x02, 0x1f, 0xd6 }, 4, WITH(JUMP, 16) },
		{ "br x17", { 0x20, 0x02, 0x1f, 0xd6 }, 4, WITH(JUMP, 17) },
		{ "braaz x17", { 0x3f, 0x0a, 0x1f, 0xd6 }, 4, WITH(JUMP, 17) },
		{ "br x3", { 0x60, 0x00, 0x1f, 0xd6 }, 4, OTHER },
		{ "b .+8", { 0x02, 0x00, 0x00, 0x14 }, 4, { .kind = GUEST_JUMP_TO, .target = ADDRESS + 8 } },
		{ "tbz x0, #5, .+8", { 0x40, 0x00, 0x28, 0x36 }, 4, OTHER },
		{ "svc #0", { 0x01, 0x00, 0x00, 0xd4 }, 4, OTHER },
		{ "hvc #0", { 0x02, 0x00, 0x00, 0xd4 }, 4, OTHER },
		{ "drps", { 0xe0, 0x03, 0xbf, 0xd6 }, 4, OTHER },
		{ "nop", { 0x1f, 0x20, 0x03, 0xd5 }, 4, { .in_stub = true } },
		{ "bti c", { 0x5f, 0x24, 0x03, 0xd5 }, 4, { .in_stub = true } },
		{ "adrp x16, .", { 0x10, 0x00, 0x00, 0x90 }, 4, { .in_stub = true } },
		{ "adr x17, .", { 0x11, 0x00, 0x00, 0x10 }, 4, { .in_stub = true } },
		{ "ldr x17, [x16, #8]", { 0x11, 0x06, 0x40, 0xf9 }, 4, { .in_stub = true } },
		{ "ldr x16, .+8", { 0x50, 0x00, 0x00, 0x58 }, 4, { .in_stub = true } },
		{ "add x16, x16, #16", { 0x10, 0x42, 0x00, 0x91 }, 4, { .in_stub = true } },
		{ "add x16, x16, x17", { 0x10, 0x02, 0x11, 0x8b }, 4, { .in_stub = true } },
		{ "movk x16, #0x1234, lsl #16", { 0x90, 0x46, 0xa2, 0xf2 }, 4, { .in_stub = true } },
		{ "movn x16, #0x1234", { 0x90, 0x46, 0x82, 0x92 }, 4, { .in_stub = true } },
		{ "stp x16, x30, [sp, #-16]!",
		  { 0xf0, 0x7b, 0xbf, 0xa9 },
		  4,
		  { .in_stub = true, .moves_sp = -16 } },
		{ "adrp x0, .", { 0x00, 0x00, 0x00, 0x90 }, 4, OTHER },
		{ "ldr x16, [x0]", { 0x10, 0x00, 0x40, 0xf9 }, 4, OTHER },
		{ "add x16, sp, #16", { 0xf0, 0x43, 0x00, 0x91 }, 4, { .sp_to = 17 } },
		{ "str x16, [sp]", { 0xf0, 0x03, 0x00, 0xf9 }, 4, OTHER },
		{ "mov x16, x0", { 0xf0, 0x03, 0x00, 0xaa }, 4, OTHER },
		{ "stp x29, x30, [sp, #-96]!", { 0xfd, 0x7b, 0xba, 0xa9 }, 4, { .moves_sp = -96 } },
		{ "ldp x29, x30, [sp], #96", { 0xfd, 0x7b, 0xc6, 0xa8 }, 4, { .moves_sp = 96 } },
		{ "ldp w0, w1, [sp], #8", { 0xe0, 0x07, 0xc1, 0x28 }, 4, { .moves_sp = 8 } },
		{ "stp d8, d9, [sp, #-32]!", { 0xe8, 0x27, 0xbe, 0x6d }, 4, { .moves_sp = -32 } },
		{ "ldp q8, q9, [sp], #64", { 0xe8, 0x27, 0xc2, 0xac }, 4, { .moves_sp = 64 } },
		{ "ldp s8, s9, [sp], #16", { 0xe8, 0x27, 0xc2, 0x2c }, 4, { .moves_sp = 16 } },
		{ "ldpsw x0, x1, [sp], #8", { 0xe0, 0x07, 0xc1, 0x68 }, 4, { .sets_sp = true } },
		{ "stp x29, x30, [sp, #16]", { 0xfd, 0x7b, 0x01, 0xa9 }, 4, OTHER },
		{ "ldp x29, x30, [x0], #16", { 0x1d, 0x78, 0xc1, 0xa8 }, 4, OTHER },
		{ "ldnp x0, x1, [sp, #16]", { 0xe0, 0x07, 0x41, 0xa8 }, 4, OTHER },
		{ "str x30, [sp, #-16]!", { 0xfe, 0x0f, 0x1f, 0xf8 }, 4, { .moves_sp = -16 } },
		{ "ldr x30, [sp], #16", { 0xfe, 0x07, 0x41, 0xf8 }, 4, { .moves_sp = 16 } },
		{ "ldrb w0, [sp], #1", { 0xe0, 0x17, 0x40, 0x38 }, 4, { .moves_sp = 1 } },
		{ "str q0, [sp, #-256]!", { 0xe0, 0x0f, 0x90, 0x3c }, 4, { .moves_sp = -256 } },
		{ "ldr x0, [sp, x1]", { 0xe0, 0x6b, 0x61, 0xf8 }, 4, OTHER },
		{ "ldur x0, [sp, #-8]", { 0xe0, 0x83, 0x5f, 0xf8 }, 4, OTHER },
		{ "ldr x0, [x1], #8", { 0x20, 0x84, 0x40, 0xf8 }, 4, OTHER },
		{ "sub sp, sp, #0x40", { 0xff, 0x03, 0x01, 0xd1 }, 4, { .moves_sp = -0x40 } },
		{ "sub sp, sp, #3, lsl #12", { 0xff, 0x0f, 0x40, 0xd1 }, 4, { .moves_sp = -0x3000 } },
		{ "add sp, sp, #0xff0", { 0xff, 0xc3, 0x3f, 0x91 }, 4, { .moves_sp = 0xff0 } },
		{ "mov sp, x29", { 0xbf, 0x03, 0x00, 0x91 }, 4, { .sets_sp = true } },
		{ "sub sp, x29, #16", { 0xbf, 0x43, 0x00, 0xd1 }, 4, { .sets_sp = true } },
		{ "sub sp, sp, x0", { 0xff, 0x63, 0x20, 0xcb }, 4, { .sets_sp = true } },
		{ "add sp, sp, x0, lsl #3", { 0xff, 0x6f, 0x20, 0x8b }, 4, { .sets_sp = true } },
		{ "and sp, x9, #0xfffffffffffffff0", { 0x3f, 0xed, 0x7c, 0x92 }, 4, { .sets_sp = true } },
		{ "orr sp, x9, #16", { 0x3f, 0x01, 0x7c, 0xb2 }, 4, { .sets_sp = true } },
		{ "eor sp, x9, #16", { 0x3f, 0x01, 0x7c, 0xd2 }, 4, { .sets_sp = true } },
		{ "cmp sp, x0", { 0xff, 0x63, 0x20, 0xeb }, 4, OTHER },
		{ "cmp sp, #16", { 0xff, 0x43, 0x00, 0xf1 }, 4, OTHER },
		{ "tst x0, #16", { 0x1f, 0x00, 0x7c, 0xf2 }, 4, OTHER },
		{ "mov sp, x9", { 0x3f, 0x01, 0x00, 0x91 }, 4, { .sets_sp = true, .jumps_sp = true } },
		{ "add x0, sp, #16", { 0xe0, 0x43, 0x00, 0x91 }, 4, { .sp_to = 1 } },
		{ "mov x29, sp", { 0xfd, 0x03, 0x00, 0x91 }, 4, { .sp_to = 30 } },
		{ "cmp x0, x1", { 0x1f, 0x00, 0x01, 0xeb }, 4, OTHER },
		{ "sub x0, x0, #16", { 0x00, 0x40, 0x00, 0xd1 }, 4, OTHER },
		{ "addg sp, sp, #16, #1", { 0xff, 0x07, 0x81, 0x91 }, 4, { .sets_sp = true } },
		{ "stg sp, [sp], #16", { 0xff, 0x17, 0x20, 0xd9 }, 4, { .sets_sp = true } },
		{ "stg x0, [sp, #16]", { 0xe0, 0x1b, 0x20, 0xd9 }, 4, OTHER },
		{ "ldraa x0, [sp, #-8]!", { 0xe0, 0xff, 0x7f, 0xf8 }, 4, { .sets_sp = true } },
		{ "ldraa x0, [sp, #8]", { 0xe0, 0x17, 0x20, 0xf8 }, 4, OTHER },
		{ "ld1 {v0.16b}, [sp], #16", { 0xe0, 0x73, 0xdf, 0x4c }, 4, { .sets_sp = true } },
		{ "st1 {v0.16b}, [x0], #16", { 0x00, 0x70, 0x9f, 0x4c }, 4, OTHER },
		{ "ld1 {v0.b}[0], [sp], #1", { 0xe0, 0x03, 0xdf, 0x0d }, 4, { .sets_sp = true } },
		{ "ld1 {v0.16b}, [sp]", { 0xe0, 0x73, 0x40, 0x4c }, 4, OTHER },
		{ "msr spsel, #1", { 0xbf, 0x41, 0x00, 0xd5 }, 4, { .sets_sp = true } },
		{ "msr spsel, x0", { 0x00, 0x42, 0x18, 0xd5 }, 4, { .sets_sp = true } },
		{ "mrs x0, elr_el1", { 0x20, 0x40, 0x38, 0xd5 }, 4, { .sets_sp = true } },
		{ "msr spsr_el2, x0", { 0x00, 0x40, 0x1c, 0xd5 }, 4, { .sets_sp = true } },
		{ "mrs x0, esr_el1", { 0x00, 0x52, 0x38, 0xd5 }, 4, { .sets_sp = true } },
		{ "mrs x0, sp_el0", { 0x00, 0x41, 0x38, 0xd5 }, 4, OTHER },
		{ "msr daifset, #2", { 0xdf, 0x42, 0x03, 0xd5 }, 4, OTHER },
		{ "mrs x0, daif", { 0x20, 0x42, 0x3b, 0xd5 }, 4, OTHER },
		{ "mrs x0, currentel", { 0x40, 0x42, 0x38, 0xd5 }, 4, OTHER },
		{ "mrs x0, far_el1", { 0x00, 0x60, 0x38, 0xd5 }, 4, OTHER },
		{ "mov sp, x29, without its last byte", { 0xbf, 0x03, 0x00 }, 3, OTHER },
	};

	(void)state;
	check(&guest_aarch64, known, sizeof(known) / sizeof(*known));
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_x86),
						   cmocka_unit_test(test_aarch64) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
