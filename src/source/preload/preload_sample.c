/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The handler of the timers' signal takes a sample; see preload.h. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "source/preload/preload.h"
#include "source/preload/record_writer.h"

/* The interrupted thread's registers; `values` in the order of WIRE_PRELOAD_REGISTERS. */
struct registers {
	uint64_t pc, stack, frame;
#if defined(__aarch64__)
	uint64_t values[33];
#else
	uint64_t values[17];
#endif
};

static struct registers registers_of(const ucontext_t *context)
{
	struct registers out;
#if defined(__aarch64__)
	const mcontext_t *from = &context->uc_mcontext;

	memcpy(out.values, from->regs, sizeof(from->regs));
	out.stack = out.values[31] = from->sp;
	out.pc = out.values[32] = from->pc;
	out.frame = from->regs[29];
#else
	static const unsigned char order[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					       REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					       REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	const greg_t *from = context->uc_mcontext.gregs;

	for (unsigned n = 0; n < sizeof(order); n++)
		out.values[n] = (uint64_t)from[order[n]];
	out.pc = (uint64_t)from[REG_RIP];
	out.stack = (uint64_t)from[REG_RSP];
	out.frame = (uint64_t)from[REG_RBP];
#endif
	return out;
}

/* How many bytes can be read from an address up to the end of its stack: the thread's, or its alternate stack. */
static size_t readable(const struct preload_thread *self, const ucontext_t *context, uint64_t address)
{
	const uint64_t other = (uint64_t)context->uc_stack.ss_sp, low = (uint64_t)self->low,
		       top = (uint64_t)self->top;

	if (address >= low && address < top)
		return top - address;
	if (!(context->uc_stack.ss_flags & SS_DISABLE) && address - other < context->uc_stack.ss_size)
		return other + context->uc_stack.ss_size - address;
	return 0;
}

/*
 * Copy words of a stack. Not by memcpy: a sanitizer's version reports the red zones between variables. The
 * volatile reads keep the compiler from turning the loop into a call of memcpy.
 */
__attribute__((no_sanitize("address", "thread"))) static void copy_words(char *to, uint64_t from,
									 size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 8) {
		const uint64_t word = *(const volatile uint64_t *)(from + at);

		memcpy(to + at, &word, sizeof(word));
	}
}

/* The chain of frame pointers, as the kernel writes it: from the innermost frame outwards, within the stack. */
static void put_chain(struct writer *writer, const struct registers *registers, size_t bytes)
{
	const size_t count_at = writer->used;
	uint64_t frame = registers->frame, low = registers->stack, count = 2;
	const uint64_t end = low + bytes;

	writer_u64(writer, 0);
	writer_u64(writer, PERF_CONTEXT_USER);
	writer_u64(writer, registers->pc);
	while (count <= WIRE_PRELOAD_CHAIN && frame >= low && frame % 8 == 0 && frame < end &&
	       end - frame >= 16) {
		char record[16];
		uint64_t caller;

		copy_words(record, frame, sizeof(record));
		memcpy(&caller, record + 8, 8);
		if (caller == 0)
			break;
		writer_u64(writer, caller);
		count++;
		low = frame + 16;
		memcpy(&frame, record, 8);
	}
	memcpy(writer->buffer + count_at, &count, sizeof(count));
}

static void put_stack(struct writer *writer, const struct registers *registers, size_t bytes)
{
	bytes = bytes < WIRE_PRELOAD_STACK ? bytes & ~(size_t)7 : WIRE_PRELOAD_STACK;
	writer_u64(writer, PERF_SAMPLE_REGS_ABI_64);
	memcpy(writer->buffer + writer->used, registers->values, sizeof(registers->values));
	writer->used += sizeof(registers->values);
	writer_u64(writer, bytes);
	copy_words(writer->buffer + writer->used, registers->stack, bytes);
	writer->used += bytes;
	if (bytes)
		writer_u64(writer, bytes); /* all of it is valid */
}

/*
 * The CPU time that a sample represents: all elapsed periods. They are several if the kernel checks less often, or
 * if the signal could not be delivered. A thread's first sample comes with the kernel's first check, so it counts
 * for a whole tick: most threads that run for less than a tick are never sampled.
 */
static uint64_t weight_of(struct preload_thread *self, uint64_t periods)
{
	const uint64_t weight = periods * preload_process.period;
	const bool first = !self->begun;

	self->begun = true;
	return first && weight < preload_process.tick ? preload_process.tick : weight;
}

static void sample(struct preload_thread *self, uint64_t weight, const ucontext_t *context)
{
	const struct registers registers = registers_of(context);
	const size_t bytes = registers.stack % 8 ? 0 : readable(self, context, registers.stack);
	struct writer writer = writer_begin(self->record);

	preload_maps_look(registers.pc);
	writer_u64(&writer, registers.pc);
	writer_u32(&writer, preload_process.pid);
	writer_u32(&writer, self->tid);
	writer_u64(&writer, 0);
	writer_u64(&writer, weight);
	if (preload_process.graph & WIRE_PRELOAD_GRAPH_CHAIN)
		put_chain(&writer, &registers, bytes);
	else
		writer_u64(&writer, 0);
	if (preload_process.graph & WIRE_PRELOAD_GRAPH_STACK) {
		put_stack(&writer, &registers, bytes);
	} else {
		writer_u64(&writer, PERF_SAMPLE_REGS_ABI_NONE);
		writer_u64(&writer, 0);
	}
	session_write_record(&preload_process.session,
			     writer_end(&writer, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, self->tid),
			     self->tid, false);
}

void preload_on_signal(int number, siginfo_t *info, void *context)
{
	static const struct itimerspec disarmed;
	struct preload_thread *self = preload_thread;
	const int saved = errno;

	if (!self || info->si_code != SI_TIMER || info->si_value.sival_ptr != self) {
		preload_signal_pass(number, info, context);
		return;
	}
	if (__atomic_load_n(&preload_process.session.shared->over, __ATOMIC_RELAXED))
		syscall(SYS_timer_settime, self->timer, 0, &disarmed, NULL);
	else
		sample(self, weight_of(self, 1 + (uint64_t)info->si_overrun), context);
	errno = saved;
}
