/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Figures of the machine, from counts to records; see figures.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/containers/array.h"
#include "base/nolibc.h"
#include "session/clock.h"
#include "source/counters/figures.h"
#include "wire/wire_context.h"
#include "wire/wire_record.h"

enum {
	SECTOR_BYTES = 512, /* of the kernel's counts, whatever the disk has */
};

/* Registering waits up to a second for other processes, and no ring is read in that time. */
static const uint64_t RETRY_NS = UINT64_C(10000000000);

/* A name that the kernel's drivers chose, such as "cciss/c0d0", within what names of events may have. */
static void set_name(struct figure *figure, const char *name)
{
	snprintf(figure->key, sizeof(figure->key), "%s", name);
	snprintf(figure->name, sizeof(figure->name), FIGURES_PREFIX "%.*s",
		 (int)(sizeof(figure->name) - sizeof(FIGURES_PREFIX)), name);
	for (char *at = figure->name; *at; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
		      (*at >= '0' && *at <= '9') || *at == '_' || *at == '.' || *at == '-'))
			*at = '_';
}

/* Return: NULL: there is no room, or a name means two figures. */
static struct figure *find_figure(struct figures *figures, const char *name, enum figure_unit unit)
{
	struct figure figure = { .unit = unit };

	set_name(&figure, name);
	for (size_t n = 0; n < figures->count; n++)
		if (strcmp(figures->all[n].name, figure.name) == 0)
			return strcmp(figures->all[n].key, figure.key) == 0 ? &figures->all[n] : NULL;
	if (figures->count == FIGURES_MAX || !array_reserve(figures->all, figures->room, figures->count + 1))
		return NULL;
	figures->all[figures->count] = figure;
	return &figures->all[figures->count++];
}

/* Give a figure its event, once. If other processes hold the session's lock, a later reading tries it again. */
static void register_figure(struct figures *figures, struct figure *figure)
{
	const bool is_share = figure->unit != FIGURE_SECTORS;
	const struct session_event event = { .name = figure->name,
					     .format = is_share ? "percent=%.1f" : "bytes_per_s=%lu",
					     .file = "",
					     .types = is_share ? WIRE_F64 : WIRE_U64,
					     .kind = WIRE_KIND_COUNTER };
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (figure->asked || now < figures->retry_ns)
		return;
	figure->asked = session_event_register(figures->session, &event, 1, &figure->id) == 0;
	if (!figure->asked)
		figures->retry_ns = now + RETRY_NS;
}

/* The value is the record's only argument, behind the context, which a reading has not. */
static void figures_put_value(const struct figures *figures, const struct figure *figure, const void *value)
{
	const uint32_t context = wire_context_bytes(figures->session->geometry.context),
		       length = (uint32_t)sizeof(struct wire_compact) + context + (uint32_t)sizeof(uint64_t);
	uint64_t buffer[8] = { 0 };

	if (!wire_is_on(__atomic_load_n(&figures->session->switches[figure->id - 1], __ATOMIC_RELAXED)))
		return;
	memcpy((char *)buffer + WIRE_HEADROOM + context, value, sizeof(uint64_t));
	ring_prepare(buffer, figure->id, length, nolibc_tid());
	session_write_record(figures->session, (struct ring_record){ buffer, length }, nolibc_tid(), false);
}

static void record_mean(const struct figures *figures, const struct figure *figure, uint64_t more,
			uint64_t elapsed_ns)
{
	const double seconds = (double)elapsed_ns / 1e9;
	const double rate = (double)more * SECTOR_BYTES / seconds;
	const uint64_t bytes = rate < 0x1p63 ? (uint64_t)rate : UINT64_C(1) << 63; /* a count is foreign */
	const double busy = (double)more / (figure->unit == FIGURE_BUSY_US ? 1e6 : 1e3),
		     percent = 100 * busy / seconds;

	if (figure->unit == FIGURE_SECTORS)
		figures_put_value(figures, figure, &bytes);
	else
		figures_put_value(figures, figure, &percent);
}

/* A reading: the figures, and the time since the one before; 0: it is the first one. */
struct reading {
	struct figures *figures;
	uint64_t elapsed_ns;
};

static void figures_take_count(void *context, const char *name, enum figure_unit unit, uint64_t count)
{
	const struct reading *reading = context;
	struct figure *figure = find_figure(reading->figures, name, unit);

	if (!figure) {
		reading->figures->left_out++;
		return;
	}
	register_figure(reading->figures, figure);
	reading->figures->refused += !figure->id;
	/* A new figure began at 0. A count that falls is another disk's of the same name, or began again. */
	if (figure->id && reading->elapsed_ns && count >= figure->count)
		record_mean(reading->figures, figure, count - figure->count, reading->elapsed_ns);
	figure->count = count;
}

static size_t figures_take_all(struct figures *figures, uint64_t elapsed_ns)
{
	struct reading reading = { figures, elapsed_ns };

	return figures_proc_read(figures_take_count, &reading);
}

int figures_open(struct figures *figures, struct session *session, char why[FIGURES_WHY])
{
	*figures = (struct figures){ .session = session };
	if (session_announce_process(session, session_self(), nolibc_tid()) != RING_DONE ||
	    session_announce_thread(session, session_self(), nolibc_tid(), nolibc_tid(), NULL, 0) !=
		    RING_DONE) {
		snprintf(why, FIGURES_WHY, "the session has no room for the recorder's name");
		return -ENOMEM;
	}
	figures->last_ns = clock_ns(CLOCK_MONOTONIC);
	if (!figures_take_all(figures, 0)) {
		snprintf(why, FIGURES_WHY,
			 "there is neither /proc/pressure nor /proc/diskstats that can be read");
		return -ENOENT;
	}
	return 0;
}

void figures_read(struct figures *figures)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), elapsed = now - figures->last_ns;

	if (!elapsed)
		return;
	figures_take_all(figures, elapsed);
	figures->last_ns = now;
	figures->longest_ns = elapsed > figures->longest_ns ? elapsed : figures->longest_ns;
	figures->readings++;
}

void figures_close(struct figures *figures)
{
	free(figures->all);
	figures->all = NULL;
	figures->count = figures->room = 0;
}
