/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names and lines of a whole profile at once: images and places in them go in, entries of the table of symbols
 * (docs/format.md, "Samples") come out.
 *
 * The files that are read come from anywhere, and the library that reads their DWARF was not made for hostile ones. So
 * each image is read by a child process, which may crash, hang, or take all memory: what it said so far counts, the rest
 * is asked of another child that leaves the debug information alone, and the image's remedy says what happened. The
 * same children use all processors.
 */
#ifndef BURIN_IMAGE_SYMBOLISE_H
#define BURIN_IMAGE_SYMBOLISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/profile.h"

struct symbolise_image {
	enum wire_image kind;
	uint32_t number;  /* of its entry in the table of images */
	const char *path; /* absolute, as in the table; of code made at run time, that of the map */
	const unsigned char *build_id;
	size_t build_id_bytes;	 /* 0: unknown */
	int file;		 /* open for reading, the caller's; -1: none, the path is opened */
	const uint64_t *offsets; /* `count` of them, sorted, each once */
	size_t count;		 /* 0: nothing is said of the image */
};

struct symbolise_options {
	const char *root;     /* where paths begin; NULL: this system */
	unsigned children;    /* at most so many at a time; 0: one for each processor */
	unsigned patience_ms; /* a child that says nothing for so long hangs; 0: a minute */
	void *data;	      /* for the calls */
	/* An entry. Texts come before what refers to them. Return: 0, or a negative errno, which ends all. */
	int (*entry)(void *data, const void *bytes, size_t count);
	/* What is known of an image, and what would supply the rest; NULL: nobody wants to know. */
	void (*image)(void *data, uint32_t number, enum wire_symbols_state state, const char *remedy);
	/* How many places are done; NULL: nobody wants to know. Return: false: end all. */
	bool (*progress)(void *data, uint64_t done, uint64_t total);
};

struct symbolise_counts {
	uint64_t places;		      /* asked for */
	uint64_t named, lined;		      /* of them: with a name; with a line */
	uint64_t images[WIRE_SYMBOLS_STATES]; /* by what is known */
	uint64_t damaged;		      /* of them: children died over them */
};

/*
 * symbolise - name everything.
 * Context: forks; waits for its own children only. Return: 0; -ECANCELED: progress said so; a negative errno.
 */
int symbolise(const struct symbolise_image *images, size_t count, const struct symbolise_options *options,
	      struct symbolise_counts *counts);

#endif
