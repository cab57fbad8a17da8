/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The statedump; see statedump.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "drain/statedump.h"
#include "session/session.h"
#include "wire/wire_head.h"
#include "wire/wire_names.h"

/* An announcement of a thread's or process's name. */
struct announcement {
	struct announcement *former; /* the one before, of the same thread or process */
	uint64_t since;		     /* when it became valid */
	uint64_t time;		     /* of the record */
	uint32_t length;
	char record[]; /* in extended form, which does not depend on earlier records */
};

struct statedump_name {
	uint32_t id;	 /* enum wire_name_id */
	uint32_t number; /* of the thread or the process */
	bool ended;	 /* when the last statedump was written */
	struct announcement *last;
};

/* Programs may have had more threads than they have, so none is looked for one by one. Return: NULL: not announced. */
static struct statedump_name *statedump_find(const struct statedump *dump, uint32_t id, uint32_t number)
{
	const uint64_t hash = hash_pair(number, id);
	size_t at = 0;
	uint32_t entry;

	while ((entry = hash_table_next(&dump->numbers, hash, &at)))
		if (dump->names[entry - 1].id == id && dump->names[entry - 1].number == number)
			return &dump->names[entry - 1];
	return NULL;
}

/* Add an entry, for which there is room. */
static struct statedump_name *statedump_insert(struct statedump *dump, struct statedump_name name)
{
	dump->names[dump->name_count++] = name;
	hash_table_add(&dump->numbers, hash_pair(name.number, name.id), dump->name_count);
	return &dump->names[dump->name_count - 1];
}

/* Find or add the entry of a thread or a process. Return: NULL: no memory. */
static struct statedump_name *entry_of(struct statedump *dump, uint32_t id, uint32_t number)
{
	struct statedump_name *name = statedump_find(dump, id, number);

	if (name)
		return name;
	if (!array_reserve(dump->names, dump->room, dump->name_count + 1) ||
	    !hash_table_reserve(&dump->numbers))
		return NULL;
	return statedump_insert(dump, (struct statedump_name){ .id = id, .number = number });
}

/* Remove the announcements that no record after @from refers to. */
static void statedump_trim(struct statedump *dump, const struct statedump_name *name, uint64_t from)
{
	struct announcement *announcement = name->last;

	while (announcement && announcement->since > from)
		announcement = announcement->former;
	while (announcement && announcement->former) {
		struct announcement *former = announcement->former;

		announcement->former = former->former;
		free(former);
		dump->count--;
	}
}

static int statedump_remember(struct statedump *dump, const char *at, const struct wire_head *head,
			      uint64_t from)
{
	const uint32_t payload = head->length - head->bytes;
	const char *content = at + head->bytes;
	const struct wire_extended header = wire_head_extend(head);
	const uint64_t since = number_load64(content + payload - WIRE_NAME_TAIL);
	struct statedump_name *name =
		entry_of(dump, head->id, head->id == WIRE_NAME_PROCESS ? number_load32(content) : head->tid);
	struct announcement *announcement = malloc(sizeof(*announcement) + header.length), **position;

	if (!name || !announcement) {
		free(announcement);
		return -ENOMEM;
	}
	*announcement = (struct announcement){ .since = since ? since : head->time,
					       .time = head->time,
					       .length = header.length };
	memcpy(announcement->record, &header, sizeof(header));
	memcpy(announcement->record + sizeof(header), content, payload);
	/* Compaction copies announcements, so an old one may come after a later one. */
	for (position = &name->last; *position && (*position)->since > announcement->since;
	     position = &(*position)->former)
		;
	announcement->former = *position;
	*position = announcement;
	name->ended = false;
	dump->count++;
	statedump_trim(dump, name, from);
	return 0;
}

int statedump_add(struct statedump *dump, const char *packet, const struct validated *validated,
		  uint64_t from)
{
	struct wire_walk walk = {
		packet + validated->begin, packet + validated->content, 0, { .time = validated->first }
	};
	const char *at;
	int error = 0;

	while (!error && (at = wire_walk_next(&walk))) {
		/* In extended form, eight bytes longer, it must fit into the smallest packet. */
		if (walk.head.length + 8 <= WIRE_PACKET_MIN - sizeof(struct wire_packet))
			error = statedump_remember(dump, at, &walk.head, from);
	}
	return error;
}

uint32_t statedump_process_of(const struct statedump *dump, uint32_t tid)
{
	const struct statedump_name *name = statedump_find(dump, WIRE_NAME_THREAD, tid);

	return name && name->last ? number_load32(name->last->record + sizeof(struct wire_extended)) : 0;
}

/* The announcements of the names that stay. */
struct collection {
	const struct announcement **announcements;
	uint32_t count;
};

static void statedump_forget(struct statedump *dump, struct statedump_name *name)
{
	while (name->last) {
		struct announcement *announcement = name->last;

		name->last = announcement->former;
		free(announcement);
		dump->count--;
	}
}

/* Remove the names that had ended at the last statedump, and collect the announcements of the others. */
static void statedump_sweep(struct statedump *dump, struct collection *all, uint64_t from)
{
	const uint32_t before = dump->name_count;

	hash_table_clear(&dump->numbers);
	dump->name_count = 0;
	for (uint32_t n = 0; n < before; n++) {
		struct statedump_name name = dump->names[n];

		if (name.ended) {
			statedump_forget(dump, &name);
			continue;
		}
		name.ended = session_thread_is_gone(name.number);
		statedump_trim(dump, &name, from);
		for (const struct announcement *announcement = name.last; announcement;
		     announcement = announcement->former)
			all->announcements[all->count++] = announcement;
		statedump_insert(dump, name);
	}
}

static int statedump_by_time(const void *a, const void *b)
{
	const struct announcement *const *one = a, *const *other = b;

	return number_order((*one)->time, (*other)->time);
}

/* Put the announcements into packets, in order. */
static void statedump_pack(const struct collection *all, uint32_t packet_bytes, struct statedump_packets *out)
{
	struct validated *piece = NULL;

	for (uint32_t n = 0; n < all->count; n++) {
		const struct announcement *announcement = all->announcements[n];

		if (!piece || packet_bytes - piece->end < wire_stride(announcement->length)) {
			piece = &out->pieces[out->packets++];
			*piece = (struct validated){ .begin = sizeof(struct wire_packet),
						     .end = sizeof(struct wire_packet),
						     .first = announcement->time };
		}
		memcpy(out->memory + (size_t)(out->packets - 1) * packet_bytes + piece->end,
		       announcement->record, announcement->length);
		piece->content = piece->end + announcement->length;
		piece->end += wire_stride(announcement->length);
		piece->time = announcement->time;
		piece->count++;
	}
	out->records = all->count;
}

int statedump_write(struct statedump *dump, uint32_t packet_bytes, uint64_t from,
		    struct statedump_packets *out)
{
	struct collection all = { .announcements = calloc(dump->count + 1, sizeof(*all.announcements)) };
	uint64_t bytes = 0, packets;

	*out = (struct statedump_packets){ 0 };
	if (!all.announcements)
		return -ENOMEM;
	statedump_sweep(dump, &all, from);
	qsort(all.announcements, all.count, sizeof(*all.announcements), statedump_by_time);
	for (uint32_t n = 0; n < all.count; n++)
		bytes += wire_stride(all.announcements[n]->length);
	/* Any two successive packets exceed the room of one: the second begins with a record that the first had no room for. */
	packets = bytes / ((packet_bytes - sizeof(struct wire_packet)) / 2) + 1;
	out->memory = calloc(packets, packet_bytes);
	out->pieces = calloc(packets, sizeof(*out->pieces));
	if (out->memory && out->pieces)
		statedump_pack(&all, packet_bytes, out);
	free(all.announcements);
	return out->memory && out->pieces ? 0 : -ENOMEM;
}

void statedump_put(struct output *output, unsigned names, const struct statedump_packets *packets,
		   uint64_t sequence, struct wire_ledger ledger)
{
	const size_t bytes = output->streams[names].ring->packet_words * 8;

	for (uint32_t n = 0; n < packets->packets; n++) {
		struct wire_packet *packet = (struct wire_packet *)(packets->memory + n * bytes);

		output_records(output, names, packet, sequence + n, &packets->pieces[n], &ledger);
		ledger.events += packets->pieces[n].count;
	}
}

void statedump_packets_free(struct statedump_packets *packets)
{
	free(packets->memory);
	free(packets->pieces);
	*packets = (struct statedump_packets){ 0 };
}

void statedump_free(struct statedump *dump)
{
	for (uint32_t n = 0; n < dump->name_count; n++)
		statedump_forget(dump, &dump->names[n]);
	free(dump->names);
	hash_table_free(&dump->numbers);
	*dump = (struct statedump){ 0 };
}
