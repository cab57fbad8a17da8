/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks before a record: the condition of an event, and the call of a function of another module. A jump label is off while
 * no event has either; while one has, each record looks up whether it is of such an event.
 */
#ifndef BURIN_KERNEL_CHECKS_H
#define BURIN_KERNEL_CHECKS_H

#include <linux/jump_label.h>

#include "state.h"

/* On while an event has a function or a condition. */
DECLARE_STATIC_KEY_FALSE(record_checked);

/* Of each event, by its index: how many of the two it has. */
extern u8 checks_of[EVENTS_MAX];

/* checks_wanted - whether checks_pass() is to be asked. @id: of an event, from 1 */
static __always_inline bool checks_wanted(u16 id)
{
	return static_branch_unlikely(&record_checked) && READ_ONCE(checks_of[id - 1]);
}

/* On while records take the fast path: the clock is the processor's counter, and nothing is to be checked. */
DECLARE_STATIC_KEY_FALSE(record_fast);

/*
 * checks_pass - call an event's function, if it has one.
 * @buffer: as of burin_emit()
 * Context: any. Return: whether the event is recorded.
 */
bool checks_pass(const void *buffer, u16 id, u32 length);

/* checks_begin - choose the path of records. Context: the clock is chosen, and nothing is to be checked. */
void checks_begin(void);
void checks_end(void);

/* checks_want - an event has one thing more, or less, to be checked. Context: burin_mutex. */
void checks_want(u32 index, bool more);

struct hook {
	burin_callback *function;
	void *data;
	struct burin_site site;
};

/* checks_hook - the function of an event; NULL: none. Context: burin_mutex. */
struct hook *checks_hook(u32 index);

/* checks_set_hook - replace it. Calls of the former one may run until a grace period later. Return: 0; -ENOMEM. */
int checks_set_hook(u32 index, struct hook *hook);

#endif
