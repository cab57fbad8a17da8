/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What people choose by: numbers, times, globs. */
#include "cmd/choose.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"

bool cmd_number(const char *text, uint64_t limit, uint64_t *value, const char **rest)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	*rest = end;
	return !errno && *value <= limit;
}

int cmd_numbers(const char *name, struct view_set *set, uint64_t limit, const char *option, const char *text)
{
	const char *at = text;

	for (;;) {
		uint64_t value, *numbers;

		if (!cmd_number(at, limit, &value, &at) || (*at && *at != ','))
			return cmd_usage(name, "--%s wants numbers separated by commas, not \"%s\"", option,
					 text);
		numbers = reallocarray(set->numbers, set->count + 1, sizeof(*numbers));
		if (!numbers)
			return cmd_failed(name, "out of memory");
		set->numbers = numbers;
		numbers[set->count++] = value;
		if (!*at++)
			return 0;
	}
}

int cmd_glob(const char *name, struct view_globs *globs, const char *glob)
{
	const char **more = reallocarray(globs->globs, globs->count + 1, sizeof(*more));

	if (!more)
		return cmd_failed(name, "out of memory");
	globs->globs = more;
	more[globs->count++] = glob;
	return 0;
}

/* Whole seconds and nanoseconds: "12", "12.5", ".5"; more than nine digits are cut. */
static bool parse_seconds(const char *text, int64_t *ns)
{
	uint64_t seconds = 0, nano = 0, scale = 100000000;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	if (*text != '.' && !cmd_number(text, INT64_MAX / 1000000000 - 1, &seconds, &text))
		return false;
	if (*text == '.') {
		for (text++; isdigit((unsigned char)*text); text++) {
			nano += scale * (uint64_t)(*text - '0');
			scale /= 10;
		}
	}
	*ns = (int64_t)(seconds * 1000000000 + nano);
	return !*text;
}

/* A local time, with its date or on the day of the trace's beginning. */
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
static bool parse_time(const struct burin_trace *trace, const char *text, int64_t *ns)
{
	uint64_t begin, end;
	int64_t begin_ns;

	burin_trace_range(trace, &begin, &end);
	begin_ns = burin_trace_ns(trace, begin);
	if (*text == '@')
		return parse_seconds(text + 1, ns);
	if (parse_seconds(text + (*text == '-'), ns)) {
		if (*text == '-')
			*ns = -*ns;
		return !__builtin_add_overflow(*ns, begin_ns, ns);
	}
	return parse_local(text, begin_ns, ns);
}

int cmd_times(const char *name, const struct burin_trace *trace, const char *from, const char *to,
	      uint64_t *from_ticks, uint64_t *to_ticks)
{
	static const char wanted[] =
		"wants seconds since the first record, a local time or @ and seconds since 1970";
	int64_t ns;

	if (from) {
		if (!parse_time(trace, from, &ns))
			return cmd_usage(name, "--from %s, not \"%s\"", wanted, from);
		*from_ticks = burin_trace_ticks(trace, ns);
	}
	if (to) {
		if (!parse_time(trace, to, &ns) || ns == INT64_MAX)
			return cmd_usage(name, "--to %s, not \"%s\"", wanted, to);
		/* Everything that is printed with this time belongs to it. */
		*to_ticks = burin_trace_ticks(trace, ns + 1);
		if (!*to_ticks)
			*to_ticks = 1;
	}
	return 0;
}
