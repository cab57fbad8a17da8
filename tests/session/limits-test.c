/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the world refuses: restartable sequences to a vfork child and to programs whose glibc has none, memory
 * to a session on a full file system, a place to programs with a small limit. Losses are counted, no process
 * crashes.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"
#include "cases.h"
#include "ledger.h"
#include "source/tracepoint/thread.h"

static struct ledger ledger;

static void begin(void)
{
	traced_begin();
	ledger_open(&ledger, cases_session());
}

static const char *balance(void)
{
	const char *why = ledger_balance(&ledger);

	if (why)
		return why;
	harness_ok("%s (%s)", cases_name(), ledger_summary(&ledger));
	return CASE_SAID;
}

/* Whether an emulator runs this program, which has not what a case is about. */
static bool is_emulated(const char *lacking)
{
	if (getenv("TEST_EMULATOR"))
		harness_skip("%s: emulated: %s", cases_name(), lacking);
	return getenv("TEST_EMULATOR");
}

/* Records in the rings of CPUs and in the locked ones. */
static void count_rings(uint64_t *of_cpus, uint64_t *locked)
{
	*of_cpus = *locked = 0;
	for (unsigned n = 0; n < session_names_index(&ledger.view); n++)
		*(ledger.view.rings[n].locked ? locked : of_cpus) += ledger.rings[n].known;
}

static const char *without_rseq(void)
{
	uint64_t of_cpus, locked;

	begin();
	for (uint32_t n = 0, writer = traced_writer(); n < 1000; n++)
		traced_emit(writer);
	while (ledger_read(&ledger))
		continue;
	count_rings(&of_cpus, &locked);
	if (of_cpus != 0 || locked != 1000)
		return cases_why("%llu records in rings of CPUs, %llu in locked ones",
				 (unsigned long long)of_cpus, (unsigned long long)locked);
	return balance();
}

/*
 * A vfork child lives in our memory: its records have its own thread id, go to locked rings, and leave ours
 * as it was. This file calls the library's vfork, as a traced program does.
 */
static const char *vfork_child(void)
{
	uint64_t of_cpus, locked, locked_before;
	uint32_t mine, theirs, tid;

	if (is_emulated("vfork is a fork"))
		return CASE_SAID;
	begin();
	mine = traced_writer();
	theirs = traced_writer();
	for (int n = 0; n < 10; n++)
		traced_emit(mine);
	tid = tracepoint_thread.tid;
	while (ledger_read(&ledger))
		continue;
	count_rings(&of_cpus, &locked_before);
	for (int round = 0; round < 50; round++) {
		pid_t pid = vfork();

		if (pid == 0) {
			for (int n = 0; n < 5; n++)
				traced_emit(theirs);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return "vfork does not work";
		if (tracepoint_thread.in_vfork)
			return "the parent believes it is in the child";
		traced_emit(mine);
		if (tracepoint_thread.tid != tid)
			return "the parent took the child's identity";
	}
	while (ledger_read(&ledger))
		continue;
	count_rings(&of_cpus, &locked);
	if (of_cpus != 0 && locked - locked_before != 250)
		return cases_why("%llu of 250 records of vfork children are in locked rings",
				 (unsigned long long)(locked - locked_before));
	if (ledger.recorder_count != 51)
		return cases_why("51 processes recorded, %u are seen", ledger.recorder_count);
	return balance();
}

/* posix_spawn, system: glibc's own children without memory of their own. Nothing of ours may run in them. */
static const char *spawned_child(void)
{
	begin();
	for (uint32_t n = 0, writer = traced_writer(); n < 20; n++) {
		traced_emit(writer);
		if (system("exit 3") != 3 << 8)
			return "system() does not work";
		traced_emit(writer);
	}
	return balance();
}

/* A child by vfork that kills itself, and one that executes: the parent goes on. */
static const char *vfork_death(void)
{
	const uint32_t mine = (begin(), traced_writer()), theirs = traced_writer();

	for (int round = 0; round < 20; round++) {
		pid_t pid = vfork();

		if (pid == 0) {
			traced_emit(theirs);
			if (round & 1)
				execl("/bin/true", "true", NULL);
			kill(getpid(), SIGKILL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		traced_emit(mine);
	}
	return balance();
}

/* ---- a full file system ---- */

/* Copy the session to a file system of so many bytes and join it there instead. */
static const char *on_tiny_filesystem(void)
{
	const char *shm = "/dev/shm", *why = "";
	char path[300] = "", options[64];
	struct session session;
	const struct session_options wanted = { .mode = harness.seed & 1 ? WIRE_MODE_FLIGHT
									 : WIRE_MODE_STREAM,
						.buffer_bytes = 4 << 20,
						.packet_bytes = 64 << 10,
						.string_max = WIRE_STRING_MAX,
						.globs = (const char *const[]){ "*", NULL } };

	if (getenv("TEST_TINY"))
		return NULL;
	if (is_emulated("madvise says that it has reserved memory, which it has not"))
		return CASE_SAID;
	snprintf(options, sizeof(options), "size=%s", "2m");
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tiny", shm, "tmpfs", 0, options) != 0) {
		harness_skip("%s: a private mount needs more rights (%s)", cases_name(), strerror(errno));
		return CASE_SAID;
	}
	if (session_create(&session, &wanted, path, sizeof(path), &why) != 0)
		return cases_why("no session on 2 MiB: %s", why);
	setenv("TEST_TINY", "1", 1);
	setenv("BURIN_SESSION", path, 1);
	cases_exec(getenv("TEST_ROLE"));
	return "exec";
}

/* Several processes fill a session that cannot have all its memory. */
static const char *full_filesystem(void)
{
	const char *why = on_tiny_filesystem();
	pid_t pids[3];
	struct statvfs room;

	if (why)
		return why;
	begin();
	for (int n = 0; n < 3; n++) {
		pids[n] = traced_fork();
		if (pids[n] == 0) {
			const uint32_t writer = traced_writer();

			for (int k = 0; k < 30000; k++) {
				if (k % 1000 == 0)
					traced_pin((k / 1000 + n) % (int)sysconf(_SC_NPROCESSORS_ONLN));
				traced_emit(writer);
			}
			_exit(0);
		}
	}
	for (int n = 0; n < 3; n++) {
		int status;

		if (waitpid(pids[n], &status, 0) != pids[n] || status != 0)
			return cases_why("a traced process ended with status %#x", status);
	}
	statvfs("/dev/shm", &room);
	if (room.f_bavail > 16)
		return cases_why("the file system has not become full: %lu pages left",
				 (unsigned long)room.f_bavail);
	if (ledger_lost(&ledger) == 0 && ledger.view.geometry.mode == WIRE_MODE_STREAM)
		return "nothing was lost";
	return balance();
}

/* A program that may not map as much runs untraced, and says so. */
static const char *small_limits(void)
{
	static const struct {
		int resource;
		rlim_t limit;
		const char *name;
	} limits[] = { { RLIMIT_AS, 64 << 20, "RLIMIT_AS" },
		       { RLIMIT_FSIZE, 0, "RLIMIT_FSIZE" },
		       { RLIMIT_MEMLOCK, 0, "RLIMIT_MEMLOCK" } };

	if (is_emulated("the emulator does not run with small limits"))
		return CASE_SAID;
	begin();
	for (unsigned n = 0; n < sizeof(limits) / sizeof(limits[0]); n++) {
		int status;
		pid_t pid = traced_fork();

		if (pid == 0) {
			struct rlimit limit = { limits[n].limit, limits[n].limit };

			if (!freopen("/dev/null", "w", stderr) ||
			    setrlimit((__rlimit_resource_t)limits[n].resource, &limit) != 0)
				_exit(9);
			cases_exec("joiner");
			_exit(0); /* the limit is too small for anything */
		}
		waitpid(pid, &status, 0);
		if (status != 0)
			return cases_why("with a small %s a program ends with status %#x", limits[n].name,
					 status);
	}
	return balance();
}

static int be_joiner(void)
{
	traced_begin();
	if (burin_active()) {
		for (uint32_t n = 0, writer = traced_writer(); n < 20; n++)
			traced_emit(writer);
	} else {
		BURIN_TRACE("test.untraced", "n=%d", 1);
	}
	return 0;
}

#define OPTIONS(buffer, packet) \
	.options = { .mode = WIRE_MODE_STREAM, .buffer_bytes = (buffer), .packet_bytes = (packet) }

int main(int argc, char **argv)
{
	static const struct session_case cases[] = {
		{ .name = "no rseq: all records are in locked rings",
		  .run = without_rseq,
		  OPTIONS(1 << 20, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = "vfork: the child traces as itself",
		  .run = vfork_child,
		  OPTIONS(1 << 20, 64 << 10) },
		{ .name = "vfork: the child traces as itself, without rseq",
		  .run = vfork_child,
		  OPTIONS(1 << 20, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = "vfork: the child dies or executes",
		  .run = vfork_death,
		  OPTIONS(1 << 20, 64 << 10) },
		{ .name = "system(): the parent goes on", .run = spawned_child, OPTIONS(1 << 20, 64 << 10) },
		{ .name = "a full /dev/shm: no SIGBUS, losses are counted",
		  .run = full_filesystem,
		  OPTIONS(256 << 10, 64 << 10) },
		{ .name = "a full /dev/shm: no SIGBUS, losses are counted, without rseq",
		  .run = full_filesystem,
		  OPTIONS(256 << 10, 64 << 10),
		  .tunables = CASE_NO_RSEQ },
		{ .name = "small limits: no process crashes",
		  .run = small_limits,
		  OPTIONS(16 << 20, 64 << 10) },
	};
	const char *mode = getenv("TEST_ROLE");

	if (mode && strcmp(mode, "joiner") == 0)
		return be_joiner();
	return cases_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
