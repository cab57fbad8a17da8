/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A probe in programs as a tracepoint of tracefs, so that perf events can be opened at it: docs/decisions/0136. Its places are one
 * tracepoint. Its name has the recorder's process id and start time, so that the one of a recorder that was killed is found.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_EVENT_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_EVENT_H

#include "source/kernel/probes/probe.h"

struct probe_event {
	bool made;
	char name[TRACEPOINT_NAME]; /* of the tracepoint: "system:name" */
	char label
		[TRACEPOINT_LABEL]; /* the description, as a name of an event: without the file's folder and the arguments */
};

/*
 * probe_event_check - whether it can be made.
 * @refused: functions of a glob that cannot be probed; then *why is one of them, and why
 * Return: 0; a negative errno, and *why is one line.
 */
int probe_event_check(const char *text, unsigned *refused, char why[PROBE_WHY]);

/*
 * probe_event_make - make the tracepoint of a description, see probe.h. Those of recorders that have ended are removed.
 * Context: once for each process. Return: as above; then nothing was made.
 */
int probe_event_make(struct probe_event *out, const char *text, char why[PROBE_WHY]);

/* probe_event_remove - remove it, if it was made. All events that were opened at it are closed. */
void probe_event_remove(struct probe_event *event);

#endif
