/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Events with payloads, and filters compiled for them and run, for the tests of this folder. */
#ifndef TESTS_FILTER_FILTER_EVENTS_H
#define TESTS_FILTER_FILTER_EVENTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/glob.h"
#include "filter/filter_compile.h"
#include "filter/filter.h"
#include "wire/wire_event.h"
#include "wire/wire_format.h"

__extension__ typedef __int128 wide;

enum {
	ARGS = 6,
	TEXT_MAX = 2000,
	PAYLOAD_MAX = 1024,
};

struct value {
	unsigned type;
	wide integer;
	double real;
	char text[24]; /* of bytes: the count is `integer` */
};

/* An event with its arguments, packed. */
struct event {
	unsigned count;
	uint64_t types;
	char format[200];
	struct value values[ARGS];
	char *payload; /* memory that ends with it */
	uint32_t bytes;
};

static const struct filter_subject subject = { 4242,	   4243,    3, 2, UINT64_C(0xfedcba9876543210),
					       "worker/1", "server" };
static _Alignas(64) char program[WIRE_FILTER_MAX];
static struct wire_filter *const filter = (struct wire_filter *)program;
static struct filter_error fault;
static __attribute__((unused)) uint64_t seed, random_state;

static inline uint64_t random_next(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static inline unsigned below(unsigned limit)
{
	return (unsigned)(random_next() % limit);
}

static inline const char *conversion(unsigned type)
{
	return type == WIRE_F32 || type == WIRE_F64	? "%g"
	       : type == WIRE_STR			? "%s"
	       : type == WIRE_PTR || type == WIRE_BYTES ? "%p"
							: "%d";
}

/* ---- Payloads ---- */

static inline bool is_signed(unsigned type)
{
	return (type >= WIRE_I8 && type <= WIRE_I64) || type == WIRE_CHAR;
}

static inline bool is_float(unsigned type)
{
	return type == WIRE_F32 || type == WIRE_F64;
}

static inline char *put(char *at, const struct value *value)
{
	uint16_t count = (uint16_t)value->integer;
	uint64_t integer = (uint64_t)value->integer;
	float single = (float)value->real;

	switch (value->type) {
	case WIRE_STR:
		return stpcpy(at, value->text) + 1;
	case WIRE_BYTES:
		memcpy(at, &count, 2);
		memset(at + 2, 7, count);
		return at + 2 + count;
	case WIRE_F32:
		memcpy(at, &single, 4);
		return at + 4;
	case WIRE_F64:
		memcpy(at, &value->real, 8);
		return at + 8;
	default:
		memcpy(at, &integer, format_type_bytes(value->type));
		return at + format_type_bytes(value->type);
	}
}

static inline void event_close(struct event *event)
{
	free(event->payload);
	event->payload = NULL;
}

static inline void event_pack(struct event *event)
{
	char buffer[PAYLOAD_MAX], *at = buffer;

	event->types = 0;
	event->format[0] = '\0';
	for (unsigned n = 0; n < event->count; n++) {
		event->types |= (uint64_t)event->values[n].type << 4 * n;
		sprintf(event->format + strlen(event->format), "f%u=%s ", n,
			conversion(event->values[n].type));
		at = put(at, &event->values[n]);
	}
	event->bytes = (uint32_t)(at - buffer);
	event->payload = malloc(event->bytes + !event->bytes);
	assert_non_null(event->payload);
	memcpy(event->payload, buffer, event->bytes);
}

/* ---- Running ---- */

static inline void compile(const char *text, const char *format, uint64_t types)
{
	memset(program, 0xee, sizeof(program));
	if (filter_compile(text, format, "", types, filter, sizeof(program), &fault) != 0)
		fail_msg("%s: %s (at %zu)", text, fault.message, fault.offset);
	assert_int_equal(filter_verify(program, sizeof(program), types), 0);
}

static inline bool run(const char *text, const struct event *event)
{
	compile(text, event->format, event->types);
	return filter_passes(filter, event->payload, event->bytes, &subject);
}

static inline void expect(const struct event *event, const char *text, bool wanted)
{
	if (run(text, event) != wanted)
		fail_msg("%s is not %s", text, wanted ? "true" : "false");
}

#endif
