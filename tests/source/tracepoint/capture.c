/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* See capture.h. burin_emit_args is the library's own (stage.c). */
#include "capture.h"

#include <stdio.h>
#include <string.h>

#include "burin/burin.h"
#include "source/tracepoint/fields/serialize.h"
#include "source/tracepoint/fields/site_types.h"
#include "wire/wire_event.h"
#include "wire/wire_record.h"

const unsigned char burin_off;
unsigned char capture_switch = 1;
unsigned capture_count, capture_objects, capture_sites;

static unsigned char got[1 << 17], want[1 << 17];
static size_t got_bytes, want_bytes_count;
static const struct burin_site *got_site;
static unsigned pending, failures;
static char names[4096];

void burin_object_join(struct burin_site *begin, struct burin_site *end, const struct burin_enum *enums,
		       const struct burin_enum *enums_end)
{
	static uint16_t id;

	(void)enums;
	(void)enums_end;

	capture_objects++;
	capture_sites += (unsigned)(end - begin);
	for (struct burin_site *site = begin; site < end; site++) {
		site->types = site_types_complete(site->format, site->types);
		site->id = ++id;
		site->state = &capture_switch;
	}
}

void burin_object_leave(struct burin_site *begin, struct burin_site *end)
{
	capture_objects--;
	capture_sites -= (unsigned)(end - begin);
	for (struct burin_site *site = begin; site < end; site++)
		site->state = &burin_off;
}

static void fail(const char *file, int line, const char *what)
{
	failures++;
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
}

void burin_emit(struct burin_site *site, unsigned state, void *buffer, size_t payload_bytes)
{
	const unsigned char *payload = (const unsigned char *)buffer + WIRE_HEADROOM;
	size_t end = (WIRE_HEADROOM + payload_bytes + 7) & ~(size_t)7;

	capture_count++;
	if (pending++ && strlen(names) < sizeof(names) - 256)
		strcat(names, " ");
	if (strlen(names) < sizeof(names) - 256)
		strcat(names, site->name);
	got_site = site;
	got_bytes = payload_bytes;
	if (!buffer)
		return;
	if ((uintptr_t)buffer % 8)
		fail(site->file, (int)site->line, "the buffer is not aligned");
	if (state != capture_switch)
		fail(site->file, (int)site->line, "not the switch's value");
	for (size_t at = WIRE_HEADROOM + payload_bytes; at < end; at++)
		if (((unsigned char *)buffer)[at])
			fail(site->file, (int)site->line, "the bytes behind the payload are not zero");
	memcpy(got, payload, payload_bytes < sizeof(got) ? payload_bytes : sizeof(got));
	memset(buffer, 0x55, WIRE_HEADROOM);
}

static void want_add(const void *bytes, size_t count)
{
	memcpy(want + want_bytes_count, bytes, count);
	want_bytes_count += count;
}

void want_int(uint64_t value, unsigned bytes)
{
	want_add(&value, bytes);
}

void want_float(float value)
{
	want_add(&value, sizeof(value));
}

void want_double(double value)
{
	want_add(&value, sizeof(value));
}

void want_text(const char *text)
{
	want_add(text, strlen(text) + 1);
}

void want_bytes(const void *bytes, uint16_t count)
{
	want_int(count, 2);
	want_add(bytes, count);
}

static void forget(void)
{
	pending = 0;
	want_bytes_count = 0;
	names[0] = '\0';
}

void check_at(const char *name, unsigned kind, uint64_t types, const char *format, const char *file, int line)
{
	char text[512];

	if (pending != 1) {
		snprintf(text, sizeof(text), "%s: %u records instead of one", name, pending);
		fail(file, line, text);
	} else if (strcmp(got_site->name, name) || got_site->kind != kind || got_site->types != types ||
		   strcmp(got_site->format, format) || !got_site->id) {
		snprintf(text, sizeof(text),
			 "wanted %s kind %u types %llx \"%s\", got %s kind %u types %llx \"%s\"", name, kind,
			 (unsigned long long)types, format, got_site->name, got_site->kind,
			 (unsigned long long)got_site->types, got_site->format);
		fail(file, line, text);
	} else if (got_bytes != want_bytes_count || memcmp(got, want, got_bytes)) {
		snprintf(text, sizeof(text), "%s: %zu bytes of payload, wanted %zu, or others", name,
			 got_bytes, want_bytes_count);
		fail(file, line, text);
	}
	forget();
}

void check_log_at(const char *wanted, const char *file, int line)
{
	if (strcmp(names, wanted)) {
		fail(file, line, "other records than wanted:");
		fprintf(stderr, "\twanted %s\n\tgot    %s\n", wanted, names);
	}
	forget();
}

void check_none_at(const char *file, int line)
{
	if (pending)
		fail(file, line, "a record where there should be none");
	forget();
}

void check_that_at(int condition, const char *text, const char *file, int line)
{
	if (!condition)
		fail(file, line, text);
}

int check_result(void)
{
	return failures != 0;
}
