/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record: run a program and keep what its tracepoints, and those of every process that it starts,
 * record, and samples of all of them. Of a program that runs already: record_target.c.
 *
 * The recorder makes the session, names it in the program's environment, and drains it until the program has
 * ended. Nothing of ours runs in the program but its tracepoints, and a timer where it has to sample itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record.h"
#include "cmd/recording.h"
#include "drain/drain.h"
#include "session/clock.h"
#include "session/session.h"

enum {
	RECORD_BUSY_MS = 5, /* from round to round while rings fill, and while they do not */
	RECORD_IDLE_MS = 50,
	RECORD_TOLD = 60 << 10,	 /* bytes that the child may be told; fewer than a pipe holds */
	RECORD_BUSY_PERCENT = 3, /* a round that found a ring fuller than this is followed by a quick one */
};

static void join_words(char **words, char *line, size_t bytes)
{
	size_t used = 0;

	line[0] = 0;
	for (; *words && used < bytes; words++)
		used += (size_t)snprintf(line + used, bytes - used, "%s%s", used ? " " : "", *words);
}

/* What the recorder waits for. */
struct run {
	pid_t child; /* 0: there is none */
	int go; /* a pipe: the child waits for what is in it, and its end, before it becomes the command */
	int report;  /* a pipe: why it could not */
	int signals; /* a signalfd */
	int other;   /* a pidfd of the process that is sampled; -1: none */
	sigset_t before;
	int status;
	unsigned interrupts;
	uint64_t until; /* CLOCK_MONOTONIC, ns: when the recording ends */
	bool ended;
};

/*
 * The child: wait until all is ready, then become the command. Says over the pipe why it cannot. What it is told
 * to add to its environment are assignments, each with its NUL, behind a byte.
 */
static _Noreturn void become(char **command, const char *session_path, const sigset_t *signals, int go,
			     int report)
{
	static char told[RECORD_TOLD + 1];
	ssize_t bytes = 0, got;
	int error = 0;

	sigprocmask(SIG_SETMASK, signals, NULL);
	while ((got = read(go, told + bytes, (size_t)(RECORD_TOLD - bytes))) > 0)
		bytes += got;
	if (got < 0 || bytes == 0)
		_exit(126);
	for (char *at = told + 1; !error && at < told + bytes; at += strlen(at) + 1)
		error = putenv(at);
	if (!error && setenv("BURIN_SESSION", session_path, 1) == 0)
		execvp(command[0], command);
	error = errno;
	if (write(report, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

/* Make the child, which waits: what watches it can be prepared. Return: 0 or an errno. */
static int prepare(struct run *run, char **command, const char *session_path)
{
	int report[2], go[2], error = 0;

	if (!*command)
		return 0;
	if (pipe2(report, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(go, O_CLOEXEC) != 0) {
		error = errno;
		close(report[0]);
		close(report[1]);
		return error;
	}
	run->child = fork();
	if (run->child == 0) {
		close(go[1]);
		become(command, session_path, &run->before, go[0], report[1]);
	}
	if (run->child < 0)
		error = errno;
	close(report[1]);
	close(go[0]);
	run->report = report[0];
	run->go = go[1];
	return error;
}

/* Let the child go; or, if it is not to, let it end. Return: 0, or the errno of the exec. */
static int start(struct run *run, const struct sampling *sampling, bool go)
{
	int error = 0;

	if (run->child <= 0)
		return 0;
	if (go && (write(run->go, "", 1) != 1 || !sampling_environment(sampling, run->go)))
		error = errno;
	close(run->go);
	if (!error && read(run->report, &error, sizeof(error)) != (ssize_t)sizeof(error))
		error = 0;
	close(run->report);
	if (error || !go)
		waitpid(run->child, &run->status, 0);
	return error;
}

static void reap(struct run *run)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == run->child) {
			run->status = status;
			run->ended = true;
		}
	}
}

static void take_signals(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* A terminal's Ctrl-C has reached the command already; what a process sent to us has not. */
		if (run->child > 0 && info.ssi_code != SI_KERNEL)
			kill(run->child, (int)info.ssi_signo);
		run->interrupts++;
	}
	reap(run);
}

/* How long to sleep before the next round. */
static int pause_ms(const struct run *run, unsigned fullest)
{
	int pause = fullest >= RECORD_BUSY_PERCENT ? RECORD_BUSY_MS : RECORD_IDLE_MS;
	uint64_t time = clock_ns(CLOCK_MONOTONIC),
		 left = time < run->until ? (run->until - time) / 1000000 + 1 : 0;

	return left < (uint64_t)pause ? (int)left : pause;
}

/* Whether there is nothing to wait for any more. Without a command of ours, to be told once is enough. */
static bool is_over(const struct run *run)
{
	return run->ended || run->interrupts >= (run->child ? 2 : 1) ||
	       clock_ns(CLOCK_MONOTONIC) >= run->until;
}

/* Go round until the command, or the process that is sampled, has ended, the time is up, or we were told. */
static void follow(struct run *run, struct drain *drain, struct sampling *sampling, bool quiet)
{
	struct progress progress;
	struct pollfd wait[] = { { .fd = run->signals, .events = POLLIN },
				 { .fd = run->child ? -1 : run->other, .events = POLLIN },
				 { .fd = sampling_wake(sampling), .events = POLLIN } };
	unsigned fullest = 0;

	progress_begin(&progress, !quiet, run->child != 0);
	reap(run);
	while (!is_over(run)) {
		poll(wait, 3, pause_ms(run, fullest));
		take_signals(run);
		run->ended |= wait[1].revents != 0;
		drain_round(drain, &fullest);
		sampling_round(sampling, drain, &fullest);
		recording_progress(&progress, drain, sampling);
	}
	progress_clear(&progress);
}

static void describe_result(const struct run *run, char *text, size_t bytes)
{
	if (!run->child)
		snprintf(text, bytes, "%s", run->ended ? "exit" : "running");
	else if (!run->ended)
		snprintf(text, bytes, "running"); /* the time was up, or we were told twice to end */
	else if (WIFSIGNALED(run->status))
		snprintf(text, bytes, "signal %d", WTERMSIG(run->status));
	else
		snprintf(text, bytes, "exit %d", WEXITSTATUS(run->status));
}

static int exit_code(const struct run *run)
{
	if (!run->child)
		return 0;
	if (!run->ended)
		return run->interrupts >= 2 ? 128 + SIGINT : 0;
	return WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status);
}

/* From the command's beginning to its end. Return: 0, or the errno of the exec. */
static int carry_out(const struct record_options *options, struct run *run, struct drain *drain,
		     struct sampling *sampling)
{
	unsigned fullest;
	int error;

	drain_round(drain, &fullest); /* the trace knows the event of samples before there are any */
	sampling_begin(sampling, drain);
	run->until = options->duration ? clock_ns(CLOCK_MONOTONIC) + options->duration : UINT64_MAX;
	error = start(run, sampling, true);
	if (!error)
		follow(run, drain, sampling, options->quiet);
	sampling_finish(sampling);
	return error;
}

static int record(const struct record_options *options, struct session *session, const char *session_path,
		  struct run *run)
{
	char output[4096], line[1000], result[32];
	struct sampling sampling;
	struct drain_totals totals;
	struct drain drain;
	bool joined;
	int error;

	recording_output(options->output, *options->command ? options->command[0] : "samples", 0, output,
			 sizeof(output));
	join_words(options->command, line, sizeof(line));
	sampling_open(&sampling, &options->sampling, session, run->child, options->quiet);
	if (!run->child && !sampling.opened) { /* then there is nothing to record */
		unlink(session_path);
		return CMD_FAULTS;
	}
	error = drain_begin(&drain, session, output,
			    &(struct drain_options){
				    .session_path = session_path, .command = line, .split = options->split });
	if (error) {
		sampling_finish(&sampling);
		start(run, &sampling, false);
		unlink(session_path);
		return recording_refused("record", output, error);
	}
	error = carry_out(options, run, &drain, &sampling);
	session_end(session);
	joined = ((const struct wire_session *)session->base)->joined != 0;
	if (error)
		snprintf(result, sizeof(result), "exit %d", error == ENOENT ? 127 : 126);
	else
		describe_result(run, result, sizeof(result));
	drain_finish(&drain, result, &totals);
	sampling_symbols(&sampling, output, &totals);
	unlink(session_path);
	if (error) {
		chunks_discard(output);
		fprintf(stderr, "burin record: %s: %s\n", options->command[0], strerror(error));
		return error == ENOENT ? 127 : 126;
	}
	if (drain.output.error)
		fprintf(stderr, "burin record: %s: %s\n", output, drain.output.trouble);
	if (!options->quiet) {
		recording_summary(&totals, output, joined || sampling.begun);
		sampling_summary(&sampling);
	}
	return (drain.output.error || sampling.error) && exit_code(run) == 0 ? CMD_FAULTS : exit_code(run);
}

int cmd_record(int argc, char **argv)
{
	struct record_options options;
	struct session session;
	const char *why = "";
	char path[256];
	struct run run = { .signals = -1, .other = -1 };
	int result = record_options_parse(&options, argc, argv), error;

	if (result)
		return result == RECORD_HELP ? 0 : result;
	if (options.target)
		return record_target(&options);
	/* Before there is anything that would have to be taken away. */
	run.signals = recording_signals(SIGCHLD, &run.before);
	error = run.signals < 0 ? -errno : 0;
	if (error) {
		fprintf(stderr, "burin record: signals: %s\n", strerror(-error));
		return CMD_FAULTS;
	}
	error = session_create(&session, &options.session, path, sizeof(path), &why);
	if (error) {
		fprintf(stderr, "burin record: no session: %s (%s)\n", why, strerror(-error));
		return CMD_FAULTS;
	}
	if (options.sampling.process)
		run.other = (int)syscall(SYS_pidfd_open, options.sampling.process, 0);
	error = prepare(&run, options.command, path);
	if (error) {
		fprintf(stderr, "burin record: %s: %s\n", options.command[0], strerror(error));
		unlink(path);
		session_leave(&session);
		return CMD_FAULTS;
	}
	result = record(&options, &session, path, &run);
	session_leave(&session);
	return result;
}
