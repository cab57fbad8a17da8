/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The arguments and results of symbolize(); see symbolize.h. */
#ifndef BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_TYPES_H
#define BURIN_IMAGE_SYMBOLIZE_SYMBOLIZE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire_profile.h"

struct symbolize_image {
	enum wire_image kind;
	uint32_t number;  /* of its entry in the table of images */
	const char *path; /* absolute, as in the table; for code made at run time, that of the map */
	const unsigned char *build_id;
	size_t build_id_bytes;	 /* 0: unknown */
	int file;		 /* open for reading, the caller closes it; -1: the path is opened */
	const uint64_t *offsets; /* `count` of them, sorted, each once */
	size_t count;		 /* 0: no state of the image is reported */
};

struct symbolize_options {
	const char *root;  /* the directory that paths begin at; NULL: this system */
	unsigned children; /* at most so many at a time; 0: one for each processor */
	bool cached;	   /* keep names of short recordings, and use kept ones (names_cache.h) */
	bool functions; /* names of functions suffice, without lines and inlined functions: far less to read */
	unsigned patience_ms; /* a child without a message for so long hangs; 0: a minute */
	uint64_t deadline_ms; /* for all images together; 0: none */
	void *data;	      /* for the callbacks */
	/* Receives an entry. Texts come before entries that refer to them. Return: 0, or a negative errno, which ends all. */
	int (*entry)(void *data, const void *bytes, size_t count);
	/* Receives the state of an image's names and what would supply the rest. May be NULL. */
	void (*image)(void *data, uint32_t number, enum wire_symbols_state state, const char *hint);
	/*
	 * Finds the debug file of an image without names, and the file to which dwz moved parts of it, until @until_ms on
	 * CLOCK_MONOTONIC (0: no deadline). @files: descriptors that the callee closes; -1: none. NULL: there is no such
	 * source. Called after the other images were read.
	 */
	void (*fetch)(void *data, const struct symbolize_image *image, uint64_t until_ms, int files[2]);
	/*
	 * Receives the parameters and the source file of a function, as of image/names/parameters.h. @image: number; @offset:
	 * of the function in the file; @file: "": unknown. Functions may come several times. If it is not NULL, locations are
	 * not named: those of an image may be any one.
	 */
	void (*parameters)(void *data, uint32_t image, uint64_t offset, const char *spec, const char *file);
	/*
	 * Receives the places of a line of the source, as of image/names/line_places.h. @address: the file's own. Places may come
	 * several times. If it is not NULL, locations are not named, as above.
	 */
	void (*place)(void *data, uint64_t address, uint32_t line);
	const char *source; /* the source file, and the line */
	uint32_t source_line;
	/* Receives how many locations are done. May be NULL. Return: false: end all. */
	bool (*progress)(void *data, uint64_t done, uint64_t total);
};

struct symbolize_counts {
	uint64_t locations;		      /* all of them */
	uint64_t named, lined;		      /* of them: with a name; with a line */
	uint64_t images[WIRE_SYMBOLS_STATES]; /* by the state of their names */
	uint64_t damaged;		      /* of them: a child died */
	uint64_t late;	/* of them: the deadline came before all their locations were done */
	int unconfined; /* 0, or a negative errno: children had no seccomp */
};

#endif
