/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's session (burin.ko) as a source of records beside a recorder's own session.
 *
 * The rings are the module's, and have its clock, which is the recorder's too; or else the module is not used. Ids of
 * events are translated into those of the recorder's session, where each event is registered at its first record.
 * Records of events that others have switched on are left out.
 */
#ifndef BURIN_SOURCE_KERNEL_MECHANISMS_KERNEL_MODULE_H
#define BURIN_SOURCE_KERNEL_MECHANISMS_KERNEL_MODULE_H

#include "drain/drain.h"
#include "source/kernel/points/task_names.h"

enum {
	KERNEL_MODULE_WHY = 300,
};

struct kernel_module {
	struct session device, *session; /* the kernel's, the recorder's */
	struct event_table table, names_table;
	uint16_t *ids;		/* by the kernel's ids: in the recorder's session; 0: not yet registered */
	const char **globs;	/* of the events to be recorded; ends with NULL */
	unsigned events;	/* that match them */
	const char *lacks;	/* what BPF would record and the module does not, a sentence; NULL: nothing */
	struct ring *rings;	/* of CPU n: 2 * n and, of its NMIs, 2 * n + 1 */
	struct drain_more more; /* for the drain */
	struct task_names names; /* of threads that live */
	struct ring_reader names_reader;
	char *buffer; /* of a packet of names */
};

/*
 * kernel_module_open - map the module's session, if it has every event that was asked for and the recorder's clock.
 * @asked: SYSTEM:NAME, or a glob of it or of the name of another event; ends with NULL, and must live as long as the module
 * @why: a line without a newline: why the module is not used
 * Return: 0 or -errno; then there is nothing to close.
 */
int kernel_module_open(struct kernel_module *module, struct session *session, const char *const *asked,
		       char why[KERNEL_MODULE_WHY]);

/* kernel_module_begin - after its events were switched on: the recording begins now. */
void kernel_module_begin(struct kernel_module *module);

void kernel_module_close(struct kernel_module *module);

#endif
