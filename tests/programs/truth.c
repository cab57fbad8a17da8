/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Programs whose stacks are known beforehand, compiled by attribution.test in many ways. All the work is done in busy(),
 * which is inlined into step(), at the lines that are marked.
 *
 *	truth work MS			main, work, step
 *	truth deep N MS			deep() N times, then work
 *	truth wide N MS			wide() N times, each with a kilobyte on the stack, then work
 *	truth signal MS			interrupted(), in which a signal comes, whose handler() works
 *	truth altstack MS		the same on another stack
 *	truth assembly MS		through by_hand(), which keeps a frame pointer, and by_hand_too(), which does not
 *	truth coroutine MS		in a context of its own
 *	truth thread MS			in a thread
 *	truth beginnings N		N threads, one after the other, that do nothing
 *	truth rename MS			named_first() works as `first`, then named_second() as `second`
 *	truth libraries MS FILE...	enter() of each library, which is closed then; says where it lay
 *	truth clock MS			asks for the time, over and over
 *	truth plt MS			calls ffs(), over and over, which is elsewhere
 *	truth write N			writes N times
 *	truth switch N			sleeps N times; says how often it lost the processor meanwhile
 *	truth touch N			touches N pages
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define STAY  __asm__ volatile("") /* what was called comes back here: no call becomes a jump */

static volatile unsigned long turns;
static volatile long end_ms;

/* CPU time of the calling thread. */
static long spent_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static inline __attribute__((always_inline)) void busy(void)
{
	for (unsigned n = 0; n < 200000; n++)
		turns += n; /* here: busy */
}

APART void step(void)
{
	busy(); /* here: step */
	turns++;
}

APART long work(long ms)
{
	const long end = spent_ms() + ms;

	while (spent_ms() < end)
		step(); /* here: work */
	return turns & 1;
}

APART long deep(long n, long ms)
{
	const long sum = n > 1 ? deep(n - 1, ms) : work(ms);

	STAY;
	return sum + n;
}

APART long wide(long n, long ms)
{
	volatile char room[1024];

	room[0] = (char)n;
	return (n > 1 ? wide(n - 1, ms) : work(ms)) + room[0];
}

APART void handler(int number)
{
	work(end_ms);
	turns += (unsigned long)number;
}

APART int interrupted(void)
{
	return raise(SIGUSR1) + (int)(turns & 1);
}

static int in_handler(long ms, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	stack_t stack = { .ss_size = 256 << 10, .ss_sp = malloc(256 << 10) };

	end_ms = ms;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	return interrupted() + 1;
}

#ifdef __x86_64__
long by_hand(long ms, long (*call)(long));
long by_hand_too(long ms, long (*call)(long));
__asm__(".text\n"
	".globl by_hand\n.type by_hand,@function\n"
	"by_hand: push %rbp\n mov %rsp,%rbp\n call *%rsi\n pop %rbp\n ret\n"
	".size by_hand,.-by_hand\n"
	".globl by_hand_too\n.type by_hand_too,@function\n"
	"by_hand_too: push %rbx\n mov $0x123,%ebx\n sub $64,%rsp\n call *%rsi\n add $64,%rsp\n pop %rbx\n "
	"ret\n"
	".size by_hand_too,.-by_hand_too\n");

APART long kept(long ms)
{
	return work(ms) + 1;
}

static int assembly(long ms)
{
	return (int)(by_hand(ms, kept) + by_hand_too(ms, kept));
}
#else
static int assembly(long ms)
{
	return (int)work(ms);
}
#endif

static ucontext_t back, context;

APART void coroutine(void)
{
	work(end_ms);
	turns++;
}

static int in_coroutine(long ms)
{
	end_ms = ms;
	getcontext(&context);
	context.uc_stack.ss_size = 256 << 10;
	context.uc_stack.ss_sp = malloc(256 << 10);
	context.uc_link = &back;
	makecontext(&context, coroutine, 0);
	return swapcontext(&back, &context);
}

APART void *thread(void *data)
{
	work(*(long *)data);
	return NULL;
}

static int in_thread(long ms)
{
	pthread_t id;

	return pthread_create(&id, NULL, thread, &ms) || pthread_join(id, NULL);
}

static void *nothing(void *data)
{
	return data;
}

APART int beginnings(long count)
{
	for (long n = 0; n < count; n++) {
		pthread_t id;

		if (pthread_create(&id, NULL, nothing, NULL) || pthread_join(id, NULL))
			return 1;
	}
	return 0;
}

APART void named_first(long ms)
{
	work(ms);
	STAY;
}

APART void named_second(long ms)
{
	work(ms);
	STAY;
}

APART int renamed(long ms)
{
	prctl(PR_SET_NAME, "first");
	named_first(ms);
	prctl(PR_SET_NAME, "second");
	named_second(ms);
	STAY;
	return 0;
}

APART int libraries(long ms, char **paths)
{
	for (; *paths; paths++) {
		void *library = dlopen(*paths, RTLD_NOW);
		void (*enter)(long ms, long (*call)(long));

		if (!library)
			return 1;
		*(void **)&enter = dlsym(library, "enter");
		printf("%p\n", *(void **)&enter);
		enter(ms, work);
		dlclose(library);
	}
	return 0;
}

APART int ask_clock(long ms)
{
	const long end = spent_ms() + ms;
	struct timespec now;

	while (spent_ms() < end)
		for (unsigned n = 0; n < 100000; n++)
			clock_gettime(CLOCK_MONOTONIC, &now);
	return 0;
}

APART int call_others(long ms)
{
	const long end = spent_ms() + ms;

	while (spent_ms() < end)
		for (unsigned n = 0; n < 1000000; n++)
			turns += (unsigned long)ffs((int)n);
	return 0;
}

static int write_often(long count)
{
	for (long n = 0; n < count; n++)
		if (write(STDERR_FILENO, "", 0) != 0)
			return 1;
	return 0;
}

/* Of the calling process. A sleep that is over before it has begun is none. */
static long switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

APART int sleep_often(long count)
{
	const struct timespec little = { 0, 100000 };
	const long before = switches();

	for (long n = 0; n < count; n++)
		nanosleep(&little, NULL);
	printf("%ld\n", switches() - before);
	return 0;
}

APART int touch(long count)
{
	char *memory =
		mmap(NULL, (size_t)count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, (size_t)count * 4096, MADV_NOHUGEPAGE);
	for (long n = 0; n < count; n++)
		((volatile char *)memory)[n * 4096] = 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const long number = argc > 2 ? atol(argv[2]) : 0, ms = argc > 3 ? atol(argv[3]) : 0;

	if (strcmp(what, "work") == 0) {
		work(number); /* here: main */
		STAY;
		return 0;
	}
	if (strcmp(what, "deep") == 0)
		return (int)(deep(number, ms) & 0);
	if (strcmp(what, "wide") == 0)
		return (int)(wide(number, ms) & 0);
	if (strcmp(what, "signal") == 0)
		return in_handler(number, 0) & 0;
	if (strcmp(what, "altstack") == 0)
		return in_handler(number, SA_ONSTACK) & 0;
	if (strcmp(what, "assembly") == 0)
		return assembly(number) & 0;
	if (strcmp(what, "coroutine") == 0)
		return in_coroutine(number);
	if (strcmp(what, "thread") == 0)
		return in_thread(number);
	if (strcmp(what, "beginnings") == 0)
		return beginnings(number);
	if (strcmp(what, "rename") == 0)
		return renamed(number);
	if (strcmp(what, "libraries") == 0 && argc > 3)
		return libraries(number, argv + 3);
	if (strcmp(what, "clock") == 0)
		return ask_clock(number);
	if (strcmp(what, "plt") == 0)
		return call_others(number);
	if (strcmp(what, "write") == 0)
		return write_often(number);
	if (strcmp(what, "switch") == 0)
		return sleep_often(number);
	if (strcmp(what, "touch") == 0)
		return touch(number);
	return 2;
}
