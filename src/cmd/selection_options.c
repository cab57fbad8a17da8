/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Options that select a part of a trace by time. */
#include "cmd/selection_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/cmd.h"

static const char *from, *to;

struct view_where_fault cmd_where_fault;

const struct cmd_option cmd_time_options[] = {
	OPTION_TEXT("--from TIME", &from,
		    "from this time on: seconds since the first record, a local time, or @ and seconds since "
		    "1970"),
	OPTION_TEXT("--to TIME", &to, "up to this time"),
	{ 0 },
};

/* Seconds with a fraction: "12", "12.5", ".5"; digits after the ninth are ignored. */
static bool parse_seconds(const char *text, int64_t *ns)
{
	uint64_t seconds = 0, nano = 0, scale = 100000000;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	if (*text != '.') {
		char *end;

		errno = 0;
		seconds = strtoull(text, &end, 10);
		text = end;
		if (errno || seconds >= INT64_MAX / 1000000000)
			return false;
	}
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++) {
			nano += scale * (uint64_t)(*text - '0');
			scale /= 10;
		}
	}
	*ns = (int64_t)(seconds * 1000000000 + nano);
	return !*text;
}

/* A local time. Without a date it is on the day on which the trace begins. */
static bool parse_local(const char *text, int64_t begin_ns, int64_t *ns)
{
	time_t begin = (time_t)(begin_ns / 1000000000);
	struct tm parts;
	const char *rest;
	int64_t fraction = 0;
	time_t seconds;

	if (!localtime_r(&begin, &parts))
		return false;
	parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
	rest = strptime(text, "%Y-%m-%d", &parts);
	if (rest && (*rest == ' ' || *rest == 'T'))
		rest = strptime(rest + 1, "%H:%M:%S", &parts);
	else if (!rest)
		rest = strptime(text, "%H:%M:%S", &parts);
	if (!rest || (*rest && (*rest != '.' || !parse_seconds(rest, &fraction))))
		return false;
	parts.tm_isdst = -1;
	seconds = mktime(&parts);
	*ns = (int64_t)seconds * 1000000000 + fraction;
	return seconds > INT64_MIN / 1000000000 && seconds < INT64_MAX / 1000000000;
}

/* A time as a user writes it, in nanoseconds since 1970. */
static bool parse_time(int64_t begin_ns, const char *text, int64_t *ns)
{
	if (*text == '@')
		return parse_seconds(text + 1, ns);
	if (parse_seconds(text + (*text == '-'), ns)) {
		if (*text == '-')
			*ns = -*ns;
		return !__builtin_add_overflow(*ns, begin_ns, ns);
	}
	return parse_local(text, begin_ns, ns);
}

bool cmd_times_given(void)
{
	return from || to;
}

int cmd_times(const struct burin_trace *trace, uint64_t *from_ticks, uint64_t *to_ticks)
{
	uint64_t begin, end;

	burin_trace_range(trace, &begin, &end);
	return cmd_times_since(trace, begin, from_ticks, to_ticks);
}

/* Report times that select nothing of a trace, so that an empty result has its reason. */
static void note_outside(const struct burin_trace *trace, int64_t from_ns, int64_t to_ns)
{
	uint64_t begin, end;

	if (burin_trace_range(trace, &begin, &end))
		return;
	if (from_ns > burin_trace_ns(trace, end))
		cmd_note("burin %s: --from %s: the last record is before that\n", cmd_name, from);
	else if (to_ns < burin_trace_ns(trace, begin))
		cmd_note("burin %s: --to %s: the first record is after that\n", cmd_name, to);
}

int cmd_times_since(const struct burin_trace *trace, uint64_t begin, uint64_t *from_ticks, uint64_t *to_ticks)
{
	const int64_t begin_ns = burin_trace_ns(trace, begin);
	static const char wanted[] =
		"give seconds since the first record, a local time, or @ and seconds since 1970";
	int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;

	if (from && !parse_time(begin_ns, from, &from_ns))
		return cmd_usage("--from: %s, not \"%s\"", wanted, from);
	if (to && (!parse_time(begin_ns, to, &to_ns) || to_ns == INT64_MAX))
		return cmd_usage("--to: %s, not \"%s\"", wanted, to);
	if (from_ns > to_ns)
		return cmd_usage("--from %s is later than --to %s; exchange them", from, to);
	if (from)
		*from_ticks = burin_trace_ticks(trace, from_ns);
	if (to) {
		/* Include every record that is printed with this time. */
		*to_ticks = burin_trace_ticks(trace, to_ns + 1);
		if (!*to_ticks)
			*to_ticks = 1;
	}
	note_outside(trace, from_ns, to_ns);
	return 0;
}

/* How to choose where a condition is tested. */
static const char *where_hint(void)
{
	return cmd_where_fault.of_tasks ? "threads have $pid, $tid, $thread and $program"
					: "'GLOB: EXPR' is for these names only";
}

int cmd_where_failed(void)
{
	const struct view_where_fault *fault = &cmd_where_fault;

	if (!fault->event)
		return cmd_usage("--where: nothing that is selected matches %s", fault->text);
	if (!*fault->event)
		cmd_failed("--where: %s", fault->fault.message);
	else if (fault->end)
		cmd_failed("%s: %s; %s: %s; %s", fault->event, fault->fault.message, fault->end,
			   fault->end_fault.message, where_hint());
	else
		cmd_failed("%s: %s; %s", fault->event, fault->fault.message, where_hint());
	filter_error_print(stderr, fault->text, &fault->fault);
	return CMD_USAGE;
}
