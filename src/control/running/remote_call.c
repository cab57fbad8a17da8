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

#include "control/running/process_threads.h"
#include "control/running/remote_call.h"
#include "control/running/remote_code.h"
#include "control/running/thread_priority.h"
#include "session/clock.h"

enum {
	STACK_ROOM = 96 << 10,	 /* bytes that the call may need */
	RED_ZONE = 128,		 /* bytes below the stack pointer that a function may use */
	HANDLER_LOOK = 32 << 10, /* bytes of the stack that are searched for a signal handler */
	CONTEXT_FLAGS =
		7, /* of a handler's frame: there is a state; the stack segment is valid, and to be restored */
	FRAME_FLAGS = 1, /* words of a handler's frame: of its context, ... */
	FRAME_LINK = 2,
	FRAME_SEGMENTS = 24, /* ... and of the registers in it, segments of code and data */
	USER_CODE = 0x33,
	SYSCALL_BYTES = 2,
	ERESTART_FIRST =
		512, /* results of system calls by which the kernel begins them again; the last one with the time that is left */
	ERESTART_LAST = 514,
	ERESTART_REST = 516,
	CALL_TRAP = 0x100, /* flags of the processor */
	CALL_DIRECTION = 0x400,
	CALL_NESTED = 0x4000,
	CALL_ALIGNED = 0x40000,
};

static const uint64_t STOP_NS = UINT64_C(50000000), PLACE_NS = UINT64_C(5000000000),
		      CALL_NS = UINT64_C(10000000000), PAUSE_NS = UINT64_C(200000), POLL_NS = UINT64_C(10000),
		      RETURN_NS = UINT64_C(1000000000);

struct place {
	struct process_memory *memory;
	uint64_t code;		  /* where remote_code_begin[] is to be */
	uint64_t results;	  /* where results go; 0: there is no such place */
	uint64_t errno_location;  /* the C library's function */
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

static bool remote_call_is_suitable(const struct place *place, const struct process_thread *thread)
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
	if (process_memory_maps(place->memory) == 0 && remote_call_is_suitable(place, thread))
		return true;
	process_thread_go(threads, thread);
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
	process_thread_usual(threads, &threads->all[asked - 1]);
	return NULL;
}

/* Stop a thread in a suitable place. Return: as remote_call(). */
static int remote_call_find_thread(const struct place *place, struct process_threads *threads,
				   struct process_thread **found)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + PLACE_NS;
	int error = -EAGAIN;

	while (error == -EAGAIN && clock_ns(CLOCK_MONOTONIC) < until) {
		if (process_threads_read(threads) < 0)
			error = -ESRCH;
		for (size_t n = 0; error == -EAGAIN && n < threads->count; n++) {
			if (process_thread_ask(threads, &threads->all[n]) == -EPERM)
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
			process_thread_go(threads, thread);
	}
}

/* ---- the call */

/* The state of the thread before the call. */
struct saved {
	struct user_regs_struct registers;
	uint64_t signals; /* blocked */
	uint8_t state[REMOTE_CODE_STATE];
	size_t state_bytes;
};

static bool remote_call_save(struct saved *saved, const struct process_thread *thread)
{
	struct iovec state = { saved->state, sizeof(saved->state) };

	saved->registers = thread->registers;
	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(saved->signals), &saved->signals) != 0 ||
	    ptrace(PTRACE_GETREGSET, thread->tid, (void *)(uintptr_t)NT_X86_XSTATE, &state) != 0)
		return false;
	saved->state_bytes = state.iov_len;
	return true;
}

static void remote_call_restore(const struct saved *saved, struct process_thread *thread)
{
	struct iovec state = { (void *)(uintptr_t)saved->state, saved->state_bytes };

	ptrace(PTRACE_SETREGSET, thread->tid, (void *)(uintptr_t)NT_X86_XSTATE, &state);
	ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(saved->signals), &saved->signals);
	thread->registers = saved->registers;
	thread->changed = true;
}

/*
 * The registers with which the thread goes on by itself. It begins a system call again that was interrupted, as the kernel would. But if a
 * signal came meanwhile, the kernel has to see that: whether the call ends depends on the signal's handler.
 */
static void put_registers(struct remote_frame *frame, const struct saved *saved)
{
	struct user_regs_struct *registers = &frame->registers;
	const long long result = -(long long)saved->registers.rax;

	*registers = saved->registers;
	if ((long long)registers->orig_rax < 0)
		return;
	if (result == ERESTART_REST)
		registers->rax = SYS_restart_syscall;
	else if ((result >= ERESTART_FIRST && result <= ERESTART_LAST) ||
		 process_thread_is_cut_off(registers))
		registers->rax = registers->orig_rax;
	else
		return;
	registers->rip -= SYSCALL_BYTES;
	frame->awaited = ~saved->signals;
}

/* Fill the frame, and set the registers with which the call begins. Return: whether that was possible; then where the result will be. */
static bool remote_call_prepare(const struct place *place, struct process_thread *thread,
				const struct saved *saved, const struct remote_call *call, uint64_t *result)
{
	static struct remote_frame frame;
	const uint64_t at = (saved->registers.rsp - RED_ZONE - sizeof(frame)) & ~(uint64_t)63;
	struct user_regs_struct *registers = &thread->registers;
	/* Faults must not be blocked: then they would be fatal where a handler may be ready for them. */
	const uint64_t blocked =
		~(UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) | UINT64_C(1) << (SIGILL - 1) |
		  UINT64_C(1) << (SIGFPE - 1) | UINT64_C(1) << (SIGTRAP - 1));
	const struct remote_code_result none = { 0 };

	*result = place->results ?: at + offsetof(struct remote_frame, result);
	frame = (struct remote_frame){ .errno_location = place->errno_location,
				       .function = call->function,
				       .arguments = { at + offsetof(struct remote_frame, text),
						      call->argument },
				       .next = call->next,
				       .next_name = at + offsetof(struct remote_frame, name),
				       .waits = !place->results,
				       .blocked = saved->signals };
	if (call->text)
		strncpy(frame.text, call->text, sizeof(frame.text) - 1);
	if (call->name)
		strncpy(frame.name, call->name, sizeof(frame.name) - 1);
	memcpy(frame.state, saved->state, saved->state_bytes);
	put_registers(&frame, saved);
	registers->orig_rax = (unsigned long long)-1;
	registers->rip = place->code;
	registers->rbx = registers->rsp = at;
	registers->r12 = *result;
	registers->eflags &= ~(unsigned long long)(CALL_TRAP | CALL_DIRECTION | CALL_NESTED | CALL_ALIGNED);
	thread->changed = process_memory_write(place->memory, at, &frame, sizeof(frame)) &&
			  process_memory_write(place->memory, *result, &none, sizeof(none)) &&
			  process_memory_is_of(place->memory, thread->tid);
	return thread->changed &&
	       ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(blocked), &blocked) == 0;
}

/* Wait for the result. */
static int wait_for(const struct place *place, struct process_threads *threads, struct process_thread *thread,
		    uint64_t address, struct remote_code_result *result)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + CALL_NS;

	while (clock_ns(CLOCK_MONOTONIC) < until) {
		const bool lives = process_thread_pass(thread);

		if (!process_memory_read(place->memory, address, result, sizeof(*result)))
			return -ESRCH;
		if (result->steps) /* then it may have ended by itself */
			return 0;
		if (!lives)
			return -ESRCH;
		pass_others(threads, thread);
		sleep_ns(PAUSE_NS);
	}
	return -ETIMEDOUT;
}

/* Stop the thread that has called. Return: whether it stands; otherwise it goes on, and puts its registers back by itself. */
static bool stop_again(struct process_threads *threads, struct process_thread *thread)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + RETURN_NS;

	if (process_thread_ask(threads, thread) != 0)
		return false;
	while (!process_thread_stands(thread)) {
		if (thread->gone || clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		pass_others(threads, thread);
		sleep_ns(POLL_NS);
	}
	return true;
}

/* Put back the registers of a thread that waits for it. Return: 0; -ESTALE: the function may have executed another program. */
static int remote_call_put_back(const struct place *place, struct process_threads *threads,
				struct process_thread *thread, const struct saved *saved)
{
	int error = 0;

	if (!stop_again(threads, thread))
		return 0;
	if (!process_memory_is_of(place->memory, thread->tid))
		error = -ESTALE;
	else if (thread->registers.rip - place->code <
		 remote_code_bytes()) /* it has not waited for too long */
		remote_call_restore(saved, thread);
	process_thread_go(threads, thread);
	return error;
}

static int call_by(const struct place *place, struct process_threads *threads, struct process_thread *thread,
		   struct remote_call *call)
{
	static struct saved saved;
	const uint64_t ran_ns = thread->ran_ns;
	struct remote_code_result result;
	uint64_t address;
	int error;

	if (!remote_call_save(&saved, thread) ||
	    !remote_call_prepare(place, thread, &saved, call, &address)) {
		thread->changed = false;
		process_thread_go(threads, thread);
		return -ESTALE;
	}
	/* Not with a priority: the program may have put anything in the function's place. */
	process_thread_run(thread);
	error = wait_for(place, threads, thread, address, &result);
	if (!error && (result.steps & REMOTE_CODE_WAITS))
		error = remote_call_put_back(place, threads, thread, &saved);
	call->steps = result.steps & ~(uint64_t)REMOTE_CODE_WAITS;
	call->result = result.value;
	call->thread_ns = clock_ns(CLOCK_MONOTONIC) - ran_ns;
	return error;
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
static uint64_t remote_call_object_of(const struct process_memory *memory, uint64_t address)
{
	const struct process_map *map = process_memory_at(memory, address);

	for (size_t n = 0; map && map->inode && n < memory->count; n++)
		if (memory->maps[n].inode == map->inode && !memory->maps[n].offset)
			return memory->maps[n].begin;
	return 0;
}

/* Threads of several commands may call at once. */
static uint64_t result_of(const struct process_memory *memory, uint64_t library, pid_t tid)
{
	const size_t bytes = sizeof(struct remote_code_result);
	size_t room;
	const uint64_t slack = process_memory_slack(memory, library, PF_W, &room);

	return room < bytes ? 0 : slack + (uint64_t)tid % (room / bytes) * bytes;
}

static uint64_t place_of_code(const struct process_memory *memory, uint64_t object)
{
	size_t room;
	const uint64_t slack = process_memory_slack(memory, object, PF_X, &room);

	return room < remote_code_bytes() ? 0 : slack;
}

int remote_call(struct process_memory *memory, struct process_threads *threads, struct remote_call *call)
{
	const uint64_t library = process_memory_object(memory, "libc");
	struct place place = { .memory = memory,
			       .code = place_of_code(memory, library),
			       .errno_location = process_memory_symbol(memory, library, "__errno_location"),
			       .restorer = find_restorer(memory, library) };
	struct process_thread *thread;
	int error;

	place.program = remote_call_object_of(memory, process_memory_auxiliary(memory, AT_ENTRY));
	place.linker = remote_call_object_of(memory, process_memory_auxiliary(memory, AT_BASE));
	if (!place.code)
		place.code = place_of_code(memory, place.program);
	if (!place.code || !place.errno_location || !place.program || !place.linker)
		return -ENOEXEC;
	place.own_memory = process_memory_symbol(memory, place.program, "malloc") != 0;
	thread_priority_hurry(memory->pid);
	error = remote_call_find_thread(&place, threads, &thread);
	if (!error && !process_memory_write(memory, place.code, remote_code_begin, remote_code_bytes())) {
		process_thread_go(threads, thread);
		error = -ENOEXEC;
	}
	if (!error) {
		place.results = result_of(memory, library, thread->tid);
		error = call_by(&place, threads, thread, call);
	}
	process_threads_usual(threads);
	return error;
}

#endif
