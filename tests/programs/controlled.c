/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program that does what the lines of its standard input say, and answers each with one line when it is done. */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"
#include "modes.h"

/* No buffer: what has not been read is for the program that is executed next. */
static char *read_line(char *line, size_t bytes)
{
	size_t used = 0;

	while (used < bytes - 1) {
		ssize_t got = read(STDIN_FILENO, line + used, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return NULL;
		if (line[used] == '\n')
			break;
		used++;
	}
	line[used] = 0;
	return line;
}

static void answer(long number)
{
	printf("%ld\n", number);
	fflush(stdout);
}

static int pass(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 1);

	for (long n = 0; n < count; n++) {
		BURIN_TRACE("ctl.tick", "n=%ld", n);
		BURIN_TRACE("ctl.tock", "n=%ld", n);
		BURIN_TRACE("net.rx", "len=%u proto=%s", (unsigned)n, n % 2 ? "tcp" : "udp");
		BURIN_TRACE_LEVEL(3, "net.detail", "n=%ld", n);
		BURIN_TRACE_LEVEL(9, "net.finest", "n=%ld", n);
	}
	return 0;
}

#define FIVE(name)                     \
	do {                           \
		BURIN_TRACE(name "0"); \
		BURIN_TRACE(name "1"); \
		BURIN_TRACE(name "2"); \
		BURIN_TRACE(name "3"); \
		BURIN_TRACE(name "4"); \
	} while (0)

static int many(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	FIVE("many.0");
	FIVE("many.1");
	FIVE("many.2");
	FIVE("many.3");
	FIVE("many.4");
	FIVE("many.5");
	FIVE("many.6");
	FIVE("many.7");
	FIVE("many.8");
	FIVE("many.9");
	return 0;
}

/* Every type, for n = -N .. N. */
static int typed(int argc, char **argv)
{
	static const char *const words[] = { "GET /", "GET /index", "PUT /", "", "a*b", "\xc3\xa4h" };
	const long most = mode_number(argc, argv, 1, 300);

	for (long n = -most; n <= most; n++) {
		BURIN_TRACE("typed.ints",
			    "n=%ld i8=%hhd u8=%hhu i16=%hd u16=%hu i32=%d u32=%u i64=%ld u64=%lu", n,
			    (signed char)n, (unsigned char)n, (short)(n * 109), (unsigned short)(n * 109),
			    (int)(n * 7158278), (unsigned)(n * 7158278), n * 30744573456182586l,
			    (unsigned long)(n * 30744573456182586l));
		BURIN_TRACE("typed.rest", "n=%ld f=%f d=%g b=%d c=%c s=%s p=%p", n, (float)n / 4,
			    (double)n / 10, n > 0, (char)('a' + (n + most) % 26),
			    n % 7 ? words[(n + most) % 6] : NULL, n % 5 ? (void *)&words[0] : NULL);
	}
	return 0;
}

static int children(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 100);
	int failed = 0, status;

	for (long n = 0; n < count; n++) {
		pid_t child = fork();

		if (child == 0) {
			BURIN_TRACE("storm.child", "n=%ld", n);
			_exit(0);
		}
		failed += child < 0;
	}
	while (wait(&status) > 0)
		failed += status != 0;
	return failed;
}

/* From now on no fork succeeds; tries so many. Return: how many failed. */
static int childless(int argc, char **argv)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(program) / sizeof(*program), program };
	int failed = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return -1;
	for (long n = mode_number(argc, argv, 1, 100); n > 0; n--)
		failed += fork() < 0;
	return failed;
}

/* Return: the pid of a child that waits to be killed, and does not outlive its parent. */
static int child(int argc, char **argv)
{
	const pid_t parent = getpid();
	pid_t pid = fork();

	(void)argc;
	(void)argv;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			raise(SIGKILL);
		BURIN_TRACE("ctl.child");
		for (;;)
			pause();
	}
	return pid;
}

static int reap(int argc, char **argv)
{
	const pid_t pid = (pid_t)mode_number(argc, argv, 1, -1);
	int status;

	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid ? 0 : -1;
}

static int child_exits(int argc, char **argv)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0 && mode_number(argc, argv, 1, 0))
		exit(0);
	if (pid == 0)
		_exit(0);
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* The child goes on to read; the parent leaves. daemonise 1: by daemon(3) */
static int daemonise(int argc, char **argv)
{
	if (mode_number(argc, argv, 1, 0))
		return daemon(1, 1) == 0 ? getpid() : -1;
	if (fork() != 0)
		exit(0);
	setsid();
	return getpid();
}

static void *serve(void *data)
{
	BURIN_TRACE("server.request", "n=%ld", (long)(intptr_t)data);
	return NULL;
}

static int threads(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 1000);
	pthread_t thread[20];

	for (long n = 0; n < count; n += 20) {
		for (long m = 0; m < 20; m++)
			pthread_create(&thread[m], NULL, serve, (void *)(intptr_t)(n + m));
		for (long m = 0; m < 20; m++)
			pthread_join(thread[m], NULL);
	}
	return 0;
}

static void *object;

static int load(int argc, char **argv)
{
	void (*function)(int);

	object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	function = object ? (void (*)(int))dlsym(object, "object_c") : NULL;
	if (function)
		function((int)mode_number(argc, argv, 2, 7));
	return function ? 0 : -1;
}

/* Floating point as an unusual program has it: overflows are signals, and everything is rounded up. */
static int strict(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return feenableexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) < 0 || fesetround(FE_UPWARD);
}

/* Return: 0: it still has it. */
static int still_strict(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return fegetexcept() != (FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) || fegetround() != FE_UPWARD ||
	       fetestexcept(FE_ALL_EXCEPT) != 0;
}

static int unload(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return dlclose(object);
}

static int execute(int argc, char **argv)
{
	(void)argc;
	execv(argv[1], argv + 1);
	return -1;
}

static int drop(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534);
}

static int leave(int argc, char **argv)
{
	exit((int)mode_number(argc, argv, 1, 0));
}

static int leave_at_once(int argc, char **argv)
{
	_exit((int)mode_number(argc, argv, 1, 0));
}

static int quick(int argc, char **argv)
{
	quick_exit((int)mode_number(argc, argv, 1, 0));
}

static int active(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return burin_active();
}

int main(void)
{
	static const struct mode modes[] = {
		{ "pass", pass },
		{ "many", many },
		{ "typed", typed },
		{ "children", children },
		{ "childless", childless },
		{ "child", child },
		{ "reap", reap },
		{ "child-exits", child_exits },
		{ "daemonise", daemonise },
		{ "threads", threads },
		{ "load", load },
		{ "unload", unload },
		{ "strict", strict },
		{ "still-strict", still_strict },
		{ "exec", execute },
		{ "drop", drop },
		{ "exit", leave },
		{ "_exit", leave_at_once },
		{ "quick", quick },
		{ "active", active },
		{ 0 },
	};
	char line[4096], *argv[16];

	while (read_line(line, sizeof(line)) && strcmp(line, "return") != 0) {
		int argc = 1;
		char *rest, *word = strtok_r(line, " ", &rest);

		for (argv[0] = NULL; word && argc < 15; word = strtok_r(NULL, " ", &rest))
			argv[argc++] = word;
		argv[argc] = NULL;
		answer(mode_run(modes, argc, argv));
	}
	return 0;
}
