/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Code that a process makes at run time, and what it tells of it.
 *
 * A map, `perf-PID.map`, is read when all is over: whoever told last of an address is believed. But the process, and what
 * it sees as /tmp, may be gone by then, so the file is opened as soon as there are samples in such code.
 *
 * A jitdump is announced: the process maps a page of it as if it were code. It is followed while it is written. Each load
 * that it tells of is a mapping of the dump's own bytes at an address, from a moment on; a move is another one of the same
 * bytes. So a sample is in the code that was there at its time, and its place is one in the dump, which no later use of
 * the address changes. What is told only after samples of that time were attributed is counted as late: those samples have
 * an address, and the name that was told last.
 */
#ifndef BURIN_SOURCE_SAMPLE_JIT_H
#define BURIN_SOURCE_SAMPLE_JIT_H

#include "source/sample/mappings.h"

/* Of one address space. */
struct jit {
	uint32_t pid, process;	      /* the latter is used once only */
	bool copied;		      /* what there is of images is another process's */
	struct sample_image *unnamed; /* while there is no map; NULL: not needed yet */
	struct sample_image *map;     /* NULL: none so far */
	uint64_t looked;	      /* in which round, plus one */
	struct sample_image *dump;    /* NULL: none */
	struct mappings code;	      /* parts of it */
	uint64_t at, time;	      /* up to where it was read; the latest time that code was asked for */
};

/* What all have in common. */
struct jit_state {
	struct images *images;
	uint64_t round;
	int64_t ahead; /* ns that records' clock is ahead of CLOCK_MONOTONIC */
	uint64_t late; /* loads and moves that were told late, or that there was no memory for */
};

/* jit_is_made - whether an image is memory that code may be made in. */
bool jit_is_made(struct sample_image *image);

/*
 * jit_find - what is made at an address.
 * @time: of the sample, in ns of the records' clock
 * @offset: in what is returned
 * Return: the image; NULL: no memory.
 */
struct sample_image *jit_find(struct jit *jit, struct jit_state *state, uint64_t address, uint64_t time,
			      uint64_t *offset);

/* jit_look - open the map, if there is one, or the one that is there now. */
void jit_look(struct jit *jit, struct images *images);

/* jit_copy - of a process that forks. Return: 0 or -ENOMEM: then there is nothing. */
int jit_copy(struct jit *to, const struct jit *from);

void jit_clear(struct jit *jit);

#endif
