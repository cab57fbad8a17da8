/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code that a process generates at run time, and the files by which it names that code.
 *
 * A perf map, `perf-PID.map`, is read after the recording; the last entry for an address counts. By then the process and
 * its /tmp may be gone, so the file is opened as soon as there are samples in such code. A map that is written later names
 * the code of before, too: that code stays one image, or reports would split its functions into two rows.
 *
 * A process announces a jitdump by mapping a page of it as if it were code. The dump is read while it is written. Each load
 * record maps bytes of the dump at an address, from a time on; a move record maps the same bytes elsewhere. So a sample is
 * attributed to the code of its time. Its location is in the dump, and no later use of the address changes it. A record is
 * late if samples of its time were attributed before it was read. Such samples have an address, and its last name.
 */
#ifndef BURIN_SOURCE_PERF_TASKS_JITDUMP_H
#define BURIN_SOURCE_PERF_TASKS_JITDUMP_H

#include "file/foreign.h"
#include "source/perf/tasks/mappings.h"

/* Of one address space. */
struct jit {
	uint32_t pid, process;	      /* ->process is never used again */
	struct foreign_process user;  /* as last read; all 0: never */
	bool copied;		      /* the images are another process' */
	struct sample_image *unnamed; /* made while there was no map; NULL: not needed yet */
	struct sample_image *map;     /* ->unnamed, if that was first; NULL: none so far */
	uint64_t map_round;	      /* of the next look for the map */
	unsigned map_looks;	      /* so far; the more, the rarer */
	struct sample_image *dump;    /* NULL: none */
	struct mappings code;	      /* parts of the dump */
	uint64_t at, time;	      /* offset read so far; the latest time of a sample */
};

/* Shared by all address spaces. */
struct jit_state {
	struct images *images;
	uint64_t round;
	int64_t ahead; /* ns by which the records' clock is ahead of CLOCK_MONOTONIC */
	uint64_t late; /* loads and moves that were read late, or failed for want of memory */
};

/* jit_is_generated - whether an image is memory that may contain generated code. */
bool jit_is_generated(struct sample_image *image);

/*
 * jit_find - find the image of the generated code at an address.
 * @program: its path, for code that nothing names; or NULL
 * @time: of the sample, in ns of the records' clock
 * @offset: the offset in the image
 * Return: the image; NULL: no memory.
 */
struct sample_image *jit_find(struct jit *jit, struct jit_state *state, const char *program, uint64_t address,
			      uint64_t time, uint64_t *offset);

/* jit_update_map - open the perf map, if there is one; a replaced one is opened again. */
void jit_update_map(struct jit *jit, struct images *images);

/* jit_copy - copy the state to a forked process. */
void jit_copy(struct jit *to, const struct jit *from);

void jit_clear(struct jit *jit);

#endif
