/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks of running programs: some of Debian's, stopped now and then, and one of ours at each instruction. The stacks
 * and times are compared with libdwfl's.
 *
 *	programs-test [BUILD [long]]
 *	programs-test --measure BYTES COMMAND...	figures of one; BYTES of stack, up to 65536
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cases.h"
#include "foreign.h"
#include "process.h"

enum {
	FRAMES_MAX = 1024,
	COPY = 16 << 10,
	COPY_MAX = 64 << 10,
	STACKS = 200,
	REPEATS = 100, /* of a stack, to measure */
};

struct found {
	unsigned stacks, complete, same, as_far, frames;
	unsigned cuts[WIRE_TRUNCATIONS];
	double ours_ns, foreign_ns, cold_ns;
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* One stack of a stopped thread. */
struct stack {
	struct user_regs_struct user;
	struct unwind_registers registers;
	unsigned char bytes[COPY_MAX];
	size_t count;
	uint64_t chain[127];
	unsigned chain_count;
};

static int take_stack(const struct process *process, pid_t thread, size_t max, struct stack *stack)
{
	if (ptrace(PTRACE_GETREGS, thread, NULL, &stack->user))
		return -errno;
	process_registers(&stack->user, &stack->registers);
	stack->count = process_stack(process, stack->user.rsp, stack->bytes, max);
	stack->chain_count = process_chain(thread, &stack->user, stack->chain, 127);
	return 0;
}

static unsigned unwind(struct process *process, const struct stack *stack, uint64_t *locations,
		       enum wire_truncation *truncation)
{
	const struct unwind_sample sample = { .registers = &stack->registers,
					      .stack = stack->bytes,
					      .stack_bytes = stack->count,
					      .chain = stack->chain,
					      .chain_count = stack->chain_count };

	return unwind_frames(&sample, process_lookup, process, locations, FRAMES_MAX, truncation);
}

/* Unwinds with both, once to compare, and often to measure. */
static void compare(struct process *process, struct foreign *foreign, const struct stack *stack,
		    unsigned repeats, struct found *found)
{
	uint64_t ours[FRAMES_MAX], theirs[FRAMES_MAX];
	enum wire_truncation truncation;
	double begin = now_ns();
	const unsigned count = unwind(process, stack, ours, &truncation);
	unsigned other;

	found->cold_ns += now_ns() - begin;
	other = foreign_frames(foreign, &stack->user, stack->bytes, stack->count, theirs, FRAMES_MAX);
	found->stacks++;
	found->frames += count;
	found->complete += truncation == WIRE_TRUNCATION_NONE;
	found->cuts[truncation]++;
	found->as_far += other >= count;
	found->same += count >= other && !memcmp(ours, theirs, other * sizeof(*ours));
	if (!repeats)
		return;
	begin = now_ns();
	for (unsigned n = 0; n < repeats; n++)
		unwind(process, stack, ours, &truncation);
	found->ours_ns += (now_ns() - begin) / repeats;
	begin = now_ns();
	for (unsigned n = 0; n < repeats; n++)
		foreign_frames(foreign, &stack->user, stack->bytes, stack->count, theirs, FRAMES_MAX);
	found->foreign_ns += (now_ns() - begin) / repeats;
}

static pid_t start(char *const *command)
{
	const pid_t pid = fork();

	if (pid == 0) {
		const int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(command[0], command);
		_exit(127);
	}
	return pid;
}

static int stopped(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		return 0;
	return waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
}

/* Until a program has had 100 ms of processor time: then it has loaded its libraries, however busy the CPUs are. */
static void let_start(pid_t pid)
{
	unsigned long long ran_ns = 0;
	char path[48];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	for (unsigned n = 0; n < 6000 && ran_ns < 100000000; n++) {
		usleep(10000);
		file = fopen(path, "re");
		assert_non_null(file);
		if (fscanf(file, "%llu", &ran_ns) != 1)
			ran_ns = 0;
		fclose(file);
	}
}

/* Stops a program about every millisecond. Its mappings may still change, so they are read again a few times. */
static void sample_program(char *const *command, size_t copy, unsigned repeats, struct found *found)
{
	static struct stack stack;
	struct process process = { .count = 0 };
	struct foreign *foreign = NULL;
	const pid_t pid = start(command);

	assert_true(pid > 0);
	let_start(pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		fail_msg("%s: %s", command[0], strerror(errno));
	for (unsigned n = 0; n < STACKS && stopped(pid); n++) {
		if (n % 50 == 0) {
			if (foreign)
				foreign_close(foreign);
			process_close(&process);
			assert_int_equal(process_open(&process, pid), 0);
			foreign = foreign_open(pid);
			assert_non_null(foreign);
		}
		assert_int_equal(take_stack(&process, pid, copy, &stack), 0);
		compare(&process, foreign, &stack, repeats, found);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
		usleep(1000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	process_close(&process);
	if (foreign)
		foreign_close(foreign);
}

static void show(const char *name, const struct found *found)
{
	printf("# %s: %u stacks, %.1f frames each; complete %.1f %%; truncation: depth %u, stack %u, tables "
	       "%u, "
	       "memory %u, image %u;"
	       " libdwfl: the same frames %.1f %%, as far %.1f %%\n",
	       name, found->stacks, (double)found->frames / found->stacks,
	       100.0 * found->complete / found->stacks, found->cuts[WIRE_TRUNCATION_DEPTH],
	       found->cuts[WIRE_TRUNCATION_STACK], found->cuts[WIRE_TRUNCATION_TABLES],
	       found->cuts[WIRE_TRUNCATION_MEMORY], found->cuts[WIRE_TRUNCATION_IMAGE],
	       100.0 * found->same / found->stacks, 100.0 * found->as_far / found->stacks);
	if (found->ours_ns > 0)
		printf("# %s: %.0f ns a stack (%.1f a frame), first time %.0f; libdwfl %.0f: %.1f times\n",
		       name, found->ours_ns / found->stacks, found->ours_ns / found->frames,
		       found->cold_ns / found->stacks, found->foreign_ns / found->stacks,
		       found->foreign_ns / found->ours_ns);
}

static void check_program(const char *name, char *const *command)
{
	struct found found = { .stacks = 0 };

	sample_program(command, COPY, 1, &found);
	show(name, &found);
	assert_int_equal(found.stacks, STACKS);
	assert_true(found.complete * 100 >= found.stacks * 95);
	assert_true(found.same * 100 >= found.stacks * 99);
}

static void python(void **state)
{
	static const char program[] =
		"import re, json\n"
		"while True:\n"
		"    json.loads(json.dumps([re.sub('a+', 'b', 'caaat') for n in range(50)]))\n"
		"    sorted(range(1000), key=lambda n: -n)\n";
	char *const command[] = { (char *)"/usr/bin/python3", (char *)"-c", (char *)program, NULL };

	(void)state;
	if (access(command[0], X_OK))
		skip();
	check_program("python3", command);
}

/* Many functions, each of which takes the compiler some time. */
static void write_source(const char *path)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	for (unsigned n = 0; n < 20000; n++)
		fprintf(file,
			"int f%u(int a, int *b) { int s = %u; for (int n = 0; n < a; n++) { s += b[n] * a; "
			"if (s > %u) s /= n + 1;"
			" } switch (s) { case 1: return s; case 9: return a; } return s; }\n",
			n, n, n * 3);
	fclose(file);
}

static void compiler(void **state)
{
	char path[] = "/tmp/burin-unwind-XXXXXX", cc1[512];
	FILE *pipe;
	int file = mkstemp(path);
	char *const command[] = { cc1,		(char *)"-quiet",    (char *)"-O2",
				  (char *)"-o", (char *)"/dev/null", path,
				  NULL };

	(void)state;
	assert_true(file >= 0);
	close(file);
	pipe = popen("gcc -print-prog-name=cc1", "re");
	if (!pipe || !fgets(cc1, sizeof(cc1), pipe) || cc1[0] != '/') {
		unlink(path);
		skip();
	}
	pclose(pipe);
	cc1[strcspn(cc1, "\n")] = '\0';
	write_source(path);
	check_program("cc1", command);
	unlink(path);
}

static void shell(void **state)
{
	char *const command[] = {
		(char *)"/bin/sh", (char *)"-c",
		(char *)"n=0; while :; do n=$((n + 1)); case $n in *99) echo $n | cat;; esac; done", NULL
	};

	(void)state;
	check_program("sh", command);
}

static void text(void **state)
{
	char *const command[] = { (char *)"/usr/bin/perl", (char *)"-e",
				  (char *)"while (1) { my %h; $h{$_ % 97} .= $_ for 1..5000; join ',', sort "
					  "{ $h{$a} cmp $h{$b} } keys %h; }",
				  NULL };

	(void)state;
	if (access(command[0], X_OK))
		skip();
	check_program("perl", command);
}

/* ---- one of ours, at each instruction ---- */

static void *volatile stepped_return; /* the return address of stepped(), once it is in the middle */

static int compare_ints(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

/*
 * The first calls of functions in other objects, which the linker's stubs and the loader's assembler lead to.
 */
static __attribute__((noipa)) void stepped(void)
{
	int numbers[] = { 3, 1, 2 };
	struct timespec now;

	stepped_return = __builtin_return_address(0);
	qsort(numbers, 3, sizeof(int), compare_ints);
	clock_gettime(CLOCK_MONOTONIC, &now);
	numbers[0] += (int)labs(strtol("123", NULL, 10)) + (int)getppid();
	stepped_return = NULL;
}

static uint64_t peek(pid_t pid, void *volatile *where)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, where, NULL);
}

static int step(pid_t pid)
{
	int status;

	return ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status);
}

static pid_t start_stepped(void)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		case_plain(stepped);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return pid;
}

/* Whether the caller of stepped() is in the stack. */
static int has_caller(struct process *process, const struct stack *stack, uint64_t caller)
{
	uint64_t locations[FRAMES_MAX];
	enum wire_truncation truncation;
	const unsigned count = unwind(process, stack, locations, &truncation);

	for (unsigned n = 0; n < count; n++) {
		if (locations[n] == caller - 1)
			return 1;
	}
	return 0;
}

static void each_instruction(void **state)
{
	static struct stack stack;
	struct found found = { .stacks = 0 };
	struct process process;
	struct foreign *foreign;
	unsigned with_caller = 0, vdso = 0;
	uint64_t caller = 0, was = 0;
	const pid_t pid = start_stepped();

	(void)state;
	assert_int_equal(process_open(&process, pid), 0);
	foreign = foreign_open(pid);
	assert_non_null(foreign);
	while (step(pid) && found.stacks < 100000) {
		const struct process_mapping *mapping;

		caller = peek(pid, &stepped_return);
		if (was && !caller)
			break;
		was = caller;
		if (!caller)
			continue;
		assert_int_equal(take_stack(&process, pid, COPY, &stack), 0);
		compare(&process, foreign, &stack, 0, &found);
		with_caller += (unsigned)has_caller(&process, &stack, caller);
		mapping = process_mapping(&process, stack.user.rip);
		vdso += mapping && !strcmp(mapping->path, "[vdso]");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	foreign_close(foreign);
	process_close(&process);
	show("each instruction", &found);
	printf("# of them %u in the vdso\n", vdso);
	assert_true(found.stacks > 500);
	assert_true(vdso > 0 || !getauxval(AT_SYSINFO_EHDR));
	assert_int_equal(found.complete, found.stacks);
	assert_int_equal(with_caller, found.stacks);
}

static int measure(size_t copy, char *const *command)
{
	struct found found = { .stacks = 0 };

	sample_program(command, copy < COPY_MAX ? copy : COPY_MAX, REPEATS, &found);
	show(command[0], &found);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instruction),
		cmocka_unit_test(python),
		cmocka_unit_test(compiler),
		cmocka_unit_test(shell),
		cmocka_unit_test(text),
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 3 && !strcmp(argv[1], "--measure"))
		return measure(strtoul(argv[2], NULL, 10), argv + 3);
	return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
