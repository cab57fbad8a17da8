/* SPDX-License-Identifier: GPL-2.0-only */
/* Conditions of events, as requests set them. The filters are programs, which never change while an event may use one. */
#ifndef BURIN_KERNEL_CONDITIONS_H
#define BURIN_KERNEL_CONDITIONS_H

#include "state.h"

/* conditions_add - lay new filters behind those in use. They are not in use yet. Return: 0; -EINVAL: their size is wrong. */
int conditions_add(const void *filters, u32 bytes);

/* conditions_check - check the state and condition of an entry. @bytes: of new filters. Return: 0; -EINVAL. */
int conditions_check(const struct wire_journal_entry *entry, u32 bytes);

/* conditions_store - set them. Its switch has to take effect. */
void conditions_store(const struct wire_journal_entry *entry);

/* conditions_collect - give the filters' memory back if none is in use. Context: may sleep. */
void conditions_collect(void);

#endif
