/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The event table: what each event id means (docs/format.md, "Events"). It lies in the session and, as
 * `.burin/events`, in the trace: a header, the entries, and the text that they point into.
 *
 * An entry never changes once it is counted in `wire_events.count`; entry n describes id n + 1.
 */
#ifndef BURIN_WIRE_EVENT_H
#define BURIN_WIRE_EVENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The type of an argument, 4 bits. What follows in the payload is packed, little-endian, without alignment.
 */
enum wire_type {
	WIRE_END,  /* no more arguments */
	WIRE_BOOL, /* 1 byte, 0 or 1 */
	WIRE_I8,   /* signed: 1, 2, 4, 8 bytes */
	WIRE_I16,
	WIRE_I32,
	WIRE_I64,
	WIRE_U8, /* unsigned */
	WIRE_U16,
	WIRE_U32,
	WIRE_U64,
	WIRE_F32,
	WIRE_F64,   /* also of a long double */
	WIRE_PTR,   /* 8 bytes, an address */
	WIRE_STR,   /* text up to and with its NUL */
	WIRE_BYTES, /* u16 count, then as many bytes */
	WIRE_CHAR,  /* 1 byte, a plain char */
};

enum wire_kind {
	WIRE_KIND_EVENT,
	WIRE_KIND_BEGIN, /* opens a span; the name ends in ".begin" */
	WIRE_KIND_END,	 /* closes the innermost open span of that name and thread; the name ends in ".end" */
	WIRE_KIND_COUNTER, /* one number, whose value holds until the next */
	WIRE_KINDS
};

enum {
	WIRE_ARGS_MAX = 16,
	WIRE_NAME_MAX = 127,	/* bytes of a name, without NUL */
	WIRE_FORMAT_MAX = 1023, /* and of a format */
	WIRE_FILE_MAX = 255,	/* and of a source file's name: the end is kept */
	WIRE_STRING_MAX = 4096, /* default limit of a recorded string, bytes without NUL */
};

/* Bytes that end a recorded string which was longer than the limit, and that stand for a NULL pointer
 * (UTF-8). */
#define WIRE_TRUNCATED "\xe2\x80\xa6" /* U+2026 HORIZONTAL ELLIPSIS */
#define WIRE_NULL      "\xe2\x90\x80" /* U+2400 SYMBOL FOR NULL */

/* What a tracepoint does when it is passed: the value of its switch, a byte. */
enum wire_switch {
	WIRE_OFF,
	WIRE_ON,
	WIRE_CHECKED, /* ask the event's struct wire_check first */
	WIRE_CALLED,  /* in no session: the program has a callback, and asks the session's switch itself */
};

/*
 * What is asked of an event whose switch says so. The first part is written by whoever switches, under the
 * session's events_lock; the second is counted by the writers.
 */
struct wire_check {
	uint32_t filter; /* where in the filters area its program begins; 0: none */
	uint32_t sample; /* of those that pass the filter, every n-th is recorded; 0 and 1: each */
	uint32_t limit;	 /* records a second at most; 0: any number */
	uint32_t reserved0;

	uint64_t passed;      /* that passed the filter, while there is a sample */
	uint64_t window;      /* of the limit: the second in the upper half, records in it in the lower */
	uint64_t sampled_out; /* not recorded since they were not the n-th */
	uint64_t limited;     /* not recorded since there were too many in their second */
	uint64_t reserved1[2];
};

/* One event of a change that is under way: what its switch and check are to become. */
struct wire_intent {
	uint16_t id;
	uint8_t want;	 /* enum wire_switch */
	uint8_t checked; /* not 0: the check is to become ... */
	uint32_t filter, sample, limit;
};

struct wire_event {
	uint64_t types; /* enum wire_type, 4 bits per argument, the first lowest */
	uint32_t name;	/* byte offsets into the text; each ends in NUL */
	uint32_t format;
	uint32_t file;
	uint32_t line;
	uint8_t kind;	       /* enum wire_kind */
	uint8_t level;	       /* 0..WIRE_LEVEL_MAX (wire/session.h) */
	uint16_t refused;      /* how often the same name came with another format, types or kind */
	uint32_t refused_file; /* where, the last time: text offset (0: never) and line */
	uint32_t refused_line;
	uint32_t pid; /* who registered it first */
};

struct wire_events {
	uint32_t magic; /* WIRE_EVENTS_MAGIC */
	uint32_t count;
	uint32_t text_bytes; /* used; text begins with one NUL, so offset 0 is the empty string */
	uint32_t reserved;
	/* In the trace: count entries, then text_bytes of text. In the session each has an area of its own.
	 */
};

enum {
	WIRE_EVENTS_MAGIC = 0x54564542, /* "BEVT" */
};

static_assert(sizeof(struct wire_intent) == 16, "wire_intent");
static_assert(sizeof(struct wire_check) == 64, "wire_check");
static_assert(sizeof(struct wire_event) == 40, "wire_event");
static_assert(offsetof(struct wire_event, name) == 8, "wire_event.name");
static_assert(offsetof(struct wire_event, kind) == 24, "wire_event.kind");
static_assert(offsetof(struct wire_event, level) == 25, "wire_event.level");
static_assert(offsetof(struct wire_event, refused_file) == 28, "wire_event.refused_file");
static_assert(offsetof(struct wire_event, pid) == 36, "wire_event.pid");
static_assert(sizeof(struct wire_events) == 16, "wire_events");

#endif
