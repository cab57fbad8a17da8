/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin watch: read the records of a running program, and take a snapshot when an event occurs or the program ends.
 *
 * The rings hold the moments before. They are read passively; nothing is written until a record matches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/glob.h"
#include "base/text.h"
#include "cmd/record/recorder/attach.h"
#include "cmd/record/recorder/recorder.h"
#include "cmd/record/sources/kernel_events.h"
#include "cmd/cmd.h"
#include "cmd/record/recorder/recording.h"
#include "filter/filter_compile.h"
#include "drain/drain.h"
#include "drain/live_reader.h"
#include "file/create.h"
#include "session/clock.h"
#include "filter/filter.h"
#include "view/records/line.h"

/* Whether an event triggers a snapshot; the index is its id. */
struct trigger {
	bool resolved; /* the other members are set */
	bool matches;  /* its name matches --on */
	char *filter;  /* of its arguments; NULL: none */
};

struct watch {
	struct attachment attachment;
	struct live_reader live;
	struct kernel_choice choice; /* --kernel, and --on if it means tracepoints of the kernel */
	struct kernel_events kernel;
	struct recorder recorder; /* of snapshots: its only source is the kernel */
	const char *on[2];	  /* the glob, NULL */
	char *on_kernel; /* the same as a glob of names in the session; NULL: it means the program's events */
	const char *where, *directory, *target;
	int directory_fd;
	bool on_exit, on_crash, quiet;
	uint64_t last, cooldown; /* ns */
	uint64_t count;		 /* 0: any number */
	struct trigger *triggers;
	uint64_t taken, skipped, failed;
	uint64_t ready;		  /* CLOCK_MONOTONIC, ns: the end of the cooldown */
	uint64_t ready_for_kills; /* the same behind a kill: an event just before it must not hide it */
	uint64_t hz;		  /* of the session's clock */
	unsigned matches;	  /* matching records of this round */
	struct live_event first;  /* of these; its payload is not valid any more */
};

static struct watch watched = { .cooldown = 1000000000, .directory_fd = -1, .choice.buffer_bytes = 4 << 20 };

static const struct cmd_option watch_options[] = {
	OPTION_TEXT("--on GLOB", &watched.on[0],
		    "take a snapshot when an event occurs whose name matches; matching events that are off "
		    "are switched on meanwhile. Also a tracepoint of the kernel, such as "
		    "sched:sched_process_exit"),
	OPTION_LIST("-k, --kernel GLOB", &watched.choice.globs,
		    "the snapshots also have the kernel's tracepoints whose names match, of the program's "
		    "processes; may be repeated. See burin-kernel(7)"),
	OPTION_SIZE("--kernel-buffer SIZE", &watched.choice.buffer_bytes, 4 * KERNEL_PACKET, 512 << 20,
		    "size of each CPU's two ring buffers of kernel events (default: 4M)"),
	OPTION_TEXT("-w, --where EXPR", &watched.where,
		    "with --on: only if EXPR is true of the arguments, such as 'len > 1000';\nsee "
		    "burin-enable(1)"),
	OPTION_FLAG("--on-exit", &watched.on_exit, "take a snapshot when the program exits"),
	OPTION_FLAG("--on-crash", &watched.on_crash,
		    "take a snapshot when a process of the program is killed, by any signal"),
	OPTION_TEXT("--snapshot DIR", &watched.directory, "the directory of the snapshots; must not exist"),
	OPTION_DURATION("--last TIME", &watched.last, 1,
			"only the last 5s, 250ms, 10m (default: all records in memory)"),
	OPTION_DURATION("--cooldown TIME", &watched.cooldown, 0,
			"at most one snapshot in TIME; others are counted (default: 1s)"),
	OPTION_NUMBER("--count N", &watched.count, 1, UINT64_MAX, "end after N snapshots"),
	OPTION_FLAG("-q, --quiet", &watched.quiet, "print nothing but errors"),
	{ 0 },
};

/* Return: 0 or CMD_USAGE. */
static int check_options(const struct watch *watch)
{
	if (!watch->on[0] && !watch->on_exit && !watch->on_crash)
		return cmd_usage("no trigger given; give --on EVENT, --on-exit or --on-crash");
	if (watch->where && !watch->on[0])
		return cmd_usage("--where needs an event; give --on EVENT");
	if (!watch->directory)
		return cmd_usage("no directory given; give --snapshot DIR");
	return 0;
}

/* Match an event with --on, and compile its filter. Return: false after a message: the expression does not fit the event. */
static bool cmd_watch_resolve(struct watch *watch, uint32_t id, struct trigger *trigger)
{
	const struct event_table *table = &watch->live.drain.table;
	const struct wire_event *event = &table->entries[id - 1];
	struct filter_error fault;
	unsigned names;

	trigger->resolved = true;
	trigger->matches = watch->on[0] && glob_match(watch->on_kernel ? watch->on_kernel : watch->on[0],
						      table_text(table, event->name));
	if (!trigger->matches || !watch->where)
		return true;
	trigger->filter = aligned_alloc(WIRE_FILTER_ALIGN, WIRE_FILTER_MAX);
	if (trigger->filter &&
	    filter_compile(watch->where, table_text(table, event->format), table_text(table, event->enums),
			   event->types, (struct wire_filter *)trigger->filter, WIRE_FILTER_MAX,
			   &fault) == 0) {
		names = filter_facts((const struct wire_filter *)trigger->filter) & FILTER_NAMES;
		if (!names)
			return true;
		filter_error_set(
			&fault, 0, strlen(watch->where),
			"the %s of a record is not known before it is read from a trace; use pid or tid",
			filter_fact_name(names & -names));
	}
	trigger->matches = false;
	cmd_failed("%s: %s", table_text(table, event->name),
		   trigger->filter ? fault.message : "out of memory");
	if (trigger->filter)
		filter_error_print(stderr, watch->where, &fault);
	return false;
}

static void on_record(void *data, const struct live_event *event)
{
	struct watch *watch = data;
	struct trigger *trigger = &watch->triggers[event->id - 1];
	const struct filter_subject subject = { .pid = event->pid,
						.tid = event->tid,
						.cpu = event->cpu,
						.depth = event->depth,
						.correlation = event->correlation };

	if (!trigger->resolved)
		cmd_watch_resolve(watch, event->id, trigger);
	if (!trigger->matches ||
	    (trigger->filter && !filter_passes((const struct wire_filter *)trigger->filter, event->payload,
					       event->bytes, &subject)))
		return;
	if (!watch->matches++ || event->time < watch->first.time)
		watch->first = *event;
}

/* Print the time of day of @ticks; UINT64_MAX: now. */
static void cmd_watch_print_time(const struct watch *watch, uint64_t ticks)
{
	const int64_t ns_per_s = 1000000000;
	char text[VIEW_ABSOLUTE];
	struct clock_pair now;
	int64_t time;

	clock_read_pair(watch->attachment.session.geometry.clock, &now);
	ticks = ticks < now.ticks ? ticks : now.ticks;
	time = now.realtime_ns -
	       (int64_t)((unsigned __int128)(now.ticks - ticks) * (unsigned)ns_per_s / watch->hz);
	*view_absolute(text, time / ns_per_s, (uint32_t)(time % ns_per_s)) = 0;
	cmd_note("burin: %s ", text);
}

/* Print the part of a record before its fields, as burin dump does. */
static void cmd_watch_print_event(const struct watch *watch, const struct live_event *event)
{
	const struct event_table *table = &watch->live.drain.table;
	char pid[TEXT_SHORT] = "?";

	cmd_watch_print_time(watch, event->time);
	if (event->pid)
		snprintf(pid, sizeof(pid), "%u", event->pid);
	if (event->cpu == UINT32_MAX)
		cmd_note("[---] ");
	else
		cmd_note("[%03u] ", event->cpu);
	cmd_note("%s/%u %s\n", pid, event->tid, table_text(table, table->entries[event->id - 1].name));
}

/* @event: the trigger; NULL: the end of a process, as @what says */
static void take_snapshot(struct watch *watch, const struct live_event *event, const char *what)
{
	struct session *session = &watch->attachment.session;
	struct drain_options options = { 0 };
	struct drain_totals totals;
	char path[CHUNKS_PATH], chunk[CHUNKS_NAME];
	int directory;

	options.more = recorder_snapshot_rings(&watch->recorder);
	if (watch->last)
		recording_last(&options, session, watch->last, watch->attachment.ended);
	chunks_name((unsigned)watch->taken + 1, chunk);
	chunks_path(watch->directory, (unsigned)watch->taken + 1, path);
	directory = create_directory(watch->directory_fd, chunk);
	if (directory < 0)
		cmd_failed("%s: %s", path, strerror(-directory));
	if (directory < 0 ||
	    recording_snapshot(session, &watch->attachment.target, directory, path, &options, &totals)) {
		watch->failed++;
		return;
	}
	watch->taken++;
	if (watch->quiet)
		return;
	if (event) {
		cmd_watch_print_event(watch, event);
	} else {
		cmd_watch_print_time(watch, UINT64_MAX);
		cmd_note("%s\n", what);
	}
	recording_summary(&totals, path);
}

/* All matching records of a round cause one snapshot. */
static void cmd_watch_react(struct watch *watch)
{
	const unsigned matches = watch->matches;

	watch->matches = 0;
	if (!matches)
		return;
	if (clock_ns(CLOCK_MONOTONIC) < watch->ready) {
		watch->skipped += matches;
		return;
	}
	watch->skipped += matches - 1;
	take_snapshot(watch, &watch->first, NULL);
	watch->ready = clock_ns(CLOCK_MONOTONIC) + watch->cooldown;
}

/* Processes that were killed, in one round, cause one snapshot. */
static void react_to_kills(struct watch *watch)
{
	const struct process_ends *processes = &watch->attachment.processes;
	const uint32_t pid = processes->dead_count ? processes->dead[0] : 0;
	const unsigned dead = processes->dead_count;
	char what[TEXT_SHORT];

	watch->attachment.processes.dead_count = 0;
	if (!dead || !watch->on_crash)
		return;
	if (clock_ns(CLOCK_MONOTONIC) < watch->ready_for_kills) {
		watch->skipped += dead;
		return;
	}
	watch->skipped += dead - 1;
	if (pid == watch->attachment.target.geometry.owner)
		snprintf(what, sizeof(what), "killed");
	else
		snprintf(what, sizeof(what), "killed: process %u", pid);
	take_snapshot(watch, NULL, what);
	watch->ready_for_kills = clock_ns(CLOCK_MONOTONIC) + watch->cooldown;
}

static bool is_done(const struct watch *watch)
{
	return watch->failed || (watch->count && watch->taken >= watch->count);
}

static int cmd_watch_follow(struct watch *watch)
{
	bool more = true;

	while (more && !is_done(watch)) {
		more = attach_wait(&watch->attachment, ATTACH_PAUSE_MS);
		if (live_reader_round(&watch->live, on_record, watch) != 0)
			return cmd_failed("out of memory");
		cmd_watch_react(watch);
		react_to_kills(watch);
	}
	return 0;
}

static void handle_end(struct watch *watch)
{
	const char *result = attach_result(&watch->attachment);

	if (is_done(watch) || !watch->attachment.ended)
		return;
	/* Unless its end was not seen, a snapshot of a kill has been taken. */
	if (strcmp(result, "exit") == 0 ? watch->on_exit
					: watch->on_crash && !watch->attachment.processes.any)
		take_snapshot(watch, NULL, result);
}

static void cmd_watch_summarize(const struct watch *watch)
{
	char taken[TEXT_SHORT], skipped[TEXT_SHORT], overwritten[TEXT_SHORT];

	cmd_note("burin: %s snapshot%s in %s; %s skipped in cooldown; %s overwritten before they were read; "
		 "%s: %s\n",
		 text_count(taken, watch->taken), text_plural(watch->taken), watch->directory,
		 text_count(skipped, watch->skipped),
		 text_count(overwritten, live_reader_missed(&watch->live)), watch->target,
		 attach_result(&watch->attachment));
}

/* Report an error of the expression before any event is switched on. */
static int resolve_all(struct watch *watch)
{
	for (uint32_t n = 0; n < watch->live.drain.table.count; n++)
		if (!cmd_watch_resolve(watch, n + 1, &watch->triggers[n]))
			return CMD_USAGE;
	return 0;
}

/* Whether --on means tracepoints of the kernel: it has a colon, and the program has no such event. */
static bool is_of_kernel(const struct watch *watch)
{
	struct event_table table = { .count = 0 };
	const char *on = watch->on[0];
	bool own = !on || !strchr(on, ':') || event_table_update(&table, &watch->attachment.session) != 0;

	for (uint32_t n = 0; !own && n < table.count; n++)
		own = strncmp(table_text(&table, table.entries[n].name), TRACEPOINT_PREFIX,
			      strlen(TRACEPOINT_PREFIX)) != 0 &&
		      glob_match(on, table_text(&table, table.entries[n].name));
	event_table_free(&table);
	return !own;
}

/* Attach to the kernel's tracepoints. Without them a trigger of the kernel's would never come. */
static int watch_kernel(struct watch *watch)
{
	static struct source sources[2] = { { .ops = &kernel_events_source } };
	const pid_t process = attach_process(&watch->attachment);
	struct view_globs *globs = &watch->choice.globs;
	uint64_t number = (uint64_t)process;
	int result;

	if (is_of_kernel(watch)) {
		const char *on = watch->on[0];

		if (strncmp(on, TRACEPOINT_PREFIX, strlen(TRACEPOINT_PREFIX)) == 0)
			on += strlen(TRACEPOINT_PREFIX);
		if (asprintf(&watch->on_kernel, "%s%s", TRACEPOINT_PREFIX, on) < 0 ||
		    !array_reserve(globs->globs, globs->room, globs->count + 2))
			return cmd_failed("out of memory");
		if (strncmp(on, "u:", 2) != 0 && strncmp(on, "uret:", 5) != 0 &&
		    strncmp(on, "usdt:", 5) != 0) /* probes are given by --kernel */
			globs->globs[globs->count++] = on;
		globs->globs[globs->count] = NULL;
	}
	watch->kernel.choice = &watch->choice;
	sources[0].state = &watch->kernel;
	watch->recorder = (struct recorder){ .session = &watch->attachment.session,
					     .sources = sources,
					     .attachment = &watch->attachment,
					     .processes = &(struct view_set){ .numbers = &number,
									      .count = process != 0 },
					     .overwrite = true,
					     .quiet = watch->quiet };
	result = recorder_open_sources(&watch->recorder);
	if (!result && watch->on_kernel && !watch->kernel.opened)
		result = cmd_failed("%s: this trigger cannot occur", watch->on[0]);
	return result;
}

static int watch_attached(struct watch *watch)
{
	struct attachment *attachment = &watch->attachment;
	int result = watch_kernel(watch);

	if (result)
		return result;
	watch->hz = session_clock_hz(&attachment->session);
	watch->triggers = calloc(WIRE_ID_MAX, sizeof(*watch->triggers));
	if (!watch->triggers ||
	    live_reader_begin(&watch->live, &attachment->session, watch->recorder.options.more) != 0)
		return cmd_failed("out of memory");
	result = resolve_all(watch);
	if (!result)
		watch->directory_fd = recording_create("--snapshot", watch->directory,
						       attachment->target.user != geteuid());
	if (!result && watch->directory_fd < 0)
		result = CMD_FAULTS;
	if (!result && watch->on[0] && !watch->on_kernel)
		result = attach_switch(attachment, watch->on, NULL, watch->quiet);
	if (result)
		return result;
	result = cmd_watch_follow(watch);
	handle_end(watch);
	if (attach_restore(attachment))
		result = CMD_FAULTS;
	if (!watch->quiet)
		cmd_watch_summarize(watch);
	return result || watch->failed ? CMD_FAULTS : 0;
}

static int cmd_watch_run(char **operands)
{
	struct watch *watch = &watched;
	int result = check_options(watch);

	watch->target = operands[0];
	if (!result)
		result = attach_begin(&watch->attachment, watch->target);
	if (result)
		return result;
	result = watch_attached(watch);
	recorder_close_sources(&watch->recorder);
	free(watch->on_kernel);
	for (unsigned n = 0; watch->triggers && n < WIRE_ID_MAX; n++)
		free(watch->triggers[n].filter);
	free(watch->triggers);
	live_reader_free(&watch->live);
	if (watch->directory_fd >= 0)
		close(watch->directory_fd);
	return attach_end(&watch->attachment, result);
}

const struct cmd cmd_watch = {
	.name = "watch",
	.line = "take a snapshot when a running program records an event, exits or crashes",
	.usage = "Usage: burin watch [options] TARGET\n"
		 "\n"
		 "Watch a running program. When an event occurs, or the program ends, write the records\n"
		 "in memory as a snapshot: DIR/0001, DIR/0002, ..., each a trace. Ends with the program,\n"
		 "or by Ctrl-C. TARGET is a pid, a program's name, a session's path or kernel; see burin "
		 "ls.\n",
	.notes = "For each snapshot a line on stderr has the event: time of day, CPU, process/thread and\n"
		 "name, as burin dump --absolute prints them; or the time of the end, and exit or killed.\n"
		 "\n"
		 "Exit code: 0; 1 if a snapshot could not be written; 2 if there is no such TARGET.\n",
	.options = watch_options,
	.operands = CMD_ONE_TARGET,
	.main = cmd_watch_run,
};
