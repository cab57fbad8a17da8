/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * read.h - read a Burin trace: open the directory, then walk its records in order of time, of all rings or of one,
 * from any time on. Link with -lburin-read (pkg-config burin-read). Manual: burin-read(3).
 *
 *	struct burin_trace *trace;
 *	struct burin_cursor *cursor;
 *	const struct burin_record *record;
 *
 *	burin_trace_open(&trace, "trace", NULL, NULL);
 *	burin_cursor_open(&cursor, trace, NULL);
 *	while (burin_cursor_next(cursor, &record) > 0)
 *		printf("%s\n", record->event->name);
 *	burin_cursor_close(cursor);
 *	burin_trace_close(trace);
 *
 * Rules for all functions:
 *
 * - Return values: 0 is success. A negative number is an errno or a fault of the trace (enum burin_fault, from -4000
 *   down). The library never prints, exits or asserts because of what it reads.
 * - Faults do not end reading. A fault is passed to the callback given at opening (file, byte offset, reason) and
 *   kept in a list. The unreadable part is skipped and counted, and reading continues behind it.
 * - Times are ticks of the trace's clock; burin_trace_ns() converts them to nanoseconds since 1970.
 * - Ownership: returned pointers belong to the trace; a record and its fields belong to the cursor. Do not free them.
 *   Structs that are returned by pointer may grow at their end: do not use their size.
 * - An open trace does not change. If the recorder still writes it, it shows the state at opening.
 * - Threads: any number of threads may use one trace; a cursor belongs to one thread at a time.
 * - Context: functions allocate nothing and may be called by any thread, unless their comment says otherwise.
 */
#ifndef BURIN_READ_H
#define BURIN_READ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BURIN_READ_API __attribute__((visibility("default")))

/* Faults of a trace. New ones may be added at the end. */
enum burin_fault {
	BURIN_FAULT_NOT_A_TRACE = -4000, /* neither streams nor a recording file */
	BURIN_FAULT_RECORDING = -4001,	 /* .burin/recording */
	BURIN_FAULT_EVENTS = -4002,	 /* .burin/events */
	BURIN_FAULT_METADATA = -4003,	 /* metadata */
	BURIN_FAULT_FILE = -4004,	 /* a file is missing, or does not belong to a trace */
	BURIN_FAULT_HEADER = -4005,	 /* a packet's header */
	BURIN_FAULT_SIZE = -4006,	 /* a packet does not fit its file */
	BURIN_FAULT_ORDER = -4007,	 /* packets out of order, or twice */
	BURIN_FAULT_COUNT = -4008, /* records missing that are not counted as lost, or counts that disagree */
	BURIN_FAULT_RECORD = -4009,  /* a record's header; the rest of the packet cannot be read */
	BURIN_FAULT_TIME = -4010,    /* a time out of range; the rest of the packet cannot be read */
	BURIN_FAULT_EVENT = -4011,   /* a record of an event that is not in the table */
	BURIN_FAULT_PAYLOAD = -4012, /* a record's payload does not match its event */
	BURIN_FAULT_PADDING = -4013, /* bytes that should be zero are not */
	BURIN_FAULT_CHANGED = -4014, /* the file has changed since opening */
	BURIN_FAULT_TABLE = -4015,   /* a table of the samples, or the ledger (burin/profile.h) */
	BURIN_FAULT_MEMORY = -4016,  /* the limit of memory is reached; the rest is not read */
};

/* burin_read_version - return the version of this library, such as "0.1.0"; BURIN_VERSION of burin/version.h is that of the headers. */
BURIN_READ_API const char *burin_read_version(void);

/* burin_fault_name - the kind of a fault in a word or two ("packet header"), or the text of an errno. */
BURIN_READ_API const char *burin_fault_name(int code);

/* A fault, or the reason why a trace could not be opened. Names in it come from the trace and may contain any bytes:
 * escape them for a terminal, as all strings. */
struct burin_diagnosis {
	int code;	  /* enum burin_fault, or a negative errno */
	uint64_t offset;  /* bytes from the start of the file */
	char file[96];	  /* within the trace ("cpu0.3", ".burin/events"), NUL-terminated; "" is the directory
			     itself */
	char reason[256]; /* NUL-terminated */
};

/* ---- The trace ---- */

struct burin_trace;

struct burin_open_options {
	size_t size; /* sizeof(struct burin_open_options) */
	/* Called once for each fault, by the thread that found it, never by two at a time. It must not call the
	 * library. The diagnosis is valid during the call. May be NULL. */
	void (*on_fault)(void *data, const struct burin_diagnosis *fault);
	void *data; /* for on_fault */
	/* Bytes that the index, the events, the names and the samples' tables may take; 0: 1 GiB. A file that needs
	 * more, or whose blocks decompress to far more than is stored, is read up to there; this is a fault. */
	uint64_t memory;
};

/*
 * burin_trace_open - open the trace in a directory, in whatever state its recorder left it. The chunks of a split
 * recording (burin record --split) are one trace; each of them can also be opened by itself.
 * @trace: receives the trace; NULL on failure
 * @path: the directory
 * @options: may be NULL
 * @why: receives the reason on failure; may be NULL
 *
 * Reads the headers of all packets, the event table and the names; the records stay on disk.
 *
 * Context: allocates; opens and closes files.
 * Return: 0; BURIN_FAULT_NOT_A_TRACE; -ENOENT, -ENOTDIR, -EACCES, -EMFILE and other errnos of open(2);
 * -ENOMEM; -EINVAL: a field is set that this version of the library does not have.
 */
BURIN_READ_API int burin_trace_open(struct burin_trace **trace, const char *path,
				    const struct burin_open_options *options, struct burin_diagnosis *why);

/* burin_trace_close - free a trace. Close every cursor before. NULL is allowed. */
BURIN_READ_API void burin_trace_close(struct burin_trace *trace);

/*
 * burin_trace_recording - how the trace was recorded: a value of `.burin/recording`.
 * @key: "state", "command", "hostname", ... as listed in docs/format.md
 *
 * Return: the value, NUL-terminated, any bytes (escape it for a terminal); NULL if it is not there.
 */
BURIN_READ_API const char *burin_trace_recording(const struct burin_trace *trace, const char *key);

/* burin_trace_recording_at - the n-th line (from 0) of `.burin/recording`. Return: 0; -ENOENT behind the last. */
BURIN_READ_API int burin_trace_recording_at(const struct burin_trace *trace, unsigned n, const char **key,
					    const char **value);

/*
 * burin_trace_range - the times of the first and the last record, by the packet headers, in ticks.
 * Return: 0, or -ENODATA for a trace without records; then both are 0.
 */
BURIN_READ_API int burin_trace_range(const struct burin_trace *trace, uint64_t *begin, uint64_t *end);

/* burin_trace_ns - convert ticks to nanoseconds since 1970 (CLOCK_REALTIME): exact, rounded down, saturating. */
BURIN_READ_API int64_t burin_trace_ns(const struct burin_trace *trace, uint64_t ticks);

/* burin_trace_ticks - the first tick at or after a time in nanoseconds since 1970; saturating. */
BURIN_READ_API uint64_t burin_trace_ticks(const struct burin_trace *trace, int64_t ns);

/* burin_trace_faults - the number of faults found so far, by opening and by all cursors. */
BURIN_READ_API uint64_t burin_trace_faults(const struct burin_trace *trace);

/* burin_trace_fault - copy the n-th fault (from 0); the first 1024 are kept. Return: 0; -ENOENT. */
BURIN_READ_API int burin_trace_fault(const struct burin_trace *trace, unsigned n,
				     struct burin_diagnosis *fault);

/* Packets and records that could not be read because of faults, so far. */
struct burin_skipped {
	uint64_t packets; /* read in part or not at all */
	uint64_t records; /* single records, in packets that could be read otherwise */
};

BURIN_READ_API void burin_trace_skipped(const struct burin_trace *trace, struct burin_skipped *skipped);

/* ---- Chunks of a split recording ---- */

/* burin_trace_chunks - how many chunks the trace consists of; 0: it is not split. Missing chunks are faults. */
BURIN_READ_API unsigned burin_trace_chunks(const struct burin_trace *trace);

/* burin_trace_chunk - the number of the n-th chunk (from 0), from 1: if that of the first is higher, the older ones
 * were removed. Return: 0 behind the last. */
BURIN_READ_API uint32_t burin_trace_chunk(const struct burin_trace *trace, unsigned n);

/* ---- Rings and losses ---- */

/* Why records were lost. New causes may be added at the end. */
enum burin_loss {
	BURIN_LOST_FULL,	/* the ring was full: the recorder was too slow */
	BURIN_LOST_BUSY,	/* every ring was locked by another writer */
	BURIN_LOST_SIZE,	/* the record was too large */
	BURIN_LOST_OVERWRITTEN, /* the ring overwrote the record before the recorder read it */
	BURIN_LOST_CORRUPT,	/* the bytes in the ring were not records */
	BURIN_LOST_UNREAD,	/* still in the ring when the recorder ended, which could not write */
	BURIN_LOST_CAUSES
};

/* burin_loss_name - a cause in a word or two ("buffer full"); "?" for an unknown one. */
BURIN_READ_API const char *burin_loss_name(unsigned cause);

struct burin_ring {
	uint32_t number;  /* in the trace; records with the same time are merged in this order */
	uint32_t cpu;	  /* of a CPU's ring; of a locked ring, the number behind `locked` */
	int locked;	  /* 1: a ring for writers without restartable sequences, of no particular CPU */
	const char *name; /* of its first file: "cpu0" */
	uint64_t files, packets, bytes; /* on disk; bytes counts the records with their headers and padding */
	uint64_t skipped;		/* packets that opening skipped because of faults */
	uint64_t begin, end;		/* ticks; 0 if it has no records */
	uint64_t lost[BURIN_LOST_CAUSES]; /* records, since the ring was made */
};

/* burin_trace_rings - the number of rings with files in the trace. */
BURIN_READ_API unsigned burin_trace_rings(const struct burin_trace *trace);

/* burin_trace_ring - the n-th ring (from 0), in the order of their numbers; NULL behind the last. */
BURIN_READ_API const struct burin_ring *burin_trace_ring(const struct burin_trace *trace, unsigned n);

/* burin_trace_lost - records lost by a cause (enum burin_loss) in all rings. */
BURIN_READ_API uint64_t burin_trace_lost(const struct burin_trace *trace, unsigned cause);

/* ---- Events and their fields ---- */

/* Types of fields. New ones may be added at the end. */
enum burin_type {
	BURIN_TYPE_BOOL = 1,
	BURIN_TYPE_I8,
	BURIN_TYPE_I16,
	BURIN_TYPE_I32,
	BURIN_TYPE_I64,
	BURIN_TYPE_U8,
	BURIN_TYPE_U16,
	BURIN_TYPE_U32,
	BURIN_TYPE_U64,
	BURIN_TYPE_F32,
	BURIN_TYPE_F64,
	BURIN_TYPE_PTR,	  /* an address */
	BURIN_TYPE_STR,	  /* text */
	BURIN_TYPE_BYTES, /* any bytes */
	BURIN_TYPE_CHAR,
	BURIN_TYPE_ARRAY, /* of integers, floating-point numbers, bool or char; see burin_field.element */
};

enum burin_kind {
	BURIN_KIND_EVENT,
	BURIN_KIND_BEGIN,   /* opens a span of its thread */
	BURIN_KIND_END,	    /* closes the innermost open span of its name and thread */
	BURIN_KIND_COUNTER, /* a number that holds until the next */
	/* The ends of a span with an id, in any thread of any process. The first field is `span_id`, u64; or the first two are
	 * `span_id_high` and `span_id`. An event without them is of another kind. A later version may have more kinds. */
	BURIN_KIND_SPAN_BEGIN,
	BURIN_KIND_SPAN_END,
};

struct burin_field {
	const char *name; /* an identifier, unique in its event */
	unsigned type;	  /* enum burin_type */
	char conversion;  /* of printf, as the program wrote it: d u x s ... */
	unsigned element; /* of an array: the type of its elements */
};

struct burin_event {
	uint32_t id;
	unsigned kind;	    /* enum burin_kind */
	const char *name;   /* letters, digits, `_`, `.`, `:`, `-` */
	const char *format; /* as in the program's source; any bytes */
	const char *file;   /* source file, any bytes; "" if unknown */
	uint32_t line;
	uint32_t pid;	  /* process that registered it first */
	unsigned fields;  /* number of fields */
	unsigned refused; /* registrations refused because format, types or kind differed; not recorded */
	const char *refused_file; /* of the last refused one; "" if none */
	uint32_t refused_line;
};

/* burin_trace_events - the largest id in the event table; ids begin at 1. */
BURIN_READ_API unsigned burin_trace_events(const struct burin_trace *trace);

/* burin_trace_event - an event by its id; NULL if there is none, or if its entry cannot be read. */
BURIN_READ_API const struct burin_event *burin_trace_event(const struct burin_trace *trace, uint32_t id);

/* burin_event_field - a field of an event, from 0; NULL behind the last. */
BURIN_READ_API const struct burin_field *burin_event_field(const struct burin_event *event, unsigned n);

/* burin_event_find - the number of a field by its name. Return: from 0, or -ENOENT. */
BURIN_READ_API int burin_event_find(const struct burin_event *event, const char *name);

/* burin_field_label - the name that the program gave to a value of an integer field, or of an array's element
 * (BURIN_ENUM). Return: NUL-terminated; NULL: it has none. */
BURIN_READ_API const char *burin_field_label(const struct burin_field *field, int64_t value);

/* ---- Threads and processes ---- */

struct burin_process {
	uint32_t pid;
	uint32_t parent;
	const char *exe; /* path, any bytes */
	const char *command;
	uint64_t time; /* ticks: when it joined the session or executed this program */
};

struct burin_thread {
	uint32_t tid;
	uint32_t pid;
	const char *name;		     /* any bytes */
	uint64_t time;			     /* ticks: since when it had this name */
	const struct burin_process *process; /* at that time; NULL if unknown */
};

/*
 * burin_trace_thread - the thread that a tid meant at a time: its latest announcement up to then, or else its first
 * one. The kernel reuses tids. Return: NULL if it was never announced.
 */
BURIN_READ_API const struct burin_thread *burin_trace_thread(const struct burin_trace *trace, uint32_t tid,
							     uint64_t time);

/* burin_trace_process - the same for a process and its pid. */
BURIN_READ_API const struct burin_process *burin_trace_process(const struct burin_trace *trace, uint32_t pid,
							       uint64_t time);

/* burin_trace_thread_at, burin_trace_process_at - the n-th announcement (from 0), by tid or pid, then by
 * time; NULL behind the last. */
BURIN_READ_API const struct burin_thread *burin_trace_thread_at(const struct burin_trace *trace, size_t n);
BURIN_READ_API const struct burin_process *burin_trace_process_at(const struct burin_trace *trace, size_t n);

/* ---- Records ---- */

/* The context that each record of a trace carries besides its event's fields; chosen when the session is made. */
enum burin_context {
	BURIN_CONTEXT_CORRELATION = 1,
	BURIN_CONTEXT_DEPTH = 2,
};

/* burin_trace_context - the context of the trace's records: enum burin_context, or'ed; 0: none. */
BURIN_READ_API unsigned burin_trace_context(const struct burin_trace *trace);

/* A record. It and its fields are valid until the cursor moves. */
struct burin_record {
	uint64_t time; /* ticks */
	const struct burin_event *event;
	const unsigned char *payload; /* as on disk, docs/format.md */
	uint32_t payload_bytes;
	uint32_t tid;
	uint32_t cpu;		 /* UINT32_MAX in a ring of no particular CPU */
	uint32_t ring;		 /* number; UINT32_MAX for the names */
	const char *file;	 /* the record's file within the trace ... */
	uint64_t offset;	 /* ... and the byte offset of its header */
	const uint32_t *offsets; /* of the fields within the payload; use the functions below */
	unsigned context;	 /* enum burin_context, or'ed */
	uint32_t chunk;		 /* of a split recording: the record's chunk, from 0; otherwise 0 */
};

struct burin_cursor;

enum burin_cursor_flags {
	BURIN_CURSOR_RING = 1, /* only the ring whose number is given */
	/* Also the announcements of processes and threads: the events burin.process and burin.thread. */
	BURIN_CURSOR_NAMES = 2,
};

struct burin_cursor_options {
	size_t size;	/* sizeof(struct burin_cursor_options) */
	unsigned flags; /* enum burin_cursor_flags */
	uint32_t ring;	/* with BURIN_CURSOR_RING */
	uint64_t from;	/* ticks: the first record is at or after this */
	uint64_t to;	/* ticks: the last record is before this; 0: no end */
};

/*
 * burin_cursor_open - make a cursor, which stands before the first record.
 * @cursor: receives the cursor; NULL on failure
 * @options: may be NULL: all rings, from the first record to the last, without names
 *
 * Context: allocates; opens files as it moves, one at a time for each ring.
 * Return: 0; -ENOMEM; -EINVAL: a flag or a field is set that this version of the library does not have; -ENOENT if the trace has no such ring.
 */
BURIN_READ_API int burin_cursor_open(struct burin_cursor **cursor, const struct burin_trace *trace,
				     const struct burin_cursor_options *options);

/*
 * burin_cursor_next - move to the next record in time; records with the same time come in the order of their rings.
 * @record: receives the record, which is valid until the cursor moves; NULL if there is none
 *
 * Times never go back, neither within a ring nor in the merged order.
 *
 * Context: may allocate (when packets grow); reads files.
 * Return: 1 with a record; 0 at the end; -ENOMEM.
 */
BURIN_READ_API int burin_cursor_next(struct burin_cursor *cursor, const struct burin_record **record);

/*
 * burin_cursor_seek - move forwards or backwards, so that the next record is the first at or after a time, within
 * the cursor's `from` and `to`. Costs one binary search per ring and a walk through at most one packet.
 * @time: ticks
 *
 * Return: 0; -ENOMEM.
 */
BURIN_READ_API int burin_cursor_seek(struct burin_cursor *cursor, uint64_t time);

/* burin_cursor_close - free a cursor. NULL is allowed. */
BURIN_READ_API void burin_cursor_close(struct burin_cursor *cursor);

/*
 * burin_record_i64, burin_record_u64, burin_record_double - a field as a number.
 * @field: number of the field, from 0 (burin_event_find)
 *
 * _i64 and _u64 read integers, bool, char and ptr. _double also reads f32 and f64; it rounds large integers.
 * Return: 0; -ENOENT: no such field; -EINVAL: the field has another type; -ERANGE: the value does not fit.
 */
BURIN_READ_API int burin_record_i64(const struct burin_record *record, unsigned field, int64_t *value);
BURIN_READ_API int burin_record_u64(const struct burin_record *record, unsigned field, uint64_t *value);
BURIN_READ_API int burin_record_double(const struct burin_record *record, unsigned field, double *value);

/*
 * burin_record_string - the text of a str field, NUL-terminated; any bytes (escape it for a terminal).
 * @bytes: receives its length without the NUL; may be NULL
 *
 * A NULL pointer of the program is the text U+2400; a string that was cut ends in U+2026.
 * Return: as above.
 */
BURIN_READ_API int burin_record_string(const struct burin_record *record, unsigned field, const char **text,
				       size_t *bytes);

/* burin_record_bytes - the bytes of a bytes field, without a NUL. Return: as above. */
BURIN_READ_API int burin_record_bytes(const struct burin_record *record, unsigned field, const void **data,
				      size_t *bytes);

/*
 * burin_record_array - the elements of an array field.
 * @elements: receives them as on disk: little-endian, of burin_field.element's size, not aligned
 * @count: receives their number
 * Return: as above.
 */
BURIN_READ_API int burin_record_array(const struct burin_record *record, unsigned field,
				      const void **elements, size_t *count);

/*
 * burin_record_correlation - the thread's correlation id (burin_correlation_set()); 0 if it had none.
 * Return: 0; -ENOENT: the records of this trace do not carry it.
 */
BURIN_READ_API int burin_record_correlation(const struct burin_record *record, uint64_t *id);

/*
 * burin_record_depth - the number of open spans in the thread. In a span's begin and end, the span itself does not
 * count.
 * Return: 0; -ENOENT: the records of this trace do not carry it.
 */
BURIN_READ_API int burin_record_depth(const struct burin_record *record, uint32_t *depth);

/* ---- Checking ---- */

struct burin_check_options {
	size_t size; /* sizeof(struct burin_check_options) */
	/* As in struct burin_open_options. */
	void (*on_fault)(void *data, const struct burin_diagnosis *fault);
	void *data;
	uint64_t memory;
};

struct burin_check_result {
	uint64_t faults;
	uint64_t files, packets, records, bytes; /* checked; names included */
	int unfinished;				 /* 1: the recorder did not finish the trace */
};

/*
 * burin_trace_check - check every byte of a trace against docs/format.md.
 * @path: the directory
 * @options: may be NULL
 * @result: filled in
 * @why: receives the reason when the trace cannot be opened; may be NULL
 *
 * Context: allocates; reads every file.
 * Return: 0 if the trace could be opened, also with faults; otherwise as burin_trace_open().
 */
BURIN_READ_API int burin_trace_check(const char *path, const struct burin_check_options *options,
				     struct burin_check_result *result, struct burin_diagnosis *why);

#ifdef __cplusplus
}
#endif

#endif
