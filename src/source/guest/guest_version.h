/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of QEMU's plugin interface, from one library.
 *
 * QEMU reads the variable qemu_plugin_version when it has loaded a plugin, and refuses it if that is not one of those that it has:
 * 4 at most in QEMU 10.0, 7 at least from QEMU 11.1 on. Nothing in the interface shows which version QEMU has before that. So the library
 * looks for the text that QEMU prints as its version when it is loaded.
 */
#ifndef BURIN_SOURCE_GUEST_GUEST_VERSION_H
#define BURIN_SOURCE_GUEST_GUEST_VERSION_H

#include "source/guest/qemu_plugin.h"

/* Callbacks of the machine, the same for all versions. */
struct guest_callbacks {
	void (*on_vcpu)(unsigned index);
	void (*on_block)(struct qemu_block *block);
	void (*on_flush)(void);
	void (*on_exit)(void);
};

/* guest_version_register - let QEMU call these functions. @callbacks: static */
void guest_version_register(qemu_id id, const struct guest_callbacks *callbacks);

#endif
