/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of tasks in the names ring. */
#ifndef BURIN_KERNEL_NAMES_H
#define BURIN_KERNEL_NAMES_H

#include "state.h"

/* names_switch - an event more, or less, is on. Context: burin_mutex. */
void names_switch(bool on);

/* names_reset - forget all of them. */
void names_reset(void);

#endif
