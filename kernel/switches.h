/* SPDX-License-Identifier: GPL-2.0-only */
/* The switches of events, and what follows from them: jump labels of sites, probes, names. */
#ifndef BURIN_KERNEL_SWITCHES_H
#define BURIN_KERNEL_SWITCHES_H

#include "state.h"

struct module;

int switches_begin(void);
void switches_end(void);

/* switches_take_effect - switch an event as `desired` and `paused` say. Context: burin_mutex, here and below. */
void switches_take_effect(u32 index);

/* switches_add_site - let a site follow the switch of its event. */
void switches_add_site(u32 index, struct burin_kernel_site *site);

/* switches_forget_sites - of a module that goes. */
void switches_forget_sites(const struct module *module);

#endif
