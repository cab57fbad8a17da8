/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by the files of read/: an open trace, its streams, the index of their packets, its events and names.
 *
 *	open.c                opening, in the necessary order, and closing
 *	trace_directory.c     which files make which stream
 *	trace_chunks.c        the chunks of a split recording, read as one trace
 *	packet.c              the index: every packet's header, checked; loading one packet's records
 *	order.c               removes packets from the index that are out of order or duplicates
 *	trace_events.c        the event table
 *	fields.c              typed access to a record's fields
 *	trace_history.c       changes of states, and how long events were off
 *	trace_names.c         threads and processes
 *	recording_info.c      how the trace was recorded
 *	trace_clock.c         ticks and nanoseconds
 *	diagnose.c            faults: where and why
 *	stream_iterator.c     reading one stream
 *	cursor.c              merging streams by time
 *	count_records.c       counts records for summaries, in several threads
 *	time_partition.c      cuts a trace into spans of time of about equal size
 *	check_*.c             check every byte against the format
 *
 * The tables that samples refer to (profile_parts.h):
 *
 *	profile_open.c        opening all tables, and closing
 *	profile_values.c      how the samples were taken
 *	profile_samples.c     which records are samples
 *	profile_contexts.c    task and stack of samples
 *	profile_tasks.c       threads and programs
 *	profile_locations.c   stacks and their locations
 *	profile_symbols.c     names of locations
 *	profile_images.c      images
 *	tables.c              reading any table
 */
#ifndef BURIN_READ_TRACE_H
#define BURIN_READ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/arena.h"
#include "burin/read.h"
#include "wire/wire_change.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"
#include "wire/wire_packet.h"

enum {
	READ_FILE_NAME_MAX = 40,  /* "1048575/locked1048575.1048575" and more */
	READ_CHUNK_NAME_MAX = 12, /* "1048575" and more */
	READ_NAME_EVENTS = 3,
	READ_BEHIND = 16,
	READ_NUMBER_MAX = 1 << 20, /* numbers of rings and files stay below */
	READ_MEMORY_DEFAULT = 1 << 30,
	READ_INFLATION_MAX = 64,   /* bytes of tables per stored byte of the trace ... */
	READ_INFLATION_FREE = 256, /* ... plus this fraction of the memory limit, for small traces */
};

/* A chunk of a split recording. */
struct read_chunk {
	char name[READ_CHUNK_NAME_MAX]; /* of its directory; "" if the trace is not split */
	uint32_t number;
	uint64_t own_names; /* packets of names with lower numbers repeat those of earlier chunks */
};

struct read_file {
	char name[READ_FILE_NAME_MAX]; /* in the trace's directory */
	uint32_t number;	       /* after the dot; 0 without */
	uint32_t chunk;		       /* index into the trace's chunks */
};

/* An entry of the index. Offsets and sizes are in bytes; they have been checked to lie within the file. */
struct read_packet {
	uint64_t offset; /* of the header in its file */
	uint64_t packet_bytes;
	uint32_t content_bytes; /* with the header; the header alone if there are no records */
	uint32_t file;		/* index into the stream's files */
	uint32_t cpu;
	bool faulty; /* counted as skipped; set atomically */
	uint64_t time_begin, time_end;
	uint64_t from; /* earlier records are repeated from the chunk before; 0: none are */
	uint64_t sequence;
	uint64_t discarded, events_before;
	uint64_t lost[WIRE_LOST_CAUSES];
	uint64_t base_time;
	uint32_t base_offset;
};

struct read_stream {
	struct burin_ring ring; /* its public part */
	uint32_t stream_id;	/* WIRE_STREAM_* */
	struct read_file *files;
	unsigned file_count;
	size_t file_room;
	struct read_packet *packets; /* in the order of the ring */
	size_t packet_count, packet_room;
};

struct read_field {
	struct burin_field open;    /* its public part; first, so that one pointer can be cast to the other */
	struct format_field parsed; /* its name, and its conversion in the format */
	bool named;		    /* an enum follows the conversion */
	unsigned label_count;
	struct read_label *labels; /* of the enum, by value */
};

struct read_event {
	struct burin_event open; /* its public part; first, so that one pointer can be cast to the other */
	struct read_field *fields;
	bool valid;		/* the entry could be read */
	bool spelled;		/* the format could be parsed: conversions and names are the program's */
	bool variable;		/* has str or bytes */
	uint64_t types;		/* of its fields, as in struct wire_event */
	const char *enums;	/* names of values, in the table of events */
	bool has_span_id;	/* begins with the id of a span */
	uint32_t payload_bytes; /* of a record, if not variable */
	uint32_t fixed;		/* fields before the first str, bytes or array */
	uint32_t offsets[WIRE_ARGS_MAX + 1]; /* of the fields, if not variable; otherwise of these */
};

/* The announcements of the names stream. */
struct read_names {
	struct burin_thread *threads; /* by tid, then time */
	size_t thread_count, thread_room;
	struct burin_process *processes; /* by pid, then time */
	size_t process_count, process_room;
	struct arena strings;
};

/* A change of states, or the states of all events (docs/format.md, "History"). */
struct read_change {
	uint64_t time, number, value, dropped;
	const char *kind, *program, *command, *text;
	const char *events; /* "3-17 20" */
	uint32_t pid, uid, first, last;
};

struct read_history {
	struct read_change *changes; /* in the order of the trace */
	uint64_t dropped_before;     /* changes that the earlier chunks do not have */
	uint32_t chunk;		     /* of the last change */
	size_t count, room;
	struct arena strings;
};

struct read_clock {
	uint64_t hz, inverse; /* UINT64_MAX / hz */
	int64_t offset_ns;
};

struct read_line {
	char *key, *value;
};

struct read_recording {
	struct read_line *lines;
	unsigned count;
	size_t room;
	bool missing;
	int error;  /* -errno: the file exists but could not be read */
	bool sound; /* the first line was valid */
};

struct read_faults;

struct burin_trace {
	int directory;
	bool strict;		     /* also report faults that do not hinder reading: for check */
	uint64_t memory_max, memory; /* bytes: the limit; used by the index, the events and the names */
	uint64_t stored;	     /* bytes of the packets' contents */
	struct read_faults *faults;
	struct read_chunk
		*chunks; /* in order of their numbers; one without a name if the trace is not split */
	unsigned chunk_count;
	struct read_recording recording; /* of all chunks */
	struct read_clock clock;
	uint32_t context; /* enum wire_context: the fields before a record's payload */
	uint8_t uuid[16];
	struct read_stream *streams; /* rings by number */
	unsigned stream_count;
	struct read_stream names_stream, changes_stream;
	struct read_event *events; /* events[id - 1] */
	unsigned event_count;
	char *event_text;    /* of the event table */
	const char *refused; /* a line for each refused event, fields separated by tabs; NULL: none */
	struct read_event name_events[READ_NAME_EVENTS]; /* burin.process, burin.thread, burin.change */
	struct read_names names;
	struct read_history history;
	uint64_t begin, end;
	bool has_records;
};

/* ---- diagnose.c */
struct read_faults *read_faults_new(void (*on_fault)(void *, const struct burin_diagnosis *), void *data);
void read_faults_free(struct read_faults *faults);
/* Reports a fault. Return: whether it is the first with this code, file and offset. */
bool read_fault(const struct burin_trace *trace, int code, const char *file, uint64_t offset,
		const char *reason, ...) __attribute__((format(printf, 5, 6)));
/* Reports a file that could not be read. @error: from read_directory_open() or read_directory_load() */
void read_fault_file(const struct burin_trace *trace, int code, const char *file, int error);
/* Fills in *why, unless it is NULL. */
void read_diagnose(struct burin_diagnosis *why, int code, const char *file, uint64_t offset,
		   const char *reason, ...) __attribute__((format(printf, 5, 6)));
/* Counts a packet that cannot be read completely, once. */
void read_skip_packet(const struct burin_trace *trace, struct read_packet *packet);
void read_skip_packets(const struct burin_trace *trace, uint64_t count);
void read_skip_record(const struct burin_trace *trace);

/*
 * Counts memory before it is allocated. Return: 0; -EDQUOT: it would exceed the limit. That has been reported for
 * @file at @offset; the caller reads no more of the file.
 */
int read_memory_take(struct burin_trace *trace, const char *file, uint64_t offset, uint64_t bytes);
/* Makes room in an array (base/containers/array.h) and counts it. @items: points to the pointer to the first. Return: as above; -ENOMEM. */
int read_memory_reserve(struct burin_trace *trace, const char *file, uint64_t offset, void *items,
			size_t *room, size_t count, size_t item_bytes);
/* Reports that the limit is reached. */
void read_memory_fault(const struct burin_trace *trace, const char *file, uint64_t offset);

/* ---- trace_directory.c */
/* Finds the streams' files. Return: 0; -ENOMEM; another negative errno, and *why. */
int read_directory_list(struct burin_trace *trace, struct burin_diagnosis *why);
/* Opens a regular file of the trace for reading; *size is its size. Returns the descriptor or a negative errno, of
 * which -EBADF means that it is not a regular file. */
int read_directory_open(const struct burin_trace *trace, const char *name, uint64_t *size);
/* Reads a file, at most limit bytes, into memory (NUL-terminated; the caller frees it). Return: 0 or as above. */
int read_directory_load(const struct burin_trace *trace, const char *name, uint64_t limit, char **data,
			size_t *bytes);
/*
 * The offset of a file's first hole; its size if it has none. Recorders write every byte of tables and texts, so a
 * hole in these is a manipulation that makes the file large. Streams have holes where packets were not needed.
 */
uint64_t read_hole(int file, uint64_t size);
/* Reads up to @bytes. Return: how many, fewer at the end of the file, or a negative errno. */
ssize_t read_fully(int file, void *data, size_t bytes, uint64_t offset);

/* Makes the one nameless chunk of a trace that is not split. Return: 0 or -ENOMEM. */
int read_chunks_single(struct burin_trace *trace);
/* The name of a file of a chunk, such as "0003/.burin/events". Return: path */
const char *read_chunk_file(const struct burin_trace *trace, unsigned chunk, const char *file,
			    char path[READ_FILE_NAME_MAX]);

/* ---- trace_chunks.c */
/*
 * Finds the chunks of a split recording in the directory, which has no recording file itself, and joins theirs; if there
 * are any. Return: 0 or -ENOMEM.
 */
int read_chunks_find(struct burin_trace *trace);
/* Leaves out chunks that are not later than the one before, such as copies; after the index, before the order. */
int read_chunks_order(struct burin_trace *trace);

/* ---- packet.c */
/* Indexes a stream's packets by their headers; faults are reported. Return: 0 or -ENOMEM. */
int read_stream_index(struct burin_trace *trace, struct read_stream *stream);
/* Sets the uuid from the packets if the recording file has none, or one that no packet has. */
void read_uuid_choose(struct burin_trace *trace);

/* Holds one packet's bytes at a time. Zero it before use, with file = -1. */
struct read_loader {
	int file;
	unsigned file_index;
	const struct read_stream *stream; /* whose file is open */
	unsigned char *bytes; /* from the packet's header on; READ_BEHIND zero bytes follow the content */
	size_t room;
};
/* Loads a packet up to its content size. Return: 0; -ENOMEM; or a fault's code, which has been reported. */
int read_packet_load(struct read_loader *loader, const struct burin_trace *trace,
		     const struct read_stream *stream, struct read_packet *packet);
void read_loader_close(struct read_loader *loader);

/* ---- order.c */
/* Removes packets that are out of order from the index. Lets none end later than the next begins. Reports both. */
void read_stream_order(struct burin_trace *trace, struct read_stream *stream);

/* ---- recording_info.c */
/* Reads a chunk's `.burin/recording`; faults are reported. Return: 0 or -ENOMEM. */
int read_recording_load(struct burin_trace *trace, unsigned chunk, struct read_recording *recording);
/* Sets trace->context from the recording file. */
void read_recording_context(struct burin_trace *trace);
/* The value of a key; NULL: there is none. */
const char *read_recording_value(const struct read_recording *recording, const char *key);
/*
 * Adds the values of a later chunk's recording file, which is then empty: counts of losses are summed, an unfinished
 * or failed state and its trouble stay, and of all else the later value counts. Return: 0 or -ENOMEM.
 */
int read_recording_join(struct read_recording *recording, struct read_recording *later);
/* Reports a missing recording file, once it is clear that the directory is a trace. */
void read_recording_missing(struct burin_trace *trace);
/* Adds a line of key=value; unescapes `\\` and `\n` of the value. Return: 0 or -ENOMEM. */
int read_recording_add(struct read_recording *recording, const char *key, const char *value);
/* The same with a value that is not escaped. */
int read_recording_copy(struct read_recording *recording, const char *key, const char *value);
void read_recording_free(struct read_recording *recording);
/* A value as a number. Return: 0; -ENOENT; -EINVAL: it is not a number. */
int read_recording_number(const struct burin_trace *trace, const char *key, uint64_t *value);
/* 32 hexadecimal digits, dashes ignored, to 16 bytes. */
bool read_uuid_parse(const char *text, uint8_t uuid[16]);

/* ---- trace_clock.c */
/* Sets the clock's rate and offset from the recording file; faults are reported. */
void read_clock_set(struct burin_trace *trace);

/* ---- trace_events.c */
/* Reads `.burin/events`; a wrong entry is reported, its id has no event. Return: 0 or -ENOMEM. */
int read_events_load(struct burin_trace *trace);
void read_events_free(struct burin_trace *trace);
/* Makes the events of the names stream, which are the same in every trace. */
int read_name_events_make(struct burin_trace *trace);
/* The refused events, one by one: *at is NULL at first. Return: whether there is one more. */
struct read_refusal {
	char name[640], file[1024], why[1024]; /* printable */
	unsigned line, times;
};
bool read_refusal_next(const struct burin_trace *trace, const char **at, struct read_refusal *refusal);
static inline const struct read_event *read_event_of(const struct burin_event *event)
{
	return (const struct read_event *)event;
}
/* The event of a record's id in a stream of records or of names; NULL if there is none. */
static inline const struct read_event *read_event_find(const struct burin_trace *trace, uint32_t stream_id,
						       uint32_t id)
{
	const struct read_event *events = stream_id ? trace->name_events : trace->events;
	unsigned count = stream_id ? READ_NAME_EVENTS : trace->event_count;

	return id - 1 < count && events[id - 1].valid ? &events[id - 1] : NULL;
}

/* ---- trace_labels.c */
/* Finds the enum of a field. @enums: valid (wire/wire_enum.h). Return: 0 or -ENOMEM. */
int read_labels_load(struct burin_trace *trace, struct read_field *field, const char *format,
		     const char *enums);

/* ---- fields.c */
/* Finds the fields of a payload of variable size. Return: NULL, or why the payload does not fit the event. */
const char *read_layout(const struct read_event *event, const unsigned char *payload, uint32_t bytes,
			uint32_t offsets[WIRE_ARGS_MAX + 1]);

/* The text of a field of type str. */
static inline const char *read_record_text(const struct burin_record *record, unsigned field, size_t *bytes)
{
	*bytes = record->offsets[field + 1] - record->offsets[field] - 1;
	return (const char *)record->payload + record->offsets[field];
}

/*
 * read_run_integers - an integer field of all records of a run, whose `only` is set; sign-extended to 64 bits if its type has a sign.
 * Return: false: it is no integer.
 */
struct read_run;
bool read_run_integers(const struct read_run *run, unsigned field, uint64_t *values);

/* ---- trace_names.c */
/* Reads all announcements, after the index and the events. Return: 0 or -ENOMEM. */
int read_names_load(struct burin_trace *trace);
void read_names_free(struct read_names *names);
/* As burin_trace_thread(), and from when until when (ticks, inclusive) the result is the same; NULL: none. */
const struct burin_thread *read_thread_find(const struct burin_trace *trace, uint32_t tid, uint64_t time,
					    uint64_t *from, uint64_t *until);

/* ---- trace_history.c */
/* Reads all changes, after the index. Return: 0 or -ENOMEM. */
int read_history_load(struct burin_trace *trace);
void read_history_free(struct read_history *history);

/* Whether a change is of a kind. */
bool read_change_is(const struct read_change *change, enum wire_change_kind kind);
/* The next range of events of a change: *at is NULL at first. Return: whether there is one. */
bool read_change_next(const struct read_change *change, const char **at, uint32_t *first, uint32_t *last);

/* How long events were off that had been on before, or were switched on later. */
struct read_off {
	uint32_t event; /* one of the events with the same times and changes; 0: tracing was paused */
	uint32_t count; /* of these events */
	uint64_t ticks; /* in all */
	const struct read_change
		*off;		      /* the last change that switched it off; NULL: off from the beginning */
	const struct read_change *on; /* the change that switched it on, if `off` is NULL */
};
/*
 * The events that were off for a part of the trace and on for another. The caller frees *offs; *span is the length
 * of the trace in ticks. Return: how many, or -ENOMEM.
 */
ssize_t read_history_off(const struct burin_trace *trace, struct read_off **offs, uint64_t *span);
/* Changes that the trace does not have. */
uint64_t read_history_dropped(const struct burin_trace *trace);

/* ---- cursor.c */
/*
 * Records in order, as burin_cursor_next() returns them, but many at once. Payloads stay until the next call with the same cursor.
 * A run ends where a packet has to be loaded, or where it is full.
 */
enum {
	READ_RUN = 256,
};

struct read_run {
	const struct burin_event *only; /* whose records are wanted; NULL: all */
	size_t room;			/* at most READ_RUN */
	size_t count;
	struct burin_record records[READ_RUN];
	uint32_t offsets[READ_RUN * (WIRE_ARGS_MAX + 1)];
};

/* Return: 1; 0: there are no more records; -ENOMEM. */
int read_cursor_run(struct burin_cursor *cursor, struct read_run *run);

/* Moves a cursor to another span of time, as if it had been opened for it; `to` is exclusive, 0: no end. */
int read_cursor_span(struct burin_cursor *cursor, uint64_t from, uint64_t to);

/* ---- time_partition.c */
enum {
	READ_SPANS = 32,
};

/*
 * Cuts the time from..to (exclusive; 0: no end) into spans of records, by the index alone: about READ_SPANS of them, so that a short time
 * has some for each thread. But a span has about `least` bytes at least, and about `most` at most. Span n is from bounds[n] to
 * bounds[n + 1]; the caller frees bounds. Return: the number of spans, at least 1, or -ENOMEM.
 */
ssize_t read_time_partition(const struct burin_trace *trace, uint64_t from, uint64_t to, uint64_t least,
			    uint64_t most, uint64_t **bounds);

/* ---- count_records.c */
struct read_thread_count {
	uint32_t tid;
	uint64_t count;
	const struct burin_thread *thread; /* NULL if it was never announced */
};

struct read_counts {
	uint64_t records;
	uint64_t unknown;		   /* of them, those whose event is not in the table */
	uint64_t *events;		   /* by id, event_count + 1 of them */
	struct read_thread_count *threads; /* by pid, tid, time */
	size_t thread_count;
	uint64_t uncounted; /* records of threads beyond the largest number of threads */
	uint64_t *rings;    /* records of each ring, in the order of burin_trace_ring() */
};

/* Counts every record of the rings by its header, in a number of threads. Return: 0 or -ENOMEM. */
int read_count(const struct burin_trace *trace, unsigned threads, struct read_counts *counts);
void read_counts_free(struct read_counts *counts);

/* ---- open.c */
int read_trace_open(struct burin_trace **trace, const char *path, const struct burin_open_options *options,
		    bool strict, struct burin_diagnosis *why);
/* As burin_trace_open() with an open directory, which the caller closes. */
int read_trace_open_at(struct burin_trace **trace, int directory, const struct burin_open_options *options,
		       struct burin_diagnosis *why);
/* Opens a chunk of a split recording by itself, as strictly as the whole. */
int read_chunk_open(struct burin_trace **trace, const struct burin_trace *whole, unsigned chunk,
		    const struct burin_open_options *options, struct burin_diagnosis *why);

#endif
