/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Common functions of the commands that write traces; see recording.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/record/names/cmd_symbols.h"
#include "cmd/record/recorder/recording.h"
#include "file/named.h"
#include "wire/wire_terms.h"

/* The look-up of names in a snapshot: burin watch must not stand still for long. burin symbols finds the rest. */
static const uint64_t NAMES_NS = UINT64_C(10000000000);

enum {
	RECORDING_BASE = 256,
};

int recording_signals(const int *more, sigset_t *before)
{
	sigset_t set, blocked;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	for (; more && *more; more++)
		sigaddset(&set, *more);
	blocked = set;
	sigaddset(&blocked, SIGXFSZ);
	sigaddset(&blocked, SIGPIPE);
	sigprocmask(SIG_BLOCK, &blocked, before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Another user chooses a program's name: the file must not be hidden, look like an option, or move a cursor. */
static void recording_base_of(const char *name, char *base)
{
	const char *slash = strrchr(name, '/');

	snprintf(base, RECORDING_BASE, "%s", slash ? slash + 1 : name);
	for (char *at = base; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f || (at == base && (*at == '.' || *at == '-')))
			*at = '_';
	if (!*base)
		snprintf(base, RECORDING_BASE, "burin");
}

void recording_output(const char *given, const char *name, unsigned first, char *path, size_t bytes)
{
	char base[RECORDING_BASE];
	unsigned n = first;

	if (given) {
		snprintf(path, bytes, "%s", given);
		return;
	}
	recording_base_of(name, base);
	do {
		if (n)
			snprintf(path, bytes, "%s-%u.burin", base, n);
		else
			snprintf(path, bytes, "%s.burin", base);
		n = n ? n + 1 : 2;
	} while (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && n < 100000);
}

void recording_last(struct drain_options *options, const struct session *session, uint64_t ns, bool ended)
{
	unsigned __int128 ticks = (unsigned __int128)ns * session_clock_hz(session) / 1000000000;
	struct clock_pair now;

	clock_read_pair(session->geometry.clock, &now);
	if (ticks > now.ticks)
		ticks = now.ticks; /* everything since the clock began */
	options->since = ended ? 0 : now.ticks - (uint64_t)ticks;
	options->last = ended ? (uint64_t)ticks : 0;
}

int recording_create(const char *option, const char *output, bool private)
{
	char why[NAMED_WHY];
	int directory = named_directory(output, private, why);

	if (directory >= 0)
		return directory;
	if (*why)
		cmd_failed("%s: %s with %s", output, why, option);
	else if (directory == -EEXIST)
		cmd_failed("%s: %s; choose another directory with %s, or remove it", output,
			   strerror(-directory), option);
	else
		cmd_failed("%s: %s; choose a writable directory with %s", output, strerror(-directory),
			   option);
	return -1;
}

int recording_refused(const char *output, int directory, int error)
{
	chunks_discard(directory, output);
	close(directory);
	return cmd_failed("%s: %s; choose a writable directory", output, strerror(-error));
}

int recording_snapshot(struct session *session, const struct target *target, int directory, const char *path,
		       const struct drain_options *options, struct drain_totals *totals)
{
	int error = drain_snapshot(session, directory, options, totals);

	if (error && !totals->events)
		return recording_refused(path, directory, error);
	cmd_symbols_calls(directory, path,
			  &(struct cmd_symbols_options){ .target = target, .deadline_ns = NAMES_NS });
	close(directory);
	return error ? cmd_failed("%s: %s; the trace has the first %llu events only", path, strerror(-error),
				  (unsigned long long)totals->events)
		     : 0;
}

int recording_kept(const char *path, int error)
{
	return error ? cmd_failed("%s: cannot remove the session: %s", path, strerror(-error)) : 0;
}

void recording_progress(struct progress *progress, struct drain *drain, uint64_t apart, uint64_t apart_lost)
{
	char event_text[TEXT_SHORT], sample_text[TEXT_SHORT], lost_text[TEXT_SHORT];
	const unsigned seconds = progress_seconds(progress);
	uint64_t events, lost;

	drain_so_far(drain, &events, &lost);
	progress_show(progress, "%u:%02u, %s events, %s samples, lost %s", seconds / 60, seconds % 60,
		      text_count(event_text, events), text_count(sample_text, apart),
		      text_count(lost_text, lost + apart_lost));
}

/* Print what helps. Losses of one cause in buffers of several owners have several hints. */
static void print_hints(unsigned cause, unsigned owners)
{
	static const char *const hints[WIRE_LOST_CAUSES][DRAIN_OWNERS] = {
		[WIRE_LOST_FULL] = { [DRAIN_RECORDER] = "try a larger --buffer",
				     [DRAIN_KERNEL] = "try a larger --kernel-buffer",
				     [DRAIN_MODULE] = "try burin resize kernel" },
		[WIRE_LOST_SIZE] = { [DRAIN_RECORDER] = "try a larger --packet" },
	};
	const char *before = " (";

	for (unsigned owner = 0; owner < DRAIN_OWNERS; owner++) {
		if (!(owners >> owner & 1) || !hints[cause][owner])
			continue;
		cmd_note("%s%s", before, hints[cause][owner]);
		before = "; ";
	}
	cmd_note("%s", *before == ';' ? ")" : "");
}

static void recording_print_losses(const struct drain_totals *totals)
{
	uint64_t sum = wire_lost_sum(totals->lost) + totals->lost_late + totals->lost_names;
	char text[TEXT_SHORT];
	const char *between = ": ";

	for (unsigned cause = 0; cause < WIRE_CALL_LOSSES; cause++)
		sum += cause == WIRE_CALL_LOST_PATCH ? 0 : totals->lost_calls[cause];
	cmd_note(", lost %s", text_count(text, sum));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		const struct wire_term *term = &wire_loss_terms[cause];

		if (!totals->lost[cause])
			continue;
		cmd_note("%s%s %s", between, text_count(text, totals->lost[cause]), term->text);
		print_hints(cause, totals->lost_by[cause]);
		between = ", ";
	}
	if (totals->lost_late)
		cmd_note("%s%s after the end", between, text_count(text, totals->lost_late));
	if (totals->lost_late)
		between = ", ";
	if (totals->lost_names)
		cmd_note("%s%s names", between, text_count(text, totals->lost_names));
	if (totals->lost_names)
		between = ", ";
	for (unsigned cause = 0; cause < WIRE_CALL_LOSSES; cause++) {
		if (!totals->lost_calls[cause])
			continue;
		cmd_note("%s%s %s", between, text_count(text, totals->lost_calls[cause]),
			 wire_call_terms[cause].text);
		if (cause == WIRE_CALL_LOST_FUNCTION && totals->own_functions)
			cmd_note(" (try a larger --functions-max)");
		between = ", ";
	}
	cmd_note("\n");
}

int recording_trimmed(const struct drain_totals *totals, const char *output)
{
	const struct chunks_trim *trim = &totals->trim;

	if (trim->in_the_way)
		cmd_failed(
			"%s: cannot replace .old in it: %s; .old stays, and old chunks were removed in their "
			"places",
			output, strerror(-trim->in_the_way));
	if (trim->left)
		cmd_failed("%s: cannot remove %u of the oldest chunks: %s", output, trim->left,
			   strerror(-trim->error));
	return trim->in_the_way || trim->left ? CMD_FAULTS : 0;
}

void recording_events(const struct drain_totals *totals, const char *output)
{
	char events[TEXT_SHORT], size[TEXT_SHORT];

	cmd_note("burin: %s event%s on %u CPU%s, %s in %s", text_count(events, totals->events),
		 text_plural(totals->events), totals->cpus, text_plural(totals->cpus),
		 text_size(size, totals->bytes), output);
	recording_print_losses(totals);
}

void recording_chunks(const struct drain_totals *totals)
{
	const unsigned removed = totals->trim.done - totals->trim.left;

	if (totals->changes)
		cmd_note("burin: events were switched from outside %s; burin info shows when, and which were "
			 "off for how long\n",
			 totals->changes == 1 ? "once" : "several times");
	if (totals->chunks)
		cmd_note("burin: %u chunk%s", totals->chunks - removed,
			 text_plural(totals->chunks - removed));
	if (removed)
		cmd_note("; removed the %u oldest of %u", removed, totals->chunks);
	if (totals->chunks)
		cmd_note("\n");
}

void recording_summary(const struct drain_totals *totals, const char *output)
{
	recording_events(totals, output);
	recording_chunks(totals);
}
