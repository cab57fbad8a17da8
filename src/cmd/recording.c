/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Of all recordings; see recording.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/recording.h"

int recording_signals(int more, sigset_t *before)
{
	sigset_t set, held;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (more)
		sigaddset(&set, more);
	held = set;
	sigaddset(&held, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &held, before);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void recording_output(const char *wanted, const char *name, unsigned first, char *path, size_t bytes)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	unsigned n = first;

	if (wanted) {
		snprintf(path, bytes, "%s", wanted);
		return;
	}
	do {
		if (n)
			snprintf(path, bytes, "%s-%u.burin", base, n);
		else
			snprintf(path, bytes, "%s.burin", base);
		n = n ? n + 1 : 2;
	} while (access(path, F_OK) == 0 && n < 100000);
}

uint64_t recording_moment(const struct session *session, uint64_t ns)
{
	struct clock_pair now;
	unsigned __int128 ticks = (unsigned __int128)ns * session_clock_hz(session) / 1000000000;

	clock_read_pair(session->geometry.clock == WIRE_CLOCK_TSC, &now);
	return ticks < now.ticks ? now.ticks - (uint64_t)ticks : 0;
}

int recording_refused(const char *command, const char *output, int error)
{
	if (error != -EEXIST)
		chunks_discard(output);
	return cmd_failed(command, "%s: %s; %s", output, strerror(-error),
			  error == -EEXIST ? "choose another directory with -o, or remove it"
					   : "choose a place that can be written to with -o");
}

void recording_progress(struct progress *progress, struct drain *drain, const struct sampling *sampling)
{
	char event_text[TEXT_SHORT], sample_text[TEXT_SHORT], lost_text[TEXT_SHORT];
	uint64_t events, lost, samples, samples_lost;
	unsigned seconds;

	if (!progress_due(progress))
		return;
	seconds = progress_seconds(progress);
	drain_so_far(drain, &events, &lost);
	sampling_so_far(sampling, &samples, &samples_lost);
	progress_show(progress, "%u:%02u, %s events, %s samples, lost %s", seconds / 60, seconds % 60,
		      text_count(event_text, events), text_count(sample_text, samples),
		      text_count(lost_text, lost + samples_lost));
}

static void print_losses(const struct drain_totals *totals)
{
	static const char *const causes[WIRE_LOST_CAUSES] = {
		[WIRE_LOST_FULL] = "buffer full (try --buffer with more)",
		[WIRE_LOST_BUSY] = "all rings locked",
		[WIRE_LOST_SIZE] = "too large (try --packet with more)",
		[WIRE_LOST_OVERWRITTEN] = "overwritten",
		[WIRE_LOST_CORRUPT] = "damaged in memory",
		[WIRE_LOST_UNREAD] = "not written to disk",
	};
	uint64_t sum = totals->lost_late + totals->lost_names;
	char text[TEXT_SHORT];
	const char *between = ": ";

	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++)
		sum += totals->lost[cause];
	fprintf(stderr, ", lost %s", text_count(text, sum));
	for (unsigned cause = 0; cause < WIRE_LOST_CAUSES; cause++) {
		if (!totals->lost[cause])
			continue;
		fprintf(stderr, "%s%s %s", between, text_count(text, totals->lost[cause]), causes[cause]);
		between = ", ";
	}
	if (totals->lost_late)
		fprintf(stderr, "%s%s after the end", between, text_count(text, totals->lost_late));
	if (totals->lost_names)
		fprintf(stderr, "%s%s names", totals->lost_late ? ", " : between,
			text_count(text, totals->lost_names));
	fputc('\n', stderr);
}

void recording_summary(const struct drain_totals *totals, const char *output, bool joined)
{
	char events[TEXT_SHORT], size[TEXT_SHORT], safe[4096];

	fprintf(stderr, "burin: %s event%s on %u CPU%s, %s in %s", text_count(events, totals->events),
		totals->events == 1 ? "" : "s", totals->cpus, totals->cpus == 1 ? "" : "s",
		text_size(size, totals->bytes), text_escape_line(safe, sizeof(safe), output));
	print_losses(totals);
	if (totals->chunks)
		fprintf(stderr, "burin: %u chunk%s", totals->chunks - totals->removed,
			totals->chunks - totals->removed == 1 ? "" : "s");
	if (totals->removed)
		fprintf(stderr, "; removed the %u oldest of %u", totals->removed, totals->chunks);
	if (totals->chunks)
		fputc('\n', stderr);
	if (!joined)
		fprintf(stderr, "burin: no process with tracepoints ran; they come with <burin/burin.h>, see "
				"burin(3)\n");
}
