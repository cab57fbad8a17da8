/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Cases in processes of their own; see cases.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "session/places/directory.h"
#include "session/layout_place.h"

static const char *const all_events[] = { "*", NULL };
static struct random case_random;

const char *cases_name(void)
{
	return harness.name;
}

struct random *cases_random(void)
{
	return &case_random;
}

const char *cases_session(void)
{
	return getenv("BURIN_SESSION");
}

const char *cases_why(const char *format, ...)
{
	static char why[400];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	return why;
}

void cases_exec(const char *name)
{
	const char *emulator = getenv("TEST_EMULATOR");
	char path[500] = "";

	setenv("TEST_ROLE", name, 1);
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return;
	if (emulator)
		execlp(emulator, emulator, path, harness.build, harness.is_long ? "long" : NULL, NULL);
	else
		execl("/proc/self/exe", path, harness.build, harness.is_long ? "long" : NULL, NULL);
}

/* As if the session had been made while the machine had fewer CPUs. */
static void take_cpus_away(struct session *session, const char *path, unsigned cpus)
{
	struct wire_geometry fewer = session->geometry;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	fewer.cpus = cpus;
	layout_decide(&fewer);
	if (fd < 0 || pwrite(fd, &fewer, sizeof(fewer), 0) != (ssize_t)sizeof(fewer) ||
	    ftruncate(fd, (off_t)fewer.file_bytes) != 0)
		harness_die("the session cannot be changed: %s", strerror(errno));
	close(fd);
}

/* Make the session; become the case. */
static _Noreturn void start(const struct session_case *this, unsigned index, char *path, size_t bytes)
{
	struct session_options options = this->options;
	struct session session;
	const char *why = "";
	char text[32], seed[32];
	int error;

	if (!options.globs)
		options.globs = all_events;
	if (!options.string_max)
		options.string_max = WIRE_STRING_MAX;
	error = session_create(&session, &options, path, bytes, &why);
	if (error)
		harness_die("no session: %s (%s)", why, strerror(-error));
	if (this->cpus && this->cpus < session.geometry.cpus)
		take_cpus_away(&session, path, this->cpus);
	setenv("BURIN_SESSION", path, 1);
	snprintf(text, sizeof(text), "%u", index);
	snprintf(seed, sizeof(seed), "0x%llx", (unsigned long long)harness_mix(harness.seed + index));
	setenv("TEST_SEED", seed, 1);
	if (this->tunables)
		setenv("GLIBC_TUNABLES", this->tunables, 1);
	cases_exec(text);
	harness_die("exec: %s", strerror(errno));
}

/* Wait for a case. Everything it started is in its process group, and goes with it. */
static void watch(const struct session_case *this, pid_t pid)
{
	const uint64_t limit =
		(this->seconds ? this->seconds : 600) * (harness.is_long ? 20 : 1) * UINT64_C(1000000000);
	const uint64_t begin = harness_ns();
	bool late = false;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!late && harness_ns() - begin > limit) {
			late = true;
			kill(-pid, SIGKILL);
		}
		usleep(2000);
	}
	kill(-pid, SIGKILL);
	if (late)
		harness_fail("%s: it hangs", this->name);
	else if (WIFSIGNALED(status))
		harness_fail("%s: signal %d", this->name, WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		harness.failed++;
}

/* A case's session is named after the process that made it. */
static void remove_sessions(pid_t pid)
{
	char path[256], begin[32];
	const char *why;
	struct dirent *entry;
	DIR *directory;

	snprintf(begin, sizeof(begin), "%d-", (int)pid);
	if (directory_of_sessions(path, sizeof(path), DIRECTORY_USUAL, true, &why) != 0)
		return;
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (strncmp(entry->d_name, begin, strlen(begin)) == 0)
			unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
}

static int be(const struct session_case *this)
{
	const char *why;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	harness_begin_case(this->name, &case_random);
	why = this->run();
	if (why != CASE_SAID)
		harness_case(this->name, why);
	return harness_end();
}

int cases_main(int argc, char **argv, const struct session_case *cases, unsigned count)
{
	const char *number = getenv("TEST_ROLE");

	harness_begin(argc, argv);
	if (number)
		return be(&cases[strtoul(number, NULL, 10) % count]);
	for (unsigned n = 0; n < count; n++) {
		char path[256] = "";
		pid_t pid;

		if ((cases[n].only_long && !harness.is_long) || !harness_begin_case(cases[n].name, NULL))
			continue;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			start(&cases[n], n, path, sizeof(path));
		}
		setpgid(pid, pid);
		watch(&cases[n], pid);
		remove_sessions(pid);
	}
	return harness_end();
}
