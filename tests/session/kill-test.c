/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hazard 4: SIGKILL between any two instructions, with restartable sequences and at random.
 *
 * Every instruction: a breakpoint is set on each instruction of each sequence in turn (the linker knows where
 * they are, objdump where their instructions begin), a process records until it hits it, and is killed there.
 * The next one goes on in the same rings. (Locked rings: ring/step-test.c.)
 *
 * At random: several processes, one of which also records from a signal handler every 50 us.
 */
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/rseq.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "ledger.h"
#include "ring/ring_deps.h"
#include "source/tracepoint/thread.h"
#include "wire/wire_event.h"

static struct ledger ledger;

/* ---- at random ---- */

static uint32_t *go; /* all have been started */
static uint32_t *
	handlers; /* of a writer that is a handler, the number of the one that it interrupts, and 1; else 0 */
static uint32_t handler_writer;

static void trace_in_handler(int signal_number)
{
	(void)signal_number;
	traced_emit(handler_writer);
}

static _Noreturn void trace_until_killed(bool with_handler)
{
	const uint32_t writer = traced_writer();

	while (!__atomic_load_n(go, __ATOMIC_ACQUIRE))
		usleep(50);
	if (with_handler) {
		handler_writer = traced_writer();
		handlers[handler_writer] = writer + 1;
		signal(SIGALRM, trace_in_handler);
		setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 50 }, { 0, 50 } }, NULL);
	}
	for (;;)
		traced_emit(writer);
}

static const char *kill_at_random(void)
{
	const unsigned rounds = harness.is_long ? 700 : 40;
	unsigned kills = 0, interrupted = 0;
	const char *why;

	traced_begin();
	ledger_open(&ledger, cases_session());
	go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	handlers = mmap(NULL, TRACED_WRITERS * sizeof(*handlers), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned round = 0; round < rounds && !ledger.why[0]; round++) {
		pid_t pids[3];

		*go = 0;
		for (unsigned n = 0; n < 3; n++) {
			pids[n] = traced_fork();
			if (pids[n] == 0)
				trace_until_killed(n == 0);
		}
		__atomic_store_n(go, 1, __ATOMIC_RELEASE);
		for (unsigned n = 0; n < 3; n++) {
			uint64_t end = harness_ns() + random_below(cases_random(), 1500000);

			while (harness_ns() < end)
				ledger_read(&ledger);
			kill(pids[n], SIGKILL);
			waitpid(pids[n], NULL, 0);
			kills++;
		}
	}
	why = ledger_balance(&ledger);
	if (why)
		return why;
	/*
	 * A handler's record comes before its thread's announcement if it interrupts just that, and the
	 * announcement never comes if the thread is killed there: then nothing has been recorded outside of
	 * the handler.
	 */
	for (uint32_t n = 0; n < board->used; n++)
		interrupted += handlers[n] && board->writers[handlers[n] - 1].completed == 0;
	if (ledger.unannounced_count > interrupted)
		return cases_why("%u threads were not announced (%u died too early for it), thread %u",
				 ledger.unannounced_count, interrupted, ledger.unannounced);
	harness_ok("%s: %u kills (%s)", cases_name(), kills, ledger_summary(&ledger));
	return CASE_SAID;
}

/* ---- at every instruction ---- */

#ifdef __x86_64__

enum {
	INSTRUCTIONS_MAX = 2000,
	SECTIONS_MAX = 64,
	AGE_BITS = 33,
};

/* What SECTION_ENTER leaves for each sequence: the kernel's struct rseq_cs. */
struct sequence {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

extern const struct sequence __start___rseq_cs[] __attribute__((weak, visibility("hidden")));
extern const struct sequence __stop___rseq_cs[] __attribute__((weak, visibility("hidden")));

struct instruction {
	uint64_t address;
	unsigned sequence;
};

static struct instruction instructions[INSTRUCTIONS_MAX];
static unsigned instruction_count;
static char functions[SECTIONS_MAX][64];

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program itself comes first */
}

static bool find_instructions(void)
{
	char command[600], line[400], path[400] = "", function[64] = "", name[64];
	uint64_t base = 0, address;
	FILE *listing;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return false;
	dl_iterate_phdr(find_base, &base);
	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn '%s' 2>/dev/null", path);
	listing = popen(command, "r");
	while (listing && fgets(line, sizeof(line), listing)) {
		unsigned long long value;

		if (sscanf(line, "%*x <%63[^>]>:", name) == 1 && line[0] != ' ')
			memcpy(function, name, sizeof(function));
		if (line[0] != ' ' || sscanf(line, " %llx:", &value) != 1)
			continue;
		address = value + base;
		for (unsigned n = 0; &__start___rseq_cs[n] < __stop___rseq_cs && n < SECTIONS_MAX; n++) {
			const struct sequence *sequence = &__start___rseq_cs[n];

			if (address - sequence->start >= sequence->bytes ||
			    instruction_count == INSTRUCTIONS_MAX)
				continue;
			instructions[instruction_count++] = (struct instruction){ address, n };
			memcpy(functions[n], function, sizeof(function));
		}
	}
	return listing && pclose(listing) == 0 && instruction_count > 0;
}

static struct wire_packet *open_packet(const struct ring *ring)
{
	uint64_t position = ring->control->tail >> WIRE_TAIL_COUNT_BITS;

	if (!ring->slots || position % ring->packet_words == 0)
		return NULL;
	return (struct wire_packet *)(ring->slots + ((position & ring->word_mask) & ~ring->packet_mask) * 8);
}

/* Make a packet that has no extended record yet look as if it were 2^33 ticks older. */
static void age_packet(const struct ring *ring)
{
	struct wire_packet *packet = open_packet(ring);

	if (!packet || packet->base_time != packet->time_begin || packet->base_offset != 0 ||
	    ring_clock() - packet->time_begin > UINT64_C(1) << 32)
		return;
	__atomic_fetch_add(&board->epoch, 1, __ATOMIC_SEQ_CST);
	packet->time_begin -= UINT64_C(1) << AGE_BITS;
	packet->time_end -= UINT64_C(1) << AGE_BITS;
	packet->base_time -= UINT64_C(1) << AGE_BITS;
}

static void set_switches(unsigned value)
{
	tracepoint_session.switches[ledger.id_plain - 1] = (uint8_t)value;
	tracepoint_session.switches[ledger.id_data - 1] = (uint8_t)value;
}

/* Record so that every way through the append is taken. */
static _Noreturn void trace_all_ways(int cpu)
{
	const uint32_t writer = traced_writer();

	traced_pin(cpu);
	for (unsigned n = 0; n < 20; n++)
		traced_emit(writer);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (unsigned n = 0; n < 600; n++) {
		if (n % 7 == 3)
			age_packet(&tracepoint_session.rings[cpu]);
		set_switches(n % 5 == 2 ? WIRE_CONDITIONAL : WIRE_ON);
		if (n % 5 == 3) /* as a thread's first record */
			tracepoint_thread.tid = 0;
		traced_emit(writer);
	}
	_exit(0);
}

/* Return: whether the process got there. */
static bool die_at(uint64_t address, int cpu)
{
	bool hit = false;
	int status;
	long word;
	pid_t pid = traced_fork();

	if (pid == 0)
		trace_all_ways(cpu);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
		harness_die("no process to kill");
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
	if (ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)((word & ~0xffL) | 0xcc)) != 0 ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) != 0)
		harness_die("no breakpoint at %#llx", (unsigned long long)address);
	waitpid(pid, &status, 0);
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
		hit = (uint64_t)ptrace(PTRACE_PEEKUSER, pid, (void *)offsetof(struct user_regs_struct, rip),
				       NULL) == address + 1;
	else if (!WIFEXITED(status))
		snprintf(ledger.why, sizeof(ledger.why), "a process ended with status %#x", status);
	if (!WIFEXITED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	set_switches(WIRE_ON);
	return hit;
}

static int any_cpu(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 ? 0 : cpu;
}

static const char *every_instruction(void)
{
	unsigned hits[SECTIONS_MAX] = { 0 }, all[SECTIONS_MAX] = { 0 }, dead = 0, kills = 0;
	const unsigned rounds = harness.is_long ? 20 : 1;
	const int cpu = any_cpu();
	const char *why;

	traced_begin();
	ledger_open(&ledger, cases_session());
	ledger.age = UINT64_C(1) << AGE_BITS;
	if (__rseq_size == 0 || ledger.view.geometry.cpus == 0 || !find_instructions()) {
		harness_skip("%s: no rseq here, or no objdump", cases_name());
		return CASE_SAID;
	}
	for (unsigned n = 0; n < instruction_count * rounds && !ledger.why[0]; n++) {
		const struct instruction *at = &instructions[n % instruction_count];

		all[at->sequence]++;
		if (die_at(at->address, cpu))
			hits[at->sequence]++;
		while (ledger_read(&ledger))
			continue;
		if (ledger.why[0])
			return cases_why(
				"killed at %#llx in %s: %s",
				(unsigned long long)(at->address - __start___rseq_cs[at->sequence].start),
				functions[at->sequence], ledger.why);
	}
	why = ledger_balance(&ledger);
	for (unsigned n = 0; n < SECTIONS_MAX && !why; n++) {
		kills += hits[n];
		dead += all[n] && !hits[n];
		/* A copy that is never called is possible; one that is reached in part only is a hole in this
		 * test. */
		if (hits[n] && hits[n] != all[n])
			why = cases_why("of the sequence in %s only %u of %u instructions were reached",
					functions[n], hits[n], all[n]);
	}
	if (why)
		return why;
	if (kills < 100 || ledger.extended < 100)
		return cases_why("only %u instructions were reached, %llu extended records", kills,
				 (unsigned long long)ledger.extended);
	harness_ok("%s: %u kills, %u sequences never entered (%s)", cases_name(), kills, dead,
		   ledger_summary(&ledger));
	return CASE_SAID;
}

/* An append that forgets the extended record, that is, moves the base alone: must be noticed. */
static const char *canary_base(void)
{
	const int cpu = any_cpu();
	const uint32_t writer = (traced_begin(), traced_writer());
	struct wire_packet *packet;

	traced_pin(cpu);
	ledger_open(&ledger, cases_session());
	ledger.age = UINT64_C(1) << AGE_BITS;
	if (__rseq_size == 0 || ledger.view.geometry.cpus == 0) {
		harness_skip("%s: no rseq here", cases_name());
		return CASE_SAID;
	}
	board->small = 1;
	traced_emit(writer);
	traced_emit(writer);
	age_packet(&tracepoint_session.rings[cpu]);
	packet = open_packet(&tracepoint_session.rings[cpu]);
	packet->base_time = ring_clock();
	traced_emit(writer);
	if (!ledger_balance(&ledger))
		return "it was not noticed";
	harness_ok("canary: a lost extended record is found: %s", ledger.why);
	return CASE_SAID;
}

#endif

/* Records that are lost without being counted, or invented, must be noticed. */
static const char *canary_books(void)
{
	const char *first, *second;

	traced_begin();
	ledger_open(&ledger, cases_session());
	for (uint32_t n = 0, writer = traced_writer(); n < 100; n++)
		traced_emit(writer);
	board->writers[0].started++;
	board->writers[0].completed++;
	first = ledger_balance(&ledger);
	if (!first)
		return "a record that was never written is not missed";
	harness_ok("canary: a hole is found: %s", first);
	ledger_close(&ledger);
	ledger_open(&ledger, cases_session());
	board->writers[0].started -= 2;
	board->writers[0].completed -= 2;
	memset(ledger.rings, 0, ledger.view.ring_count * sizeof(*ledger.rings));
	second = ledger_balance(&ledger);
	if (!second)
		return "a record too many is not noticed";
	harness_ok("canary: an invented record is found: %s", second);
	return CASE_SAID;
}

#define OPTIONS(mode_, buffer, packet) \
	.options = { .mode = (mode_), .buffer_bytes = (buffer), .packet_bytes = (packet) }

int main(int argc, char **argv)
{
#define RANDOM "hazard 4: SIGKILL at random"
#define EACH   "hazard 4: SIGKILL at each instruction of the restartable sequences"
	static const struct session_case cases[] = {
		{ .name = RANDOM ", stream",
		  .run = kill_at_random,
		  OPTIONS(WIRE_MODE_STREAM, 64 << 20, 64 << 10) },
		{ .name = RANDOM ", flight",
		  .run = kill_at_random,
		  OPTIONS(WIRE_MODE_FLIGHT, 64 << 10, 4 << 10) },
		{ .name = RANDOM ", stream, without rseq",
		  .run = kill_at_random,
		  OPTIONS(WIRE_MODE_STREAM, 64 << 20, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = RANDOM ", flight, without rseq",
		  .run = kill_at_random,
		  OPTIONS(WIRE_MODE_FLIGHT, 64 << 10, 4 << 10),
		  .tunables = CASE_NO_RSEQ },
#ifdef __x86_64__
		{ .name = EACH ", stream",
		  .run = every_instruction,
		  OPTIONS(WIRE_MODE_STREAM, 1 << 20, 4 << 10) },
		{ .name = EACH ", flight",
		  .run = every_instruction,
		  OPTIONS(WIRE_MODE_FLIGHT, 16 << 10, 4 << 10) },
		{ .name = "canary: a lost extended record is found",
		  .run = canary_base,
		  OPTIONS(WIRE_MODE_STREAM, 1 << 20, 4 << 10) },
#endif
		{ .name = "canary: books that do not balance are found",
		  .run = canary_books,
		  OPTIONS(WIRE_MODE_STREAM, 1 << 20, 4 << 10) },
	};

	return cases_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
