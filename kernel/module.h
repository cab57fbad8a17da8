/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of burin.ko, for each other. The session is one as programs have (src/session/session.h). */
#ifndef BURIN_KERNEL_MODULE_H
#define BURIN_KERNEL_MODULE_H

#include <linux/irq_work.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/wait.h>

#define BURIN__KERNEL_OWN /* burin_emit() is the function here */
#include "burin/kernel.h"
#include "ring/section_place.h"
#include "session/layout.h"
#include "session/session.h"

extern struct session burin_session;

/* Held by all that registers or switches events, changes the session, or lists it. */
extern struct mutex burin_mutex;

/* ---- memory.c: the session's memory */

struct memory_options {
	u64 buffer_bytes, buffer_max; /* of each CPU's ring */
	u64 packet_bytes;
	enum wire_mode mode;
	enum wire_clock clock;
	u32 string_max;
};

int memory_make(const struct memory_options *options);
void memory_free(void);

/* memory_insert - map the page at an offset of the session's file. Return: 0; -ENOMEM; -EFAULT: it is behind the end. */
int memory_insert(struct vm_area_struct *area, unsigned long address, u64 offset);

/* memory_ring_add - give the rings of a CPU their memory, unless they have it. Context: CPU hotplug, or its lock held. */
int memory_ring_add(unsigned int cpu);

/* memory_resize - give the rings of all CPUs so many slots. Context: burin_mutex. Return: 0; -errno: nothing changed. */
int memory_resize(u32 packets);

/* memory_close_packets - open the next packet of each ring whose open one has records. */
void memory_close_packets(void);

/* memory_reset - forget all records. */
void memory_reset(void);

/* ---- record.c: the append */

struct record_cpu {
	struct ring_place place;      /* in `ring` */
	struct ring *ring, *nmi_ring; /* never NULL once there is a session */
	unsigned int nmi_depth;
	struct irq_work wake;
};

DECLARE_PER_CPU(struct record_cpu, record_cpu);

/* record_refresh - find the place in a ring again, which has changed. Context: its CPU, interrupts off; or the CPU is offline. */
void record_refresh(const struct ring *ring);

/* record_wait - the queue of those who wait for a complete packet. */
extern wait_queue_head_t record_wait;

/* record_choose - which path records take. @hooked: an event has a function. Context: burin_mutex. */
void record_choose(bool hooked);

void record_begin(void);
void record_end(void);

/* ---- events.c: the event table, sites and switches */

int events_begin(void);
void events_end(void);

/* events_take_effect - switch an event as `desired` and `paused` say. Context: burin_mutex. */
void events_take_effect(u32 index);

/* ---- hooks.c: functions of other modules */

/* hooks_has - whether an event has one. Context: burin_mutex. */
bool hooks_has(u32 index);
/* hooks_forget - remove those of a module that goes and did not remove them. Context: burin_mutex. */
void hooks_forget(const struct module *module);
void hooks_end(void);

/* ---- control.c: requests */

struct wire_device_change;
struct wire_device_counts;
long control_change(const struct wire_device_change __user *user);
long control_counts(struct wire_device_counts __user *user);

/* control_consume - give packets of a ring back. Context: burin_mutex. */
long control_consume(u32 ring, u64 sequence);

/* control_readable - whether a packet is complete and not given back. */
bool control_readable(void);

/* control_switch - switch the events whose names match, with an entry in the history. Return: how many; -errno. */
int control_switch(const char *glob, bool on);
int control_pause(bool paused);

/* ---- debugfs.c: a view in debugfs, if it may be there */

void debugfs_begin(void);

/* debugfs_list - show events that were registered since. Context: burin_mutex. */
void debugfs_list(void);
void debugfs_end(void);

/* ---- device.c */

/* device_reset - forget all records, unless a reader has claimed the session: -EBUSY. */
int device_reset(void);

int device_begin(void);
void device_end(void);

/* device_unmap - let mappings of a part of the session look for its pages again. */
void device_unmap(u64 offset, u64 bytes);

#endif
