/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The parts of the layout that need no system: offsets, pointers and the rings' constants. The kernel's module
 * makes its session with them, too.
 */
#include <string.h>

#include "session/layout_place.h"
#include "wire/wire_change.h"

enum {
	PLACE_PAGE = 4096,
};

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PLACE_PAGE - 1) & ~(uint64_t)(PLACE_PAGE - 1);
}

/* The history lies behind the journal; the header has no offset for it. */
static uint64_t history_offset(const struct wire_geometry *geometry)
{
	return geometry->journal_offset +
	       whole_pages(geometry->events_max * sizeof(struct wire_journal_entry));
}

/* The parts of the calls area, bytes from its begin. */
struct calls_layout {
	uint64_t images, text, functions, index, switches, counts, specs, spec_text, segments, end;
};

static struct calls_layout calls_layout(const struct wire_geometry *geometry)
{
	const uint64_t max = geometry->functions_max;
	struct calls_layout at = { .images = whole_pages(sizeof(struct wire_calls)) };

	at.text = at.images + whole_pages(WIRE_CALL_IMAGES_MAX * sizeof(struct wire_call_image));
	at.functions = at.text + whole_pages(WIRE_CALL_TEXT);
	at.index = at.functions + whole_pages(max * sizeof(struct wire_call_function));
	at.switches = at.index + whole_pages(2 * max * sizeof(uint32_t));
	at.counts = at.switches + whole_pages(max);
	at.specs = at.counts + whole_pages((1 + (uint64_t)geometry->cpus) * max * sizeof(uint64_t));
	at.spec_text = at.specs + whole_pages(max * sizeof(struct wire_call_spec));
	at.segments = at.spec_text + whole_pages(max * WIRE_CALL_SPEC_TEXT);
	at.end = at.segments + (uint64_t)geometry->call_segments * WIRE_CALL_SEGMENT;
	return at;
}

static void attach_calls(struct session *session)
{
	const struct calls_layout at = calls_layout(&session->geometry);
	char *base = session->base + session->geometry.calls_offset;

	if (!session->geometry.functions_max)
		return;
	session->calls = (struct session_calls){
		.header = (struct wire_calls *)base,
		.images = (struct wire_call_image *)(base + at.images),
		.text = base + at.text,
		.functions = (struct wire_call_function *)(base + at.functions),
		.index = (uint32_t *)(base + at.index),
		.index_mask = 2 * session->geometry.functions_max - 1,
		.switches = (uint8_t *)base + at.switches,
		.counts = (uint64_t *)(base + at.counts),
		.specs = (struct wire_call_spec *)(base + at.specs),
		.spec_text = base + at.spec_text,
		.segments = base + at.segments,
	};
}

void layout_decide(struct wire_geometry *geometry)
{
	uint64_t rings = (uint64_t)geometry->cpus + geometry->locked;
	uint64_t at = whole_pages(sizeof(struct wire_session));

	geometry->switches_offset = at;
	at += whole_pages(geometry->events_max);
	geometry->desired_offset = at;
	at += whole_pages(geometry->events_max);
	geometry->conditions_offset = at;
	at += whole_pages(geometry->events_max * sizeof(struct wire_condition));
	geometry->filters_offset = at;
	at += whole_pages(geometry->filters_bytes);
	geometry->journal_offset = at;
	at += whole_pages(geometry->events_max * sizeof(struct wire_journal_entry));
	at += whole_pages(WIRE_CHANGES * wire_change_bytes(geometry->events_max));
	geometry->events_offset = at;
	at += whole_pages(sizeof(struct wire_events) + geometry->events_max * sizeof(struct wire_event));
	geometry->text_offset = at;
	at += whole_pages(geometry->text_bytes);
	geometry->controls_offset = at;
	at += whole_pages((rings + 1) * sizeof(struct wire_ring));
	geometry->rings_offset = at;
	at += rings * layout_ring_bytes(geometry);
	geometry->names_offset = at;
	at += (uint64_t)geometry->names_packets * geometry->names_packet_bytes;
	geometry->calls_offset = at;
	at += geometry->functions_max ? calls_layout(geometry).end : 0;
	geometry->file_bytes = at;
}

static void header_init(struct wire_packet *header, const struct session *session, uint32_t stream_id,
			uint32_t packet_bytes)
{
	*header = (struct wire_packet){
		.magic = WIRE_MAGIC,
		.stream_id = stream_id,
		.content_bits = sizeof(*header) * 8,
		.packet_bits = (uint64_t)packet_bytes * 8,
	};
	memcpy(header->uuid, session->geometry.uuid, sizeof(header->uuid));
}

void layout_ring(struct session *session, unsigned index)
{
	const struct wire_geometry *geometry = &session->geometry;
	struct ring *ring = &session->rings[index];
	bool names = index == session_names_index(session);
	uint32_t packet_bytes = names ? geometry->names_packet_bytes : geometry->packet_bytes;
	uint32_t window = names ? geometry->names_packets : geometry->ring_packets;
	uint32_t room = packet_bytes - (uint32_t)sizeof(struct wire_packet);

	*ring = (struct ring){
		.control = (struct wire_ring *)(session->base + geometry->controls_offset) + index,
		.word_mask = (uint64_t)window * packet_bytes / 8 - 1,
		.packet_mask = packet_bytes / 8 - 1,
		.packet_words = packet_bytes / 8,
		.window = window,
		/* 8 bytes less, so that the extended form fits as well */
		.record_max = room < WIRE_LENGTH_MAX - 8 ? room : WIRE_LENGTH_MAX - 8,
		.overwrite = geometry->mode == WIRE_MODE_FLIGHT && !names,
		.locked = index >= geometry->cpus,
		.header = names ? &session->names_header : &session->header,
		.stream_instance = names ? UINT32_MAX : index,
		.cpu = names			? 0
		       : index < geometry->cpus ? index
						: index - geometry->cpus,
		.fixed = names,
	};
}

void layout_place(struct session *session)
{
	const struct wire_geometry *geometry = &session->geometry;

	session->shared = (struct wire_session *)session->base;
	session->switches = (uint8_t *)session->base + geometry->switches_offset;
	session->desired = (uint8_t *)session->base + geometry->desired_offset;
	session->conditions = (struct wire_condition *)(session->base + geometry->conditions_offset);
	session->journal = (struct wire_journal_entry *)(session->base + geometry->journal_offset);
	session->filters = session->base + geometry->filters_offset;
	session->history = session->base + history_offset(geometry);
	session->events = (struct wire_events *)(session->base + geometry->events_offset);
	session->entries = (struct wire_event *)(session->events + 1);
	session->text = session->base + geometry->text_offset;
	session->ring_count = geometry->cpus + geometry->locked + 1;
	attach_calls(session);
	header_init(&session->header, session, WIRE_STREAM_RECORDS, geometry->packet_bytes);
	header_init(&session->names_header, session, WIRE_STREAM_NAMES, geometry->names_packet_bytes);
}
