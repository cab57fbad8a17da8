/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reading a Burin trace: open the directory, then walk its records merged by time, ring by ring, or from
 * any moment on. Link with -lburin-read (pkg-config burin-read).
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
 * What every function here keeps to:
 *
 * - Errors are 0 or a negative number: an errno, or a fault of the trace (enum burin_fault, from -4000
 *   down). The library never prints, exits or asserts on what it reads.
 * - A fault does not end the reading. It is reported (file, byte offset, reason) to the callback given at
 *   opening, it is kept in a list, what cannot be read is skipped and counted, and reading goes on behind
 *   it.
 * - Times are ticks of the trace's clock; burin_trace_ns() makes nanoseconds since 1970 of them.
 * - Whatever is returned by pointer belongs to the trace, or, for a record and what hangs on it, to the
 *   cursor, and must not be freed. Structs that are returned by pointer may grow at their end: do not take
 *   their size.
 * - A trace does not change once it is open: a trace that is still being written shows the moment of its
 *   opening. Any number of threads may use one trace; a cursor belongs to one thread at a time.
 * - Unless told otherwise, functions allocate nothing and may be called by any thread.
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
	BURIN_FAULT_FILE = -4004,	 /* a file is missing, or is none of a trace */
	BURIN_FAULT_HEADER = -4005,	 /* a packet's header */
	BURIN_FAULT_SIZE = -4006,	 /* a packet does not fit its file */
	BURIN_FAULT_ORDER = -4007,	 /* packets out of order, or twice */
	BURIN_FAULT_COUNT = -4008,  /* records missing that nobody counted as lost, or counts that disagree */
	BURIN_FAULT_RECORD = -4009, /* a record's header; the rest of the packet cannot be read */
	BURIN_FAULT_TIME = -4010,   /* a time out of range; the rest of the packet cannot be read */
	BURIN_FAULT_EVENT = -4011,  /* a record of an event that is not in the table */
	BURIN_FAULT_PAYLOAD = -4012, /* a record's payload is not what its event says */
	BURIN_FAULT_PADDING = -4013, /* bytes that should be zero are not */
	BURIN_FAULT_CHANGED = -4014, /* the file is no longer what it was at opening */
	BURIN_FAULT_TABLE = -4015,   /* a table of the samples, or the ledger (burin/profile.h) */
};

/* burin_fault_name - what kind of fault a code is, in a word or two ("packet header"), or the text of an
 * errno. */
BURIN_READ_API const char *burin_fault_name(int code);

/* Where and why: a fault, or the reason why something could not be opened. */
struct burin_diagnosis {
	int code;	  /* enum burin_fault, or a negative errno */
	uint64_t offset;  /* bytes from the start of the file */
	char file[96];	  /* within the trace ("cpu0.3", ".burin/events"), NUL-terminated; "" is the directory
			     itself */
	char reason[256]; /* one line without control characters, NUL-terminated */
};

/* ---- The trace ---- */

struct burin_trace;

struct burin_open_options {
	size_t size; /* sizeof(struct burin_open_options) */
	/* Called once for each fault, by the thread that met it, never by two at a time; must not call the
	 * library. The diagnosis is the library's. May be NULL. */
	void (*on_fault)(void *data, const struct burin_diagnosis *fault);
	void *data;
};

/*
 * burin_trace_open - open the trace in a directory, in whatever state its recorder left it.
 * @trace: receives the trace; NULL on failure
 * @path: the directory
 * @options: may be NULL
 * @why: receives the reason on failure; may be NULL
 *
 * Reads the headers of all packets, the event table and the names; the records stay on disk.
 *
 * Context: allocates; opens and closes files.
 * Return: 0; BURIN_FAULT_NOT_A_TRACE; -ENOENT, -ENOTDIR, -EACCES, -EMFILE and other errnos of open(2);
 * -ENOMEM; -EINVAL for options of an unknown size.
 */
BURIN_READ_API int burin_trace_open(struct burin_trace **trace, const char *path,
				    const struct burin_open_options *options, struct burin_diagnosis *why);

/* burin_trace_close - give back a trace; every cursor must be closed before. NULL is allowed. */
BURIN_READ_API void burin_trace_close(struct burin_trace *trace);

/*
 * burin_trace_recording - how the trace came about: a value of `.burin/recording`.
 * @key: "state", "command", "hostname", ... as listed in docs/format.md
 *
 * Return: the value, NUL-terminated, any bytes (escape it for a terminal); NULL if it is not there.
 */
BURIN_READ_API const char *burin_trace_recording(const struct burin_trace *trace, const char *key);

/* burin_trace_recording_at - the n-th line (from 0) of the recording file. Return: 0, or -ENOENT behind the
 * last. */
BURIN_READ_API int burin_trace_recording_at(const struct burin_trace *trace, unsigned n, const char **key,
					    const char **value);

/*
 * burin_trace_range - when the first and the last record were written, by the packet headers, in ticks.
 * Return: 0, or -ENODATA for a trace without records; then both are 0.
 */
BURIN_READ_API int burin_trace_range(const struct burin_trace *trace, uint64_t *begin, uint64_t *end);

/* burin_trace_ns - nanoseconds since 1970 (CLOCK_REALTIME) of a time in ticks, rounded down, exact,
 * saturating. */
BURIN_READ_API int64_t burin_trace_ns(const struct burin_trace *trace, uint64_t ticks);

/* burin_trace_ticks - the first tick that is not before a time in nanoseconds since 1970; saturating. */
BURIN_READ_API uint64_t burin_trace_ticks(const struct burin_trace *trace, int64_t ns);

/* burin_trace_faults - how many faults were met up to now, by opening and by all cursors. */
BURIN_READ_API uint64_t burin_trace_faults(const struct burin_trace *trace);

/* burin_trace_fault - a copy of the n-th fault (from 0); the first 1024 are kept. Return: 0, or -ENOENT. */
BURIN_READ_API int burin_trace_fault(const struct burin_trace *trace, unsigned n,
				     struct burin_diagnosis *fault);

/* What could not be read because of faults, up to now. */
struct burin_skipped {
	uint64_t packets; /* of which nothing, or not all, could be read */
	uint64_t records; /* single records, in packets that could be read on */
};

BURIN_READ_API void burin_trace_skipped(const struct burin_trace *trace, struct burin_skipped *skipped);

/* ---- Rings and losses ---- */

/* Why records were lost. New causes may be added at the end. */
enum burin_loss {
	BURIN_LOST_FULL,	/* the ring was full: the recorder was behind */
	BURIN_LOST_BUSY,	/* every ring was locked by another writer */
	BURIN_LOST_SIZE,	/* the record was too large */
	BURIN_LOST_OVERWRITTEN, /* the ring was lapped before the recorder came */
	BURIN_LOST_CORRUPT,	/* the bytes in the ring were not records */
	BURIN_LOST_UNREAD,	/* left behind by a recorder that could not write */
	BURIN_LOST_CAUSES
};

/* burin_loss_name - a cause in a word or two ("ring full"); "?" for an unknown one. */
BURIN_READ_API const char *burin_loss_name(unsigned cause);

struct burin_ring {
	uint32_t number;  /* in the trace; merged records of the same time come in this order */
	uint32_t cpu;	  /* of a CPU's ring; of a locked ring, the number behind `locked` */
	int locked;	  /* 1: a ring for writers without restartable sequences, of no particular CPU */
	const char *name; /* of its first file: "cpu0" */
	uint64_t files, packets, bytes; /* on disk; bytes counts the records with their headers and padding */
	uint64_t skipped;		/* packets that opening had to pass over */
	uint64_t begin, end;		/* ticks; 0 if it has no records */
	uint64_t lost[BURIN_LOST_CAUSES]; /* records, since the ring was made */
};

/* burin_trace_rings - the number of rings that have files in the trace. */
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
};

enum burin_kind {
	BURIN_KIND_EVENT,
	BURIN_KIND_BEGIN,   /* opens a span of its thread */
	BURIN_KIND_END,	    /* closes the innermost one of its name */
	BURIN_KIND_COUNTER, /* a number that holds until the next */
};

struct burin_field {
	const char *name; /* an identifier, unique in its event */
	unsigned type;	  /* enum burin_type */
	char conversion;  /* of printf, as the program wrote it: d u x s ... */
};

struct burin_event {
	uint32_t id;
	unsigned kind;	    /* enum burin_kind */
	const char *name;   /* letters, digits, `_`, `.`, `:`, `-` */
	const char *format; /* as in the program's source; any bytes */
	const char *file;   /* source file, any bytes; "" if unknown */
	uint32_t line;
	uint32_t pid;	  /* process that registered it first */
	unsigned fields;  /* how many */
	unsigned refused; /* how often this name came with another format, types or kind; those were not
			     recorded */
	const char *refused_file; /* where, the last time; "" if never */
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

/* ---- Threads and processes ---- */

struct burin_process {
	uint32_t pid;
	uint32_t parent;
	const char *exe; /* path, any bytes */
	const char *command;
	uint64_t time; /* ticks: when it joined, or became another program */
};

struct burin_thread {
	uint32_t tid;
	uint32_t pid;
	const char *name;		     /* any bytes */
	uint64_t time;			     /* ticks: from when on it was called that */
	const struct burin_process *process; /* at that time; NULL if unknown */
};

/*
 * burin_trace_thread - who a thread was at a time: the latest announcement of the tid that is not later, or
 * else the first. Return: NULL if it was never announced.
 */
BURIN_READ_API const struct burin_thread *burin_trace_thread(const struct burin_trace *trace, uint32_t tid,
							     uint64_t time);

/* burin_trace_process - the same for a process. */
BURIN_READ_API const struct burin_process *burin_trace_process(const struct burin_trace *trace, uint32_t pid,
							       uint64_t time);

/* burin_trace_thread_at, burin_trace_process_at - the n-th announcement (from 0), by tid or pid, then by
 * time; NULL behind the last. */
BURIN_READ_API const struct burin_thread *burin_trace_thread_at(const struct burin_trace *trace, size_t n);
BURIN_READ_API const struct burin_process *burin_trace_process_at(const struct burin_trace *trace, size_t n);

/* ---- Records ---- */

/* What all records of a trace have besides their event's fields, if the session was made so. */
enum burin_context {
	BURIN_CONTEXT_CORRELATION = 1,
	BURIN_CONTEXT_DEPTH = 2,
};

/* burin_trace_context - enum burin_context, added up; 0: none of it. */
BURIN_READ_API unsigned burin_trace_context(const struct burin_trace *trace);

/* A record; it and its fields hold until the cursor moves. */
struct burin_record {
	uint64_t time; /* ticks */
	const struct burin_event *event;
	const unsigned char *payload; /* as on disk, docs/format.md */
	uint32_t payload_bytes;
	uint32_t tid;
	uint32_t cpu;		 /* UINT32_MAX in a ring of no particular CPU */
	uint32_t ring;		 /* number; UINT32_MAX for the names */
	const char *file;	 /* where the record stands: file within the trace */
	uint64_t offset;	 /* and byte offset of its header */
	const uint32_t *offsets; /* of the fields within the payload; use the functions below */
	unsigned context;	 /* enum burin_context: what burin_record_correlation() and _depth() find */
};

struct burin_cursor;

enum burin_cursor_flags {
	BURIN_CURSOR_RING = 1, /* only the ring whose number is given */
	BURIN_CURSOR_NAMES =
		2, /* the announcements of processes and threads too: events burin.process, burin.thread */
};

struct burin_cursor_options {
	size_t size;	/* sizeof(struct burin_cursor_options) */
	unsigned flags; /* enum burin_cursor_flags */
	uint32_t ring;	/* with BURIN_CURSOR_RING */
	uint64_t from;	/* ticks: the first record is not before this */
	uint64_t to;	/* ticks: and the last is before this; 0: no end */
};

/*
 * burin_cursor_open - stand before the first record.
 * @cursor: receives the cursor; NULL on failure
 * @options: may be NULL: all rings, from the first record to the last, without names
 *
 * Context: allocates; opens files as it moves, one at a time for each ring.
 * Return: 0; -ENOMEM; -EINVAL for options of an unknown size or flags; -ENOENT if the trace has no such ring.
 */
BURIN_READ_API int burin_cursor_open(struct burin_cursor **cursor, const struct burin_trace *trace,
				     const struct burin_cursor_options *options);

/*
 * burin_cursor_next - move on to the next record in time; of the same time, to that of the lower ring first.
 * @record: receives the record, which holds until the cursor moves; NULL if there is none
 *
 * Within a ring times never go back, so they do not in the merged order either.
 *
 * Context: may allocate (when packets grow); reads files.
 * Return: 1 with a record; 0 at the end; -ENOMEM.
 */
BURIN_READ_API int burin_cursor_next(struct burin_cursor *cursor, const struct burin_record **record);

/*
 * burin_cursor_seek - move so that the next record is the first that is not before a time, forwards or
 * backwards, within the cursor's `from` and `to`. Takes one binary search and at most one packet's walk per
 * ring.
 * @time: ticks
 *
 * Return: 0; -ENOMEM.
 */
BURIN_READ_API int burin_cursor_seek(struct burin_cursor *cursor, uint64_t time);

/* burin_cursor_close - give back a cursor. NULL is allowed. */
BURIN_READ_API void burin_cursor_close(struct burin_cursor *cursor);

/*
 * burin_record_i64, burin_record_u64, burin_record_double - a field as a number.
 * @field: number of the field, from 0 (burin_event_find)
 *
 * An integer is every integer type, bool, char and ptr; a double is any of these, rounded, and f32 and f64.
 * Return: 0; -ENOENT: no such field; -EINVAL: not a field of that sort; -ERANGE: the value does not fit.
 */
BURIN_READ_API int burin_record_i64(const struct burin_record *record, unsigned field, int64_t *value);
BURIN_READ_API int burin_record_u64(const struct burin_record *record, unsigned field, uint64_t *value);
BURIN_READ_API int burin_record_double(const struct burin_record *record, unsigned field, double *value);

/*
 * burin_record_string - a str field: text without control over its bytes (escape it for a terminal),
 * NUL-terminated.
 * @bytes: receives its length without the NUL; may be NULL
 *
 * A NULL pointer in the program reads as U+2400 alone; one that was cut ends in U+2026.
 * Return: as above.
 */
BURIN_READ_API int burin_record_string(const struct burin_record *record, unsigned field, const char **text,
				       size_t *bytes);

/* burin_record_bytes - a bytes field; nothing ends it. Return: as above. */
BURIN_READ_API int burin_record_bytes(const struct burin_record *record, unsigned field, const void **data,
				      size_t *bytes);

/*
 * burin_record_correlation - the id that the program had given to the thread (burin_correlation_set()).
 * Return: 0, the id is 0 if none was given; -ENOENT: the records of this trace do not carry it.
 */
BURIN_READ_API int burin_record_correlation(const struct burin_record *record, uint64_t *id);

/*
 * burin_record_depth - how many spans were open in the thread; the begin and the end of a span tell how many were
 * open around it.
 * Return: 0; -ENOENT: the records of this trace do not carry it.
 */
BURIN_READ_API int burin_record_depth(const struct burin_record *record, uint32_t *depth);

/* ---- Checking ---- */

struct burin_check_options {
	size_t size; /* sizeof(struct burin_check_options) */
	void (*on_fault)(void *data, const struct burin_diagnosis *fault); /* as above */
	void *data;
};

struct burin_check_result {
	uint64_t faults;
	uint64_t files, packets, records, bytes; /* that were looked at; names included */
	int unfinished;				 /* 1: the recording was not brought to its end */
};

/*
 * burin_trace_check - hold every byte of a trace against docs/format.md.
 * @path: the directory
 * @options: may be NULL
 * @result: filled in
 * @why: receives the reason when the trace cannot be opened; may be NULL
 *
 * Context: allocates; reads every file.
 * Return: 0, with the faults counted in @result; otherwise as burin_trace_open().
 */
BURIN_READ_API int burin_trace_check(const char *path, const struct burin_check_options *options,
				     struct burin_check_result *result, struct burin_diagnosis *why);

#ifdef __cplusplus
}
#endif

#endif
