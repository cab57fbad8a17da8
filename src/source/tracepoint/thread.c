/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads: their ids and announcements, also after fork and vfork.
 *
 * A thread's id is looked up and announced before its first record, and again in the child after a fork, which inherits
 * the parent's memory.
 *
 * vfork: the child runs on the parent's memory, this library's included, while the parent sleeps. The kernel does not use
 * the parent's rseq area for the child, so it would not restart a sequence there. So the function vfork is replaced by
 * one that marks the thread. Then the child's records go to a locked ring, under its own id, and of the child only its
 * announcement is remembered.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pid.h"
#include "base/nolibc.h"
#include "ring/lock.h"
#include "ring/ring_deps.h"
#include "source/tracepoint/thread.h"

enum {
	THREAD_REFUSALS_MAX = 100, /* then it records unannounced: the names ring is full or damaged */
};

struct session tracepoint_session;
__thread struct tracepoint_thread tracepoint_thread;
struct tracepoint_calls tracepoint_calls;
uint32_t tracepoint_renames = 1;

static uint32_t announced_pid; /* the process that has announced itself; after a fork it is the parent's */

static enum ring_result announce(uint32_t tid)
{
	uint32_t pid = session_self();
	enum ring_result result = RING_DONE;

	if (__atomic_load_n(&announced_pid, __ATOMIC_RELAXED) != pid)
		result = session_announce_process(&tracepoint_session, pid, tid);
	if (result != RING_DONE)
		return result;
	__atomic_store_n(&announced_pid, pid, __ATOMIC_RELAXED);
	return session_announce_thread(&tracepoint_session, pid, tid, tid,
				       ring_silent && *tracepoint_thread.name ? tracepoint_thread.name : NULL,
				       tracepoint_thread.renamed);
}

/* A thread that died in a locked ring may have had our id. This thread holds no lock yet, so a lock with its id is stale. */
static void break_reused_locks(uint32_t tid)
{
	tracepoint_thread.locks_broken = true; /* first: a signal handler in between may take a lock */
	for (unsigned n = tracepoint_session.geometry.cpus; n < tracepoint_session.ring_count; n++)
		lock_break_reused(&tracepoint_session.rings[n].control->lock, tid);
}

uint32_t tracepoint_thread_self(void)
{
	/* The C library knows it, but not for a child of vfork or of a bare clone(). */
	return ring_silent && !tracepoint_thread.in_vfork ? pid_of_thread(pthread_self()) : nolibc_tid();
}

/* Reset all but its name and context, which a forked child keeps. */
static void forget_thread(void)
{
	struct tracepoint_thread fresh = { .context = tracepoint_thread.context };

	memcpy(fresh.name, tracepoint_thread.name, sizeof(fresh.name));
	fresh.no_clock = tracepoint_thread.no_clock;
	tracepoint_thread = fresh;
}

/* A thread of this process has given up the clock. Those that it makes inherit that. */
static bool clock_was_forbidden;

void tracepoint_clock_forbid(void)
{
	__atomic_store_n(&clock_was_forbidden, true, __ATOMIC_RELAXED);
	if (tracepoint_calls.stop)
		tracepoint_calls.stop(TRACEPOINT_STOP_CLOCK);
	tracepoint_thread.no_clock = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tracepoint_thread.tid = 0; /* off the fast path */
}

void tracepoint_clock_permit(bool refused)
{
	tracepoint_thread.no_clock = false;
	if (tracepoint_calls.go_on)
		tracepoint_calls.go_on(TRACEPOINT_STOP_CLOCK, refused);
}

static bool clock_is_permitted(void)
{
#ifdef __x86_64__
	int mode = PR_TSC_ENABLE;

	return syscall(SYS_prctl, PR_GET_TSC, &mode, 0, 0, 0) != 0 || mode == PR_TSC_ENABLE;
#else
	return true;
#endif
}

bool tracepoint_thread_may_record(void)
{
	if (!tracepoint_thread.no_clock && __atomic_load_n(&clock_was_forbidden, __ATOMIC_RELAXED))
		tracepoint_thread.no_clock = !clock_is_permitted();
	return !tracepoint_thread.no_clock;
}

void tracepoint_become_child(uint32_t *expected, uint32_t pid)
{
	/* In this order: with `cpus`, fast paths use the thread's id again. */
	forget_thread();
	tracepoint_thread.context.depth = 0;
	if (!tracepoint_session.base)
		return;
	session_enter_expected(&tracepoint_session, expected, pid);
	session_identity.rings = tracepoint_session.rings;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&session_identity.cpus, tracepoint_session.geometry.cpus, __ATOMIC_RELAXED);
}

void tracepoint_notice_fork(void)
{
	/* The C library knows the child of _Fork(), but not that of a bare clone(). */
	if (__builtin_expect(session_is_forked(), 0))
		tracepoint_become_child(NULL, ring_silent ? pid_of_thread(pthread_self()) : nolibc_pid());
}

/*
 * Keep the id of a thread that has been announced; 0: it has not been, and enters again with its next record. A signal handler may
 * have interrupted the announcement, which takes long at first, and made a child by _Fork() or clone(): what was interrupted goes on
 * there, too, with the parent's id. The child has forgotten that it was entering; so it must not be entering any more when its handler
 * returns, announced or not.
 */
static bool keep_id(uint32_t tid)
{
	uint64_t expected = (uint64_t)1 << 32; /* no id, entering */

	return __atomic_compare_exchange_n(&tracepoint_thread.entry, &expected, tid, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

uint32_t tracepoint_thread_enter(void)
{
	uint32_t tid;
	enum ring_result result;

	tracepoint_notice_fork();
	tid = tracepoint_thread.tid;
	if (tid)
		return tid;
	if (!tracepoint_thread_may_record())
		return 0;
	tracepoint_thread.entering = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tid = tracepoint_thread_self();
	if (!tracepoint_thread.locks_broken)
		break_reused_locks(tid);
	if (tracepoint_thread.in_vfork) { /* a process of one thread: its pid is the tid */
		if (!tracepoint_thread.vfork_announced)
			tracepoint_thread.vfork_announced =
				session_announce_process(&tracepoint_session, tid, tid) == RING_DONE &&
				session_announce_thread(&tracepoint_session, tid, tid, tid, NULL, 0) ==
					RING_DONE;
		return tid;
	}
	result = announce(tid);
	if (result == RING_DONE) {
		tracepoint_thread.refusals = 0;
		tracepoint_thread.renamed = 0;
	} else if (++tracepoint_thread.refusals >= THREAD_REFUSALS_MAX ||
		   (result == RING_FULL && tracepoint_session.geometry.mode == WIRE_MODE_FLIGHT)) {
		tracepoint_thread.refusals = 0;
		ring_lose(&tracepoint_session.rings[session_names_index(&tracepoint_session)],
			  WIRE_LOST_FULL);
	} else {
		return keep_id(0) ? tid : tracepoint_thread_enter();
	}
	return keep_id(tid) ? tid : tracepoint_thread_enter();
}

void tracepoint_thread_renamed(const char *name)
{
	struct nolibc_string own = { tracepoint_thread.name, sizeof(tracepoint_thread.name), 0, false };

	/* Release: the kernel has the new name. Pairs with the acquire in own_name(). */
	__atomic_fetch_add(&tracepoint_renames, 1, __ATOMIC_RELEASE);
	if (!tracepoint_thread.in_vfork)
		nolibc_text(&own, name);
	tracepoint_thread.vfork_announced = false;
	if (!tracepoint_thread.tid || tracepoint_thread.no_clock) /* it will be announced anyway, or never */
		return;
	tracepoint_thread.renamed = ring_clock();
	tracepoint_thread.tid = 0;
}

void tracepoint_thread_rename(uint32_t tid, const char *name)
{
	uint32_t self;

	/* Release: the kernel has the new name. Pairs with the acquire in own_name(). */
	__atomic_fetch_add(&tracepoint_renames, 1, __ATOMIC_RELEASE);
	/* If this process has not announced itself, none of its threads has recorded. */
	if (!tracepoint_session.base || __atomic_load_n(&announced_pid, __ATOMIC_RELAXED) != session_self() ||
	    !tracepoint_thread_may_record())
		return;
	self = tracepoint_thread_self();
	if (!tracepoint_thread.locks_broken)
		break_reused_locks(self);
	if (session_announce_thread(&tracepoint_session, session_self(), self, tid, name, 0) != RING_DONE)
		ring_lose(&tracepoint_session.rings[session_names_index(&tracepoint_session)],
			  WIRE_LOST_FULL);
}

#ifdef __x86_64__
void tracepoint_vfork_enter(void)
{
	if (tracepoint_calls.enter_vfork)
		tracepoint_calls.enter_vfork();
	tracepoint_thread.tid = tracepoint_thread.self_tid = 0;
	tracepoint_thread.in_vfork = true;
	tracepoint_thread.vfork_context = tracepoint_thread.context;
	tracepoint_thread.context.depth = 0;
}

/* In the parent, after the child has stopped using its memory. */
long tracepoint_vfork_leave(long result)
{
	tracepoint_thread.context = tracepoint_thread.vfork_context;
	forget_thread();
	tracepoint_thread.locks_broken = true; /* the thread is the same */
	if (tracepoint_calls.leave_vfork)
		tracepoint_calls.leave_vfork(result);
	if (result < 0 && result >= -4095) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/*
 * vfork returns twice, first in the child, which then overwrites the stack below. So the return address is kept in a
 * register, which the kernel saves for each of the two. A shadow stack is also common to both: the child jumps, and leaves the
 * return address there to the parent.
 */
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	".cfi_startproc\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call tracepoint_vfork_enter\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdi\n"
	"	movl $58, %eax\n" /* SYS_vfork */
	"	syscall\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rip, 0\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	movq %rax, %rdi\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call tracepoint_vfork_leave\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"1:	popq %rdx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register %rip, %rdx\n"
	"	jmp *%rdx\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n");
#endif
