/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Traced processes; see traced.h. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "burin/burin.h"
#include "harness.h"
#include "ring/ring_deps.h"
#include "traced.h"

struct traced_board *board;

void traced_begin(void)
{
	const char *inherited = getenv("TEST_BOARD");
	int fd = inherited ? atoi(inherited) : memfd_create("board", 0);
	char text[16];

	if (fd < 0 || (!inherited && ftruncate(fd, sizeof(*board)) != 0))
		harness_die("no board");
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (board == MAP_FAILED)
		harness_die("no board");
	snprintf(text, sizeof(text), "%d", fd);
	setenv("TEST_BOARD", text, 1);
}

uint32_t traced_writer(void)
{
	uint32_t writer = __atomic_fetch_add(&board->used, 1, __ATOMIC_RELAXED);

	if (writer >= TRACED_WRITERS)
		harness_die("too many writers");
	return writer;
}

uint32_t traced_data_bytes(uint32_t writer, uint64_t number)
{
	uint64_t mixed = harness_mix(number * 31 + writer);

	if (mixed & 3)
		return 0;
	return (uint32_t)(mixed >> 8) % ((mixed >> 2 & 31) == 0 ? TRACED_DATA_MAX : 100);
}

void traced_data(uint32_t writer, uint64_t number, unsigned char *data, uint32_t bytes)
{
	uint64_t mixed = harness_mix(number * 37 + writer);

	for (uint32_t n = 0; n < bytes; n++)
		data[n] = (unsigned char)(mixed + n * 7);
}

uint64_t traced_sum(uint32_t writer, uint64_t number, uint64_t clock, uint32_t epoch)
{
	return harness_mix(harness_mix(harness_mix(number) + writer) + clock) + epoch;
}

void traced_emit(uint32_t writer)
{
	struct traced_writer *mine = &board->writers[writer];
	const uint64_t number = mine->started, clock = ring_clock();
	const uint32_t epoch = __atomic_load_n(&board->epoch, __ATOMIC_RELAXED);
	const uint64_t sum = traced_sum(writer, number, clock, epoch);
	const uint32_t bytes = board->small ? 0 : traced_data_bytes(writer, number);

	__atomic_store_n(&mine->started, number + 1, __ATOMIC_SEQ_CST);
	if (bytes) {
		unsigned char data[TRACED_DATA_MAX];

		traced_data(writer, number, data, bytes);
		BURIN_TRACE("test.data", "writer=%u epoch=%u number=%llu clock=%llu sum=%llx data=%p", writer,
			    epoch, (unsigned long long)number, (unsigned long long)clock,
			    (unsigned long long)sum, BURIN_BYTES(data, bytes));
	} else {
		BURIN_TRACE("test.plain", "writer=%u epoch=%u number=%llu clock=%llu sum=%llx", writer, epoch,
			    (unsigned long long)number, (unsigned long long)clock, (unsigned long long)sum);
	}
	__atomic_store_n(&mine->completed, number + 1, __ATOMIC_SEQ_CST);
}

bool traced_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

pid_t traced_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		harness_die("no fork");
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}
