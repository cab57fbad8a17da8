/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burin watch: look at what a running program records, and when a certain event comes, or the program ends,
 * keep what led to it.
 *
 * The rings are the memory of the moments before. They are looked at passively; nothing is written until a
 * record fits.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/glob.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/attach.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"
#include "control/where.h"
#include "drain/drain.h"
#include "drain/lookout.h"
#include "session/clock.h"
#include "session/filter.h"

const char cmd_watch_help[] =
	"Usage: burin watch [options] TARGET\n"
	"\n"
	"Look at what a running program records, and take a snapshot of what led to it when an\n"
	"event comes, or when the program ends. The snapshots are DIR/0001, DIR/0002, ..., each\n"
	"a trace. Goes on until the program ends, or Ctrl-C. TARGET is a pid, a program's name,\n"
	"or a session's path; see burin ls.\n"
	"\n"
	"      --on GLOB        when an event comes whose name matches; it is switched on for\n"
	"                       that time, if it is off\n"
	"  -w, --where EXPR     only if its arguments fit, such as 'len > 1000'; see\n"
	"                       burin-enable(1)\n"
	"      --on-exit        when the program leaves by exit\n"
	"      --on-crash       when it is killed, by whatever signal\n"
	"      --snapshot DIR   where the snapshots go; must not exist\n"
	"      --last TIME      each has only the last 5s, 250ms, 10m (default: all there is)\n"
	"      --cooldown TIME  at most one in that time; the others are counted (default: 1s)\n"
	"      --count N        end after N snapshots\n"
	"  -q, --quiet          say nothing\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit code: 0; 1 if a snapshot could not be written; 2 if there is no such TARGET.\n";

static const char name[] = "watch";

/* What an event is to us, by its id. */
struct trigger {
	bool looked_at; /* whether it has been found out */
	bool meant;
	char *filter; /* NULL: all of them */
};

struct watch {
	struct attachment attachment;
	struct lookout lookout;
	const char *on[2]; /* the glob, NULL */
	const char *where, *directory, *target;
	bool on_exit, on_crash, quiet;
	uint64_t last, cooldown; /* ns */
	uint64_t count;		 /* 0: any number */
	struct trigger *triggers;
	uint64_t taken, skipped, failed;
	uint64_t ready; /* CLOCK_MONOTONIC, ns: the end of the cooldown */
	unsigned fits;	/* records of this round */
};

static int bad_value(const char *option, const char *value)
{
	return cmd_usage(name, "%s: '%s' will not do", option, value);
}

/* Return: 0 or CMD_USAGE. */
static int parse(struct watch *watch, int argc, char **argv)
{
	static const struct option options[] = {
		{ "on", required_argument, NULL, 'o' },	      { "where", required_argument, NULL, 'w' },
		{ "on-exit", no_argument, NULL, 'x' },	      { "on-crash", no_argument, NULL, 'c' },
		{ "snapshot", required_argument, NULL, 's' }, { "last", required_argument, NULL, 'l' },
		{ "cooldown", required_argument, NULL, 'd' }, { "count", required_argument, NULL, 'n' },
		{ "quiet", no_argument, NULL, 'q' },	      { 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, "w:q", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			watch->on[0] = optarg;
			break;
		case 'w':
			watch->where = optarg;
			break;
		case 'x':
			watch->on_exit = true;
			break;
		case 'c':
			watch->on_crash = true;
			break;
		case 's':
			watch->directory = optarg;
			break;
		case 'l':
			if (!number_parse_duration(optarg, &watch->last) || !watch->last)
				return bad_value("--last", optarg);
			break;
		case 'd':
			if (!number_parse_duration(optarg, &watch->cooldown))
				return bad_value("--cooldown", optarg);
			break;
		case 'n':
			if (!number_parse_size(optarg, &watch->count) || !watch->count)
				return bad_value("--count", optarg);
			break;
		case 'q':
			watch->quiet = true;
			break;
		default:
			return CMD_USAGE;
		}
	}
	if (optind != argc - 1)
		return cmd_usage(name, "which program? Give one pid, name or session's path");
	watch->target = argv[optind];
	if (!watch->on[0] && !watch->on_exit && !watch->on_crash)
		return cmd_usage(name, "for what? Give --on EVENT, --on-exit or --on-crash");
	if (watch->where && !watch->on[0])
		return cmd_usage(name, "--where: of which event? Give --on EVENT");
	if (!watch->directory)
		return cmd_usage(name, "where to? Give --snapshot DIR");
	return 0;
}

/* Find out what an event is to us. Return: false: its arguments and the expression do not go together. */
static bool judge(struct watch *watch, uint32_t id, struct trigger *trigger)
{
	const struct table *table = &watch->lookout.table;
	const struct wire_event *event = &table->entries[id - 1];
	struct where_fault fault;

	trigger->looked_at = true;
	trigger->meant = watch->on[0] && glob_match(watch->on[0], table_text(table, event->name));
	if (!trigger->meant || !watch->where)
		return true;
	trigger->filter = aligned_alloc(WIRE_FILTER_ALIGN, WIRE_FILTER_MAX);
	if (trigger->filter &&
	    where_compile(watch->where, table_text(table, event->format), event->types,
			  (struct wire_filter *)trigger->filter, WIRE_FILTER_MAX, &fault) == 0)
		return true;
	trigger->meant = false;
	cmd_failed(name, "%s: %s", table_text(table, event->name),
		   trigger->filter ? fault.message : "out of memory");
	if (trigger->filter)
		where_print_fault(stderr, watch->where, &fault);
	return false;
}

static void see(void *data, const struct sighting *sighting)
{
	struct watch *watch = data;
	struct trigger *trigger = &watch->triggers[sighting->id - 1];
	const struct filter_subject subject = { sighting->pid, sighting->tid, sighting->cpu, sighting->depth,
						sighting->correlation };

	if (!trigger->looked_at)
		judge(watch, sighting->id, trigger);
	watch->fits += trigger->meant &&
		       (!trigger->filter || filter_passes((const struct wire_filter *)trigger->filter,
							  sighting->payload, sighting->bytes, &subject));
}

static void take_snapshot(struct watch *watch, const char *why)
{
	struct session *session = &watch->attachment.session;
	struct drain_options options = { 0 };
	struct drain_totals totals;
	char path[4096];
	int error;

	if (watch->last)
		options.since = recording_moment(session, watch->last + attach_ago(&watch->attachment));
	snprintf(path, sizeof(path), "%s/%04llu", watch->directory, (unsigned long long)watch->taken + 1);
	error = drain_snapshot(session, path, &options, &totals);
	if (error) {
		recording_refused(name, path, error);
		watch->failed++;
		return;
	}
	watch->taken++;
	if (watch->quiet)
		return;
	fprintf(stderr, "burin: %s\n", why);
	recording_summary(&totals, path, true);
}

/* The records of a round are one reason. */
static void react(struct watch *watch)
{
	const unsigned fits = watch->fits;

	watch->fits = 0;
	if (!fits)
		return;
	if (clock_ns(CLOCK_MONOTONIC) < watch->ready) {
		watch->skipped += fits;
		return;
	}
	watch->skipped += fits - 1;
	take_snapshot(watch, watch->on[0]);
	watch->ready = clock_ns(CLOCK_MONOTONIC) + watch->cooldown;
}

static bool is_done(const struct watch *watch)
{
	return watch->failed || (watch->count && watch->taken >= watch->count);
}

static int follow(struct watch *watch)
{
	bool more = true;

	while (more && !is_done(watch)) {
		more = attach_wait(&watch->attachment, ATTACH_PAUSE_MS);
		if (lookout_round(&watch->lookout, see, watch) != 0)
			return cmd_failed(name, "out of memory");
		react(watch);
	}
	return 0;
}

static void look_at_end(struct watch *watch)
{
	const char *result = attach_result(&watch->attachment);

	if (is_done(watch) || !watch->attachment.ended)
		return;
	if (strcmp(result, "exit") == 0 ? watch->on_exit : watch->on_crash)
		take_snapshot(watch, result);
}

static void summarize(const struct watch *watch)
{
	char taken[TEXT_SHORT], skipped[TEXT_SHORT], missed[TEXT_SHORT];

	fprintf(stderr, "burin: %s snapshot%s in %s; %s skipped in cooldown; %s overwritten unseen; %s: %s\n",
		text_count(taken, watch->taken), watch->taken == 1 ? "" : "s", watch->directory,
		text_count(skipped, watch->skipped), text_count(missed, lookout_missed(&watch->lookout)),
		watch->target, attach_result(&watch->attachment));
}

/* What can be wrong with the expression is found before anything is changed. */
static int judge_all(struct watch *watch)
{
	for (uint32_t n = 0; n < watch->lookout.table.count; n++)
		if (!judge(watch, n + 1, &watch->triggers[n]))
			return CMD_USAGE;
	return 0;
}

static int run(struct watch *watch)
{
	struct attachment *attachment = &watch->attachment;
	int result = 0;

	watch->triggers = calloc(WIRE_ID_MAX, sizeof(*watch->triggers));
	if (!watch->triggers || lookout_begin(&watch->lookout, &attachment->session) != 0)
		return cmd_failed(name, "out of memory");
	result = judge_all(watch);
	if (!result && mkdir(watch->directory, 0777) != 0)
		result = cmd_failed(name, "%s: %s", watch->directory, strerror(errno));
	if (!result && watch->on[0])
		result = attach_switch(attachment, watch->on, watch->quiet);
	if (result)
		return result;
	result = follow(watch);
	look_at_end(watch);
	attach_restore(attachment);
	if (!watch->quiet)
		summarize(watch);
	return result || watch->failed ? CMD_FAULTS : 0;
}

int cmd_watch(int argc, char **argv)
{
	struct watch watch = { .cooldown = 1000000000 };
	int result = parse(&watch, argc, argv);

	if (!result)
		result = attach_begin(&watch.attachment, name, watch.target);
	if (result)
		return result;
	result = run(&watch);
	for (unsigned n = 0; watch.triggers && n < WIRE_ID_MAX; n++)
		free(watch.triggers[n].filter);
	free(watch.triggers);
	lookout_free(&watch.lookout);
	attach_end(&watch.attachment);
	return result;
}
