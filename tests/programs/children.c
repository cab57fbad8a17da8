/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracepoints in every kind of child: fork, vfork, exec, posix_spawn, system. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"
#include "modes.h"

extern char **environ;

static char *self; /* this program */

static int tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* What the others run: one event that says who. */
static int leaf(int argc, char **argv)
{
	BURIN_TRACE("child.leaf", "pid=%d n=%ld", (int)getpid(), mode_number(argc, argv, 1, 0));
	return 7;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static int fork_children(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 5);

	BURIN_TRACE("fork.parent", "pid=%d", (int)getpid());
	for (long n = 0; n < count; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			BURIN_TRACE("fork.child", "pid=%d parent=%d n=%ld", (int)getpid(), (int)getppid(), n);
			if (n == 0 && fork() == 0) {
				BURIN_TRACE("fork.grandchild", "pid=%d parent=%d", (int)getpid(),
					    (int)getppid());
				_exit(0);
			}
			if (n == 0)
				wait(NULL);
			_exit((int)n);
		}
		if (wait_for(pid) != (int)n)
			return 90;
		BURIN_TRACE("fork.parent", "pid=%d", (int)getpid());
	}
	return 0;
}

static volatile int stop;

static void *busy(void *data)
{
	(void)data;
	for (unsigned n = 0; !stop; n++)
		BURIN_TRACE("busy.event", "n=%u", n);
	return NULL;
}

/* fork while other threads are in the middle of records. */
static int fork_busy(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 100);
	pthread_t threads[2];

	for (int n = 0; n < 2; n++)
		pthread_create(&threads[n], NULL, busy, NULL);
	for (long n = 0; n < count; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			BURIN_TRACE("fork.busy", "pid=%d n=%ld", (int)getpid(), n);
			_exit(0);
		}
		if (wait_for(pid) != 0)
			return 90;
	}
	stop = 1;
	for (int n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
	return 0;
}

static int exec_self(int argc, char **argv)
{
	char mode[] = "leaf", number[] = "11", *command[] = { self, mode, number, NULL };

	(void)argc;
	(void)argv;
	BURIN_TRACE("exec.before", "pid=%d", (int)getpid());
	execv(self, command);
	return 91;
}

/* The child traces between vfork and exec, on its parent's memory. */
static int vfork_children(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 3);
	char mode[] = "leaf", *command[] = { self, mode, NULL };

	for (volatile long n = 0; n < count; n++) {
		pid_t pid;

		BURIN_TRACE("vfork.before", "tid=%d n=%ld", tid(), n);
		pid = vfork();
		if (pid == 0) {
			BURIN_TRACE("vfork.child", "tid=%d n=%ld", tid(), n);
			BURIN_TRACE("vfork.text", "s=%s", "in the child");
			execv(self, command);
			_exit(92);
		}
		BURIN_TRACE("vfork.after", "tid=%d child=%d", tid(), (int)pid);
		if (wait_for(pid) != 7)
			return 90;
	}
	return 0;
}

/* A vfork child that cannot exec, and ends; and a vfork that fails for want of nothing but luck is not made
 * here. */
static int vfork_exit(int argc, char **argv)
{
	pid_t pid = vfork();

	(void)argc;
	(void)argv;
	if (pid == 0) {
		BURIN_TRACE("vfork.child", "tid=%d n=%ld", tid(), 0L);
		execl("/nonexistent", "x", (char *)NULL);
		_exit(33);
	}
	if (wait_for(pid) != 33)
		return 90;
	BURIN_TRACE("vfork.after", "tid=%d child=%d", tid(), (int)pid);
	return 0;
}

static int spawn(int argc, char **argv)
{
	char mode[] = "leaf", number[] = "22", *command[] = { self, mode, number, NULL };
	pid_t pid;

	(void)argc;
	(void)argv;
	BURIN_TRACE("spawn.before", "pid=%d", (int)getpid());
	if (posix_spawn(&pid, self, NULL, NULL, command, environ) != 0)
		return 93;
	if (wait_for(pid) != 7)
		return 90;
	BURIN_TRACE("spawn.after", "child=%d", (int)pid);
	return 0;
}

static int by_system(int argc, char **argv)
{
	char line[4096];

	(void)argc;
	(void)argv;
	BURIN_TRACE("system.before", "pid=%d", (int)getpid());
	snprintf(line, sizeof(line), "'%s' leaf 33; '%s' leaf 34", self, self);
	if (system(line) != 7 << 8)
		return 94;
	BURIN_TRACE("system.after", "pid=%d", (int)getpid());
	return 0;
}

/* A grandchild that goes on when its parent, the command, has ended. Its pid is printed; it ends when asked
 * to. */
static int outlive(int argc, char **argv)
{
	const long milliseconds = mode_number(argc, argv, 1, 300);
	int begun[2];
	char got;
	pid_t pid;

	if (pipe(begun) != 0)
		return 90;
	BURIN_TRACE("outlive.parent", "pid=%d", (int)getpid());
	pid = fork();
	if (pid == 0) {
		close(0);
		close(1);
		close(2);
		for (long n = 0; n < milliseconds; n++) {
			BURIN_TRACE("outlive.child", "n=%ld", n);
			if (n == 0 && write(begun[1], "", 1) != 1)
				_exit(90);
			usleep(1000);
		}
		_exit(0);
	}
	printf("%d\n", (int)pid);
	return read(begun[0], &got, 1) == 1 ? 0 : 90;
}

/* What a server does: binds its port as root, goes on as nobody; then runs something. */
static int drop(int argc, char **argv)
{
	const uid_t nobody = 65534;
	pid_t pid;

	BURIN_TRACE("drop.before", "uid=%u", (unsigned)getuid());
	if (setgid(nobody) != 0 || setuid(nobody) != 0)
		return 95;
	BURIN_TRACE("drop.after", "uid=%u", (unsigned)getuid());
	pid = fork();
	if (pid == 0) {
		BURIN_TRACE("drop.child", "uid=%u", (unsigned)getuid());
		_exit(0);
	}
	if (wait_for(pid) != 0)
		return 90;
	return argc > 1 && strcmp(argv[1], "exec") == 0 ? execl(self, self, "leaf", "44", (char *)NULL) : 0;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "leaf", leaf },
		{ "fork", fork_children },
		{ "fork-busy", fork_busy },
		{ "exec", exec_self },
		{ "vfork", vfork_children },
		{ "vfork-exit", vfork_exit },
		{ "spawn", spawn },
		{ "system", by_system },
		{ "outlive", outlive },
		{ "drop", drop },
		{ 0 },
	};

	self = argv[0];
	return mode_run(modes, argc, argv);
}
