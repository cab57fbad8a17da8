/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The end of live counts; see live_command.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/live/live_command.h"
#include "cmd/record/recorder/recording.h"
#include "session/clock.h"

/* The child: wait for a byte, then execute the command, or report an errno. End of file alone: exit. */
static _Noreturn void live_command_execute(char **command, const sigset_t *signals, int go, int report)
{
	char byte;
	int error;

	sigprocmask(SIG_SETMASK, signals, NULL);
	if (read(go, &byte, 1) != 1)
		_exit(126);
	execvp(command[0], command);
	error = errno;
	if (write(report, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

static int live_command_fork(struct live_command *run, char **command)
{
	int report[2], go[2];

	if (pipe2(report, O_CLOEXEC) != 0)
		return -errno;
	if (pipe2(go, O_CLOEXEC) != 0) {
		close(report[0]);
		close(report[1]);
		return -errno;
	}
	run->child = fork();
	if (run->child == 0) {
		close(go[1]);
		live_command_execute(command, &run->before, go[0], report[1]);
	}
	close(report[1]);
	close(go[0]);
	run->report = report[0];
	run->go = go[1];
	return run->child < 0 ? -errno : 0;
}

static int live_command_watch(struct live_command *run, const struct view_set *processes)
{
	if (!processes->count)
		return 0;
	run->processes = epoll_create1(EPOLL_CLOEXEC);
	if (run->processes < 0)
		return -errno;
	for (size_t n = 0; n < processes->count; n++) {
		const int fd = (int)syscall(SYS_pidfd_open, (pid_t)processes->numbers[n], 0);
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

		run->living += fd >= 0 && epoll_ctl(run->processes, EPOLL_CTL_ADD, fd, &event) == 0;
	}
	return run->living ? 0 : -ESRCH;
}

int live_command_begin(struct live_command *run, char **command, const struct view_set *processes)
{
	static const int more[] = { SIGCHLD, 0 };
	int error;

	*run = (struct live_command){ .processes = -1 };
	run->signals = recording_signals(more, &run->before);
	if (run->signals < 0)
		return -errno;
	error = command ? live_command_fork(run, command) : 0;
	return error ? error : live_command_watch(run, processes);
}

int live_command_start(struct live_command *run, bool go)
{
	int error = 0, reported;

	if (run->child <= 0)
		return 0;
	if (go && write(run->go, "", 1) != 1)
		error = errno;
	close(run->go);
	if (read(run->report, &reported, sizeof(reported)) == (ssize_t)sizeof(reported))
		error = reported;
	close(run->report);
	if (error || !go)
		waitpid(run->child, &run->status, 0);
	return -error;
}

static void live_command_signals(struct live_command *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* The terminal sends Ctrl-C to the command, too. A signal from another process has to be forwarded. */
		if (run->child > 0 && !run->ended && info.ssi_code != SI_KERNEL)
			kill(run->child, (int)info.ssi_signo);
		run->interrupts++;
	}
	if (run->child > 0 && !run->ended)
		run->ended = waitpid(run->child, &run->status, WNOHANG) == run->child;
}

static void live_command_processes(struct live_command *run)
{
	struct epoll_event event;

	while (run->living && epoll_wait(run->processes, &event, 1, 0) == 1) {
		close(event.data.fd); /* which removes it from the epoll */
		run->living--;
	}
	run->ended |= run->processes >= 0 && !run->living;
}

bool live_command_wait(struct live_command *run, uint64_t until_ns)
{
	struct pollfd wait[] = { { .fd = run->signals, .events = POLLIN },
				 { .fd = run->processes, .events = POLLIN } };
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t left = until_ns > now ? until_ns - now : 0;
	const struct timespec time = { .tv_sec = (time_t)(left / 1000000000),
				       .tv_nsec = (long)(left % 1000000000) };

	if (ppoll(wait, 2, until_ns == UINT64_MAX ? NULL : &time, NULL) >= 0) {
		live_command_signals(run);
		live_command_processes(run);
	}
	/* The first signal ends the command, and the second one the counting. */
	return run->ended || run->interrupts >= (run->child ? 2 : 1);
}

int live_command_status(const struct live_command *run)
{
	if (!run->child)
		return 0;
	if (!run->ended)
		return run->interrupts >= 2 ? 128 + SIGINT : 0;
	return WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status);
}
