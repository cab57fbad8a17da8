/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names that are known; see known.h. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "drain/known.h"
#include "ring/ring_deps.h"
#include "wire/names.h"

struct name {
	uint32_t id;	 /* enum wire_name_id */
	uint32_t number; /* of the thread or the process */
	uint32_t length; /* of ->record */
	bool ended;	 /* when it was last restated */
	uint64_t time;
	char *record; /* in the extended form, which needs nothing before it */
};

static int compare(const void *a, const void *b)
{
	const struct name *one = a, *other = b;

	if (one->id != other->id)
		return one->id < other->id ? -1 : 1;
	return (one->number > other->number) - (one->number < other->number);
}

/* The entry for a thread or a process, new if need be. */
static struct name *entry_of(struct known *known, uint32_t id, uint32_t number)
{
	const struct name key = { .id = id, .number = number };
	struct name **found = tfind(&key, &known->tree, compare), *name;

	if (found)
		return *found;
	name = calloc(1, sizeof(*name));
	if (!name)
		return NULL;
	*name = key;
	found = tsearch(name, &known->tree, compare);
	if (!found) {
		free(name);
		return NULL;
	}
	known->count++;
	return name;
}

static int remember(struct known *known, const char *at, uint32_t length, const struct parsed *parsed)
{
	const uint32_t payload = length - parsed->header, tid = parsed->tid;
	struct wire_extended header = {
		.tag = WIRE_ID_EXTENDED,
		.length = (uint16_t)(sizeof(header) + payload),
		.id = parsed->id,
		.time_low = (uint32_t)parsed->time,
		.time_high = (uint32_t)(parsed->time >> 32),
		.tid = tid,
	};
	const char *from = at + parsed->header;
	uint32_t number = parsed->id == WIRE_NAME_PROCESS ? number_load32(from) : tid;
	struct name *name = entry_of(known, parsed->id, number);
	char *record;

	if (!name)
		return -ENOMEM;
	record = realloc(name->record, header.length);
	if (!record)
		return -ENOMEM;
	memcpy(record, &header, sizeof(header));
	memcpy(record + sizeof(header), from, payload);
	name->record = record;
	name->length = header.length;
	name->time = parsed->time;
	name->ended = false;
	return 0;
}

int known_take(struct known *known, const char *packet, const struct sifted *sifted, uint64_t time)
{
	int error = 0;

	for (uint32_t at = sifted->begin; !error && at < sifted->content;) {
		const uint32_t length = number_load16(packet + at + 2);
		struct parsed parsed;

		if (!sift_header(packet + at, length, 0, time, &parsed))
			break;
		/* In the extended form it must fit into a packet with no room to spare. */
		if (length + 8 <= WIRE_PACKET_MIN - sizeof(struct wire_packet))
			error = remember(known, packet + at, length, &parsed);
		time = parsed.time;
		at += wire_stride(length);
	}
	return error;
}

/* What is gathered while the tree is walked. */
struct gathering {
	struct name **names;
	uint32_t count;
};

static void gather(const void *node, VISIT which, void *data)
{
	struct gathering *out = data;

	if (which == postorder || which == leaf)
		out->names[out->count++] = *(struct name *const *)node;
}

static void forget(struct known *known, struct name *name)
{
	tdelete(name, &known->tree, compare);
	known->count--;
	free(name->record);
	free(name);
}

/* Forgets those that had ended at the last time. */
static void sweep(struct known *known, struct gathering *all)
{
	uint32_t kept = 0;

	for (uint32_t n = 0; n < all->count; n++) {
		struct name *name = all->names[n];

		if (name->ended) {
			forget(known, name);
			continue;
		}
		name->ended = ring_owner_is_dead(name->number);
		all->names[kept++] = name;
	}
	all->count = kept;
}

static int by_time(const void *a, const void *b)
{
	const struct name *const *one = a, *const *other = b;

	return ((*one)->time > (*other)->time) - ((*one)->time < (*other)->time);
}

/* Into as few packets as they fit in. */
static void pack(const struct gathering *all, uint32_t packet_bytes, struct restated *out)
{
	struct sifted *piece = NULL;

	for (uint32_t n = 0; n < all->count; n++) {
		const struct name *name = all->names[n];

		if (!piece || packet_bytes - piece->end < wire_stride(name->length)) {
			piece = &out->pieces[out->packets++];
			*piece = (struct sifted){ .begin = sizeof(struct wire_packet),
						  .end = sizeof(struct wire_packet),
						  .first = name->time };
		}
		memcpy(out->memory + (size_t)(out->packets - 1) * packet_bytes + piece->end, name->record,
		       name->length);
		piece->content = piece->end + name->length;
		piece->end += wire_stride(name->length);
		piece->time = name->time;
		piece->count++;
	}
	out->records = all->count;
}

int known_restate(struct known *known, uint32_t packet_bytes, struct restated *out)
{
	struct gathering all = { .names = calloc(known->count + 1, sizeof(*all.names)) };
	uint64_t bytes = 0, packets;

	*out = (struct restated){ 0 };
	if (!all.names)
		return -ENOMEM;
	twalk_r(known->tree, gather, &all);
	sweep(known, &all);
	qsort(all.names, all.count, sizeof(*all.names), by_time);
	for (uint32_t n = 0; n < all.count; n++)
		bytes += wire_stride(all.names[n]->length);
	/* Of two packets in a row the second begins with what the first had no room for. */
	packets = bytes / ((packet_bytes - sizeof(struct wire_packet)) / 2) + 1;
	out->memory = calloc(packets, packet_bytes);
	out->pieces = calloc(packets, sizeof(*out->pieces));
	if (out->memory && out->pieces)
		pack(&all, packet_bytes, out);
	free(all.names);
	return out->memory && out->pieces ? 0 : -ENOMEM;
}

void restated_free(struct restated *restated)
{
	free(restated->memory);
	free(restated->pieces);
	*restated = (struct restated){ 0 };
}

static void free_name(void *data)
{
	struct name *name = data;

	free(name->record);
	free(name);
}

void known_free(struct known *known)
{
	tdestroy(known->tree, free_name);
	*known = (struct known){ 0 };
}
