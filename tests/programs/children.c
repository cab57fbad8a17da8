/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracepoints in every kind of child: fork, _Fork, clone, vfork, exec, posix_spawn, system. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
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

static void record_child(int how)
{
	BURIN_TRACE("bare.child", "pid=%d how=%d", (int)getpid(), how);
	BURIN_TRACE("bare.text", "pid=%d s=%s", (int)getpid(), "a text");
	BURIN_TRACE("bare.filtered", "own=%d how=%d", (int)getpid(), how);
}

/* Of clone(2) without CLONE_VM: it has a copy of its parent's memory. */
static int cloned(void *how)
{
	record_child(*(int *)how);
	_exit(0);
}

/* Of clone(2) with its parent's memory. Its records are not asked for: it has its parent's thread-local memory. */
static int sharing(void *how)
{
	(void)how;
	return 0;
}

static pid_t bare_child(int how)
{
	static _Alignas(16) char stack[1 << 16];

	switch (how) {
	case 0:
		return _Fork();
	case 1:
		return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	case 2:
		return clone(cloned, stack + sizeof(stack), SIGCHLD, &how);
	default:
		return clone(sharing, stack + sizeof(stack), SIGCHLD | CLONE_VM | CLONE_VFORK, &how);
	}
}

/*
 * Children for which no handler of pthread_atfork() runs; each records as its parent's copy, and has a child of its own. "waits": for a byte
 * before, and for another one after a line of output.
 */
static int bare_children(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 3);
	const int waits = argc > 2 && strcmp(argv[2], "waits") == 0;
	char byte;

	if (waits && read(0, &byte, 1) != 1)
		return 90;
	for (long n = 0; n < 4 * count; n++) {
		const int how = (int)(n % 4);
		pid_t pid;

		BURIN_TRACE("bare.parent", "pid=%d", (int)getpid());
		BURIN_TRACE("bare.filtered", "own=%d how=%d", (int)getpid(), -1);
		pid = bare_child(how);
		if (pid == 0) {
			record_child(how);
			pid = _Fork();
			if (pid == 0) {
				record_child(10 + how);
				_exit(0);
			}
			_exit(wait_for(pid));
		}
		if (wait_for(pid) != 0)
			return 90;
	}
	return waits && (write(1, "\n", 1) != 1 || read(0, &byte, 1) != 1) ? 90 : 0;
}

/* Of a signal handler, which interrupts records of its parent at any instruction. */
static void fork_in_handler(int signal)
{
	const int saved = errno;
	pid_t pid = _Fork();

	(void)signal;
	if (pid == 0) {
		stop = 2;
		record_child(0);
	} else {
		wait_for(pid);
	}
	errno = saved;
}

static int bare_in_handler(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 20);
	pid_t child;

	signal(SIGUSR1, fork_in_handler);
	child = fork();
	if (child == 0) {
		for (long n = 0; n < count; n++) {
			usleep(1000);
			kill(getppid(), SIGUSR1);
		}
		_exit(0);
	}
	while (stop != 2 && waitpid(child, NULL, WNOHANG) != child)
		BURIN_TRACE("bare.interrupted", "pid=%d", (int)getpid());
	if (stop != 2)
		return 0;
	BURIN_TRACE("bare.went-on", "pid=%d", (int)getpid());
	_exit(0);
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

static void sleep_shortly(void)
{
	usleep(200000);
}

/* Before libraries are initialized: the handler runs before that of libburin, so a child is forked, but has not joined yet. */
static void make_children_slow(int argc, char **argv, char **environment)
{
	(void)environment;
	if (argc > 1 && strcmp(argv[1], "slow-child") == 0)
		pthread_atfork(NULL, NULL, sleep_shortly);
}
static __attribute__((section(".preinit_array"), used)) void (*preinit)(int, char **,
									char **) = make_children_slow;

/* Ends at once; the child goes on. */
static int slow_child(int argc, char **argv)
{
	(void)argc, (void)argv;
	if (fork() == 0)
		BURIN_TRACE("slow.child", "pid=%d", (int)getpid());
	return 0;
}

/* Ends at once; its child becomes a program that is not traced, then one that is. */
static int slow_exec(int argc, char **argv)
{
	(void)argc, (void)argv;
	if (fork() != 0)
		return 0;
	return execl("/bin/sh", "sh", "-c", "sleep 0.2; exec \"$0\" leaf 7", self, (char *)NULL);
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
		{ "bare", bare_children },
		{ "bare-handler", bare_in_handler },
		{ "exec", exec_self },
		{ "vfork", vfork_children },
		{ "vfork-exit", vfork_exit },
		{ "spawn", spawn },
		{ "system", by_system },
		{ "outlive", outlive },
		{ "slow-child", slow_child },
		{ "slow-exec", slow_exec },
		{ "drop", drop },
		{ 0 },
	};

	self = argv[0];
	return mode_run(modes, argc, argv);
}
