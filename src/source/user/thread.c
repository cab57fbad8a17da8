/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Threads: their ids, their announcement, and what fork and vfork do to both.
 *
 * A thread's id is looked up and announced before its first record, and again in the child after a fork
 * (which inherits the parent's memory of itself).
 *
 * vfork: the child runs on the parent's memory, this library's included, while the parent sleeps; and the
 * kernel does not know the parent's rseq area for the child's, so that a sequence there would not be
 * restarted. So the function vfork is replaced by one that marks the thread: what the child records goes to a
 * locked ring, under its own id, and nothing is remembered but that it has announced itself.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/plain.h"
#include "ring/lock.h"
#include "ring/ring_deps.h"
#include "source/user/thread.h"

enum {
	THREAD_REFUSALS_MAX = 100, /* then its records go unannounced: the names ring is full or damaged */
};

__thread struct user_thread user_thread;

static uint32_t announced_pid; /* the process that has announced itself; after a fork it is the parent's */

static enum ring_result announce(uint32_t tid)
{
	uint32_t pid = plain_pid();
	enum ring_result result = RING_DONE;

	if (__atomic_load_n(&announced_pid, __ATOMIC_RELAXED) != pid)
		result = session_announce_process(&user_session, tid);
	if (result != RING_DONE)
		return result;
	__atomic_store_n(&announced_pid, pid, __ATOMIC_RELAXED);
	return session_announce_thread(&user_session, tid, tid, NULL, user_thread.renamed);
}

/* A thread that died in a locked ring may have had our id. We hold no lock yet, so what bears our id is not
 * ours. */
static void disown_locks(uint32_t tid)
{
	user_thread.disowned = true; /* first: a signal handler in between may take a lock */
	for (unsigned n = user_session.geometry.cpus; n < user_session.ring_count; n++)
		lock_disown(&user_session.rings[n].control->lock, tid);
}

uint32_t user_thread_enter(void)
{
	uint32_t tid = user_thread.tid;
	enum ring_result result;

	if (tid)
		return tid;
	tid = (uint32_t)syscall(SYS_gettid);
	if (!user_thread.disowned)
		disown_locks(tid);
	if (user_thread.in_vfork) {
		if (!user_thread.vfork_known)
			user_thread.vfork_known =
				session_announce_process(&user_session, tid) == RING_DONE &&
				session_announce_thread(&user_session, tid, tid, NULL, 0) == RING_DONE;
		return tid;
	}
	result = announce(tid);
	if (result == RING_DONE) {
		user_thread.refusals = 0;
		user_thread.renamed = 0;
		user_thread.tid = tid;
	} else if (++user_thread.refusals >= THREAD_REFUSALS_MAX ||
		   (result == RING_FULL && user_session.geometry.mode == WIRE_MODE_FLIGHT)) {
		user_thread.refusals = 0;
		ring_lose(&user_session.rings[session_names_index(&user_session)], WIRE_LOST_FULL);
		user_thread.tid = tid;
	}
	return tid;
}

void user_thread_renamed(void)
{
	user_thread.vfork_known = false;
	if (!user_thread.tid) /* it is still to be announced anyway */
		return;
	user_thread.renamed = ring_clock();
	user_thread.tid = 0;
}

void user_thread_rename(uint32_t tid, const char *name)
{
	const uint32_t self = (uint32_t)syscall(SYS_gettid);

	/* As long as nobody has been announced, nobody has recorded. */
	if (!user_session.base || __atomic_load_n(&announced_pid, __ATOMIC_RELAXED) != plain_pid())
		return;
	if (!user_thread.disowned)
		disown_locks(self);
	if (session_announce_thread(&user_session, self, tid, name, 0) != RING_DONE)
		ring_lose(&user_session.rings[session_names_index(&user_session)], WIRE_LOST_FULL);
}

static void forget_thread(void)
{
	user_thread = (struct user_thread){ 0 };
}

/* In the child: another thread, which has no spans open. */
static void become_child(void)
{
	forget_thread();
	user_context.depth = 0;
}

static __attribute__((constructor(101))) void watch_fork(void)
{
	pthread_atfork(NULL, NULL, become_child);
}

#ifdef __x86_64__
/* Called by vfork below; the attributes keep them for the assembler. */
__attribute__((used, visibility("hidden"))) void user_vfork_enter(void);
__attribute__((used, visibility("hidden"))) long user_vfork_leave(long result);

void user_vfork_enter(void)
{
	user_thread.tid = user_thread.self_tid = 0;
	user_thread.in_vfork = true;
	user_thread.vfork_context = user_context;
	user_context.depth = 0;
}

/* In the parent: the child has left our memory. */
long user_vfork_leave(long result)
{
	user_context = user_thread.vfork_context;
	forget_thread();
	user_thread.disowned = true; /* the thread is the same */
	if (result < 0 && result >= -4095) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/*
 * vfork returns twice, the first time in the child, which then writes over the stack below: so the parent's
 * return address waits in a register, which the kernel keeps for each of the two.
 */
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	".cfi_startproc\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call user_vfork_enter\n"
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
	"	call user_vfork_leave\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"1:	ret\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n");
#endif
