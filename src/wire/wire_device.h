/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's session, /dev/burin: burin.ko makes it, commands of user space read and change it (docs/format.md,
 * "Device").
 *
 * The device is mapped read-only, with the layout of a session file (wire/wire_session.h): its size is the header's
 * file_bytes, since a device has none. A program's session is changed by stores into the file; the kernel's is changed by
 * the ioctls here, so user space never writes memory that the kernel reads.
 *
 * In its geometry, owner_kind is WIRE_OWNER_PROGRAM, owner 0, program "kernel" and pid_namespace the initial one's. The
 * list of processes is empty. Ring n belongs to CPU n; in ring cpus + n, one of the `locked`, are the records of the NMIs
 * of CPU n.
 *
 * Events. Tracepoints of the kernel are named kernel.SYSTEM:NAME, with the fields that the same events of `burin record
 * --kernel` have, as far as there are any: so every view reads both. Events of modules (BURIN_TRACE) have their own names.
 * Names. The names ring has threads (WIRE_NAME_THREAD, pid: of the process) when they are renamed and when they end, and
 * processes (WIRE_NAME_PROCESS, both texts the name) when they end; readers find those that live in /proc.
 *
 * Every reserved field is 0. All ioctls need a descriptor that was opened for writing.
 */
#ifndef BURIN_WIRE_WIRE_DEVICE_H
#define BURIN_WIRE_WIRE_DEVICE_H

#include <assert.h>
#include <stdint.h>

#include "wire/wire_change.h"
#include "wire/wire_packet.h"
#include "wire/wire_session.h"

#define WIRE_DEVICE_PATH "/dev/burin"

enum {
	WIRE_DEVICE_VERSION = 1,
};

/*
 * CHANGE: carry out one transaction. The caller has prepared it in memory of its own; user pointers are in 64 bits.
 *
 * The kernel checks every id, every state (WIRE_OFF, WIRE_ON, WIRE_CONDITIONAL), and each filter of an entry as
 * filter_verify() does. It numbers the entries of the history and fills in number, time, pid, tid, uid and program by
 * itself. Either all of it is carried out, or nothing.
 *
 * New filters are appended to those in use (wire_session.filters_used). While no event is conditional none is in use, and
 * the kernel begins from WIRE_FILTERS_FIRST.
 *
 * Errors: EINVAL an unknown version, id, state, size, a filter that is not valid for its event, or a reserved field; EAGAIN
 * the session has changed since the caller looked; ENOMEM; EFAULT.
 */
struct wire_device_change {
	uint32_t version;	/* WIRE_DEVICE_VERSION */
	uint32_t changes;	/* wire_session.changes as the caller saw it */
	uint32_t count;		/* of `entries` */
	uint32_t paused;	/* 0 or 1: the new value of wire_session.paused */
	uint32_t size_packets;	/* new size of the rings of records; 0: no change */
	uint32_t drafts;	/* of `history`, at most WIRE_CHANGES_AT_ONCE */
	uint64_t entries;	/* struct wire_journal_entry [count] */
	uint64_t rules;		/* char [WIRE_RULES_MAX]: the new rules */
	uint64_t history;	/* `drafts` slots of wire_change_bytes(events_max) bytes */
	uint64_t filters;	/* char [filters_bytes]: behind those in use */
	uint32_t filters_bytes; /* a multiple of WIRE_FILTER_ALIGN */
	uint32_t reserved;
};

/* CONSUME, in stream mode: the packets of a ring before `sequence` may be used again. ERANGE: it goes back, or beyond the
 * packets that were opened. EPERM: the caller has not claimed the session. */
struct wire_device_consume {
	uint32_t ring;
	uint32_t reserved;
	uint64_t sequence;
};

/* COUNTS of a ring. The caller sets `ring`. */
struct wire_device_counts {
	uint32_t ring;
	uint32_t reserved;
	uint64_t produced; /* packets that were opened */
	uint64_t consumed; /* packets that were given back */
	uint64_t lost[WIRE_LOST_CAUSES];
};

/* Their numbers need <sys/ioctl.h>, or <linux/ioctl.h> in the kernel.
 * CLAIM: become the one reader that consumes; EBUSY: there is one. RELEASE, or closing the descriptor, ends that. */
#define WIRE_DEVICE_CHANGE  _IOW(0xB7, 1, struct wire_device_change)
#define WIRE_DEVICE_CONSUME _IOW(0xB7, 2, struct wire_device_consume)
#define WIRE_DEVICE_CLAIM   _IO(0xB7, 3)
#define WIRE_DEVICE_RELEASE _IO(0xB7, 4)
#define WIRE_DEVICE_COUNTS  _IOWR(0xB7, 5, struct wire_device_counts)
/* RESET: forget all records; the session gets a new uuid. EBUSY: a reader has claimed it. */
#define WIRE_DEVICE_RESET _IO(0xB7, 6)

/*
 * CLOSE, in stream mode, by the reader that has claimed the session: open the next packet of each ring that has records in
 * its open one, so that the reader can take and give back all records that exist now. Without it, the next reader finds the
 * records of the open packets again.
 */
#define WIRE_DEVICE_CLOSE _IO(0xB7, 7)

static_assert(sizeof(struct wire_device_change) == 64, "wire_device_change");
static_assert(sizeof(struct wire_device_consume) == 16, "wire_device_consume");
static_assert(sizeof(struct wire_device_counts) == 24 + 8 * WIRE_LOST_CAUSES, "wire_device_counts");

#endif
