/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin record: run a program, and write the records and samples of it and of every process that it starts. For a
 * running program: record_target.c.
 *
 * The recorder creates the session, passes its path in the program's environment, and drains it until the program has
 * ended. In the program only its tracepoints run, and a timer where the program has to sample itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/record/cmd_record.h"
#include "cmd/record/guests/guest_socket.h"
#include "cmd/record/recorder/preload_libraries.h"
#include "cmd/record/recorder/process_ends.h"
#include "cmd/record/record_format.h"
#include "cmd/record/record_sources.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/recorder/recording.h"
#include "cmd/record/recorder/snapshots.h"
#include "cmd/target_argument.h"
#include "cmd/unknown_events.h"
#include "control/remains.h"
#include "drain/drain.h"
#include "session/clock.h"
#include "session/places/directory.h"
#include "session/session.h"

enum {
	RECORD_BUSY_MS = 5, /* between rounds while a ring fills */
	RECORD_ALONE_MS =
		1000, /* otherwise, without a command whose tracepoints the drain follows, at most */
	RECORD_BUSY_PERCENT = 3,       /* a ring fills if a round found it fuller than this */
	RECORD_ENVIRONMENT = 60 << 10, /* bytes of assignments for the child; less than a pipe holds */
	RECORD_SEARCH_NS = 50000000,   /* between searches for processes that go on after the command */
	RECORD_NOTE_NS = 1000000000,   /* after which a line says so */
};

static void join_words(char **words, char *line, size_t bytes)
{
	size_t used = 0;

	line[0] = 0;
	for (; *words && used < bytes; words++)
		used += (size_t)snprintf(line + used, bytes - used, "%s%s", used ? " " : "", *words);
}

/* The child, and everything that the recorder waits for. */
struct run {
	pid_t child;   /* 0: there is none */
	int plugin;    /* a socket to QEMU, which runs already; 0: there is none */
	int go;	       /* a pipe: the child reads it to its end, then executes the command */
	int report;    /* a pipe: the child's errno if that failed */
	int signals;   /* a signalfd */
	int others;    /* an epoll of the sampled processes' pidfds; -1: there are none */
	size_t living; /* of these processes */
	sigset_t before;
	int status;
	unsigned interrupts;
	struct snapshots snapshots;
	uint64_t until;			     /* CLOCK_MONOTONIC, ns: the end of the recording */
	bool ended;			     /* the command, or QEMU, or the last of the sampled processes */
	bool follows;			     /* --follow */
	char session_path[SESSION_PATH_MAX]; /* "": it has none */
	struct stat session_file;
	struct process_ends users; /* of the session, after the command's end */
	uint64_t searched;	   /* ns: when they were last searched */
	uint64_t since;		   /* ns: of the first search */
	bool used;		   /* the last search found one */
	bool noted;		   /* the user knows that the recording goes on */
};

/*
 * The child: wait until the recorder is ready, then execute the command, or report an errno over the pipe. @go: a byte,
 * then assignments for the environment, each with its NUL; end of file alone: exit
 */
static _Noreturn void record_command_execute(char **command, const char *session_path,
					     const sigset_t *signals, int go, int report)
{
	static char input[RECORD_ENVIRONMENT + 1];
	ssize_t bytes = 0, got;
	int error = 0;

	sigprocmask(SIG_SETMASK, signals, NULL);
	while ((got = read(go, input + bytes, (size_t)(RECORD_ENVIRONMENT - bytes))) > 0)
		bytes += got;
	if (got < 0)
		error = errno;
	else if (bytes == 0)
		_exit(126);
	for (char *at = input + 1; !error && at < input + bytes; at += strlen(at) + 1)
		error = putenv(at);
	if (!error && setenv("BURIN_SESSION", session_path, 1) == 0)
		execvp(command[0], command);
	if (!error)
		error = errno;
	if (write(report, &error, sizeof(error)) != (ssize_t)sizeof(error))
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

/* Fork the child, which waits until its sampling is prepared. Return: 0 or an errno. */
static int record_command_prepare(struct run *run, char **command)
{
	int report[2], go[2], error = 0;

	if (!*command || run->plugin)
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
		record_command_execute(command, run->session_path, &run->before, go[0], report[1]);
	}
	if (run->child < 0)
		error = errno;
	close(report[1]);
	close(go[0]);
	run->report = report[0];
	run->go = go[1];
	return error;
}

/*
 * Let the child execute the command if @go, otherwise exit. Return: 0, or an errno of the child, before or in its exec;
 * EPIPE: it ended without a report.
 */
static int record_command_start(struct run *run, const struct recorder *recorder, bool go)
{
	const char *command = recorder->program, *libraries[RECORDER_LIBRARIES];
	const unsigned count = go ? recorder_libraries(recorder, libraries) : 0;
	const bool fits = !go || !run->child || preload_fits(command);
	int error = 0, reported;

	if (run->child <= 0)
		return 0;
	if (go && (write(run->go, "", 1) != 1 || !recorder_environment(recorder, run->go) ||
		   (fits && !preload_write(run->go, libraries, count))))
		error = errno;
	if (!fits && count)
		cmd_note("burin: %s uses the C library musl: no calls are recorded, nor samples by --timer\n",
			 command);
	close(run->go);
	if (read(run->report, &reported, sizeof(reported)) == (ssize_t)sizeof(reported))
		error = reported;
	close(run->report);
	if (error || !go)
		waitpid(run->child, &run->status, 0);
	return error;
}

static void record_command_reap(struct run *run, const struct recorder *recorder)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		recorder_child_ended(recorder, pid);
		if (pid == run->child) {
			run->status = status;
			run->ended = true;
		}
	}
}

static void handle_signals(struct run *run, const struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			run->snapshots.asked++;
		if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGCHLD)
			continue;
		/* The terminal sends Ctrl-C to the command, too. A signal from another process has to be forwarded. */
		if (run->child > 0 && !run->ended && info.ssi_code != SI_KERNEL)
			kill(run->child, (int)info.ssi_signo);
		run->interrupts++;
	}
	record_command_reap(run, recorder);
}

/* Watch the sampled processes, so that the recording ends when all of them have ended. */
static void watch_others(struct run *run, const struct view_set *processes)
{
	if (processes->count)
		run->others = epoll_create1(EPOLL_CLOEXEC);
	for (size_t n = 0; run->others >= 0 && n < processes->count; n++) {
		const int fd = (int)syscall(SYS_pidfd_open, (pid_t)processes->numbers[n], 0);
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

		run->living += fd >= 0 && epoll_ctl(run->others, EPOLL_CTL_ADD, fd, &event) == 0;
	}
}

/* Return: whether the last of the sampled processes has ended. */
static bool others_ended(struct run *run)
{
	struct epoll_event event;

	while (run->living && epoll_wait(run->others, &event, 1, 0) == 1) {
		close(event.data.fd); /* which removes it from the epoll */
		run->living--;
	}
	return !run->living;
}

/* The pause before the next round. @fullest: how full the fullest ring was, in percent */
static int record_command_pause_ms(const struct run *run, const struct recorder *recorder, unsigned fullest)
{
	const bool follows =
		run->child || run->plugin; /* tracepoints of a program, which may come at any time */
	int pause = fullest >= RECORD_BUSY_PERCENT
			    ? RECORD_BUSY_MS
			    : recorder_pause_ms(recorder, follows ? RECORDER_IDLE_MS : RECORD_ALONE_MS);
	uint64_t time = clock_ns(CLOCK_MONOTONIC),
		 left = time < run->until ? (run->until - time) / 1000000 + 1 : 0;

	return left < (uint64_t)pause ? (int)left : pause;
}

/* Whether processes that the command has started go on after it, with the session. */
static bool record_command_goes_on(struct run *run, const struct session *session)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!run->child || !run->ended)
		return false;
	if (!run->since)
		run->since = now;
	if (!run->searched || now - run->searched >= RECORD_SEARCH_NS) {
		run->searched = now;
		run->used = process_ends_search(&run->users, session->shared, &run->session_file);
	}
	return run->used;
}

/* Whether the recording has ended. The first signal ends the command, if there is one, and the second the recording. */
static bool record_command_is_over(struct run *run, const struct session *session)
{
	return (run->ended && !(run->follows && record_command_goes_on(run, session))) ||
	       run->interrupts >= (run->child && !run->ended ? 2 : 1) ||
	       clock_ns(CLOCK_MONOTONIC) >= run->until;
}

/* It may go on for ever. Children that end soon need no line. */
static void note_waiting(struct run *run, struct progress *progress)
{
	if (run->noted || !run->follows || !run->used || !run->users.count ||
	    clock_ns(CLOCK_MONOTONIC) - run->since < RECORD_NOTE_NS)
		return;
	run->noted = true;
	progress_clear(progress);
	cmd_note(
		"burin: the command has ended, but process %u that it started has not: it is recorded to its "
		"end, or until Ctrl-C\n",
		process_ends_any(&run->users));
}

/* Drain until the command or the sampled process has ended, the time is up, or signals end the recording. */
static void record_command_follow(struct run *run, struct recorder *recorder)
{
	struct pollfd wait[] = { { .fd = run->signals, .events = POLLIN },
				 { .fd = run->child    ? -1
					 : run->plugin ? run->plugin
						       : run->others,
				   .events = POLLIN },
				 { .fd = recorder_wake(recorder), .events = POLLIN } };
	unsigned fullest = 0;

	/* QEMU has the terminal. */
	progress_begin(&recorder->progress, !recorder->quiet && !run->plugin, run->child != 0);
	record_command_reap(run, recorder);
	while (!record_command_is_over(run, recorder->session)) {
		poll(wait, 3, record_command_pause_ms(run, recorder, fullest));
		handle_signals(run, recorder);
		run->ended |= wait[1].revents && (run->plugin || others_ended(run));
		recorder_round(recorder, &fullest);
		snapshots_write(&run->snapshots, recorder);
		if (!recorder->quiet)
			note_waiting(run, &recorder->progress);
	}
	progress_clear(&recorder->progress);
}

/* They may be what the user wants to see. A recording that was ended on purpose needs no such line. */
static void note_others(struct run *run, const struct session *session, const char *command)
{
	const struct timespec grace = { .tv_nsec = RECORD_SEARCH_NS };
	unsigned count;

	if (run->follows || run->interrupts || !record_command_goes_on(run, session))
		return;
	nanosleep(&grace, NULL); /* children often end a moment after their parent */
	count = record_command_goes_on(run, session) ? run->users.count : 0;
	if (!count)
		return;
	cmd_note("burin: %s has ended, but %u process%s that it started %s not, such as %u; burin record "
		 "--follow=yes records %s to the end\n",
		 command, count, count == 1 ? "" : "es", count == 1 ? "has" : "have",
		 process_ends_any(&run->users), count == 1 ? "it" : "them");
}

static void record_command_describe_result(const struct run *run, char *text, size_t bytes)
{
	if (!run->child)
		snprintf(text, bytes, "%s", run->ended ? "exit" : "running");
	else if (!run->ended)
		snprintf(text, bytes, "running"); /* the time was up, or a second signal came */
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

/* Run the command from its beginning to its end. Return: 0, or the errno of the exec. */
static int run_command(const struct record_options *options, struct run *run, struct recorder *recorder)
{
	unsigned fullest;
	int error;

	drain_round(&recorder->drain, &fullest); /* define the event of samples before the first one */
	recorder_begin(recorder);
	run->until = options->duration ? clock_ns(CLOCK_MONOTONIC) + options->duration : UINT64_MAX;
	error = run->plugin ? guest_socket_begin(run->plugin, run->session_path, options->guest.arguments)
			    : record_command_start(run, recorder, true);
	if (!error)
		record_command_follow(run, recorder);
	if (!error && !recorder->quiet)
		note_others(run, recorder->session, recorder->program);
	recorder_finish(recorder);
	return error;
}

static void remove_session(const char *path)
{
	if (*path)
		recording_kept(path, remains_remove_path(path, geteuid(), NULL));
}

/* Whether one of the processes is another user's. */
static bool is_foreign(const struct view_set *processes)
{
	bool foreign = false;

	for (size_t n = 0; n < processes->count; n++) {
		char path[32];
		struct stat status;

		snprintf(path, sizeof(path), "/proc/%" PRIu64, processes->numbers[n]);
		foreign |= stat(path, &status) != 0 || status.st_uid != geteuid();
	}
	return foreign;
}

/* Whether only the owner may read the trace: it has what other users may not read, such as addresses of the kernel. */
static bool record_command_is_private(const struct record_options *options)
{
	return options->sampling.system || options->kernel.globs.count ||
	       is_foreign(&options->sampling.processes);
}

static int could_not_run(const char *command, int error)
{
	if (error == EPIPE)
		cmd_failed("%s: the child process ended before it could run it; try again", command);
	else
		cmd_failed("%s: %s", command, strerror(error));
	return error == ENOENT ? 127 : 126;
}

/* Give up before the command was executed. Return: @result. */
static int record_command_give_up(struct run *run, const struct recorder *recorder, int result)
{
	record_command_start(run, recorder, false);
	remove_session(run->session_path);
	return result;
}

/* Remove the session after its recording. Return: false: it stays, with records that could not be written. */
static bool end_session(const struct run *run, const struct recorder *recorder, bool executed)
{
	/* A session that was truncated has no records any more. */
	const bool unread = executed && recorder->totals.lost[WIRE_LOST_UNREAD] &&
			    recorder->drain.output.error != -ENODATA;

	if (!unread)
		remove_session(run->session_path);
	return !unread;
}

static int exit_code_of(const struct record_options *options, const struct run *run,
			const struct recorder *recorder, int result)
{
	const bool unknown = unknown_events_of(recorder->session, options->globs,
					       recorder->program ?: "what was recorded", NULL),
		   unfit = record_where_end(&options->where, recorder->session, NULL);

	if (exit_code(run))
		return exit_code(run);
	return result || run->snapshots.failed ? CMD_FAULTS : unknown || unfit ? CMD_USAGE : 0;
}

/* Print what was recorded, and what could not be. Return: the exit code of a command that was executed. */
static int record_command_report(const struct record_options *options, const struct run *run,
				 struct recorder *recorder, struct record_format_output *format, bool removed)
{
	const struct wire_session *header = (const void *)recorder->session->base;
	const bool damaged = recorder->drain.output.error;
	int result, converted = 0;

	if (damaged)
		record_format_discard(format); /* the trace stays */
	else
		converted =
			record_format_finish(format, recorder->output, recorder->directory, recorder->quiet);
	result = recorder_result(recorder);
	if (!removed && *run->session_path)
		cmd_failed(
			"some records could not be written and are still in memory: burin snapshot -o DIR %s",
			run->session_path);
	recorder->converted = format->format != RECORD_BURIN && !converted && !damaged;
	if (!recorder->quiet)
		recorder_summary(recorder, header->joined != 0);
	return exit_code_of(options, run, recorder, result || converted);
}

static int record_command_record(const struct record_options *options, struct run *run,
				 struct recorder *recorder)
{
	static struct record_format_output format;
	char result[32];
	bool removed;
	int error;

	if (!record_format_begin(&format, options, recorder->output, sizeof(recorder->output)))
		return record_command_give_up(run, recorder, CMD_FAULTS);
	error = recorder_open(recorder);
	if (error) {
		record_format_discard(&format);
		return record_command_give_up(run, recorder, error);
	}
	error = run_command(options, run, recorder);
	session_end(recorder->session);
	if (error)
		snprintf(result, sizeof(result), "exit %d", error == ENOENT ? 127 : 126);
	else
		record_command_describe_result(run, result, sizeof(result));
	recorder_complete(recorder, result);
	removed = end_session(run, recorder, !error);
	if (error) {
		recorder_discard(recorder);
		record_format_discard(&format);
		error = could_not_run(recorder->program, error);
	} else {
		error = record_command_report(options, run, recorder, &format, removed);
	}
	close(recorder->directory);
	return error;
}

/* Whether a recording without the programs' tracepoints has anything that the user wants. */
static bool does_without_tracepoints(const struct record_options *options)
{
	return !options->globs_given && !options->calls.on && record_has_machine(options);
}

/* @path: receives the session's name; empty: it has none, and no program records tracepoints into it. Return: 0 or -errno. */
static int make_session(const struct record_options *options, struct session *session, char *path,
			size_t bytes)
{
	const char *why = "", *unused;
	int error = session_create(session, &options->session, path, bytes, &why);

	if (error && does_without_tracepoints(options) &&
	    session_create_nameless(session, &options->session, &unused) == 0) {
		*path = 0;
		cmd_note("burin: the session: %s (%s); tracepoints of programs are not recorded\n", why,
			 strerror(-error));
		return 0;
	}
	if (error)
		cmd_note("burin record: cannot create a session: %s (%s)\n", why, strerror(-error));
	else if (directory_is_spare(path) && !options->quiet)
		cmd_note("burin: /dev/shm is full; the session is %s\n", path);
	else if (!options->quiet)
		cmd_target_note_directory();
	return error;
}

/* What is recorded, for the sources. @line: the command and its arguments; it stays in use */
static struct recorder record_command_recorder_of(const struct record_options *options, const struct run *run,
						  struct session *session, const char *line)
{
	return (struct recorder){
		.session = session,
		.sources = record_sources_of_command(options),
		.command = run->child,
		.program = options->command[0],
		.processes = &options->sampling.processes,
		.all = options->sampling.system,
		.overwrite = options->session.mode == WIRE_MODE_FLIGHT,
		.private = record_command_is_private(options),
		.needs_source = session->nameless || (!run->child && !run->plugin),
		.quiet = options->quiet,
		.no_symbols = options->sampling.no_symbols,
		.names_ns = options->sampling.names_ns,
		.options = { .session_path = *run->session_path ? run->session_path : NULL,
			     .command = line,
			     .split = options->split },
	};
}

int record_command(const struct record_options *options)
{
	static const int flight[] = { SIGUSR1, SIGCHLD, 0 };
	static struct recorder recorder; /* not on the stack: see record_sources.h */
	static struct session session;
	static struct run run;
	char line[1000];
	int result, error;

	run = (struct run){ .signals = -1,
			    .others = -1,
			    .plugin = options->guest.socket,
			    .follows = options->follow == RECORD_FOLLOW_YES,
			    .users.ends = -1 };
	clock_rate_begin();
	/* Before there is a session that would have to be removed. */
	run.signals = recording_signals(options->session.mode == WIRE_MODE_FLIGHT ? flight : flight + 1,
					&run.before);
	error = run.signals < 0 ? -errno : 0;
	if (error) {
		cmd_note("burin record: cannot receive signals: %s\n", strerror(-error));
		return CMD_FAULTS;
	}
	error = make_session(options, &session, run.session_path, sizeof(run.session_path));
	if (error)
		return CMD_FAULTS;
	if (record_where_begin(&options->where, &session, options->globs) != 0) {
		remove_session(run.session_path);
		session_leave(&session);
		return CMD_FAULTS;
	}
	watch_others(&run, &options->sampling.processes);
	error = *run.session_path && stat(run.session_path, &run.session_file)
			? errno
			: -process_ends_begin(&run.users);
	if (!error)
		error = record_command_prepare(&run, options->command);
	if (error) {
		cmd_note("burin record: %s: %s\n", options->command[0] ?: "its session", strerror(error));
		remove_session(run.session_path);
		session_leave(&session);
		return CMD_FAULTS;
	}
	join_words(options->command, line, sizeof(line));
	recorder = record_command_recorder_of(options, &run, &session, line);
	result = record_command_record(options, &run, &recorder);
	process_ends_end(&run.users);
	session_leave(&session);
	return result;
}
