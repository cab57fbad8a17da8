/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The begin and end of patched functions; see hook_entry.h. This file is compiled for general registers only.
 *
 * A begin may change none of the registers that a function's arguments can be in, nor the vector registers; an end
 * none with results. The code below is the fast path. All else are functions of C, compiled without vector registers
 * (-mgeneral-regs-only), so the code around them saves general registers only. Functions that may touch others run by
 * call_here() or call_apart().
 *
 * The states of a frame and the order of stores are those of hook_near.c. While the call of an entry is open, its
 * slot on the stack has an address of ours, and the frame the real one. The end of the call stores the latter where
 * the return takes it from. So the frame may be freed before the return.
 *
 * A sled's call is known by its stack pointer, marked by 1, and its number: nothing on the stack is replaced, and no
 * return finds an odd stack pointer (FILL_SLED).
 *
 * call_switch() leads through the page that a fork clears. If the byte is 0, label 5 asks whether the distance is 0,
 * too: then this is a child for which no fork handler ran. It becomes a process of its own before anything is stored
 * into frames, which are still its parent's.
 */
#if defined(__x86_64__)

#include <stddef.h>

#include "source/calls/functions/call_apart.h"
#include "source/calls/stack/call_segment.h"
#include "source/calls/hooks/hook_entry.h"
#include "source/calls/hooks/hook_values.h"

/* Called by the code below. */
uint64_t call_entry_leave(uint64_t slot);
void call_sled_leave(uint64_t match, uint64_t sp);
void call_sled_jump(uint64_t match, uint64_t sp);
void call_entry_replace(uint64_t inside, uint64_t *slot);
uint64_t call_hook_clock(void);
struct wire_call_frame *call_hook_more(void);
bool call_hook_permit(uint32_t function, unsigned state);
bool call_hook_enter_child(void);
bool call_hook_values(uint32_t function, const struct call_registers *registers);

static uint64_t read_clock(uint64_t first, uint64_t second)
{
	(void)first;
	(void)second;
	return ring_clock();
}

uint64_t call_hook_clock(void)
{
	return call_here(read_clock, 0, 0);
}

struct wire_call_frame *call_hook_more(void)
{
	return call_stack_more();
}

bool call_hook_permit(uint32_t function, unsigned state)
{
	return state == WIRE_CALL_ON || (state != WIRE_CALL_OFF && call_is_permitted(function, state));
}

static uint64_t notice_fork(uint64_t slot, uint64_t unused)
{
	(void)unused;
	return call_notice(slot);
}

/* Calls seem to be off, and call_is_new(). Return: whether they are on. */
bool call_hook_enter_child(void)
{
	call_here(notice_fork, 0, 0);
	return *call_site->state != WIRE_OFF;
}

static uint64_t begin_with_values(uint64_t function, uint64_t registers)
{
	return call_values_begin((uint32_t)function, (const struct call_registers *)(uintptr_t)registers);
}

/* Not apart: each call of the function comes here. */
bool call_hook_values(uint32_t function, const struct call_registers *registers)
{
	return call_here(begin_with_values, function, (uint64_t)(uintptr_t)registers);
}

static uint64_t end_top(uint64_t frame, uint64_t unused)
{
	(void)unused;
	call_end_top((struct wire_call_frame *)(uintptr_t)frame);
	return 0;
}

static uint64_t end_slow(uint64_t match, uint64_t sp)
{
	call_end_slow(match, sp);
	return 0;
}

static uint64_t returned(uint64_t slot, uint64_t unused)
{
	(void)unused;
	return (uint64_t)(uintptr_t)call_stack_returned(slot);
}

/* Apart where few ends are slow: those for which a ring needs another packet. */
static void end(call_apart_function *how, uint64_t first, uint64_t second)
{
	(call_cpu_is_fast() ? call_apart : call_here)(how, first, second);
}

/* The registers with results: rax is below the return address (call_entry_end, call_sled_end). */
static void take_result(const struct wire_call_frame *frame, uint64_t slot)
{
	struct call_values *values = call_values_of(frame);

	if (!values)
		return;
	values->integer = ((const uint64_t *)(uintptr_t)slot)[-1];
	__asm__ volatile("movq %%xmm0, %0" : "=r"(values->vector));
	values->returned = true;
}

/* The end of a call whose frame is known. */
static void end_frame(struct wire_call_frame *frame)
{
	if (call_values_of(frame))
		call_here(end_top, (uint64_t)(uintptr_t)frame, 0);
	else if (__builtin_expect(!call_end(frame), 0))
		end(end_top, (uint64_t)(uintptr_t)frame, 0);
}

/* Its frame is in the segment before, or it has arguments, or calls above it have ended without notice. */
static __attribute__((noinline)) uint64_t leave_other(uint64_t slot)
{
	struct wire_call_frame *frame = call_stack_top();
	uint64_t address;

	if (!frame || call_values_slot(frame) != slot)
		frame = (struct wire_call_frame *)(uintptr_t)call_apart(returned, slot, 0);
	address = frame->match;
	take_result(frame, slot);
	end_frame(frame);
	return address;
}

uint64_t call_entry_leave(uint64_t slot)
{
	struct wire_call_frame *frame;
	uint64_t address;

	if (call_is_new()) {
		address = call_here(notice_fork, slot, 0);
		if (address)
			return address;
	}
	frame = call_thread.top - 1;
	if (__builtin_expect(frame->sp != slot, 0))
		return leave_other(slot);
	__asm__("" : "+r"(frame)); /* gcc would need another register for its offset from the top */
	address = frame->match;
	if (__builtin_expect(!call_end(frame), 0))
		end(end_top, (uint64_t)(uintptr_t)frame, 0);
	return address;
}

/* @has_result: of the function that was called */
static __attribute__((noinline)) void leave_sled_other(uint64_t match, uint64_t sp, bool has_result)
{
	struct wire_call_frame *frame = call_stack_top();
	const bool values = frame && call_values_of(frame) && frame->match == (match ^ CALL_VALUES_MARK);

	if (values && has_result)
		take_result(frame, sp & ~(uint64_t)1);
	if (values || (frame && frame->match == match))
		end_frame(frame);
	else if (frame)
		end(end_slow, match, sp);
}

void call_sled_leave(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame;

	if (call_is_new())
		call_here(notice_fork, 0, 0);
	frame = call_thread.top - 1;
	if (__builtin_expect(frame->match != match || !call_end(frame), 0))
		leave_sled_other(match, sp, true);
}

/* The result will be that of the other function, which is not known. */
void call_sled_jump(uint64_t match, uint64_t sp)
{
	struct wire_call_frame *frame;

	if (call_is_new())
		call_here(notice_fork, 0, 0);
	frame = call_thread.top - 1;
	if (__builtin_expect(frame->match != match || !call_end(frame), 0))
		leave_sled_other(match, sp, false);
}

/* @saved: what MCOUNT pushed */
static __attribute__((noinline)) void replace_with_values(uint32_t function, uint64_t *slot,
							  const uint64_t *saved)
{
	struct call_registers registers = { .integers = { saved[4], saved[5], saved[7], saved[6], saved[3],
							  saved[2] },
					    .slot = (uint64_t)(uintptr_t)slot };

	__asm__("movq %%xmm0, %0\n\tmovq %%xmm1, %1\n\tmovq %%xmm2, %2\n\tmovq %%xmm3, %3\n\t"
		"movq %%xmm4, %4\n\tmovq %%xmm5, %5\n\tmovq %%xmm6, %6\n\tmovq %%xmm7, %7"
		: "=m"(registers.vectors[0]), "=m"(registers.vectors[1]), "=m"(registers.vectors[2]),
		  "=m"(registers.vectors[3]), "=m"(registers.vectors[4]), "=m"(registers.vectors[5]),
		  "=m"(registers.vectors[6]), "=m"(registers.vectors[7]));
	if (call_hook_values(function, &registers))
		*slot = (uint64_t)(uintptr_t)call_entry_end;
}

/*
 * A function that calls mcount. @inside: an address of it; @slot: of its return address
 */
void call_entry_replace(uint64_t inside, uint64_t *slot)
{
	struct wire_call_frame *frame;
	uint32_t number;

	if (call_switch() == WIRE_OFF && (!call_is_new() || !call_hook_enter_child()))
		return;
	frame = call_thread.top;
	if (call_is_segment_end(frame) && call_thread.stopped) { /* its function may not be known yet */
		call_lose_stopped();
		return;
	}
	number = call_function_find(inside);
	if (call_switches[number] != WIRE_CALL_ON) {
		if (call_switches[number] & WIRE_CALL_ARGUMENTS) {
			replace_with_values(number, slot, __builtin_dwarf_cfa());
			return;
		}
		if (call_switches[number] == WIRE_CALL_OFF ||
		    !call_hook_permit(number, call_switches[number]))
			return;
	}
	if (call_is_segment_end(frame))
		frame = call_stack_more();
	if (!frame)
		return;
	call_begin(frame, number, *slot, (uint64_t)(uintptr_t)slot);
	frame->flags = CALL_FRAME_REPLACED;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*slot = (uint64_t)(uintptr_t)call_entry_end;
}

static_assert(offsetof(struct burin_site, state) == 0 && offsetof(struct call_thread, top) == 0 &&
		      WIRE_CALL_OFF == 0 && WIRE_CALL_ON == 1 && WIRE_CALL_SEGMENT == 4096 &&
		      sizeof(struct wire_call_frame) == 32 && offsetof(struct wire_call_frame, start) == 0 &&
		      offsetof(struct wire_call_frame, function) == 8 &&
		      offsetof(struct wire_call_frame, flags) == 12 &&
		      offsetof(struct wire_call_frame, match) == 16 &&
		      offsetof(struct wire_call_frame, sp) == 24 && CALL_FRAME_REPLACED == 1 &&
		      WIRE_CALL_ARGUMENTS == 8 && offsetof(struct call_registers, integers) == 64 &&
		      offsetof(struct call_registers, slot) == 112,
	      "numbers in the code below");

/* clang-format off */

/* The registers that a function may change, but rax, in a frame of their own. */

#define SAVE_GENERAL \
	"pushq %rbp\n\t" \
	".cfi_adjust_cfa_offset 8\n\t" \
	".cfi_rel_offset %rbp, 0\n\t" \
	"movq %rsp, %rbp\n\t" \
	".cfi_def_cfa_register %rbp\n\t" \
	"pushq %rcx\n\t" \
	"pushq %rdx\n\t" \
	"pushq %rsi\n\t" \
	"pushq %rdi\n\t" \
	"pushq %r8\n\t" \
	"pushq %r9\n\t" \
	"pushq %r10\n\t" \
	"pushq %r11\n\t"

#define RESTORE_GENERAL \
	"popq %r11\n\t" \
	"popq %r10\n\t" \
	"popq %r9\n\t" \
	"popq %r8\n\t" \
	"popq %rdi\n\t" \
	"popq %rsi\n\t" \
	"popq %rdx\n\t" \
	"popq %rcx\n\t" \
	"popq %rbp\n\t" \
	".cfi_def_cfa %rsp, 8\n\t" \
	"ret\n\t"

/* A function of this file with up to two arguments: general registers are all that it changes. Of them rax is its result. */

#define KEEP_GENERAL(name) \
	__asm__(".pushsection .text.call_hook, \"ax\"\n" \
		".type " #name "_saved, @function\n" \
		#name "_saved:\n\t" \
		".cfi_startproc\n\t" \
		SAVE_GENERAL \
		"andq $-16, %rsp\n\t" \
		"call " #name "\n\t" \
		"leaq -64(%rbp), %rsp\n\t" \
		RESTORE_GENERAL \
		".cfi_endproc\n" \
		".size " #name "_saved, . - " #name "_saved\n" \
		".popsection")

KEEP_GENERAL(call_hook_clock);
KEEP_GENERAL(call_hook_more);
KEEP_GENERAL(call_hook_permit);
KEEP_GENERAL(call_hook_enter_child);
KEEP_GENERAL(call_hook_values);

/*
 * Store the arguments' registers (struct call_registers), and call call_hook_values(). eax: 1: a sled. On the stack: the return
 * address, rdx, rcx, rax, another return address, the function's. Return: al.
 */
__asm__(".pushsection .text.call_hook, \"ax\"\n"
	".type call_values_enter, @function\n"
	"call_values_enter:\n\t"
	".cfi_startproc\n\t"
	"leaq 40(%rsp, %rax), %rax\n\t"
	"pushq %rax\n\t"
	"pushq %r9\n\t"
	"pushq %r8\n\t"
	"pushq 40(%rsp)\n\t" /* rcx */
	"pushq 40(%rsp)\n\t" /* rdx */
	"pushq %rsi\n\t"
	"pushq %rdi\n\t"
	"subq $64, %rsp\n\t"
	".cfi_adjust_cfa_offset 120\n\t"
	"movq %xmm0, (%rsp)\n\t"
	"movq %xmm1, 8(%rsp)\n\t"
	"movq %xmm2, 16(%rsp)\n\t"
	"movq %xmm3, 24(%rsp)\n\t"
	"movq %xmm4, 32(%rsp)\n\t"
	"movq %xmm5, 40(%rsp)\n\t"
	"movq %xmm6, 48(%rsp)\n\t"
	"movq %xmm7, 56(%rsp)\n\t"
	"movl %r11d, %edi\n\t"
	"movq %rsp, %rsi\n\t"
	"call call_hook_values_saved\n\t"
	"movq 64(%rsp), %rdi\n\t"
	"movq 72(%rsp), %rsi\n\t"
	"addq $120, %rsp\n\t"
	".cfi_adjust_cfa_offset -120\n\t"
	"ret\n\t"
	".cfi_endproc\n"
	".size call_values_enter, . - call_values_enter\n"
	".popsection");

/*
 * The begin. On the stack: rdx, rcx, rax, the return address into the stub or sled, the function's. As call_begin(), in
 * registers that are free; its comments hold here, too.
 */
#define BEGIN(name, clock, fill, done, off, kind) \
	__asm__(".pushsection .text.call_hook, \"ax\"\n" \
		".balign 64\n" \
		".globl " #name "\n.hidden " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n\t" \
		".cfi_startproc\n\t" \
		"pushq %rax\n\t" \
		".cfi_adjust_cfa_offset 8\n\t" \
		"pushq %rcx\n\t" \
		".cfi_adjust_cfa_offset 8\n\t" \
		"pushq %rdx\n\t" \
		".cfi_adjust_cfa_offset 8\n\t" \
		"movq session_identity@gotpcrel(%rip), %rax\n\t" \
		"movq (%rax), %rdx\n\t" \
		"cmpb $0, (%rax, %rdx)\n\t" \
		"je 5f\n" \
		"1:\n\t" \
		"movq call_switches(%rip), %rax\n\t" \
		"cmpb $1, (%rax, %r11)\n\t" \
		"jne 6f\n" \
		"2:\n\t" \
		"movq call_thread@gottpoff(%rip), %rcx\n\t" \
		"movq %fs:(%rcx), %rax\n\t" \
		"testl $4095, %eax\n\t" \
		"jz 7f\n" \
		"3:\n\t" \
		"leaq 32(%rax), %rdx\n\t" \
		"movq %rdx, %fs:(%rcx)\n\t" \
		"movl %r11d, 8(%rax)\n\t" \
		fill \
		"movq %rax, %rcx\n\t" \
		clock \
		"movq %rax, (%rcx)\n\t" \
		"popq %rdx\n\t" \
		"popq %rcx\n\t" \
		"popq %rax\n\t" \
		done \
		"5:\n\t" /* call_is_new() decides */ \
		"testq %rdx, %rdx\n\t" \
		"jnz 8f\n\t" \
		"pushq %rdi\n\t" \
		"pushq %rsi\n\t" \
		"call call_hook_enter_child_saved\n\t" \
		"popq %rsi\n\t" \
		"popq %rdi\n\t" \
		"testb %al, %al\n\t" \
		"jnz 1b\n\t" \
		"jmp 8f\n" \
		"6:\n\t" /* neither off nor on, or off */ \
		"cmpb $0, (%rax, %r11)\n\t" \
		"je 8f\n\t" \
		"testb $8, (%rax, %r11)\n\t" \
		"jnz 9f\n\t" \
		"pushq %rdi\n\t" \
		"pushq %rsi\n\t" \
		"movl %r11d, %edi\n\t" \
		"movzbl (%rax, %r11), %esi\n\t" \
		"call call_hook_permit_saved\n\t" \
		"popq %rsi\n\t" \
		"popq %rdi\n\t" \
		"testb %al, %al\n\t" \
		"jnz 2b\n\t" \
		"jmp 8f\n" \
		"7:\n\t" \
		"call call_hook_more_saved\n\t" \
		"testq %rax, %rax\n\t" \
		"jnz 3b\n" \
		"8:\n\t" \
		"popq %rdx\n\t" \
		"popq %rcx\n\t" \
		"popq %rax\n\t" \
		off \
		"9:\n\t" /* with arguments */ \
		"movl $" kind ", %eax\n\t" \
		"call call_values_enter\n\t" \
		"testb %al, %al\n\t" \
		"jz 8b\n\t" \
		"popq %rdx\n\t" \
		"popq %rcx\n\t" \
		"popq %rax\n\t" \
		done \
		".cfi_endproc\n" \
		".size " #name ", . - " #name "\n" \
		".popsection")

#define CLOCK_TSC \
	"rdtsc\n\t" \
	"shlq $32, %rdx\n\t" \
	"orq %rdx, %rax\n\t"
#define CLOCK_OTHER "call call_hook_clock_saved\n\t"

/* flags, match and sp. The frame of a sled has an odd sp: so a return never takes it for its own. */
#define FILL_ENTRY \
	"movl $1, 12(%rax)\n\t" \
	"movq 32(%rsp), %rdx\n\t" \
	"movq %rdx, 16(%rax)\n\t" \
	"leaq 32(%rsp), %rdx\n\t" \
	"movq %rdx, 24(%rax)\n\t"
#define FILL_SLED \
	"movl $0, 12(%rax)\n\t" \
	"leaq 33(%rsp), %rdx\n\t" \
	"movq %rdx, 24(%rax)\n\t" \
	"shlq $40, %r11\n\t" \
	"xorq %r11, %rdx\n\t" \
	"movq %rdx, 16(%rax)\n\t"

#define DONE_ENTRY "clc\n\tret $8\n"
#define OFF_ENTRY  "stc\n\tret\n\t"
#define DONE_SLED  "ret\n"
#define OFF_SLED   "ret\n\t"

BEGIN(call_entry_begin, CLOCK_TSC, FILL_ENTRY, DONE_ENTRY, OFF_ENTRY, "0");
BEGIN(call_entry_begin_other, CLOCK_OTHER, FILL_ENTRY, DONE_ENTRY, OFF_ENTRY, "0");
BEGIN(call_sled_begin, CLOCK_TSC, FILL_SLED, DONE_SLED, OFF_SLED, "1");
BEGIN(call_sled_begin_other, CLOCK_OTHER, FILL_SLED, DONE_SLED, OFF_SLED, "1");

#define CODE(name, text) \
	__asm__(".pushsection .text.call_hook, \"ax\"\n" \
		".balign 64\n" \
		".globl " #name "\n.hidden " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n\t" \
		text \
		".size " #name ", . - " #name "\n" \
		".popsection")

/* The function has returned: rax, rdx and vector registers may be its results. */
CODE(call_entry_end,
	"pushq %rax\n\t" /* room for the return address */
	"pushq %rax\n\t"
	"pushq %rdx\n\t"
	"leaq 16(%rsp), %rdi\n\t"
	"call call_entry_leave\n\t"
	"movq %rax, 16(%rsp)\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"ret\n");

/* Before a function returns: on the stack is its return address. */
CODE(call_sled_end,
	"pushq %rax\n\t"
	"pushq %rdx\n\t"
	"leaq 17(%rsp), %rsi\n\t"
	"movq %r11, %rdi\n\t"
	"shlq $40, %rdi\n\t"
	"xorq %rsi, %rdi\n\t"
	"call call_sled_leave\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"ret\n");

/* Before a function jumps to another, whose arguments are in place. */
CODE(call_sled_tail,
	"pushq %rax\n\t"
	"pushq %rdx\n\t"
	"pushq %rcx\n\t"
	"pushq %rsi\n\t"
	"pushq %rdi\n\t"
	"pushq %r8\n\t"
	"pushq %r9\n\t"
	"pushq %r10\n\t"
	"leaq 73(%rsp), %rsi\n\t"
	"movq %r11, %rdi\n\t"
	"shlq $40, %rdi\n\t"
	"xorq %rsi, %rdi\n\t"
	"call call_sled_jump\n\t"
	"popq %r10\n\t"
	"popq %r9\n\t"
	"popq %r8\n\t"
	"popq %rdi\n\t"
	"popq %rsi\n\t"
	"popq %rcx\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"ret\n");

/*
 * What compilers call with -pg behind the prologue, where the frame pointer leads to the return address. At a function's
 * begin they call __fentry__; these calls were patched, except those of unknown functions.
 */
#define CODE_OUTSIDE(name, text) \
	__asm__(".pushsection .text.call_hook, \"ax\"\n" \
		".balign 64\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" \
		#name ":\n\t" \
		text \
		".size " #name ", . - " #name "\n" \
		".popsection")

#define MCOUNT \
	"pushq %rax\n\t" \
	"pushq %rdx\n\t" \
	"pushq %rcx\n\t" \
	"pushq %rsi\n\t" \
	"pushq %rdi\n\t" \
	"pushq %r8\n\t" \
	"pushq %r9\n\t" \
	"pushq %r10\n\t" \
	"pushq %r11\n\t" \
	"movq 72(%rsp), %rdi\n\t" \
	"leaq 8(%rbp), %rsi\n\t" \
	"call call_entry_replace\n\t" \
	"popq %r11\n\t" \
	"popq %r10\n\t" \
	"popq %r9\n\t" \
	"popq %r8\n\t" \
	"popq %rdi\n\t" \
	"popq %rsi\n\t" \
	"popq %rcx\n\t" \
	"popq %rdx\n\t" \
	"popq %rax\n\t" \
	"ret\n"

CODE_OUTSIDE(mcount, MCOUNT);
CODE_OUTSIDE(_mcount, MCOUNT);
CODE_OUTSIDE(__fentry__, "ret\n");

/* clang-format on */

#endif
