/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's tracepoints as a source of records: rings in maps that programs of the kernel write to, and the drain
 * reads beside those of the session. Where there are no programs, the recorder writes such rings from tracefs or from perf events.
 *
 * Needs root, or CAP_BPF, CAP_PERFMON and the right to read tracefs. All that is attached ends with this process, except for an
 * instance of tracefs after SIGKILL: the next recorder removes it.
 */
#ifndef BURIN_SOURCE_KERNEL_KERNEL_SOURCE_H
#define BURIN_SOURCE_KERNEL_KERNEL_SOURCE_H

#include "drain/drain.h"
#include "source/kernel/kernel_clock.h"
#include "source/kernel/bpf/kernel_files.h"
#include "source/kernel/bpf/kernel_layout.h"
#include "source/kernel/in_kernel/kernel_ring.h"
#include "source/kernel/points/kernel_follow.h"
#include "source/kernel/mechanisms/kernel_perf.h"
#include "source/kernel/programs/kernel_points.h"
#include "source/kernel/kernel_reader.h"
#include "source/kernel/programs/kernel_program.h"
#include "source/kernel/mechanisms/kernel_tracefs.h"

/*
 * For tests and comparisons, this variable of the recorder's environment chooses the mechanism: `bpf-untyped`: programs that do not use the
 * kernel's types; `tracefs`: the kernel's trace buffers; `perf`: perf events.
 */
#define KERNEL_MECHANISM "BURIN_KERNEL_MECHANISM"

enum kernel_mechanism {
	KERNEL_BY_BPF,
	KERNEL_BY_TRACEFS,
	KERNEL_BY_PERF,
};

struct kernel_options {
	const char *const *globs; /* of SYSTEM:NAME; ends with NULL */
	const char *const *where; /* conditions (filter/filter_conditions.h); NULL: none */
	bool all; /* the whole machine; else those of kernel_source_command(), kernel_source_process() */
	bool overwrite;	       /* a flight recorder: the oldest packets are overwritten */
	uint64_t buffer_bytes; /* of each CPU's rings */
};

struct kernel_source {
	struct session *session;
	struct kernel_points points;
	struct kernel_follow follow;
	enum kernel_mechanism mechanism;
	struct kernel_perf perf;
	struct kernel_tracefs tracefs;
	struct task_names names;
	struct kernel_clock clock;
	struct kernel_layout layout;
	struct drain_more more; /* for the drain */
	struct ring *rings;
	struct kernel_reader reader; /* of the drain */
	/* Of a flight recorder; otherwise NULL and nothing: */
	struct kernel_reader watcher, snapshot;
	struct ring_cursor *cursors; /* of the watcher */
	char *packet;
	struct kernel_shared_clock *published;
	int clock_map; /* where it is */

	char *memory; /* the map, in order of rings */
	size_t memory_bytes;
	struct kernel_files files;
	unsigned events; /* recorded */
	uint16_t asleep; /* id of kernel_asleep_describe(); 0: it is not recorded */
	int asleep_program;
	uint64_t begin_ns; /* CLOCK_MONOTONIC */
	uint64_t from, to; /* ticks: in between, all programs append; valid after kernel_source_finish() */
	bool one_by_one;   /* the kernel does not attach a program to several places */
	unsigned refused;  /* tracepoints that the kernel does not let attach to ... */
	int refused_error; /* ... of the first one, and its name and why */
	char refused_why[KERNEL_WHY];
	bool without_texts;   /* paths are addresses, and addresses of sockets are missing */
	bool without_unnamed; /* calls without a tracepoint were asked for, and are missing */
	uint64_t unread; /* system calls of which a text or a structure is missing: it was not in memory */
	uint64_t missed; /* records that the kernel's own protection left out, counted so far */
};

/*
 * kernel_source_open - choose the tracepoints and attach to them. Nothing is recorded before kernel_source_command() and
 * kernel_source_process(), unless @options->all.
 * @why: why it failed: one line without a newline
 * Return: 0 or -errno; then there is nothing to close. -ENOENT: the globs match nothing, or the filter does not fit.
 */
int kernel_source_open(struct kernel_source *source, struct session *session,
		       const struct kernel_options *options, char why[KERNEL_WHY]);

/*
 * kernel_source_snapshot - prepare the rings of a flight recorder for a snapshot.
 * Return: for drain_snapshot(); valid until the next call.
 */
const struct drain_more *kernel_source_snapshot(struct kernel_source *source);

/* kernel_source_has_all_calls - whether each system call of the recorded tasks has its records, unless they are lost or filtered. */
bool kernel_source_has_all_calls(const struct kernel_source *source);

/* kernel_source_command - record a child that has not executed its program yet, from its exec on. Return: 0 or -errno. */
int kernel_source_command(struct kernel_source *source, pid_t child);

/* kernel_source_process - record all threads of a process. Return: 0; -ESRCH: there is none; another -errno. */
int kernel_source_process(struct kernel_source *source, pid_t process);

/* kernel_source_finish - count the last losses, and detach; before the drain finishes. */
void kernel_source_finish(struct kernel_source *source);

/* kernel_source_close - free the memory, after the drain has finished. */
void kernel_source_close(struct kernel_source *source);

#endif
