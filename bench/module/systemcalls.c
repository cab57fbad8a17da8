/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * systemcalls: how many ticks of the TSC a getppid() takes, median over blocks.
 * systemcalls COMMAND...: how many ticks a command takes.
 *
 * In a machine that counts instructions (QEMU with -icount shift=0) a tick is an instruction of the machine, and the result
 * repeats. The loop has no function of the C library in it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WARM = 2000,
	CALLS = 200, /* of a block: short enough that the timer interrupts few blocks */
	BLOCKS = 201
};

static inline uint64_t ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

static inline void call(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_getppid) : "rcx", "r11", "memory");
}

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static int run(char **command)
{
	const uint64_t begin = ticks();
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 1;
	printf("command_ticks %llu\n", (unsigned long long)(ticks() - begin));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	static uint64_t blocks[BLOCKS];

	if (argc > 1)
		return run(argv + 1);
	for (int n = 0; n < WARM; n++)
		call();
	for (int block = 0; block < BLOCKS; block++) {
		const uint64_t begin = ticks();

		for (int n = 0; n < CALLS; n++)
			call();
		blocks[block] = ticks() - begin;
	}
	qsort(blocks, BLOCKS, sizeof(blocks[0]), compare);
	printf("getppid_ticks %.3f\n", (double)blocks[BLOCKS / 2] / CALLS);
	printf("calls %d\n", WARM + BLOCKS * CALLS);
	return 0;
}
