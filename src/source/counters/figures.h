/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Figures of the whole machine as counters of a session: how long tasks waited for CPUs, memory and disks (/proc/pressure), and what
 * the disks did (/proc/diskstats). Each value is an event of its own, such as machine.pressure.io.some or machine.disk.sda.read, whose records
 * are written by the reader of these files, through the rings of the session, like those of a program.
 *
 * A value is the mean since the reading before: nothing that happens between two readings is lost, it is only less exact in time.
 */
#ifndef BURIN_SOURCE_COUNTERS_FIGURES_H
#define BURIN_SOURCE_COUNTERS_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "source/counters/figures_proc.h"

enum {
	FIGURES_MAX = 1024, /* others are counted in ->left_out */
	FIGURES_WHY = 256,
};

#define FIGURES_PREFIX "machine." /* of the names of all events */

struct figure {
	char key[FIGURES_NAME]; /* as /proc has it */
	char name[FIGURES_NAME];
	enum figure_unit unit;
	uint16_t id;	/* of its event; 0: it has none */
	bool asked;	/* the event was registered, or refused */
	uint64_t count; /* at the reading before */
};

struct figures {
	struct session *session;
	struct figure *all;
	size_t count, room;
	uint64_t last_ns;    /* CLOCK_MONOTONIC: of the reading before; 0: none */
	uint64_t longest_ns; /* between two readings */
	uint64_t readings;   /* that gave records */
	uint64_t left_out;   /* values for which there was no room */
	uint64_t refused;    /* values whose events could not be registered */
	uint64_t
		retry_ns; /* CLOCK_MONOTONIC: no event is registered before: others hold the session's lock */
};

/*
 * figures_open - find the figures that this machine has, register an event for each, and read them once.
 * @why: receives the reason of an error. Return: 0; -ENOENT: this kernel has none; -ENOMEM; -ETIMEDOUT.
 */
int figures_open(struct figures *figures, struct session *session, char why[FIGURES_WHY]);

/*
 * figures_read - read all figures, and record those whose events are on, perhaps with a condition, which is not evaluated.
 * Context: the thread that opened them.
 */
void figures_read(struct figures *figures);

void figures_close(struct figures *figures);

#endif
