/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Changes of running processes; see process_change.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/pid.h"
#include "control/enable_lease.h"
#include "control/load_calls.h"
#include "control/process_change.h"
#include "control/thread_priority.h"
#include "session/clock.h"

enum {
	DEADLINE = 40, /* seconds; each step has a shorter one of its own */
};

/* The work of the child. */
struct work {
	pid_t pid; /* to be attached to; 0: the processes of the session */
	const char *library;
	const struct target *target;
	const struct session *session;
	uint64_t begin_ns;
};

/* For processes whose threads run on meanwhile, some ticks for each; if there are more, the others are stopped. */
static const uint64_t RUNNING_NS = UINT64_C(10000000000);

#if defined(__x86_64__)
static void patch_one(const struct work *work, pid_t pid, struct process_change *change)
{
	struct patch_process_result result;
	const bool running = clock_ns(CLOCK_MONOTONIC) - work->begin_ns < RUNNING_NS;
	const int error = patch_process(pid, work->session, work->target->inode, running, &result);

	change->patched.changed += result.changed;
	change->patched.missed += result.missed;
	if (result.longest_ns > change->patched.longest_ns)
		change->patched.longest_ns = result.longest_ns;
	change->processes += !error;
	if (!error || error == -ESRCH || error == -ENOENT || change->error)
		return;
	change->error = error;
	change->pid = pid;
	process_problem(pid, error, change->problem, sizeof(change->problem));
}

/* The end of the child lets others change the code. */
static bool begin_patching(const struct work *work, struct process_change *change)
{
	const char *why = "";
	const int file = target_file(work->target, true, &why);

	if (file >= 0 && enable_lease_code(work->session, file))
		return true;
	change->error = file < 0 ? file : -EBUSY;
	snprintf(change->problem, sizeof(change->problem), "%s",
		 file < 0 ? why : "another command changes it; try again");
	return false;
}

static void do_work(const struct work *work, struct process_change *change)
{
	if (work->pid)
		change->error = load_calls(work->pid, work->library, &change->loaded, change->problem,
					   sizeof(change->problem));
	if (work->pid || !begin_patching(work, change))
		return;
	for (unsigned n = 0; n < WIRE_PROCESSES_MAX; n++) {
		const uint32_t pid = session_process(work->session->shared, n);

		/* The session's user may have written any number there. */
		if (pid_lives(pid) && target_may_have(work->target, pid))
			patch_one(work, (pid_t)pid, change);
	}
}
#else
static void do_work(const struct work *work, struct process_change *change)
{
	(void)work;
	change->error = -ENOSYS;
	snprintf(change->problem, sizeof(change->problem), "code is changed on x86-64 only");
}
#endif

static _Noreturn void be_child(const struct work *work, int out)
{
	struct process_change change = { .pid = work->pid };
	sigset_t others;

	/* Ctrl-C ends the parent; threads whose priorities are raised are given the former ones. */
	sigfillset(&others);
	sigdelset(&others, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &others, NULL);
	alarm(DEADLINE);
	prctl(PR_SET_TIMERSLACK, 1); /* threads stand still while this one sleeps */
	do_work(work, &change);
	_exit(write(out, &change, sizeof(change)) != (ssize_t)sizeof(change));
}

static int change_by_child(const struct work *work, struct process_change *change)
{
	int report[2];
	pid_t child;
	ssize_t got;

	*change = (struct process_change){ .pid = work->pid };
	if (pipe2(report, O_CLOEXEC) != 0)
		return change->error = -errno;
	thread_priority_begin();
	child = fork();
	if (child == 0) {
		close(report[0]);
		be_child(work, report[1]);
	}
	close(report[1]);
	got = child < 0 ? -1 : read(report[0], change, sizeof(*change));
	close(report[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	thread_priority_end();
	change->problem[sizeof(change->problem) - 1] = 0;
	if (got == (ssize_t)sizeof(*change))
		return change->error;
	*change = (struct process_change){ .pid = work->pid, .error = -EIO };
	snprintf(change->problem, sizeof(change->problem), "its memory could not be read within %d s",
		 DEADLINE);
	return change->error;
}

int process_change_attach(pid_t pid, const char *library, struct process_change *change)
{
	return change_by_child(&(struct work){ .pid = pid, .library = library }, change);
}

int process_change_patch(const struct target *target, const struct session *session,
			 struct process_change *change)
{
	return change_by_child(
		&(struct work){ .target = target, .session = session, .begin_ns = clock_ns(CLOCK_MONOTONIC) },
		change);
}
