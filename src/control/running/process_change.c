/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Changes of running processes; see process_change.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/pid.h"
#include "control/enable_lease.h"
#include "control/running/load_calls.h"
#include "control/running/process_change.h"
#include "control/running/thread_priority.h"
#include "session/clock.h"

enum {
	DEADLINE = 40,	      /* seconds; each step has a shorter one of its own */
	DEADLINE_PARENT = 42, /* also where no signal ends the child */
};

/* The work of the child. */
struct work {
	pid_t pid; /* to be attached to; 0: the processes of the session */
	const char *library;
	const struct target *target;
	const struct session *session;
	uint64_t begin_ns;
};

#if defined(__x86_64__)
/* For processes whose threads run on meanwhile, some ticks for each; if there are more, the others are stopped. */
static const uint64_t RUNNING_NS = UINT64_C(10000000000);

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

/* The process that a message is about, unless a step names another one of the session. */
static pid_t first_pid(const struct work *work)
{
	return work->pid ? work->pid : (pid_t)work->target->geometry.owner;
}

/*
 * One of this process and its parent has to live until threads have their priorities again. `killall -9 burin` and `pkill -9 burin`
 * would end both at once, so this one has another name, also as the first word of its command line.
 */
static void change_name(void)
{
	static const char name[] = "call-changer";

	prctl(PR_SET_NAME, name);
	strncpy(program_invocation_name, name, strlen(program_invocation_name));
}

static _Noreturn void process_change_be_child(const struct work *work, int out)
{
	struct process_change change = { .pid = first_pid(work) };
	sigset_t others;

	change_name();
	/* Ctrl-C ends the parent; threads whose priorities are raised are given the former ones. */
	sigfillset(&others);
	sigdelset(&others, SIGALRM);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &others, NULL);
	alarm(DEADLINE);
	prctl(PR_SET_TIMERSLACK, 1); /* threads stand still while this one sleeps */
	/* A signal for the parent's group is not for threads that stand; and the kernel may share CPUs among sessions. */
	setsid();
	do_work(work, &change);
	_exit(write(out, &change, sizeof(change)) != (ssize_t)sizeof(change));
}

/* Return: whether the child has reported or ended by the deadline. */
static bool await_child(int report)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + DEADLINE_PARENT * UINT64_C(1000000000);
	struct pollfd ready = { .fd = report, .events = POLLIN };
	uint64_t now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) < until) {
		const int count = poll(&ready, 1, (int)((until - now) / 1000000) + 1);

		if (count > 0)
			return true;
		if (count < 0 && errno != EINTR)
			break;
	}
	return false;
}

/*
 * Read what a child reports. @status: receives its end; 0: it still runs. The process may have memory from a file of which another
 * process never gives a page: no signal ends a child that reads it. Return: whether it has reported.
 */
static bool read_report(pid_t child, int report, struct process_change *change, int *status)
{
	const bool done = await_child(report);
	const ssize_t got = done ? read(report, change, sizeof(*change)) : -1;

	if (!done)
		kill(child, SIGKILL);
	waitpid(child, status, done ? 0 : WNOHANG);
	change->problem[sizeof(change->problem) - 1] = 0;
	return got == (ssize_t)sizeof(*change);
}

static int change_by_child(const struct work *work, struct process_change *change)
{
	int report[2], status = 0;
	pid_t child = -1;
	bool done = false;

	thread_priority_begin();
	if (pipe2(report, O_CLOEXEC) == 0) {
		child = fork();
		if (child == 0)
			process_change_be_child(work, report[1]);
		close(report[1]);
		done = child > 0 && read_report(child, report[0], change, &status);
		close(report[0]);
	}
	thread_priority_end();
	if (done)
		return change->error;
	*change = (struct process_change){ .pid = first_pid(work), .error = child < 0 ? -EAGAIN : -EIO };
	if (child < 0)
		snprintf(change->problem, sizeof(change->problem), "no room for another process");
	else if (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM))
		snprintf(change->problem, sizeof(change->problem),
			 "the process of this command that changes it has ended early");
	else
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
