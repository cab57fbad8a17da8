/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that other modules give to events: burin_probe_set(). */
#ifndef BURIN_KERNEL_HOOKS_H
#define BURIN_KERNEL_HOOKS_H

struct module;

/* hooks_forget - remove those of a module that goes and did not remove them. Context: burin_mutex. */
void hooks_forget(const struct module *module);

#endif
