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

/* An announcement. */
struct saying {
	struct saying *former; /* of the same thread or process, from earlier on */
	uint64_t since;	       /* from when on it holds */
	uint64_t time;	       /* of the record */
	uint32_t length;
	char record[]; /* in the extended form, which needs nothing before it */
};

struct name {
	uint32_t id;	 /* enum wire_name_id */
	uint32_t number; /* of the thread or the process */
	bool ended;	 /* when it was last restated */
	struct saying *last;
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
	return name;
}

/* Forgets what no record to come can be as old as. */
static void trim(struct known *known, const struct name *name, uint64_t from)
{
	struct saying *saying = name->last;

	while (saying && saying->since > from)
		saying = saying->former;
	while (saying && saying->former) {
		struct saying *gone = saying->former;

		saying->former = gone->former;
		free(gone);
		known->count--;
	}
}

static int remember(struct known *known, const char *at, uint32_t length, const struct parsed *parsed,
		    uint64_t from)
{
	const uint32_t payload = length - parsed->header;
	const char *content = at + parsed->header;
	struct wire_extended header = {
		.tag = WIRE_ID_EXTENDED,
		.length = (uint16_t)(sizeof(header) + payload),
		.id = parsed->id,
		.time_low = (uint32_t)parsed->time,
		.time_high = (uint32_t)(parsed->time >> 32),
		.tid = parsed->tid,
	};
	const uint64_t since = number_load64(content + payload - WIRE_NAME_TAIL);
	struct name *name = entry_of(known, parsed->id,
				     parsed->id == WIRE_NAME_PROCESS ? number_load32(content) : parsed->tid);
	struct saying *saying = malloc(sizeof(*saying) + header.length), **place;

	if (!name || !saying) {
		free(saying);
		return -ENOMEM;
	}
	*saying = (struct saying){ .since = since ? since : parsed->time,
				   .time = parsed->time,
				   .length = header.length };
	memcpy(saying->record, &header, sizeof(header));
	memcpy(saying->record + sizeof(header), content, payload);
	/* A copy may come after what was said later. */
	for (place = &name->last; *place && (*place)->since > saying->since; place = &(*place)->former)
		;
	saying->former = *place;
	*place = saying;
	name->ended = false;
	known->count++;
	trim(known, name, from);
	return 0;
}

int known_take(struct known *known, const char *packet, const struct sifted *sifted, uint64_t time,
	       uint64_t from)
{
	int error = 0;

	for (uint32_t at = sifted->begin; !error && at < sifted->content;) {
		const uint32_t length = number_load16(packet + at + 2);
		struct parsed parsed;

		if (!sift_header(packet + at, length, 0, time, &parsed))
			break;
		/* In the extended form it must fit into a packet with no room to spare. */
		if (length + 8 <= WIRE_PACKET_MIN - sizeof(struct wire_packet))
			error = remember(known, packet + at, length, &parsed, from);
		time = parsed.time;
		at += wire_stride(length);
	}
	return error;
}

/* What is gathered while the tree is walked: first of all names, then of all that is said of those that stay. */
struct gathering {
	struct name **names;
	uint32_t name_count;
	const struct saying **sayings;
	uint32_t count;
};

static void gather(const void *node, VISIT which, void *data)
{
	struct gathering *out = data;

	if (which == postorder || which == leaf)
		out->names[out->name_count++] = *(struct name *const *)node;
}

static void free_name(void *data)
{
	struct name *name = data;

	while (name->last) {
		struct saying *saying = name->last;

		name->last = saying->former;
		free(saying);
	}
	free(name);
}

static void forget(struct known *known, struct name *name)
{
	for (const struct saying *saying = name->last; saying; saying = saying->former)
		known->count--;
	tdelete(name, &known->tree, compare);
	free_name(name);
}

/* Forgets those that had ended at the last time. */
static void sweep(struct known *known, struct gathering *all, uint64_t from)
{
	for (uint32_t n = 0; n < all->name_count; n++) {
		struct name *name = all->names[n];

		if (name->ended) {
			forget(known, name);
			continue;
		}
		name->ended = ring_owner_is_dead(name->number);
		trim(known, name, from);
		for (const struct saying *saying = name->last; saying; saying = saying->former)
			all->sayings[all->count++] = saying;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct saying *const *one = a, *const *other = b;

	return ((*one)->time > (*other)->time) - ((*one)->time < (*other)->time);
}

/* Into as few packets as they fit in. */
static void pack(const struct gathering *all, uint32_t packet_bytes, struct restated *out)
{
	struct sifted *piece = NULL;

	for (uint32_t n = 0; n < all->count; n++) {
		const struct saying *saying = all->sayings[n];

		if (!piece || packet_bytes - piece->end < wire_stride(saying->length)) {
			piece = &out->pieces[out->packets++];
			*piece = (struct sifted){ .begin = sizeof(struct wire_packet),
						  .end = sizeof(struct wire_packet),
						  .first = saying->time };
		}
		memcpy(out->memory + (size_t)(out->packets - 1) * packet_bytes + piece->end, saying->record,
		       saying->length);
		piece->content = piece->end + saying->length;
		piece->end += wire_stride(saying->length);
		piece->time = saying->time;
		piece->count++;
	}
	out->records = all->count;
}

int known_restate(struct known *known, uint32_t packet_bytes, uint64_t from, struct restated *out)
{
	struct gathering all = { .names = calloc(known->count + 1, sizeof(*all.names)),
				 .sayings = calloc(known->count + 1, sizeof(*all.sayings)) };
	uint64_t bytes = 0, packets;

	*out = (struct restated){ 0 };
	if (!all.names || !all.sayings) {
		free(all.names);
		free(all.sayings);
		return -ENOMEM;
	}
	twalk_r(known->tree, gather, &all);
	sweep(known, &all, from);
	qsort(all.sayings, all.count, sizeof(*all.sayings), by_time);
	for (uint32_t n = 0; n < all.count; n++)
		bytes += wire_stride(all.sayings[n]->length);
	/* Of two packets in a row the second begins with what the first had no room for. */
	packets = bytes / ((packet_bytes - sizeof(struct wire_packet)) / 2) + 1;
	out->memory = calloc(packets, packet_bytes);
	out->pieces = calloc(packets, sizeof(*out->pieces));
	if (out->memory && out->pieces)
		pack(&all, packet_bytes, out);
	free(all.names);
	free(all.sayings);
	return out->memory && out->pieces ? 0 : -ENOMEM;
}

void restated_free(struct restated *restated)
{
	free(restated->memory);
	free(restated->pieces);
	*restated = (struct restated){ 0 };
}

void known_free(struct known *known)
{
	tdestroy(known->tree, free_name);
	*known = (struct known){ 0 };
}
