// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conditions of events; see conditions.h. Filters come from user space, are copied, and are verified for each event that uses
 * one (src/filter/filter.c). Their memory can only be read from outside, so they stay as they were verified.
 */
#include <linux/errno.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "conditions.h"
#include "filter/filter.h"

/* Readers copy WIRE_FILTER_MAX bytes from where any filter begins. */
static u32 room(void)
{
	return burin_session.geometry.filters_bytes - WIRE_FILTER_MAX;
}

int conditions_add(const void *filters, u32 bytes)
{
	const u32 used = burin_session.shared->filters_used;

	if (bytes % WIRE_FILTER_ALIGN || used > room() || bytes > room() - used)
		return -EINVAL;
	memcpy(burin_session.filters + used, filters, bytes);
	return 0;
}

static bool filter_fits(u32 filter, u32 end, u64 types)
{
	return filter % WIRE_FILTER_ALIGN == 0 && filter >= WIRE_FILTERS_FIRST && filter < end &&
	       filter_verify(burin_session.filters + filter, end - filter, types) == 0;
}

int conditions_check(const struct wire_journal_entry *entry, u32 bytes)
{
	const u32 end = burin_session.shared->filters_used + bytes;
	const u8 before = burin_session.desired[entry->id - 1];

	if (entry->desired > WIRE_CONDITIONAL || entry->conditional > 1)
		return -EINVAL;
	if (!entry->conditional) /* the former condition, if there is one */
		return entry->desired == WIRE_CONDITIONAL && before != WIRE_CONDITIONAL ? -EINVAL : 0;
	if (entry->filter && !filter_fits(entry->filter, end, burin_session.entries[entry->id - 1].types))
		return -EINVAL;
	return 0;
}

void conditions_store(const struct wire_journal_entry *entry)
{
	struct wire_condition *condition = &burin_session.conditions[entry->id - 1];

	if (entry->conditional) {
		WRITE_ONCE(condition->sample, entry->sample);
		WRITE_ONCE(condition->limit, entry->limit);
		/* Release: the program is complete. Pairs with the acquire in condition_holds(). */
		smp_store_release(&condition->filter, entry->filter);
	}
	WRITE_ONCE(burin_session.desired[entry->id - 1], entry->desired);
}

void conditions_collect(void)
{
	const u32 events = session_event_count(&burin_session);

	if (burin_session.shared->filters_used == WIRE_FILTERS_FIRST)
		return;
	for (u32 n = 0; n < events; n++)
		if (burin_session.desired[n] == WIRE_CONDITIONAL)
			return;
	/* No record is checked by one any more: that is done with preemption off. */
	synchronize_rcu();
	for (u32 n = 0; n < events; n++)
		WRITE_ONCE(burin_session.conditions[n].filter, 0);
	WRITE_ONCE(burin_session.shared->filters_used, WIRE_FILTERS_FIRST);
}
