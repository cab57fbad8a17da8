/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tracepoints in all the places of one process: before and after main, signal handlers, threads, spans. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "burin/burin.h"
#include "modes.h"

/* ---- before and after main */

static __attribute__((constructor(102))) void earliest(void)
{
	BURIN_TRACE("life.earliest", "active=%d", burin_active());
}

static __attribute__((constructor)) void before_main(void)
{
	BURIN_TRACE("life.constructor", "n=%d", 1);
}

static __attribute__((destructor)) void after_main(void)
{
	BURIN_TRACE("life.destructor", "n=%d", 3);
}

static void at_exit(void)
{
	BURIN_TRACE("life.atexit", "n=%d", 2);
}

static int life(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	atexit(at_exit);
	BURIN_TRACE("life.main");
	return 0;
}

/* ---- signal handlers */

static volatile sig_atomic_t signals;

static void on_alarm(int number)
{
	int saved = errno;

	(void)number;
	errno = 4711;
	BURIN_TRACE("storm.handler", "n=%d text=%s", (int)signals, "from the handler");
	if (errno != 4711)
		_exit(98);
	errno = saved;
	signals = signals + 1;
}

/* Main and handler trace at once until so many signals have come; or a tenth, where they come late: records are for a test to
 * read. */
static int storm(int argc, char **argv)
{
	const long wanted = mode_number(argc, argv, 1, 1000);
	struct itimerval often = { { 0, 25 }, { 0, 25 } }, never = { 0 };
	long loops = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; signals < wanted / 10 || (signals < wanted && loops < 100 * wanted); loops++) {
		BURIN_TRACE("storm.loop", "n=%u", (unsigned)loops);
		for (volatile int n = 0; n < 300; n++)
			;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%ld %d\n", loops, (int)signals);
	return 0;
}

/* ---- threads */

enum {
	THREADS_AT_ONCE = 8
};

static void *thread_main(void *data)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %ld", (long)data);
	prctl(PR_SET_NAME, name);
	BURIN_TRACE("thread.first", "n=%ld tid=%d", (long)data, (int)syscall(SYS_gettid));
	BURIN_TRACE("thread.second", "n=%ld", (long)data);
	return NULL;
}

static int threads(int argc, char **argv)
{
	const long count = mode_number(argc, argv, 1, 100);
	pthread_t running[THREADS_AT_ONCE];

	for (long begun = 0; begun < count; begun += THREADS_AT_ONCE) {
		for (long n = 0; n < THREADS_AT_ONCE; n++)
			if (pthread_create(&running[n], NULL, thread_main, (void *)(begun + n)) != 0)
				return 97;
		for (int n = 0; n < THREADS_AT_ONCE; n++)
			pthread_join(running[n], NULL);
	}
	printf("%d\n", (int)getpid());
	return 0;
}

/* ---- spans and counters */

static int leave_by_return(int how)
{
	BURIN_SCOPE("span.return", "how=%d", how);
	if (how)
		return how;
	BURIN_TRACE("span.notreached");
	return 0;
}

static void leave_by_goto(void)
{
	{
		BURIN_SCOPE("span.goto");
		BURIN_TRACE("span.within");
		goto out;
	}
out:
	BURIN_TRACE("span.after");
}

static void leave_by_break(void)
{
	for (int n = 0; n < 3; n++) {
		BURIN_SCOPE("span.loop", "n=%d", n);
		if (n == 0)
			continue;
		if (n == 1)
			break;
	}
}

static int spans(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	BURIN_BEGIN("outer", "depth=%d", 0);
	BURIN_BEGIN("inner", "depth=%d", 1);
	BURIN_END("inner", "result=%s", "fine");
	BURIN_END("outer");
	{
		BURIN_SCOPE("two");
		BURIN_SCOPE("one");
	}
	leave_by_return(5);
	leave_by_goto();
	leave_by_break();
	return 0;
}

static int counters(int argc, char **argv)
{
	unsigned char small = 250;
	float f = 1.25f;

	(void)argc;
	(void)argv;
	for (int n = -1; n <= 1; n++)
		BURIN_COUNTER("count.int", n);
	BURIN_COUNTER("count.small", small);
	BURIN_COUNTER("count.big", 0xffffffffffffffffull);
	BURIN_COUNTER("count.float", f);
	return 0;
}

/* ---- a tracepoint that is off */

static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

/* Prints how often an argument was evaluated. */
static int lazy(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int n = 0; n < 10; n++)
		BURIN_TRACE("lazy.event", "value=%d", evaluate());
	printf("%d\n", evaluated);
	return 0;
}

/* ---- what a tracepoint leaves alone */

static int errno_kept(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (int n = 1; n < 200; n++) {
		errno = n;
		BURIN_TRACE("errno.event", "n=%d text=%s", n, "x");
		if (errno != n)
			return 96;
	}
	return 0;
}

/* What is visible of us from outside the process. */
static int inside(int argc, char **argv)
{
	char line[256];
	FILE *status;

	(void)argc;
	(void)argv;
	for (int n = 0; n < 1000; n++)
		BURIN_TRACE("inside.event", "n=%d", n);
	status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "Threads:", 8) == 0 || strncmp(line, "Sig", 3) == 0)
			fputs(line, stdout);
	if (status)
		fclose(status);
	for (int n = 0; n < 1024; n++)
		if (fcntl(n, F_GETFD) >= 0)
			printf("fd %d\n", n);
	BURIN_TRACE("inside.event", "n=%d", 1000);
	return 0;
}

/* Nothing but to wait: for input, or for a signal. */
static int wait_input(int argc, char **argv)
{
	char c;

	BURIN_TRACE("wait.start", "n=%ld", mode_number(argc, argv, 1, 0));
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		BURIN_TRACE("wait.byte", "c=%c", c);
	BURIN_TRACE("wait.stop");
	return 0;
}

static volatile sig_atomic_t told;

static void on_told(int number)
{
	told = number;
}

/* Traces until a signal comes, then ends in order. With an argument: ignores that many. */
static int until_signal(int argc, char **argv)
{
	long ignore = mode_number(argc, argv, 1, 0);
	struct timespec pause = { 0, 1000000 };

	signal(SIGINT, on_told);
	signal(SIGTERM, on_told);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (unsigned n = 0; n < 60000; n++) {
		BURIN_TRACE("until.event", "n=%u", n);
		nanosleep(&pause, NULL);
		if (told && ignore-- <= 0) {
			BURIN_TRACE("until.told", "signal=%d count=%u", (int)told, n + 1);
			return 40;
		}
		told = 0;
	}
	return 0;
}

static int killed(int argc, char **argv)
{
	BURIN_TRACE("killed.event");
	raise((int)mode_number(argc, argv, 1, SIGKILL));
	return 0;
}

static int status(int argc, char **argv)
{
	BURIN_TRACE("status.event");
	return (int)mode_number(argc, argv, 1, 0);
}

/* Copies standard input to standard output. */
static int copy(int argc, char **argv)
{
	char buffer[4096];
	ssize_t got;

	(void)argc;
	(void)argv;
	while ((got = read(0, buffer, sizeof(buffer))) > 0) {
		BURIN_TRACE("copy.bytes", "count=%zd", got);
		if (write(1, buffer, (size_t)got) != got)
			return 95;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{ "life", life },	  { "storm", storm },
		{ "threads", threads },	  { "spans", spans },
		{ "counters", counters }, { "lazy", lazy },
		{ "errno", errno_kept },  { "inside", inside },
		{ "wait", wait_input },	  { "until-signal", until_signal },
		{ "killed", killed },	  { "status", status },
		{ "copy", copy },	  { 0 },
	};

	return mode_run(modes, argc, argv);
}
