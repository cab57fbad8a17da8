/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The event table describes each event id (docs/format.md, "Events"). It is part of the session and, as
 * `.burin/events`, of the trace: a header, the entries, and the text that they point into.
 *
 * An entry never changes once it is counted in `wire_events.count`; entry n describes id n + 1.
 */
#ifndef BURIN_WIRE_WIRE_EVENT_H
#define BURIN_WIRE_WIRE_EVENT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The type of an argument, 4 bits. Arguments are packed in the payload, little-endian, without alignment. An array takes 8
 * bits in a list of types: WIRE_END, then the type of its elements (format_type_next()).
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
	WIRE_F64,   /* also a long double */
	WIRE_PTR,   /* 8 bytes, an address */
	WIRE_STR,   /* text, ends with its NUL */
	WIRE_BYTES, /* u16 count, then the bytes */
	WIRE_CHAR,  /* 1 byte, a plain char */
	WIRE_ARRAY, /* u16 count, then the elements; not in a list of types */
};

enum wire_kind {
	WIRE_KIND_EVENT,
	WIRE_KIND_BEGIN, /* opens a span; the name ends in ".begin" */
	WIRE_KIND_END,	 /* closes the innermost open span of that name and thread; the name ends in ".end" */
	WIRE_KIND_COUNTER, /* one number, which holds until the next record */
	/* The ends of a span that the record's first fields identify (format_has_span_id()). Names end as those of the others. */
	WIRE_KIND_SPAN_BEGIN,
	WIRE_KIND_SPAN_END,
	WIRE_KINDS
};

enum {
	WIRE_ARGS_MAX = 16,
	WIRE_NAME_MAX = 127,	/* bytes of a name, without NUL */
	WIRE_FORMAT_MAX = 1023, /* and of a format */
	WIRE_FILE_MAX = 255,	/* and of a source file's name; a longer one keeps its end */
	WIRE_ENUMS_MAX = 8191,	/* and of the enums that a format refers to (wire_enum.h) */
	WIRE_STRING_MAX = 4096, /* default limit of a recorded string, bytes without NUL */
};

/* wire_has_span_id - whether events of a kind begin with the id of a span. */
static inline bool wire_has_span_id(unsigned kind)
{
	return kind == WIRE_KIND_SPAN_BEGIN || kind == WIRE_KIND_SPAN_END;
}

/* UTF-8: the end of a string that was cut at the limit, and the text for a NULL pointer. */
#define WIRE_TRUNCATED "\xe2\x80\xa6" /* U+2026 HORIZONTAL ELLIPSIS */
#define WIRE_NULL      "\xe2\x90\x80" /* U+2400 SYMBOL FOR NULL */

/* The state of an event, a byte: its switch. */
enum wire_switch {
	WIRE_OFF,
	WIRE_ON,
	WIRE_CONDITIONAL, /* record it if its struct wire_condition holds */
	WIRE_CALLED, /* never in a session: the site has a callback, and reads the session's switch itself */
	WIRE_UNFIT, /* only a desired state: off, because the filter of the rule does not apply to the event */
};

/* wire_is_on - whether a desired state means that the event is recorded. */
static inline bool wire_is_on(uint8_t state)
{
	return state == WIRE_ON || state == WIRE_CONDITIONAL;
}

/*
 * The condition of an event whose state is WIRE_CONDITIONAL. A process that switches events writes the first part,
 * under the session's events_lock; writers of records count in the second.
 */
struct wire_condition {
	uint32_t filter; /* offset of its program in the filters area; 0: none */
	uint32_t sample; /* record every n-th event that passes the filter; 0 and 1: each */
	uint32_t limit;	 /* records a second at most; 0: no limit */
	uint32_t reserved0;

	uint64_t passed;      /* events that passed the filter; counted only if there is a sample */
	uint64_t window;      /* of the limit: the second in the upper half, records in it in the lower */
	uint64_t sampled_out; /* events not recorded because of the sample */
	uint64_t limited;     /* events not recorded because of the limit */
	uint64_t reserved1[2];
};

/* One event of a transaction: its new state and condition. */
struct wire_journal_entry {
	uint16_t id;
	uint8_t desired;     /* enum wire_switch: the new desired state */
	uint8_t conditional; /* not 0: the condition changes too, to ... */
	uint32_t filter, sample, limit;
};

struct wire_event {
	uint64_t types; /* enum wire_type, 4 bits per argument, the first lowest */
	uint32_t name;	/* byte offsets into the text; each ends in NUL */
	uint32_t format;
	uint32_t file;
	uint32_t line;
	uint8_t kind;	       /* enum wire_kind */
	uint8_t level;	       /* 0..WIRE_LEVEL_MAX (wire/wire_session.h) */
	uint16_t refused;      /* registrations refused because format, types or kind differed */
	uint32_t refused_file; /* of the last one: text offset (0: none) and line */
	uint32_t refused_line;
	uint32_t pid;	/* process that registered it first */
	uint32_t enums; /* text offset: the enums that the format refers to (wire_enum.h); 0: none */
	uint32_t reserved;
};

/* An event that was refused because of its name or format, or because the table was full. Texts are offsets, as in an
 * entry. */
struct wire_refusal {
	uint32_t name, format, file, why;
	uint32_t line;
	uint32_t pid;	/* the last process that tried to register it */
	uint32_t times; /* one for each process */
};

struct wire_events {
	uint32_t magic; /* WIRE_EVENTS_MAGIC */
	uint32_t count;
	uint32_t text_bytes; /* used; text begins with one NUL, so offset 0 is the empty string */
	uint32_t refused;    /* in the trace: offset of the text that lists refused events; 0: none */
	/* In the trace: count entries, then text_bytes of text. In the session each has an area of its own. */
};

enum {
	WIRE_EVENTS_MAGIC = 0x32564542, /* "BEV2" */
	/* Of traces whose entries end before `enums`. */
	WIRE_EVENTS_MAGIC_1 = 0x54564542, /* "BEVT" */
	WIRE_EVENT_BYTES_1 = offsetof(struct wire_event, enums),
};

static_assert(sizeof(struct wire_journal_entry) == 16, "wire_journal_entry");
static_assert(sizeof(struct wire_condition) == 64, "wire_condition");
static_assert(sizeof(struct wire_event) == 48, "wire_event");
static_assert(offsetof(struct wire_event, name) == 8, "wire_event.name");
static_assert(offsetof(struct wire_event, kind) == 24, "wire_event.kind");
static_assert(offsetof(struct wire_event, level) == 25, "wire_event.level");
static_assert(offsetof(struct wire_event, refused_file) == 28, "wire_event.refused_file");
static_assert(offsetof(struct wire_event, pid) == 36, "wire_event.pid");
static_assert(offsetof(struct wire_event, enums) == 40, "wire_event.enums");
static_assert(sizeof(struct wire_refusal) == 28, "wire_refusal");
static_assert(sizeof(struct wire_events) == 16, "wire_events");

#endif
