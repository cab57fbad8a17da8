/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls in another process; see remote_call.h. */
#if defined(__x86_64__)

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>

#include "control/process_threads.h"
#include "control/remote_call.h"
#include "control/thread_priority.h"
#include "session/clock.h"

enum {
	STACK_ROOM = 96 << 10,	 /* bytes that the call may need */
	RED_ZONE = 128,		 /* bytes below the stack pointer that a function may use */
	HANDLER_LOOK = 32 << 10, /* bytes of the stack that are searched for a signal handler */
	STATE_MAX = 16 << 10,	 /* of vector registers */
	STATE_SIZES = 464,	 /* where in the state its sizes are */
	STATE_MAGIC_1 = 0x46505853,
	STATE_MAGIC_2 = 0x46505845,
	CONTEXT_FLAGS = 7, /* there is a state; the stack segment is valid, and to be restored */
	FRAME_FLAGS = 1,   /* words of a handler's frame: of its context, ... */
	FRAME_LINK = 2,
	FRAME_SEGMENTS = 24, /* ... and of the registers in it, segments of code and data */
	USER_CODE = 0x33,
	ERESTART_FIRST = 512,
	ERESTART_LAST = 516,
	CALL_TRAP = 0x100, /* flags of the processor */
	CALL_DIRECTION = 0x400,
};

static const uint64_t STOP_NS = UINT64_C(50000000), PLACE_NS = UINT64_C(5000000000),
		      CALL_NS = UINT64_C(10000000000), PAUSE_NS = UINT64_C(200000), POLL_NS = UINT64_C(10000),
		      RETURN_NS = UINT64_C(1000000000);

/* Not a value that a function which is called here returns. */
static const uint64_t UNFINISHED = UINT64_C(0xb0719d09e5b0b1e5);

/*
 * rax: the function; r12: where its result goes; r13: the stack pointer for the end of a signal handler. After the call wait for
 * the caller to put the registers back; if it does not come for about a tenth of a second, it is dead.
 */
static const uint8_t instructions[] = {
	0xff, 0xd0, /* call *%rax */
	0x49, 0x89,
	0x04, 0x24, /* mov %rax, (%r12) */
	0xbb, 0x00,
	0x00, 0x04,
	0x00, /* mov $262144, %ebx */
	0x6a, SYS_sched_yield,
	0x58,	    /* 1: push; pop %rax */
	0x0f, 0x05, /* syscall */
	0xff, 0xcb, /* dec %ebx */
	0x75, 0xf7, /* jnz 1b */
	0x4c, 0x89,
	0xec, /* mov %r13, %rsp */
	0x6a, SYS_rt_sigreturn,
	0x58,	    /* push; pop %rax */
	0x0f, 0x05, /* syscall */
};

struct place {
	struct process_memory *memory;
	uint64_t instructions;
	uint64_t program, linker; /* the begins of these objects */
	uint64_t restorer;	  /* where signal handlers return to; 0: unknown */
	bool own_memory;	  /* the program allocates memory by itself */
};

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

/* ---- where a thread may call */

static const struct process_map *map_before(const struct process_memory *memory,
					    const struct process_map *map)
{
	return map > memory->maps ? map - 1 : NULL;
}

/* The main thread's stack grows; those of others have a page without access below. */
static bool has_stack(const struct place *place, uint64_t sp)
{
	const struct process_map *map = process_memory_at(place->memory, sp), *before;

	if (!map || !map->writable)
		return false;
	if (strcmp(map->path, "[stack]") == 0)
		return true;
	before = map_before(place->memory, map);
	return before && before->end == map->begin && !before->readable && !before->writable &&
	       sp - map->begin >= STACK_ROOM;
}

/*
 * Whether words of a stack, from the address that a handler returns to, can be its frame: flags, no link, and the registers of a
 * thread in user mode. sigaction() leaves the same address on the stack, alone.
 */
static bool is_frame(const uint64_t *words, size_t count)
{
	return count <= FRAME_SEGMENTS || (words[FRAME_FLAGS] <= CONTEXT_FLAGS && !words[FRAME_LINK] &&
					   (uint16_t)words[FRAME_SEGMENTS] == USER_CODE);
}

static bool is_in_handler(const struct place *place, uint64_t sp)
{
	static uint64_t words[HANDLER_LOOK / 8];
	const struct process_map *map = process_memory_at(place->memory, sp);
	size_t bytes = HANDLER_LOOK;

	sp &= ~(uint64_t)7;
	if (map->end - sp < bytes)
		bytes = map->end - sp;
	if (!place->restorer || !process_memory_read(place->memory, sp, words, bytes))
		return true;
	for (size_t n = 0; n < bytes / 8; n++)
		if (words[n] == place->restorer && is_frame(&words[n], bytes / 8 - n))
			return true;
	return false;
}

/* System calls that the C library does not make while it holds a lock of its own. */
static bool is_harmless_call(const struct user_regs_struct *registers)
{
	switch (registers->orig_rax) {
	case SYS_futex: /* its own locks wait otherwise than pthread_cond_wait(), pthread_join() and sem_wait() */
		return (registers->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_rt_sigtimedwait:
		return true;
	default:
		return false;
	}
}

/* A restartable sequence would not notice that it was interrupted. */
static bool is_in_sequence(const struct place *place, const struct process_thread *thread)
{
	struct {
		uint64_t area;
		uint32_t size, signature, flags, reserved;
	} settings;
	struct {
		uint32_t version, flags;
		uint64_t begin, bytes, abort;
	} sequence;
	uint64_t current = 0;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread->tid, (void *)sizeof(settings), &settings) < 0 ||
	    !settings.area)
		return false;
	if (!process_memory_read(place->memory, settings.area + 8, &current, sizeof(current)))
		return true;
	return current && (!process_memory_read(place->memory, current, &sequence, sizeof(sequence)) ||
			   thread->registers.rip - sequence.begin < sequence.bytes);
}

static bool is_suitable(const struct place *place, const struct process_thread *thread)
{
	const struct user_regs_struct *registers = &thread->registers;
	const struct process_map *code = process_memory_at(place->memory, registers->rip);
	const struct process_map *first = process_memory_at(place->memory, place->program),
				 *linker = process_memory_at(place->memory, place->linker);

	if (thread->signal || !code || !code->executable || !first || !linker || code->inode == linker->inode)
		return false;
	if ((long long)registers->orig_rax >= 0
		    ? !is_harmless_call(registers)
		    : place->own_memory || code->inode != first->inode || is_in_sequence(place, thread))
		return false;
	return has_stack(place, registers->rsp) && !is_in_handler(place, registers->rsp);
}

/* Return: whether a thread that was asked stands in a suitable place. Elsewhere it goes on. */
static bool is_found(const struct place *place, struct process_threads *threads,
		     struct process_thread *thread)
{
	if (!process_thread_stands(thread))
		return false;
	/* A new thread has a new stack. */
	if (process_memory_maps(place->memory) == 0 && is_suitable(place, thread))
		return true;
	process_threads_go_one(threads, thread);
	return false;
}

/*
 * Wait until one of the threads that were asked stands in a suitable place. On busy CPUs they stop late; none may stand still
 * because another one is waited for. Return: it; NULL: none does.
 */
static struct process_thread *wait_for_one(const struct place *place, struct process_threads *threads,
					   size_t asked)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + STOP_NS;
	bool waiting = true;

	while (waiting) {
		waiting = clock_ns(CLOCK_MONOTONIC) < until;
		for (size_t n = 0; n < asked; n++)
			if (is_found(place, threads, &threads->all[n]))
				return &threads->all[n];
		/* The last one has stopped elsewhere, or has ended. */
		waiting &= threads->all[asked - 1].asked_ns && !threads->all[asked - 1].gone;
		if (waiting)
			sleep_ns(POLL_NS);
	}
	return NULL;
}

/* Stop a thread in a suitable place. Return: as remote_call(). */
static int find_thread(const struct place *place, struct process_threads *threads,
		       struct process_thread **found)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + PLACE_NS;
	int error = -EAGAIN;

	while (error == -EAGAIN && clock_ns(CLOCK_MONOTONIC) < until) {
		if (process_threads_read(threads) < 0)
			error = -ESRCH;
		for (size_t n = 0; error == -EAGAIN && n < threads->count; n++) {
			if (process_thread_ask(&threads->all[n]) == -EPERM)
				error = -EPERM;
			else if ((*found = wait_for_one(place, threads, n + 1)))
				error = 0;
		}
		if (error == -EAGAIN)
			sleep_ns(PAUSE_NS);
	}
	return error;
}

/* Let threads go on that have stopped since they were asked. */
static void pass_others(struct process_threads *threads, const struct process_thread *caller)
{
	for (size_t n = 0; n < threads->count; n++) {
		struct process_thread *thread = &threads->all[n];

		if (thread != caller && thread->asked_ns && process_thread_stands(thread))
			process_threads_go_one(threads, thread);
	}
}

/* ---- the call */

/* The state of the thread before the call. */
struct saved {
	struct user_regs_struct registers;
	uint64_t signals; /* blocked */
	uint8_t state[STATE_MAX];
	size_t state_bytes;
};

static bool save(struct saved *saved, const struct process_thread *thread)
{
	struct iovec state = { saved->state, sizeof(saved->state) };

	saved->registers = thread->registers;
	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(saved->signals), &saved->signals) != 0 ||
	    ptrace(PTRACE_GETREGSET, thread->tid, (void *)(uintptr_t)NT_X86_XSTATE, &state) != 0)
		return false;
	saved->state_bytes = state.iov_len;
	return saved->state_bytes >= STATE_SIZES + 16;
}

static void restore(const struct saved *saved, struct process_thread *thread)
{
	struct iovec state = { (void *)(uintptr_t)saved->state, saved->state_bytes };

	ptrace(PTRACE_SETREGSET, thread->tid, (void *)(uintptr_t)NT_X86_XSTATE, &state);
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(saved->signals), &saved->signals);
	thread->registers = saved->registers;
	thread->changed = true;
}

/* Registers as the kernel keeps them below a handler. A system call that was interrupted begins again. */
static void put_context(ucontext_t *context, const struct saved *saved, uint64_t state)
{
	const struct user_regs_struct *from = &saved->registers;
	const long long result = -(long long)from->rax;
	const bool again = (long long)from->orig_rax >= 0 &&
			   (result == EINTR || (result >= ERESTART_FIRST && result <= ERESTART_LAST));
	greg_t *to = context->uc_mcontext.gregs;

	memset(context, 0, sizeof(*context));
	context->uc_flags = CONTEXT_FLAGS;
	context->uc_stack.ss_flags = -1; /* not valid: the kernel leaves the alternate stack as it is */
	to[REG_R8] = (greg_t)from->r8;
	to[REG_R9] = (greg_t)from->r9;
	to[REG_R10] = (greg_t)from->r10;
	to[REG_R11] = (greg_t)from->r11;
	to[REG_R12] = (greg_t)from->r12;
	to[REG_R13] = (greg_t)from->r13;
	to[REG_R14] = (greg_t)from->r14;
	to[REG_R15] = (greg_t)from->r15;
	to[REG_RDI] = (greg_t)from->rdi;
	to[REG_RSI] = (greg_t)from->rsi;
	to[REG_RBP] = (greg_t)from->rbp;
	to[REG_RBX] = (greg_t)from->rbx;
	to[REG_RDX] = (greg_t)from->rdx;
	to[REG_RAX] = (greg_t)(again ? from->orig_rax : from->rax);
	to[REG_RCX] = (greg_t)from->rcx;
	to[REG_RSP] = (greg_t)from->rsp;
	to[REG_RIP] = (greg_t)(from->rip - (again ? 2 : 0));
	to[REG_EFL] = (greg_t)from->eflags;
	to[REG_CSGSFS] = (greg_t)(from->cs | from->ss << 48);
	context->uc_mcontext.fpregs = (fpregset_t)(uintptr_t)state; /* NOLINT: of the other process */
	memcpy(&context->uc_sigmask, &saved->signals, sizeof(saved->signals));
}

/* Vector registers in the form that a handler finds on its stack. */
static void put_state(uint8_t *out, const struct saved *saved)
{
	const uint32_t bytes = (uint32_t)saved->state_bytes, magic_2 = STATE_MAGIC_2,
		       sizes[2] = { STATE_MAGIC_1, bytes + 4 };
	uint64_t features;

	memcpy(out, saved->state, bytes);
	memcpy(&features, saved->state + STATE_SIZES, sizeof(features));
	memset(out + STATE_SIZES, 0, 48);
	memcpy(out + STATE_SIZES, sizes, sizeof(sizes));
	memcpy(out + STATE_SIZES + 8, &features, sizeof(features));
	memcpy(out + STATE_SIZES + 16, &bytes, sizeof(bytes));
	memcpy(out + bytes, &magic_2, sizeof(magic_2));
}

/* The memory of a call, below the thread's stack pointer. */
struct frame {
	char text[REMOTE_CALL_TEXT];
	uint64_t result, reserved;
	uint64_t returns; /* as of a handler; behind it is what the kernel restores */
	ucontext_t context;
	siginfo_t info;
	_Alignas(64) uint8_t state[STATE_MAX + 64];
};

static bool prepare(const struct place *place, struct process_thread *thread, const struct saved *saved,
		    const struct remote_call *call, uint64_t *result)
{
	static struct frame frame;
	const uint64_t at = (saved->registers.rsp - RED_ZONE - sizeof(frame)) & ~(uint64_t)63;
	struct user_regs_struct *registers = &thread->registers;
	/* Faults must not be blocked: then they would be fatal where a handler may be ready for them. */
	const uint64_t blocked =
		~(UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGILL - 1) |
		  UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGTRAP - 1));

	memset(&frame, 0, sizeof(frame));
	if (call->text)
		strncpy(frame.text, call->text, sizeof(frame.text) - 1);
	frame.result = UNFINISHED;
	put_context(&frame.context, saved, at + offsetof(struct frame, state));
	put_state(frame.state, saved);
	registers->orig_rax = (unsigned long long)-1;
	registers->rax = call->function;
	registers->rip = place->instructions;
	registers->rdi = call->text ? at + offsetof(struct frame, text) : 0;
	registers->rsi = call->argument;
	registers->r12 = *result = at + offsetof(struct frame, result);
	registers->r13 = at + offsetof(struct frame, context);
	registers->rsp = at;
	registers->eflags &= ~(unsigned long long)(CALL_TRAP | CALL_DIRECTION);
	thread->changed = process_memory_write(place->memory, at, &frame, sizeof(frame)) &&
			  process_memory_is_of(place->memory, thread->tid);
	return thread->changed &&
	       ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(blocked), &blocked) == 0;
}

/* Wait for the result. */
static int wait_for(const struct place *place, struct process_threads *threads, struct process_thread *thread,
		    uint64_t address, uint64_t *result)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + CALL_NS;

	while (clock_ns(CLOCK_MONOTONIC) < until) {
		if (!process_thread_pass(thread) ||
		    !process_memory_read(place->memory, address, result, sizeof(*result)))
			return -ESRCH;
		if (*result != UNFINISHED)
			return 0;
		pass_others(threads, thread);
		sleep_ns(PAUSE_NS);
	}
	return -ETIMEDOUT;
}

/* Stop the thread that has called. Return: whether it stands; otherwise it goes on, and puts its registers back by itself. */
static bool stop_again(struct process_threads *threads, struct process_thread *thread)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + RETURN_NS;

	if (process_thread_ask(thread) != 0)
		return false;
	while (!process_thread_stands(thread)) {
		if (thread->gone || clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		pass_others(threads, thread);
		sleep_ns(POLL_NS);
	}
	return true;
}

static int call_by(const struct place *place, struct process_threads *threads, struct process_thread *thread,
		   struct remote_call *call)
{
	static struct saved saved;
	const uint64_t ran_ns = thread->ran_ns;
	uint64_t address;
	int error;

	if (!save(&saved, thread) || !prepare(place, thread, &saved, call, &address)) {
		thread->changed = false;
		process_thread_go(thread, place->memory->pid);
		return -ESTALE;
	}
	/* On busy CPUs it would wait for one as often as any other, and is missed meanwhile. */
	thread_priority_raise(thread->tid);
	process_thread_run(thread);
	error = wait_for(place, threads, thread, address, &call->result);
	call->thread_ns = clock_ns(CLOCK_MONOTONIC) - ran_ns;
	thread_priority_restore(thread->tid);
	if (error || !stop_again(threads, thread))
		return error;
	/* The function may have executed another program. */
	if (!process_memory_is_of(place->memory, thread->tid)) {
		process_thread_go(thread, place->memory->pid);
		return -ESTALE;
	}
	/* A slow caller finds that the thread has not waited. */
	if (thread->registers.rip - place->instructions < sizeof(instructions))
		restore(&saved, thread);
	process_thread_go(thread, place->memory->pid);
	call->thread_ns = clock_ns(CLOCK_MONOTONIC) - ran_ns;
	return 0;
}

/* The C library's end of signal handlers: mov $15, %rax; syscall */
static uint64_t find_restorer(const struct process_memory *memory, uint64_t library)
{
	static const uint8_t end[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
	const struct process_map *first = process_memory_at(memory, library);
	uint64_t found = 0;

	for (size_t n = 0; first && !found && n < memory->count; n++) {
		const struct process_map *map = &memory->maps[n];
		const size_t bytes = map->end - map->begin;
		uint8_t *code = map->inode == first->inode && map->executable && bytes < 1 << 26
					? malloc(bytes)
					: NULL;
		const uint8_t *at = NULL;

		if (code && process_memory_read(memory, map->begin, code, bytes))
			at = memmem(code, bytes, end, sizeof(end));
		found = at ? map->begin + (uint64_t)(at - code) : 0;
		free(code);
	}
	return found;
}

/* The program is the object with the address at which the process began; the linker that of the interpreter. */
static uint64_t object_of(const struct process_memory *memory, uint64_t address)
{
	const struct process_map *map = process_memory_at(memory, address);

	for (size_t n = 0; map && map->inode && n < memory->count; n++)
		if (memory->maps[n].inode == map->inode && !memory->maps[n].offset)
			return memory->maps[n].begin;
	return 0;
}

int remote_call(struct process_memory *memory, struct process_threads *threads, struct remote_call *call)
{
	const uint64_t library = process_memory_object(memory, "libc");
	struct place place = { .memory = memory,
			       .instructions = process_memory_slack(memory, library, sizeof(instructions)),
			       .restorer = find_restorer(memory, library) };
	struct process_thread *thread;
	int error;

	place.program = object_of(memory, process_memory_auxiliary(memory, AT_ENTRY));
	place.linker = object_of(memory, process_memory_auxiliary(memory, AT_BASE));
	if (!place.instructions)
		place.instructions = process_memory_slack(memory, place.program, sizeof(instructions));
	if (!place.instructions || !place.program || !place.linker)
		return -ENOEXEC;
	place.own_memory = process_memory_symbol(memory, place.program, "malloc") != 0;
	thread_priority_hurry(memory->pid);
	error = find_thread(&place, threads, &thread);
	if (!error && !process_memory_write(memory, place.instructions, instructions, sizeof(instructions))) {
		process_thread_go(thread, memory->pid);
		error = -ENOEXEC;
	}
	if (!error)
		error = call_by(&place, threads, thread, call);
	for (size_t n = 0; n < threads->count; n++) /* also of those that were asked, and stop later */
		thread_priority_restore(threads->all[n].tid);
	thread_priority_usual();
	return error;
}

#endif
