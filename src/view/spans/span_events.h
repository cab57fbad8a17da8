/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which events of a trace are ends of spans, and what a record says of its span. Spans are:
 *
 *	NAME		BURIN_BEGIN to BURIN_END, BURIN_SCOPE: of one thread, nested
 *			BURIN_SPAN_BEGIN to BURIN_SPAN_END: of one id, in any threads
 *	u:FILE:NAME	a call of a function with probes at its begin and its return
 *	syscall:NAME	a system call
 *	call:NAME	a call of a function
 *	any name	a pair of two events that the user chose, with equal fields or of one thread
 *
 * Records become items, by several threads (view/read_ahead.h). span_join.c joins items to spans.
 */
#ifndef BURIN_VIEW_SPANS_SPAN_EVENTS_H
#define BURIN_VIEW_SPANS_SPAN_EVENTS_H

#include "burin/calls.h"
#include "view/kernel/kernel_view.h"
#include "view/read_ahead.h"
#include "view/records/where.h"

enum {
	SPAN_KEY_FIELDS = 4,
	SPAN_BY_FIELDS = 8,
};

enum span_kind {
	SPAN_OF_THREAD,
	SPAN_OF_ID,
	SPAN_OF_PAIR,
	SPAN_OF_SYSCALL,
	SPAN_OF_CALL,
};

/* Whether its ends are joined by a key, not by the thread's stack. */
static inline bool span_has_key(enum span_kind kind)
{
	return kind == SPAN_OF_PAIR || kind == SPAN_OF_ID;
}

enum span_side {
	SPAN_BEGIN,
	SPAN_END,
	SPAN_LATE,  /* the begin of a system call, known at its end */
	SPAN_WHOLE, /* both ends */
};

/* Two events that are the ends of a span. */
struct span_pair {
	const char *name;
	const char *text;		     /* as the user wrote it */
	const char *begin, *end;	     /* globs of events */
	const char *fields[SPAN_KEY_FIELDS]; /* which are equal in both */
	unsigned field_count;		     /* 0: both are of one thread */
};

struct span_choice {
	const struct view_globs
		*names; /* empty: pairs; without pairs, spans of events; without these, system calls */
	const struct span_pair *pairs;
	size_t pair_count;
	const char *by[SPAN_BY_FIELDS]; /* names of fields whose values are wanted */
	unsigned by_count;
	const struct view_conditions *where; /* as of view_where_make_ends(); NULL: there are none */
};

/* The spans of one name. */
struct span_definition {
	uint32_t name; /* string */
	enum span_kind kind;
	bool wanted;  /* otherwise it only has to be known where others are in it */
	bool births;  /* a call that returns twice: its second end has no begin */
	bool endless; /* a call without an end, by its nature */
};

/* An event as an end of the spans of one definition. */
struct span_role {
	uint32_t definition; /* index */
	uint32_t next;	     /* role of the same event; 0: none */
	enum span_kind kind;
	enum span_side side;
	const struct kernel_event *kernel; /* of a system call */
	int failed;			   /* field: not 0 if the span failed; -1: none */
	int key[SPAN_KEY_FIELDS];
	unsigned key_count;
	int by[SPAN_BY_FIELDS]; /* fields; -1: none */
	bool has_by;
};

/* A record, decoded. */
struct span_item {
	uint64_t time;	/* ticks */
	uint64_t begin; /* of a whole span or a late begin */
	uint64_t key[2];
	uint32_t tid, role;
	uint32_t definition; /* the role's, or that of a function */
	uint32_t
		text; /* where texts begin in the bytes of the items; UINT32_MAX: none. See span_next_text() */
	int32_t result; /* of a system call that failed: below 0; otherwise not 0: the span failed */
	bool out;	/* the conditions of this end do not hold */
	bool needs;	/* the other end has conditions, too */
};

struct span_events {
	const struct burin_trace *trace;
	struct view_strings *strings; /* the caller's */
	const struct span_choice *choice;
	struct kernel_view view;
	struct burin_calls *calls;	     /* NULL: none are wanted */
	uint32_t *functions;		     /* definitions by number of function; 0: not wanted */
	struct span_definition *definitions; /* 0 is none */
	uint32_t definition_count;
	size_t definition_room;
	struct hash_table numbers;
	struct hash_table returns; /* ids of probes of returns, by their names */
	struct span_role *roles;   /* 0 is none */
	uint32_t role_count;
	size_t role_room;
	uint32_t *first;	  /* roles by id of an event */
	struct view_where *where; /* by number of a role; NULL: there are no conditions */
	unsigned count;		  /* the largest id */
};

/*
 * span_events_make - look at the events of a trace.
 * Return: 0; -ENODATA: the trace has no such spans; -EINVAL: a pair has no begins or ends, see @missing; -EDOM: see the
 * fault of ->where; -ENOMEM.
 */
int span_events_make(struct span_events *events, const struct burin_trace *trace,
		     const struct span_choice *choice, struct view_strings *strings, const char **missing);
void span_events_free(struct span_events *events);

/* span_events_decode - for struct read_ahead_work; @data: the struct span_events. */
int span_events_decode(const void *data, const struct burin_record *record, struct read_ahead_items *items);

/* span_events_define - the definition of a name. Return: 0: no memory. */
uint32_t span_events_define(struct span_events *events, enum span_kind kind, const char *name);

/* A text of an item: the value of a field, or the name of a system call that has none in its event. */
struct span_text {
	unsigned by; /* index of the field; SPAN_BY_FIELDS: the name of the span */
	const char *text;
};

/* span_next_text - go through them. @at: ->text of the item at first. Return: false: there are no more. */
bool span_next_text(const struct read_ahead_items *items, uint32_t *at, struct span_text *text);

#endif
