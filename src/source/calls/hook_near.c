/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code that is copied near objects; see hook_near.h.
 *
 * It refers to nothing but its own data, which lies in front of it and is copied along. The append is that of
 * section_rseq_put3() with fixed registers; the comments there hold here, too. Its descriptor belongs to the copy.
 */
#if defined(__x86_64__)

#include <stddef.h>
#include <string.h>
#include <sys/rseq.h>

#include "source/calls/call_thread.h"
#include "source/calls/hook_near.h"

/* The data of a copy; offsets from its begin are numbers in the code below. */
struct near_data {
	struct rseq_cs section; /* 32-aligned */
	uint64_t site;		/* address of the event's site */
	uint64_t switches;
	uint64_t top, tid, rseq; /* offsets of thread-local memory from the thread pointer */
	uint64_t rings;
	uint64_t begin, end; /* the code for all other cases */
	uint32_t cpus;	     /* with rings; 0: every case is another one */
	uint32_t header;     /* id and length of a record */
};

extern const char near_copy[], near_begin[], near_end[], near_section[], near_commit[], near_abort[],
	near_last[];

static uint64_t offset_of_thread(const void *variable)
{
	return (uint64_t)((const char *)variable - (const char *)__builtin_thread_pointer());
}

struct hook_near hook_near_put(uint8_t *area, uint64_t begin, uint64_t end)
{
	const uint64_t at = (uint64_t)(uintptr_t)area;
	const struct near_data data = {
		.section = { .start_ip = at + (uint64_t)(near_section - near_copy),
			     .post_commit_offset = (uint64_t)(near_commit - near_section),
			     .abort_ip = at + (uint64_t)(near_abort - near_copy) },
		.site = (uint64_t)(uintptr_t)call_site,
		.switches = (uint64_t)(uintptr_t)call_switches,
		.top = offset_of_thread(&call_thread.top),
		.tid = offset_of_thread(&tracepoint_thread.tid),
		.rseq = (uint64_t)__rseq_offset,
		.rings = (uint64_t)(uintptr_t)tracepoint_session.rings,
		.begin = begin,
		.end = end,
		.cpus = __rseq_size ? tracepoint_session.geometry.cpus : 0,
		.header = call_site->id | (uint32_t)CALL_RECORD_BYTES << 16,
	};

	memcpy(area, near_copy, (size_t)(near_last - near_copy));
	memcpy(area, &data, sizeof(data));
	return (struct hook_near){ (uint64_t)(near_begin - near_copy), (uint64_t)(near_end - near_copy) };
}

static_assert(sizeof(struct rseq_cs) == 32 && offsetof(struct near_data, site) == 32 &&
		      offsetof(struct near_data, rings) == 72 && offsetof(struct near_data, begin) == 80 &&
		      offsetof(struct near_data, cpus) == 96 && offsetof(struct near_data, header) == 100 &&
		      sizeof(struct near_data) == 128,
	      "the data in the code below");
static_assert(offsetof(struct burin_site, state) == 0 && WIRE_CALL_ON == 1 && WIRE_ON == 1 && WIRE_OFF == 0 &&
		      WIRE_CALL_SEGMENT == 4096 && sizeof(struct wire_call_frame) == 32 &&
		      offsetof(struct wire_call_segment, depth) == 12 && CALL_FRAME_REPLACED == 1 &&
		      WIRE_TAIL_COUNT_BITS == 24 && WIRE_CALL_START_BITS == 48 && sizeof(struct ring) == 80 &&
		      offsetof(struct ring, control) == 0 && offsetof(struct ring, slots) == 8 &&
		      offsetof(struct ring, word_mask) == 16 && offsetof(struct ring, packet_mask) == 24 &&
		      offsetof(struct ring, packet_words) == 32 && offsetof(struct ring, cpu) == 60 &&
		      offsetof(struct wire_packet, base_time) == 88 &&
		      offsetof(struct wire_packet, base_offset) == 96 &&
		      offsetof(struct wire_packet, time_end) == 136 &&
		      offsetof(struct rseq, cpu_id_start) == 0 && offsetof(struct rseq, cpu_id) == 4 &&
		      offsetof(struct rseq, rseq_cs) == 8,
	      "the numbers in the code below");

/* clang-format off */

__asm__(".pushsection .text.call_near, \"ax\"\n"
	".balign 64\n"
	"near_copy:\n\t" /* struct near_data */
	".fill 4, 8, 0\n"
	"near_site: .quad 0\n"
	"near_switches: .quad 0\n"
	"near_top: .quad 0\n"
	"near_tid: .quad 0\n"
	"near_rseq: .quad 0\n"
	"near_rings: .quad 0\n"
	"near_begin_other: .quad 0\n"
	"near_end_other: .quad 0\n"
	"near_cpus: .long 0\n"
	"near_header: .long 0\n\t"

	/* On the stack: the return address into the stub, then the function's. r11: its number. */
	".balign 64\n"
	"near_begin:\n\t"
	"pushq %rax\n\t"
	"pushq %rcx\n\t"
	"pushq %rdx\n\t"
	"cmpl $0, near_cpus(%rip)\n\t"
	"je 9f\n\t"
	"movq near_site(%rip), %rax\n\t"
	"movq (%rax), %rax\n\t"
	"cmpb $0, (%rax)\n\t"
	"je 9f\n\t"
	"movq near_switches(%rip), %rax\n\t"
	"cmpb $1, (%rax, %r11)\n\t"
	"jne 9f\n\t"
	"movq near_top(%rip), %rcx\n\t"
	"movq %fs:(%rcx), %rax\n\t"
	"testl $4095, %eax\n\t"
	"jz 9f\n\t"
	"leaq 32(%rax), %rdx\n\t" /* first, for signal handlers: see call_thread.h */
	"movq %rdx, %fs:(%rcx)\n\t"
	"movl %r11d, 8(%rax)\n\t"
	"movl $1, 12(%rax)\n\t"
	"movq 32(%rsp), %rdx\n\t"
	"movq %rdx, 16(%rax)\n\t"
	"leaq 32(%rsp), %rdx\n\t"
	"movq %rdx, 24(%rax)\n\t"
	"movq %rax, %rcx\n\t"
	"rdtsc\n\t"
	"shlq $32, %rdx\n\t"
	"orq %rdx, %rax\n\t" /* clears carry: the stub calls the body */
	"movq %rax, (%rcx)\n\t"
	"popq %rdx\n\t"
	"popq %rcx\n\t"
	"popq %rax\n\t"
	"ret $8\n"
	"9:\n\t"
	"popq %rdx\n\t"
	"popq %rcx\n\t"
	"popq %rax\n\t"
	"jmp *near_begin_other(%rip)\n\t"

	/*
	 * The function has returned: rax, rdx and vector registers may be its results. rsi: behind the top frame.
	 * r10: the ring; r8, r11: the second and third word of the record; rdi: tail; rcx: the record's place; rbx: its
	 * byte in the packet; r9: offset of the rseq area, then the packet.
	 */
	".balign 64\n"
	"near_end:\n\t"
	"pushq %rax\n\t" /* room for the return address */
	"pushq %rax\n\t"
	"pushq %rdx\n\t"
	"pushq %rbx\n\t"
	"movq near_top(%rip), %rcx\n\t"
	"movq %fs:(%rcx), %rsi\n\t"
	"leaq 24(%rsp), %rdi\n\t"
	"cmpq %rdi, -8(%rsi)\n\t" /* its sp */
	"jne 9f\n\t"
	"movq near_site(%rip), %rax\n\t"
	"movq (%rax), %rax\n\t"
	"cmpb $1, (%rax)\n\t"
	"jne 9f\n\t"
	"movq near_tid(%rip), %rax\n\t"
	"movl %fs:(%rax), %r8d\n\t"
	"testl %r8d, %r8d\n\t"
	"jz 9f\n\t"
	"movq near_rseq(%rip), %r9\n\t"
	"movl %fs:(%r9), %eax\n\t"
	"cmpl near_cpus(%rip), %eax\n\t"
	"jae 9f\n\t"
	"leaq (%rax, %rax, 4), %r10\n\t"
	"shlq $4, %r10\n\t"
	"addq near_rings(%rip), %r10\n\t"
	"cmpq $0, 8(%r10)\n\t"
	"je 9f\n\t"
	"movl -24(%rsi), %eax\n\t"
	"shlq $32, %rax\n\t"
	"orq %rax, %r8\n\t"
	"leaq -32(%rsi), %rax\n\t"
	"movq %rax, %rdx\n\t"
	"andq $-4096, %rdx\n\t"
	"movl 12(%rdx), %r11d\n\t" /* the depth of the segment's first frame, which is in slot 1 */
	"subq %rdx, %rax\n\t"
	"shrq $5, %rax\n\t"
	"leaq -1(%r11, %rax), %r11\n\t"
	"shlq $48, %r11\n\t"
	"movq -32(%rsi), %rax\n\t"
	"shlq $16, %rax\n\t"
	"shrq $16, %rax\n\t"
	"orq %rax, %r11\n\t"
	"leaq near_copy(%rip), %rax\n\t"
	"movq %rax, %fs:8(%r9)\n"
	"near_section:\n\t"
	"movl 60(%r10), %eax\n\t"
	"cmpl %fs:4(%r9), %eax\n\t"
	"jne 9f\n\t"
	"movq (%r10), %rdi\n\t"
	"movq (%rdi), %rdi\n\t"
	"movq %rdi, %rcx\n\t"
	"shrq $24, %rcx\n\t"
	"andq 16(%r10), %rcx\n\t"
	"movq 24(%r10), %rbx\n\t"
	"andq %rcx, %rbx\n\t"
	"jz 9f\n\t" /* no packet is open */
	"leaq 3(%rbx), %rax\n\t"
	"cmpq 32(%r10), %rax\n\t"
	"ja 9f\n\t"
	"movq 8(%r10), %rax\n\t"
	"leaq (%rax, %rcx, 8), %rcx\n\t"
	"shlq $3, %rbx\n\t"
	"movq %rcx, %r9\n\t"
	"subq %rbx, %r9\n\t"
	"rdtsc\n\t"
	"shlq $32, %rdx\n\t"
	"orq %rdx, %rax\n\t"
	"movq 136(%r9), %rdx\n\t"
	"cmpq %rdx, %rax\n\t"
	"cmovb %rdx, %rax\n\t"
	"movq %rax, %rdx\n\t"
	"subq 88(%r9), %rdx\n\t"
	"shrq $32, %rdx\n\t"
	"jnz 9f\n\t"
	"cmpl 96(%r9), %ebx\n\t"
	"jbe 9f\n\t"
	"movq %rax, 136(%r9)\n\t"
	"shlq $32, %rax\n\t"
	"movl near_header(%rip), %edx\n\t"
	"orq %rdx, %rax\n\t"
	"movq %rax, (%rcx)\n\t"
	"movq %r8, 8(%rcx)\n\t"
	"movq %r11, 16(%rcx)\n\t"
	"addq $0x3000001, %rdi\n\t"
	"movq (%r10), %rax\n\t"
	"movq %rdi, (%rax)\n"
	"near_commit:\n\t"
	"movq $0, -32(%rsi)\n\t" /* the frame's start, then the top: see call_close() */
	"movq near_top(%rip), %rcx\n\t"
	"leaq -32(%rsi), %rax\n\t"
	"movq %rax, %fs:(%rcx)\n\t"
	"movq -16(%rsi), %rax\n\t"
	"movq %rax, 24(%rsp)\n\t"
	"popq %rbx\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"ret\n\t"
	".byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n" /* SECTION_SIGNATURE */
	"near_abort:\n"
	"9:\n\t"
	"popq %rbx\n\t"
	"popq %rdx\n\t"
	"popq %rax\n\t"
	"leaq 8(%rsp), %rsp\n\t"
	"jmp *near_end_other(%rip)\n"
	"near_last:\n"
	".popsection");

/* clang-format on */

#endif
