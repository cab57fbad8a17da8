/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code that is copied near objects; see hook_near.h.
 *
 * It refers to nothing but its own data, which lies in front of it and is copied along, and to thread-local memory,
 * whose offsets are written into the copy's instructions. The append is that of section_rseq_put3() with fixed
 * registers; the comments there hold here, too. Its descriptors belong to the copy.
 *
 * A frame has four states. Only its own thread moves it, from each state to the next one, and from the last to the
 * first:
 *
 *	free	its start is 0, and `top` is not behind it
 *	filling	`top` is behind it, its start is still 0: the begin stores function, flags, match and sp
 *	open	its start is not 0
 *	ended	the tail has passed its record, its start is not yet cleared: from the commit to CLOSE
 *
 * A signal handler of the thread may run between any two instructions. It uses the frames from `top` on, and leaves
 * `top` as it found it. So a begin moves `top` before it fills the frame: otherwise a handler's call would lie in the
 * same frame. An end clears the start before it moves `top` back: the call that fills the frame next relies on a
 * start of 0, by which readers skip it. A handler that never returns (siglongjmp) can leave a frame in `filling`:
 * call_end_top() frees it without a record.
 *
 * Another process reads frames while they change (drain/calls/call_tables.c). x86 does not reorder stores, so a start
 * that is not 0 shows that the function is stored. A thread that is killed in `ended` leaves the call in a ring and
 * in its frame. The flag WIRE_CALL_ENDING, by which call_end() marks that state, is not set here.
 *
 * Before its last instruction an append has only changed bytes behind the tail, and the packet's time_end: there is
 * no record yet. So the kernel may abort it anywhere. The code at `_abort` restores what the slow path needs, which
 * then does the whole step: an end keeps the results in r8 and r9, an exit its arguments there, and a begin has
 * pushed those that its function needs.
 *
 * When the kernel preempts a thread or sends it a signal, it reads the descriptor that rseq_cs leads to, even if the
 * section is long over. If it cannot, the thread dies by SIGSEGV. So a copy stays mapped when its object is unloaded:
 * retire() in call_patch.c.
 *
 * In a child for which no fork handler ran, the page of session_identity is 0. The byte that is tested for `on` is
 * then the first one of the distance itself: begins and ends take the slow path, which notices the child (decision
 * 0120).
 *
 * Other processes of the user can write the session. A position is masked right after it is loaded, by masks in
 * private memory (struct call_cpu), so stores stay within the slots. A forged packet header spoils times, a forged
 * head of a segment the depth. The return address of an open call lies in its frame, also in shared memory; only the
 * permissions of the session protect it.
 *
 * Its cost is mostly the number of its instructions: they wait for each other less than both reads of the clock take.
 * So struct call_cpu has all that does not change, and stores of four bytes replace shifts.
 */
#if defined(__x86_64__)

#include <stddef.h>
#include <string.h>
#include <sys/rseq.h>

#include "source/calls/stack/call_thread.h"
#include "source/calls/hooks/hook_near.h"

/* The data of a copy; offsets from its begin are numbers in the code below. */
struct near_data {
	struct rseq_cs end, begin, exit, enter; /* appends and counts; 32-aligned */
	uint64_t identity;			/* address of session_identity */
	uint64_t switches;
	uint64_t calls;	    /* struct wire_calls */
	uint64_t functions; /* address of call_functions */
	uint64_t other[4];  /* the code for all other cases: begin, end, enter, exit */
	uint32_t header;    /* id and length of a record */
	uint32_t reserved[15];
};

/* Thread-local memory that the code refers to. */
enum near_thread {
	NEAR_TOP,
	NEAR_CPU,
	NEAR_TID,
	NEAR_SECTION,	  /* struct rseq: rseq_cs */
	NEAR_PRESENT_CPU, /* and cpu_id */
	NEAR_THREADS
};

/* An instruction of the code that ends with an offset of thread-local memory. */
struct near_place {
	uint32_t offset, what;
};

extern const char near_copy[], near_begin[], near_end[], near_end_min[], near_enter[], near_exit[],
	near_exit_min[], near_last[];
/* Sections, from each label to that with `_over`, and where they are aborted. */
extern const char near_count_begin[], near_count_begin_over[], near_count_begin_abort[], near_count_enter[],
	near_count_enter_over[], near_count_enter_abort[];
extern const char near_append_end[], near_append_end_over[], near_append_end_abort[], near_append_end_min[],
	near_append_end_min_over[], near_append_end_min_abort[];
extern const char near_append_exit[], near_append_exit_over[], near_append_exit_abort[],
	near_append_exit_min[], near_append_exit_min_over[], near_append_exit_min_abort[];
/* Jumps to the code for all other cases. */
extern const char near_to_begin[], near_to_end[], near_to_enter[], near_to_exit[];
extern const struct near_place near_places[], near_places_end[];

static uint32_t offset_of_thread(const void *variable)
{
	ptrdiff_t offset = (const char *)variable - (const char *)__builtin_thread_pointer();

	/* gcc would load only the lower half of the offset in the linker's table, for which there is no relocation. */
	__asm__("" : "+r"(offset));
	return (uint32_t)offset;
}

static void put_places(uint8_t *area)
{
	const uint32_t rseq = (uint32_t)__rseq_offset;
	const uint32_t offsets[NEAR_THREADS] = {
		[NEAR_TOP] = offset_of_thread(&call_thread.top),
		[NEAR_CPU] = offset_of_thread(&call_cpu_here),
		[NEAR_TID] = offset_of_thread(&tracepoint_thread.tid),
		[NEAR_SECTION] = rseq + (uint32_t)offsetof(struct rseq, rseq_cs),
		[NEAR_PRESENT_CPU] = rseq + (uint32_t)offsetof(struct rseq, cpu_id),
	};

	for (const struct near_place *place = near_places; place < near_places_end; place++)
		memcpy(area + place->offset, &offsets[place->what], sizeof(uint32_t));
}

static uint64_t offset_of(const char *label)
{
	return (uint64_t)(label - near_copy);
}

static struct rseq_cs section(const uint8_t *area, const char *begin, const char *over, const char *abort)
{
	return (struct rseq_cs){ .start_ip = (uint64_t)(uintptr_t)area + offset_of(begin),
				 .post_commit_offset = (uint64_t)(over - begin),
				 .abort_ip = (uint64_t)(uintptr_t)area + offset_of(abort) };
}

#define SECTION_OF(area, name) section(area, near_##name, near_##name##_over, near_##name##_abort)

struct hook_near hook_near_put(uint8_t *area, uint64_t begin, uint64_t end)
{
	const struct wire_calls *calls = tracepoint_session.calls.header;
	/* A session that a program made for itself may get a shortest duration later. */
	const bool min = calls->min_ticks || tracepoint_session.geometry.owner_kind == WIRE_OWNER_PROGRAM;
	const struct near_data data = {
		.end = min ? SECTION_OF(area, append_end_min) : SECTION_OF(area, append_end),
		.begin = SECTION_OF(area, count_begin),
		.exit = min ? SECTION_OF(area, append_exit_min) : SECTION_OF(area, append_exit),
		.enter = SECTION_OF(area, count_enter),
		.identity = (uint64_t)(uintptr_t)&session_identity,
		.switches = (uint64_t)(uintptr_t)call_switches,
		.calls = (uint64_t)(uintptr_t)calls,
		.functions = (uint64_t)(uintptr_t)&call_functions,
		.other = { begin, end, (uint64_t)(uintptr_t)__cyg_profile_func_enter,
			   (uint64_t)(uintptr_t)__cyg_profile_func_exit },
		.header = call_site->id | (uint32_t)CALL_RECORD_BYTES << 16,
	};

	/* Never zeros in their place: the kernel may look at a sequence of an area that is used again. */
	memcpy(area, &data, sizeof(data));
	memcpy(area + sizeof(data), near_copy + sizeof(data), offset_of(near_last) - sizeof(data));
	put_places(area);
	if (!call_cpu_is_fast())
		return (struct hook_near){ offset_of(near_to_begin), offset_of(near_to_end),
					   offset_of(near_to_enter), offset_of(near_to_exit) };
	return (struct hook_near){ offset_of(near_begin), offset_of(min ? near_end_min : near_end),
				   offset_of(near_enter), offset_of(min ? near_exit_min : near_exit) };
}

static_assert(sizeof(struct rseq_cs) == 32 && offsetof(struct near_data, identity) == 128 &&
		      offsetof(union session_identity, calls) == 0 &&
		      offsetof(struct near_data, header) == 192 && sizeof(struct near_data) == 256 &&
		      HOOK_NEAR_BYTES == 3072,
	      "the data in the code below");
static_assert(offsetof(struct burin_site, state) == 0 && WIRE_CALL_OFF == 0 && WIRE_CALL_ON == 1 &&
		      WIRE_CALL_COUNT == 2 && WIRE_CALL_ROOT == 4 && WIRE_CALL_ARGUMENTS == 8 &&
		      WIRE_ON == 1 && WIRE_OFF == 0 && offsetof(struct wire_calls, min_ticks) == 80 &&
		      offsetof(struct wire_calls, depth_max) == 88 &&
		      offsetof(struct wire_calls, below) == 92 && WIRE_CALL_SEGMENT == 4096 &&
		      sizeof(struct wire_call_frame) == 32 &&
		      offsetof(struct wire_call_segment, depth) == 12 && CALL_FRAME_REPLACED == 1 &&
		      WIRE_TAIL_COUNT_BITS == 24 && WIRE_CALL_START_BITS == 48 &&
		      offsetof(struct call_functions, mask) == 0 &&
		      offsetof(struct call_functions, entries) == 16 && sizeof(struct call_function) == 16 &&
		      offsetof(struct call_function, number) == 8 && offsetof(struct call_cpu, tail) == 0 &&
		      offsetof(struct call_cpu, slots) == 8 && offsetof(struct call_cpu, byte_mask) == 16 &&
		      offsetof(struct call_cpu, packet_mask) == 24 && offsetof(struct call_cpu, room) == 32 &&
		      offsetof(struct call_cpu, counts) == 40 && offsetof(struct call_cpu, cpu) == 48 &&
		      offsetof(struct wire_packet, base_time) == 88 &&
		      offsetof(struct wire_packet, base_offset) == 96 &&
		      offsetof(struct wire_packet, time_end) == 136,
	      "the numbers in the code below");

/* clang-format off */

/* Behind an instruction that ends with the offset of thread-local memory, which is 0 here. */
#define THREAD(what) THREAD_(what)
#define THREAD_(what) \
	"770:\n\t" \
	".pushsection .rodata.call_near, \"a\"\n\t" \
	".long 770b - near_copy - 4, " #what "\n\t" \
	".popsection\n\t"
#define TOP	    THREAD(0)
#define CPU	    THREAD(1)
#define TID	    THREAD(2)
#define SECTION	    THREAD(3)
#define PRESENT_CPU THREAD(4)
static_assert(NEAR_TOP == 0 && NEAR_CPU == 1 && NEAR_TID == 2 && NEAR_SECTION == 3 && NEAR_PRESENT_CPU == 4,
	      "the numbers of thread-local memory");

#define SIGNATURE ".byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n" /* SECTION_SIGNATURE */

/*
 * All calls are off, as call_switch(): 3. The function (r11) is not on: 4. Its frame would not be in this segment: 9. Changes rax
 * and rdx.
 */
#define IS_ON \
	"movq near_identity(%rip), %rax\n\t" \
	"movq (%rax), %rdx\n\t" \
	"cmpb $0, (%rax, %rdx)\n\t" \
	"je 3f\n\t" \
	"movq near_switches(%rip), %rax\n\t" \
	"cmpb $1, (%rax, %r11)\n\t" \
	"jne 4f\n" \
	"2:\n\t" \
	"movq %fs:0, %rax\n\t" TOP \
	"testl $4095, %eax\n\t" \
	"jz 9f\n\t" \
	"leaq 32(%rax), %rdx\n\t" /* first, for signal handlers: see call_thread.h */ \
	"movq %rdx, %fs:0\n\t" TOP

/* Behind IS_ON: as call_is_permitted(). eax: how many calls are open. Falls through to 8. Changes rax and rdx. */
#define DECIDE(name) \
	"3:\n\t" \
	"testq %rdx, %rdx\n\t" \
	"jz 9f\n\t" \
	"jmp 8f\n" \
	"4:\n\t" \
	"movzbl (%rax, %r11), %edx\n\t" \
	"cmpl $2, %edx\n\t" \
	"jb 8f\n\t" \
	"je 6f\n\t" \
	"cmpl $4, %edx\n\t" \
	"ja 9f\n\t" \
	"movq %fs:0, %rdx\n\t" TOP \
	"subq $32, %rdx\n\t" \
	"movl %edx, %eax\n\t" \
	"andq $-4096, %rdx\n\t" \
	"andl $4095, %eax\n\t" \
	"shrl $5, %eax\n\t" \
	"addl 12(%rdx), %eax\n\t" \
	"movq near_calls(%rip), %rdx\n\t" \
	"cmpl $0, 88(%rdx)\n\t" \
	"je 5f\n\t" \
	"cmpl 88(%rdx), %eax\n\t" \
	"jae 8f\n" \
	"5:\n\t" \
	"cmpl $0, 92(%rdx)\n\t" \
	"je 2b\n\t" \
	"testl %eax, %eax\n\t" \
	"jnz 2b\n\t" \
	"movq near_switches(%rip), %rax\n\t" \
	"cmpb $4, (%rax, %r11)\n\t" \
	"je 2b\n\t" \
	"jmp 8f\n" \
	"6:\n\t" \
	"leaq near_cs_" #name "(%rip), %rax\n\t" \
	"movq %rax, %fs:0\n" SECTION \
	"near_count_" #name ":\n\t" \
	"movq %fs:0, %rdx\n\t" CPU \
	"movl 48(%rdx), %eax\n\t" \
	"cmpl %fs:0, %eax\n\t" PRESENT_CPU \
	"jne 9f\n\t" \
	"movq 40(%rdx), %rdx\n\t" \
	"incq (%rdx, %r11, 8)\n" \
	"near_count_" #name "_over:\n"

#define CLOCK \
	"rdtsc\n\t" \
	"shlq $32, %rdx\n\t" \
	"orq %rdx, %rax\n\t"

__asm__(".pushsection .rodata.call_near, \"a\"\n"
	".balign 8\n"
	"near_places:\n"
	".popsection\n"
	".pushsection .text.call_near, \"ax\"\n"
	".balign 64\n"
	"near_copy:\n" /* struct near_data */
	"near_cs_end: .fill 4, 8, 0\n"
	"near_cs_begin: .fill 4, 8, 0\n"
	"near_cs_exit: .fill 4, 8, 0\n"
	"near_cs_enter: .fill 4, 8, 0\n"
	"near_identity: .quad 0\n"
	"near_switches: .quad 0\n"
	"near_calls: .quad 0\n"
	"near_functions: .quad 0\n"
	"near_other: .quad 0, 0, 0, 0\n"
	"near_header: .fill 8, 8, 0\n\t"

	/* On the stack: the return address into the stub, then the function's. r11: its number. */
	".balign 64\n"
	"near_begin:\n\t"
	"pushq %rax\n\t"
	"pushq %rdx\n\t"
	IS_ON
	"movl %r11d, 8(%rax)\n\t"
	"movl $1, 12(%rax)\n\t"
	"movq 24(%rsp), %rdx\n\t"
	"movq %rdx, 16(%rax)\n\t"
	"leaq 24(%rsp), %rdx\n\t"
	"movq %rdx, 24(%rax)\n\t"
	"movq %rax, %r11\n\t"
	CLOCK /* clears carry: the stub calls the body */
	"movq %rax, (%r11)\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"ret $8\n"
	DECIDE(begin)
	"8:\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"stc\n\t"
	"ret\n\t"
	SIGNATURE
	"near_count_begin_abort:\n"
	"9:\n\t"
	"popq %rdx\n\t"
	"popq %rax\n"
	"near_to_begin:\n\t"
	"jmp *near_other(%rip)\n\t"

	/* __cyg_profile_func_enter(). rdi: the function's address. As call_function_peek(), then call_begin(). */
	".balign 64\n"
	"near_enter:\n\t"
	"movq near_functions(%rip), %rax\n\t"
	"movq (%rax), %rax\n\t"
	"movq %rdi, %rdx\n\t"
	"movq %rdi, %rcx\n\t"
	"shrq $2, %rdx\n\t"
	"shrq $14, %rcx\n\t"
	"xorq %rcx, %rdx\n\t"
	"andq (%rax), %rdx\n\t"
	"shlq $4, %rdx\n\t"
	"cmpq %rdi, 16(%rax, %rdx)\n\t"
	"jne 9f\n\t"
	"movl 24(%rax, %rdx), %r11d\n\t"
	IS_ON
	"movq %r11, 8(%rax)\n\t" /* no flags */
	"movq %rdi, 16(%rax)\n\t"
	"leaq 8(%rsp), %rdx\n\t"
	"movq %rdx, 24(%rax)\n\t"
	"movq %rax, %rcx\n\t"
	CLOCK
	"movq %rax, (%rcx)\n\t"
	"ret\n"
	DECIDE(enter)
	"8:\n\t"
	"ret\n\t"
	SIGNATURE
	"near_count_enter_abort:\n"
	"9:\n"
	"near_to_enter:\n\t"
	"jmp *near_other+16(%rip)\n"
	"near_to_end:\n\t"
	"jmp *near_other+8(%rip)\n"
	"near_to_exit:\n\t"
	"jmp *near_other+24(%rip)\n");

/*
 * Append the record of the top frame. In all other cases: 9. rsi: behind the top frame. rdi: address of the tail; rcx:
 * the record's place; r11: its byte in the packet; r10: the CPU, then the packet. Changes rax and rdx. or_leave: of a call that is too
 * short
 */
#define APPEND(name, min, or_leave) \
	"movq near_identity(%rip), %rax\n\t" \
	"movq (%rax), %rdx\n\t" \
	"cmpb $1, (%rax, %rdx)\n\t" \
	"jne 9f\n\t" \
	or_leave \
	"leaq near_cs_" #name "(%rip), %rax\n\t" \
	"movq %rax, %fs:0\n" SECTION \
	"near_append_" #name #min ":\n\t" \
	"movq %fs:0, %r10\n\t" CPU \
	"movl 48(%r10), %eax\n\t" \
	"cmpl %fs:0, %eax\n\t" PRESENT_CPU \
	"jne 9f\n\t" \
	"movq (%r10), %rdi\n\t" \
	"movq (%rdi), %rcx\n\t" \
	"shrq $21, %rcx\n\t" /* a position in words, behind 24 bits; times 8 */ \
	"andq 16(%r10), %rcx\n\t" \
	"movq 24(%r10), %r11\n\t" \
	"andq %rcx, %r11\n\t" \
	"leaq -8(%r11), %rax\n\t" \
	"cmpq 32(%r10), %rax\n\t" /* no packet is open, or it is full */ \
	"ja 9f\n\t" \
	"addq 8(%r10), %rcx\n\t" \
	"movq %rcx, %r10\n\t" \
	"subq %r11, %r10\n\t" \
	CLOCK \
	"movq 136(%r10), %rdx\n\t" \
	"cmpq %rdx, %rax\n\t" \
	"cmovb %rdx, %rax\n\t" \
	"movq %rax, %rdx\n\t" \
	"subq 88(%r10), %rdx\n\t" \
	"shrq $32, %rdx\n\t" \
	"jnz 9f\n\t" \
	"cmpl 96(%r10), %r11d\n\t" \
	"jbe 9f\n\t" \
	"movq %rax, 136(%r10)\n\t" \
	"movl %eax, 4(%rcx)\n\t" \
	"movl near_header(%rip), %eax\n\t" \
	"movl %eax, (%rcx)\n\t" \
	"movl %fs:0, %eax\n\t" TID \
	"testl %eax, %eax\n\t" \
	"jz 9f\n\t" \
	"movl %eax, 8(%rcx)\n\t" \
	"movl -24(%rsi), %eax\n\t" \
	"movl %eax, 12(%rcx)\n\t" \
	"movq -32(%rsi), %rax\n\t" \
	"movq %rax, 16(%rcx)\n\t" \
	/* The depth: that of the segment's first frame, which is in slot 1, and more. Its place is the upper 16 bits of the start. */ \
	"leaq -64(%rsi), %rax\n\t" \
	"leaq -32(%rsi), %rdx\n\t" \
	"shrl $5, %eax\n\t" \
	"andq $-4096, %rdx\n\t" \
	"andl $127, %eax\n\t" \
	"addl 12(%rdx), %eax\n\t" \
	"movw %ax, 22(%rcx)\n\t" \
	"prefetchw 256(%rcx)\n\t" /* lines of later records; it cannot fault */ \
	"addq $0x3000001, (%rdi)\n" \
	"near_append_" #name #min "_over:\n\t"

/* As call_close(). Behind it the frame belongs to the next call, which may be that of a signal handler. */
#define CLOSE \
	"leaq -32(%rsi), %rax\n\t" \
	"movq $0, -32(%rsi)\n\t" \
	"movq %rax, %fs:0\n\t" TOP

/* Before the section: a ring to which no long call was ever appended has no packet. */
#define LEAVE_SHORT(name) \
	"movq near_calls(%rip), %rdx\n\t" \
	"cmpq $0, 80(%rdx)\n\t" \
	"je 3f\n\t" \
	CLOCK \
	"subq -32(%rsi), %rax\n\t" \
	"movq near_calls(%rip), %rdx\n\t" \
	"cmpq 80(%rdx), %rax\n\t" \
	"jb near_append_" #name "_min_over\n" \
	"3:\n\t"

/* The function has returned: rax, rdx and vector registers may be its results, r8 and r9 keep the first two. */
#define END(min, or_leave) \
	__asm__(".balign 64\n" \
		"near_end" #min ":\n\t" \
		"movq %rax, %r8\n\t" \
		"movq %rdx, %r9\n\t" \
		"movq %fs:0, %rsi\n\t" TOP \
		"leaq -8(%rsp), %rax\n\t" \
		"cmpq %rax, -8(%rsi)\n\t" /* its sp */ \
		"jne 9f\n\t" \
		APPEND(end, min, or_leave) \
		"pushq -16(%rsi)\n\t" \
		CLOSE \
		"movq %r8, %rax\n\t" \
		"movq %r9, %rdx\n\t" \
		"ret\n\t" \
		SIGNATURE \
		"near_append_end" #min "_abort:\n" \
		"9:\n\t" \
		"movq %r8, %rax\n\t" \
		"movq %r9, %rdx\n\t" \
		"jmp near_to_end\n")

/* __cyg_profile_func_exit(). r8, r9: the function's address and its caller's, in rdi and rsi again for the other code. */
#define EXIT(min, or_leave) \
	__asm__(".balign 64\n" \
		"near_exit" #min ":\n\t" \
		"movq %rsi, %r9\n\t" \
		"movq %fs:0, %rsi\n\t" TOP \
		"movq %rdi, %r8\n\t" \
		"leaq 8(%rsp), %rax\n\t" \
		"cmpq %rdi, -16(%rsi)\n\t" /* its match */ \
		"jne 7f\n\t" \
		"cmpq %rax, -8(%rsi)\n\t" /* its sp */ \
		"jne 6f\n" \
		"5:\n\t" \
		APPEND(exit, min, or_leave) \
		CLOSE \
		"ret\n" \
		"6:\n\t" /* the end of its function is a jump to here: rax is where that began */ \
		"ja 9f\n\t" \
		"cmpq %r9, (%rsp)\n\t" \
		"jne 9f\n\t" \
		"cmpq $0, -40(%rsi)\n\t" /* the frame below: there is none, or it is that of a caller */ \
		"je 5b\n\t" \
		"cmpq %rax, -40(%rsi)\n\t" \
		"jae 5b\n\t" \
		"jmp 9f\n" \
		"7:\n\t" /* the innermost open call is that of a caller: the function that ends is off */ \
		"cmpq %rax, -8(%rsi)\n\t" \
		"jb 9f\n\t" \
		"ja 4f\n\t" \
		"cmpq %r9, (%rsp)\n\t" \
		"jne 9f\n" \
		"4:\n\t" \
		"ret\n\t" \
		SIGNATURE \
		"near_append_exit" #min "_abort:\n" \
		"9:\n\t" \
		"movq %r8, %rdi\n\t" \
		"movq %r9, %rsi\n\t" \
		"jmp near_to_exit\n")

END(, "");
END(_min, LEAVE_SHORT(end));
EXIT(, "");
EXIT(_min, LEAVE_SHORT(exit));

__asm__(".org near_copy + 3072\n" /* HOOK_NEAR_BYTES: an error if it is more */
	"near_last:\n"
	".popsection\n"
	".pushsection .rodata.call_near, \"a\"\n"
	"near_places_end:\n"
	".popsection");

/* clang-format on */

#endif
