/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Probes as tracepoints of tracefs; see probe_event.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "file/tracefs_open.h"
#include "session/session.h"
#include "source/kernel/probes/probe_description.h"
#include "source/kernel/probes/probe_event.h"

enum {
	PROBE_LINE = 256,    /* bytes of a definition */
	PROBE_REMOVALS = 50, /* the kernel lets an event go a moment after it is closed */
};

static const char form[] = "burin_%" PRIu32 "_%" PRIu64;

/* Open the file that defines tracepoints. Return: a descriptor or -errno. */
static int open_definitions(int mode)
{
	const int events = tracefs_open();
	int file, error;

	if (events < 0)
		return events;
	file = openat(events, "../uprobe_events", mode | O_CLOEXEC);
	error = -errno;
	close(events);
	return file < 0 ? error : file;
}

/* The kernel takes one definition for each write. */
static int probe_event_define(int file, const char *line)
{
	return write(file, line, strlen(line)) < 0 ? -errno : 0;
}

/* The places of a description. */
struct places {
	int file;	   /* of the definitions; -1: they are only counted */
	const char *group; /* of the tracepoint */
	unsigned count, refused;
	char *why; /* about the first one that is refused; PROBE_WHY bytes */
};

static int probe_event_take(void *context, const struct tracepoint *point)
{
	struct places *places = context;
	char line[PROBE_LINE], counter[32] = "";
	int error;

	if (point->refused && !places->refused++)
		snprintf(places->why, PROBE_WHY, "%.80s: %s", point->name, point->refused);
	if (point->refused)
		return 0;
	places->count++;
	if (places->file < 0)
		return 0;
	if (point->counter)
		snprintf(counter, sizeof(counter), "(0x%" PRIx64 ")", point->counter);
	snprintf(line, sizeof(line), "%c:%s/hits /proc/self/fd/%d:0x%" PRIx64 "%s",
		 point->is_return ? 'r' : 'p', places->group, point->file, point->site, counter);
	error = probe_event_define(places->file, line);
	/* Two names of one place. */
	return error == -EEXIST && places->count > 1 ? 0 : error;
}

static int probe_event_find(const char *text, struct places *places, char why[PROBE_WHY])
{
	int file, error;

	*why = 0;
	places->why = why;
	error = probe_find(text, &file, probe_event_take, places, why);
	if (file >= 0)
		close(file);
	if (!error && !places->count)
		return -EINVAL;
	if (error && !*why)
		snprintf(why, PROBE_WHY, "uprobe_events: %s", strerror(-error));
	return error;
}

static int open_to_define(char why[PROBE_WHY])
{
	const int file = open_definitions(O_WRONLY);

	if (file == -EACCES || file == -EPERM)
		snprintf(why, PROBE_WHY, "stacks at probes need the right to write tracefs; run as root");
	else if (file == -ENOENT || file == -ENODEV)
		snprintf(why, PROBE_WHY, "the kernel has no probes in programs (CONFIG_UPROBE_EVENTS)");
	else if (file < 0)
		snprintf(why, PROBE_WHY, "uprobe_events: %s", strerror(-file));
	return file;
}

int probe_event_check(const char *text, unsigned *refused, char why[PROBE_WHY])
{
	struct places places = { .file = -1 };
	char of_tracefs[PROBE_WHY];
	const int error = probe_event_find(text, &places, why),
		  file = error ? error : open_to_define(of_tracefs);

	*refused = places.refused;
	if (file < 0 && !error)
		strcpy(why, of_tracefs);
	if (file < 0)
		return file;
	close(file);
	return 0;
}

static void remove_group(int file, const char *group)
{
	char line[PROBE_LINE];

	snprintf(line, sizeof(line), "-:%s/hits", group);
	for (unsigned n = 0; n < PROBE_REMOVALS && probe_event_define(file, line) == -EBUSY; n++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Remove those of recorders that have ended. @file: of the definitions */
static void probe_event_sweep(int file)
{
	const int to_read = open_definitions(O_RDONLY);
	FILE *in = to_read < 0 ? NULL : fdopen(to_read, "r");
	char line[PROBE_LINE + TRACEPOINT_TEXT_MAX], group[TRACEPOINT_NAME];
	uint32_t pid;
	uint64_t start;

	if (!in && to_read >= 0)
		close(to_read);
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line + 1, ":burin_%" SCNu32 "_%" SCNu64 "/hits ", &pid, &start) != 2 ||
		    session_start_time(pid) == start)
			continue;
		snprintf(group, sizeof(group), form, pid, start);
		remove_group(file, group);
	}
	if (in)
		fclose(in);
}

/* The description as a name: its kind, the file's last part, and the rest up to arguments, in the characters of names. */
static void probe_event_set_label(struct probe_event *event, const char *text)
{
	static struct probe_description description;
	char ignored[PROBE_WHY];
	const char *kind = strchr(text, ':'), *slash, *rest;

	if (!kind || probe_description_parse(&description, text, ignored) != 0)
		return;
	slash = strrchr(description.file, '/');
	rest = kind + 1 + strlen(description.file);
	snprintf(event->label, sizeof(event->label), "%.*s:%.27s%.64s", (int)(kind - text), text,
		 slash ? slash + 1 : description.file, rest);
	for (char *at = event->label; *at; at++) {
		if (*at == '(') {
			*at = 0;
			break;
		}
		if (!((*at >= '0' && *at <= '9') || ((*at | 32) >= 'a' && (*at | 32) <= 'z') ||
		      strchr("_.:-", *at)))
			*at = '_';
	}
}

int probe_event_make(struct probe_event *out, const char *text, char why[PROBE_WHY])
{
	const uint32_t pid = (uint32_t)getpid();
	char group[TRACEPOINT_NAME];
	struct places places = { .file = open_to_define(why), .group = group };
	int error;

	*out = (struct probe_event){ .made = false };
	if (places.file < 0)
		return places.file;
	probe_event_sweep(places.file);
	snprintf(group, sizeof(group), form, pid, session_start_time(pid));
	error = probe_event_find(text, &places, why);
	if (error)
		remove_group(places.file, group);
	else
		probe_event_set_label(out, text);
	close(places.file);
	out->made = !error;
	snprintf(out->name, sizeof(out->name), "%.50s:hits", group);
	return error;
}

void probe_event_remove(struct probe_event *event)
{
	const int file = event->made ? open_definitions(O_WRONLY) : -1;
	char group[TRACEPOINT_NAME];

	if (file >= 0) {
		snprintf(group, sizeof(group), "%.*s", (int)strcspn(event->name, ":"), event->name);
		remove_group(file, group);
		close(file);
	}
	event->made = false;
}
