/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The ring's three sections as restartable sequences (x86-64).
 *
 * The kernel aborts a sequence if the thread is preempted, migrated or gets a signal while its instruction pointer is
 * between labels 1 and 2: it continues the thread at the abort handler. So the whole append must lie between the
 * labels, and it must call no function. The store of the tail is the last instruction: after it the sequence is over.
 *
 * A CPU runs one thread at a time, and every writer of a ring runs on the ring's CPU (compared inside). So between 1
 * and 2 a writer that is not aborted is alone. A CPU sees its own stores in program order, also after a switch of
 * threads. A reader on another CPU loads the tail with acquire, which pairs with the store of the tail (on x86 every
 * store is a release).
 *
 * A debugger that single-steps would abort the sequence for ever. The sections __rseq_cs_ptr_array and
 * __rseq_exit_point_array contain the addresses where it can stop instead.
 */
#ifndef BURIN_RING_SECTION_RSEQ_H
#define BURIN_RING_SECTION_RSEQ_H

#include "ring/ring.h"
#include "ring/ring_deps.h"

#if RING_HAVE_RSEQ

#include <stddef.h>
#include <sys/rseq.h>

/* The part of the kernel's area that is used; glibc registers it for every thread. */
static inline struct rseq *section_rseq(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + ring_rseq_offset);
}

/* The kernel requires these bytes before the abort handler (RSEQ_SIG). They are an instruction that traps. */
#define SECTION_SIGNATURE ".byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n"

/* clang-format off */

/*
 * Enter: describe the sequence to the kernel, begin it, and check that this is still the ring's CPU. There are few
 * operands, and the ring's fields are loaded where they are needed: the caller has to save each further register.
 */
#define SECTION_ENTER SECTION_BEGIN SECTION_CHECK

#define SECTION_BEGIN \
	".pushsection __rseq_cs, \"aw\"\n\t" \
	".balign 32\n" \
	"3:\n\t" \
	".long 0, 0\n\t" \
	".quad 1f, 2f - 1f, 4f\n\t" \
	".popsection\n\t" \
	".pushsection __rseq_cs_ptr_array, \"awR\"\n\t" \
	".quad 3b\n\t" \
	".popsection\n\t" \
	"movq %[rseq], %%rcx\n\t" \
	"leaq 3b(%%rip), %%rax\n\t" \
	"movq %%rax, %%fs:%c[rseq_cs](%%rcx)\n" \
	"1:\n\t"

#define SECTION_CHECK \
	"movl %c[ring_cpu](%[ring]), %%edx\n\t" \
	"cmpl %%fs:%c[cpu_id](%%rcx), %%edx\n\t" \
	"jne 5f\n\t"

/* Leave: the sequence is over. The abort handler and the exits follow. */
#define SECTION_EXIT(label) \
	".pushsection __rseq_exit_point_array, \"awR\"\n\t.quad 1b, " label "\n\t.popsection\n\t"

#define SECTION_LEAVE \
	"2:\n\t" \
	".pushsection __rseq_failure, \"ax\"\n\t" SECTION_SIGNATURE \
	"4:\n" \
	"5:\n\t" \
	"jmp %l[moved]\n\t" \
	".popsection\n\t" \
	SECTION_EXIT("5b")

/*
 * Find the record's position: rcx = the ring's control, r8 = the record's address, r9 = its word in the packet, r10 = the
 * packet's header.
 */
#define SECTION_LOCATE  SECTION_LOCATE_WORDS("leaq (%%r9, %[words]), %%rdx\n\t")
#define SECTION_LOCATE3 SECTION_LOCATE_WORDS("leaq 3(%%r9), %%rdx\n\t")
#define SECTION_LOCATE_WORDS(end) \
	"movq %c[ring_control](%[ring]), %%rcx\n\t" \
	"movq (%%rcx), %%r8\n\t" \
	"shrq %[count_bits], %%r8\n\t" \
	"andq %c[ring_word_mask](%[ring]), %%r8\n\t" \
	"movq %c[ring_packet_mask](%[ring]), %%r9\n\t" \
	"andq %%r8, %%r9\n\t" \
	"jz %l[room]\n\t" /* no packet is open */ \
	end \
	"cmpl %c[ring_ready_words](%[ring]), %%edx\n\t" \
	"ja %l[room]\n\t" \
	"movq %c[ring_slots](%[ring]), %%rdx\n\t" \
	"movq %%r8, %%r10\n\t" \
	"subq %%r9, %%r10\n\t" \
	"leaq (%%rdx, %%r10, 8), %%r10\n\t" \
	"leaq (%%rdx, %%r8, 8), %%r8\n\t"

/*
 * rax = the clock. It is read as early as possible: rdtsc waits on many processors until all instructions before it have
 * finished, so the loads that find the record's position come behind it (docs/decisions/0063).
 */
#define SECTION_CLOCK \
	"rdtsc\n\t" \
	"shlq $32, %%rdx\n\t" \
	"orq %%rdx, %%rax\n\t"

/* Clamp it to `before` if it is behind. */
#define SECTION_CLAMP(before) \
	"movq " before ", %%rdx\n\t" \
	"cmpq %%rdx, %%rax\n\t" \
	"cmovb %%rdx, %%rax\n\t"

/* The upper half of rax = the time of a compact record. */
#define SECTION_COMPACT_TIME \
	"movq %%rax, %%rdx\n\t" \
	"subq %c[base_time](%%r10), %%rdx\n\t" \
	"shrq $32, %%rdx\n\t" \
	"jnz %l[gap]\n\t" /* 2^32 ticks or more after the base */ \
	"shll $3, %%r9d\n\t" \
	"cmpl %c[base_offset](%%r10), %%r9d\n\t" \
	"jbe %l[gap]\n\t" /* the base was never committed */ \
	"movq %%rax, %c[time_end](%%r10)\n\t" \
	"shlq $32, %%rax\n\t"

/*
 * Copy the words from the tid on. Word n of a compact record is word n + 1 of the buffer. Records of two to four words
 * are the most usual and need no loop. Of longer ones the last word comes first, then pairs: the usual ones are stored in
 * the buffer as the same pairs (source/tracepoint/fields/serialize.c).
 */
#define SECTION_COPY_COMPACT \
	"movq 16(%[buffer]), %%rdx\n\t" \
	"movq %%rdx, 8(%%r8)\n\t" \
	"cmpq $3, %[words]\n\t" \
	"jb 7f\n\t" \
	"movq 24(%[buffer]), %%rdx\n\t" \
	"movq %%rdx, 16(%%r8)\n\t" \
	"je 7f\n\t" \
	"movq 32(%[buffer]), %%rdx\n\t" \
	"movq %%rdx, 24(%%r8)\n\t" \
	"leaq -1(%[words]), %%r9\n\t" \
	"movl $4, %%eax\n\t" \
	"cmpq %%rax, %[words]\n\t" \
	"je 7f\n\t" \
	"movq 8(%[buffer], %%r9, 8), %%rdx\n\t" \
	"movq %%rdx, (%%r8, %%r9, 8)\n\t" \
	"jmp 9f\n" \
	"6:\n\t" \
	SECTION_COPY_PAIR \
	"addq $2, %%rax\n" \
	"9:\n\t" \
	"cmpq %%r9, %%rax\n\t" \
	"jb 6b\n" \
	"7:\n\t"

#if defined(__SSE2__)
#define SECTION_COPY_PAIR \
	"movups 8(%[buffer], %%rax, 8), %%xmm0\n\t" \
	"movups %%xmm0, (%%r8, %%rax, 8)\n\t"
#define SECTION_COPY_CLOBBERS , "xmm0"
#else /* where the program's vector registers must not change (source/calls) */
#define SECTION_COPY_PAIR \
	"movq 8(%[buffer], %%rax, 8), %%rdx\n\t" \
	"movq %%rdx, (%%r8, %%rax, 8)\n\t" \
	"movq 16(%[buffer], %%rax, 8), %%rdx\n\t" \
	"movq %%rdx, 8(%%r8, %%rax, 8)\n\t"
#define SECTION_COPY_CLOBBERS
#endif

/* The same for an extended record: word n is word n of the buffer. */
#define SECTION_COPY_EXTENDED \
	"leaq -1(%[words]), %%rax\n" \
	"6:\n\t" \
	"movq (%[buffer], %%rax, 8), %%rdx\n\t" \
	"movq %%rdx, (%%r8, %%rax, 8)\n\t" \
	"decq %%rax\n\t" \
	"cmpq $2, %%rax\n\t" \
	"jae 6b\n\t"

/* The tail is only written here and by this CPU, so adding to it is the same as storing the next one. */
#define SECTION_COMMIT \
	"movq %[words], %%rax\n\t" \
	"shlq %[count_bits], %%rax\n\t" \
	"incq %%rax\n\t" \
	"addq %%rax, (%%rcx)\n"

#define SECTION_OPERANDS [buffer] "r"(record.buffer), [words] "r"(words), SECTION_RING

#define SECTION_RING \
	[rseq] "m"(ring_rseq_offset), [ring] "r"(ring), \
	[count_bits] "i"(WIRE_TAIL_COUNT_BITS), \
	[rseq_cs] "i"(offsetof(struct rseq, rseq_cs)), \
	[cpu_id] "i"(offsetof(struct rseq, cpu_id)), \
	[ring_cpu] "i"(offsetof(struct ring, cpu)), \
	[ring_control] "i"(offsetof(struct ring, control)), \
	[ring_slots] "i"(offsetof(struct ring, slots)), \
	[ring_word_mask] "i"(offsetof(struct ring, word_mask)), \
	[ring_packet_mask] "i"(offsetof(struct ring, packet_mask)), \
	[ring_ready_words] "i"(offsetof(struct ring, ready_words)), \
	[time_begin] "i"(offsetof(struct wire_packet, time_begin)), \
	[time_end] "i"(offsetof(struct wire_packet, time_end)), \
	[base_time] "i"(offsetof(struct wire_packet, base_time)), \
	[base_offset] "i"(offsetof(struct wire_packet, base_offset)), \
	[sequence] "i"(offsetof(struct wire_packet, sequence))

#define SECTION_CLOBBERS "rax", "rcx", "rdx", "r8", "r9", "r10", "memory", "cc" SECTION_COPY_CLOBBERS

static_assert(offsetof(struct wire_ring, tail) == 0, "the sections load the tail from where control points");

/* put: a compact record into the open packet. */
static inline __attribute__((always_inline)) enum ring_result section_rseq_put(const struct ring *ring,
									       struct ring_record record)
{
	uint64_t words = wire_stride(record.length) / 8;

	__asm__ __volatile__ goto(
		SECTION_BEGIN
		SECTION_CLOCK
		SECTION_CHECK
		SECTION_LOCATE
		SECTION_CLAMP("%c[time_end](%%r10)")
		SECTION_COMPACT_TIME
		"orq 8(%[buffer]), %%rax\n\t"
		"movq %%rax, (%%r8)\n\t"
		SECTION_COPY_COMPACT
		SECTION_COMMIT
		SECTION_LEAVE
		SECTION_EXIT("%l[room]")
		SECTION_EXIT("%l[gap]")
		:
		: SECTION_OPERANDS
		: SECTION_CLOBBERS
		: moved, room, gap);
	return RING_DONE;
moved:
	return RING_MOVED;
room:
	return RING_ROOM;
gap:
	return RING_GAP;
}

/*
 * put3: put, for a record of three words. They are in registers, so that the caller needs no buffer.
 * @first: id and length; @second, @third: the words behind it
 */
static inline __attribute__((always_inline)) enum ring_result section_rseq_put3(const struct ring *ring,
										uint64_t first, uint64_t second,
										uint64_t third)
{
	__asm__ __volatile__ goto(
		SECTION_BEGIN
		SECTION_CLOCK
		SECTION_CHECK
		SECTION_LOCATE3
		SECTION_CLAMP("%c[time_end](%%r10)")
		SECTION_COMPACT_TIME
		"orq %[first], %%rax\n\t"
		"movq %%rax, (%%r8)\n\t"
		"movq %[second], 8(%%r8)\n\t"
		"movq %[third], 16(%%r8)\n\t"
		"addq %[step], (%%rcx)\n"
		SECTION_LEAVE
		SECTION_EXIT("%l[room]")
		SECTION_EXIT("%l[gap]")
		:
		: [first] "r"(first), [second] "r"(second), [third] "r"(third),
		  [step] "i"((3 << WIRE_TAIL_COUNT_BITS) + 1), SECTION_RING
		: SECTION_CLOBBERS
		: moved, room, gap);
	return RING_DONE;
moved:
	return RING_MOVED;
room:
	return RING_ROOM;
gap:
	return RING_GAP;
}

/* count: add 1 to a number that only threads on a CPU write to. @cpu: where the CPU's number is */
static inline __attribute__((always_inline)) enum ring_result section_rseq_count(const uint32_t *cpu,
										 uint64_t *number)
{
	__asm__ __volatile__ goto(
		SECTION_ENTER
		"incq (%[number])\n"
		SECTION_LEAVE
		:
		: [number] "r"(number), [ring] "r"(cpu), [ring_cpu] "i"(0), [rseq] "m"(ring_rseq_offset),
		  [rseq_cs] "i"(offsetof(struct rseq, rseq_cs)), [cpu_id] "i"(offsetof(struct rseq, cpu_id))
		: "rax", "rcx", "rdx", "memory", "cc"
		: moved);
	return RING_DONE;
moved:
	return RING_MOVED;
}

/* extend: an extended record into the open packet; it becomes the packet's time base. */
static inline enum ring_result section_rseq_extend(const struct ring *ring, struct ring_record record)
{
	uint64_t words = wire_stride(record.length) / 8 + 1;

	__asm__ __volatile__ goto(
		SECTION_BEGIN
		SECTION_CLOCK
		SECTION_CHECK
		SECTION_LOCATE
		SECTION_CLAMP("%c[time_end](%%r10)")
		"shll $3, %%r9d\n\t"
		"movl %%r9d, %c[base_offset](%%r10)\n\t" /* void until committed; before base_time, see ring.h */
		"movq %%rax, %c[base_time](%%r10)\n\t"
		"movq %%rax, %c[time_end](%%r10)\n\t"
		"movq (%[buffer]), %%rdx\n\t"
		"movq %%rdx, (%%r8)\n\t"
		"movq %%rax, 8(%%r8)\n\t"
		SECTION_COPY_EXTENDED
		SECTION_COMMIT
		SECTION_LEAVE
		SECTION_EXIT("%l[room]")
		:
		: SECTION_OPERANDS
		: SECTION_CLOBBERS
		: moved, room);
	return RING_DONE;
moved:
	return RING_MOVED;
room:
	return RING_ROOM;
}

/* open: close the packet, open the next, and put a compact record there. */
static inline enum ring_result section_rseq_open(const struct ring *ring, struct ring_record record,
						 const struct ring_opening *opening)
{
	uint64_t words = wire_stride(record.length) / 8;

	__asm__ __volatile__ goto(
		SECTION_ENTER
		"movq %c[ring_control](%[ring]), %%rdi\n\t"
		"movq %c[old](%[opening]), %%rax\n\t"
		"cmpq (%%rdi), %%rax\n\t"
		"jne 5f\n\t"
		"xorl %%r9d, %%r9d\n\t" /* the time to clamp to */
		"movq %c[previous](%[opening]), %%r10\n\t"
		"testq %%r10, %%r10\n\t"
		"jz 7f\n\t"
		"movq %c[previous_sequence](%[opening]), %%rax\n\t"
		"cmpq %c[sequence](%%r10), %%rax\n\t"
		"jne 5f\n\t"
		"movq %c[time_end](%%r10), %%r9\n\t"
		"movq %c[rest](%[opening]), %%r8\n\t"
		"testq %%r8, %%r8\n\t"
		"jz 7f\n\t"
		"movl %[closed], (%%r8)\n"
		"7:\n\t"
		SECTION_CLOCK
		SECTION_CLAMP("%%r9")
		"movq %c[packet](%[opening]), %%r10\n\t"
		"movq %[none], %c[sequence](%%r10)\n\t" /* before anything else there changes, see ring.h */
		"movq %c[image](%[opening]), %%r8\n\t"
		"xorl %%ecx, %%ecx\n"
		"8:\n\t"
		"movq (%%r8, %%rcx, 8), %%rdx\n\t"
		"movq %%rdx, (%%r10, %%rcx, 8)\n\t"
		"incq %%rcx\n\t"
		"cmpq %[header_words], %%rcx\n\t"
		"jb 8b\n\t"
		"movq %%rax, %c[time_begin](%%r10)\n\t"
		"movq %%rax, %c[time_end](%%r10)\n\t"
		"movq %%rax, %c[base_time](%%r10)\n\t"
		"shlq $32, %%rax\n\t"
		"orq 8(%[buffer]), %%rax\n\t"
		"leaq (%%r10, %%rcx, 8), %%r8\n\t"
		"movq %%rax, (%%r8)\n\t"
		SECTION_COPY_COMPACT
		"movq %c[new](%[opening]), %%rax\n\t"
		"movq %%rax, (%%rdi)\n"
		SECTION_LEAVE
		:
		: [opening] "r"(opening), [old] "i"(offsetof(struct ring_opening, old)),
		  [new] "i"(offsetof(struct ring_opening, new)),
		  [previous] "i"(offsetof(struct ring_opening, previous)),
		  [previous_sequence] "i"(offsetof(struct ring_opening, previous_sequence)),
		  [rest] "i"(offsetof(struct ring_opening, rest)),
		  [packet] "i"(offsetof(struct ring_opening, packet)),
		  [image] "i"(offsetof(struct ring_opening, image)), [closed] "i"(WIRE_ID_CLOSED),
		  [none] "i"((int64_t)WIRE_SEQUENCE_NONE),
		  [header_words] "i"(sizeof(struct wire_packet) / 8), SECTION_OPERANDS
		: SECTION_CLOBBERS, "rdi"
		: moved);
	return RING_DONE;
moved:
	return RING_MOVED;
}

/* clang-format on */

#endif /* RING_HAVE_RSEQ */
#endif
