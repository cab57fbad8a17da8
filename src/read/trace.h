/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the files of read/ share: an open trace, its streams, the index of their packets, its events and
 * names.
 *
 *	open.c        opening, in the order that matters, and closing
 *	directory.c   which files make which stream
 *	packet.c      the index: every packet's header, checked; loading of one packet's records
 *	order.c       packets that are out of order, twice, or of another time, taken out of the index
 *	record.h      one step from record to record
 *	events.c      the event table        fields.c     typed access to a record's fields
 *	names.c       threads and processes  recording.c  how the trace came about
 *	clock.c       ticks and nanoseconds  diagnose.c   faults: where and why
 *	lane.c        walking one stream     cursor.c     merging streams by time
 *	count.c       counting by a few threads, for summaries
 *	slices.c      cutting a trace into spans of time of about equal size
 *	check.c, check_records.c, check_tables.c, check_profile.c     holding every byte against the format
 *
 * What samples refer to (profile.h), table by table:
 *
 *	profile_open.c    opening all of it, and closing
 *	profile_values.c  how the samples came about
 *	samples.c         which records are samples
 *	spots.c           who ran where       tasks.c      who ran
 *	places.c          stacks, and where their code is
 *	symbols.c         names of places     images.c     what code lies in
 *	tables.c          reading a table, whatever it is of
 */
#ifndef BURIN_READ_TRACE_H
#define BURIN_READ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "burin/read.h"
#include "wire/event.h"
#include "wire/format.h"
#include "wire/packet.h"

enum {
	READ_FILE_NAME_MAX = 40,   /* "locked1048575.1048575" and more */
	READ_NUMBER_MAX = 1 << 20, /* numbers of rings and files stay below */
};

struct read_file {
	char name[READ_FILE_NAME_MAX];
	uint32_t number; /* behind the dot; 0 without */
};

/* An entry of the index. Offsets and sizes in bytes, and already known to lie within the file. */
struct read_packet {
	uint64_t offset; /* of the header in its file */
	uint64_t packet_bytes;
	uint32_t content_bytes; /* header included, and nothing else without records */
	uint32_t file;		/* index into the stream's files */
	uint32_t cpu;
	bool faulty; /* counted as skipped; set atomically */
	uint64_t time_begin, time_end;
	uint64_t sequence;
	uint64_t discarded, events_before;
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t base_time;
	uint32_t base_offset;
};

struct read_stream {
	struct burin_ring ring; /* what the public sees of it */
	uint32_t stream_id;	/* WIRE_STREAM_* */
	struct read_file *files;
	unsigned file_count;
	struct read_packet *packets; /* in the order of the ring */
	size_t packet_count, packet_room;
};

struct read_field {
	struct burin_field open;    /* what the public sees of it */
	struct format_field parsed; /* its name, and its conversion in the format */
};

struct read_event {
	struct burin_event open; /* what the public sees of it; first, so that one pointer finds the other */
	struct read_field *fields;
	bool known;		/* the entry could be read */
	bool spelled;		/* the format could be taken apart: conversions and names are the program's */
	bool variable;		/* has str or bytes */
	uint32_t payload_bytes; /* of a record, if not variable */
	uint32_t offsets[WIRE_ARGS_MAX + 1]; /* of the fields, if not variable */
};

/* An announcement of the names stream. */
struct read_names {
	struct burin_thread *threads; /* by tid, then time */
	size_t thread_count;
	struct burin_process *processes; /* by pid, then time */
	size_t process_count;
	struct arena strings;
};

struct read_clock {
	uint64_t hz;
	int64_t offset_ns;
};

struct read_line {
	char *key, *value;
};

struct read_recording {
	struct read_line *lines;
	unsigned count;
	bool sound; /* first line was as it should be */
};

struct read_faults;

struct burin_trace {
	int directory;
	bool strict; /* report what does not hinder reading too: for check */
	struct read_faults *faults;
	struct read_recording recording;
	struct read_clock clock;
	uint32_t context; /* enum wire_context: what the records have in front of their payload */
	uint8_t uuid[16];
	struct read_stream *streams; /* rings by number */
	unsigned stream_count;
	struct read_stream names_stream;
	struct read_event *events; /* events[id - 1] */
	unsigned event_count;
	char *event_text;		  /* of the event table */
	struct read_event name_events[2]; /* burin.process, burin.thread */
	struct read_names names;
	uint64_t begin, end;
	bool has_records;
};

/* ---- diagnose.c */
struct read_faults *read_faults_new(void (*on_fault)(void *, const struct burin_diagnosis *), void *data);
void read_faults_free(struct read_faults *faults);
/* Report a fault. Returns whether it is the first of its code at that place. */
bool read_fault(const struct burin_trace *trace, int code, const char *file, uint64_t offset,
		const char *reason, ...) __attribute__((format(printf, 5, 6)));
/* A file that could not be had. @error: of read_directory_open(), read_directory_load() */
void read_fault_file(const struct burin_trace *trace, int code, const char *file, int error);
/* Fills in *why, unless it is NULL. */
void read_diagnose(struct burin_diagnosis *why, int code, const char *file, uint64_t offset,
		   const char *reason, ...) __attribute__((format(printf, 5, 6)));
/* A packet of which not everything can be read: counted once. */
void read_skip_packet(const struct burin_trace *trace, struct read_packet *packet);
void read_skip_packets(const struct burin_trace *trace, uint64_t count);
void read_skip_record(const struct burin_trace *trace);

/* ---- directory.c */
/* Finds the streams' files. Return: 0; -ENOMEM; another negative errno, and *why. */
int read_directory_list(struct burin_trace *trace, struct burin_diagnosis *why);
/* Opens a regular file of the trace for reading; *size is its size. Returns the descriptor or a negative errno, of
 * which -EBADF says that it is no regular file. */
int read_directory_open(const struct burin_trace *trace, const char *name, uint64_t *size);
/* Reads a whole file of at most limit bytes into memory (NUL-terminated, to be freed). Return: 0 or as above. */
int read_directory_load(const struct burin_trace *trace, const char *name, uint64_t limit, char **data,
			size_t *bytes);
/* Reads until bytes are there; returns how many are, less at the end of the file, or a negative errno. */
ssize_t read_fully(int file, void *data, size_t bytes, uint64_t offset);

/* ---- packet.c */
/* Makes the index of a stream's packets out of their headers; faults are reported. Return: 0 or -ENOMEM. */
int read_stream_index(struct burin_trace *trace, struct read_stream *stream);
/* Which uuid the packets have, when the recording file does not say or says something else. */
void read_stream_vote(struct burin_trace *trace);

/* What holds one packet's bytes at a time. Zero it before use, but for file = -1. */
struct read_loader {
	int file;
	unsigned file_index;
	const struct read_stream *stream; /* whose file is open */
	unsigned char *bytes; /* from the packet's header on; at least 8 zero bytes follow the content */
	size_t room;
};
/* Loads a packet up to its content size. Return: 0; -ENOMEM; or a fault's code, which has been reported. */
int read_packet_load(struct read_loader *loader, const struct burin_trace *trace,
		     const struct read_stream *stream, struct read_packet *packet);
void read_loader_close(struct read_loader *loader);

/* ---- order.c */
/* Leaves packets out of the index until they are in order, and lets none end behind the next; all of it is reported. */
void read_stream_order(struct burin_trace *trace, struct read_stream *stream);

/* ---- recording.c */
/* Reads `.burin/recording`, as far as it can be read; faults are reported. Return: 0 or -ENOMEM. */
int read_recording_load(struct burin_trace *trace);
/* A line of key=value more; takes `\\` and `\n` of the value back. Return: 0 or -ENOMEM. */
int read_recording_add(struct read_recording *recording, const char *key, const char *value);
void read_recording_free(struct read_recording *recording);
/* A value as a number. Return: 0; -ENOENT; -EINVAL: it is none. */
int read_recording_number(const struct burin_trace *trace, const char *key, uint64_t *value);
/* 32 hexadecimal digits, dashes ignored, to 16 bytes. */
bool read_uuid_parse(const char *text, uint8_t uuid[16]);

/* ---- clock.c */
/* Prepares converting ticks by what the recording says of its clock; faults are reported. */
void read_clock_set(struct burin_trace *trace);

/* ---- events.c */
/* Reads `.burin/events`; an entry that is wrong is reported, and unknown. Return: 0 or -ENOMEM. */
int read_events_load(struct burin_trace *trace);
void read_events_free(struct burin_trace *trace);
/* Makes the events of the names stream, which are the same in every trace. */
void read_name_events_make(struct burin_trace *trace);
static inline const struct read_event *read_event_of(const struct burin_event *event)
{
	return (const struct read_event *)event;
}
/* The event of a record's id in a stream of records or of names; NULL if there is none. */
static inline const struct read_event *read_event_find(const struct burin_trace *trace, uint32_t stream_id,
						       uint32_t id)
{
	const struct read_event *events = stream_id ? trace->name_events : trace->events;
	unsigned count = stream_id ? 2 : trace->event_count;

	return id - 1 < count && events[id - 1].known ? &events[id - 1] : NULL;
}

/* ---- fields.c */
/* Finds the fields of a payload of variable size. Return: 0, or why the payload is not what the event says.
 */
const char *read_layout(const struct read_event *event, const unsigned char *payload, uint32_t bytes,
			uint32_t offsets[WIRE_ARGS_MAX + 1]);

/* ---- names.c */
/* Reads all announcements; the index and the events are there. Return: 0 or -ENOMEM. */
int read_names_load(struct burin_trace *trace);
void read_names_free(struct read_names *names);
/* As burin_trace_thread(), and until when (ticks, inclusive) the answer is the same; NULL without any. *from
 * too. */
const struct burin_thread *read_thread_find(const struct burin_trace *trace, uint32_t tid, uint64_t time,
					    uint64_t *from, uint64_t *until);

/* ---- cursor.c */
/* Moves a cursor to another span of time, as if it had been opened for that; to is exclusive, 0: no end. */
int read_cursor_span(struct burin_cursor *cursor, uint64_t from, uint64_t to);

/* ---- slices.c */
/*
 * Cuts the time from..to (exclusive; 0: no end) into spans with about `bytes` of records each, by the index
 * alone. Slice n is from bounds[n] to bounds[n + 1]; bounds is to be freed. Return: the number of slices, at
 * least 1, or -ENOMEM.
 */
ssize_t read_slices(const struct burin_trace *trace, uint64_t from, uint64_t to, uint64_t bytes,
		    uint64_t **bounds);

/* ---- count.c */
struct read_thread_count {
	uint32_t tid;
	uint64_t count;
	const struct burin_thread *thread; /* NULL if it was never announced */
};

struct read_counts {
	uint64_t records;
	uint64_t unknown;		   /* of them, those of no event in the table */
	uint64_t *events;		   /* by id, event_count + 1 of them */
	struct read_thread_count *threads; /* by pid, tid, time */
	size_t thread_count;
	uint64_t uncounted; /* records of threads beyond the number that is kept */
	uint64_t *rings;    /* records of each ring, in the order of burin_trace_ring() */
};

/* Counts every record of the rings, by walking the headers, on a number of threads. Return: 0 or -ENOMEM. */
int read_count(const struct burin_trace *trace, unsigned threads, struct read_counts *counts);
void read_counts_free(struct read_counts *counts);

/* ---- open.c */
int read_trace_open(struct burin_trace **trace, const char *path, const struct burin_open_options *options,
		    bool strict, struct burin_diagnosis *why);

#endif
