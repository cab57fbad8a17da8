/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Places in an ELF file where probes can be: functions of its symbol tables, and the probes of <sys/sdt.h> in its note section
 * .note.stapsdt.
 *
 * The file is foreign. A process without rights parses it (image/symbolize/confine.h) and returns the places, which are checked here.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_FILE_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/probes/probe_names.h"
#include "source/kernel/probes/probe_returns.h"

enum {
	PROBE_NAME = 128,      /* bytes of a name, with its NUL */
	PROBE_ARGUMENTS = 256, /* of the arguments of a note */
	PROBE_PLACES_MAX = 4096,
};

struct probe_place {
	uint64_t offset;   /* in the file */
	uint64_t function; /* of the function that it is in; of a note 0 */
	uint64_t counter;  /* offset of what counts the probe's users; 0: it has none */
	bool is_return; /* of the function that begins here: the kernel's return probe; otherwise one at this instruction */
	bool is_go;	  /* the file is Go's, whose functions have their arguments elsewhere than C's */
	uint32_t refused; /* enum probe_refusal: of the function that begins here */
	uint32_t match;	  /* enum probe_match: how it fits; all that are found fit as well as the others */
	uint32_t bare;	  /* bytes of the name without parameters */
	/* Of PROBE_WITHIN: where instructions begin, offsets or addresses as the number is. Of PROBE_BEHIND: the function's bytes, and 0. */
	uint64_t before, next;
	char provider[PROBE_NAME];	 /* of a note, else empty */
	char name[PROBE_NAME];		 /* of the function or the probe */
	char arguments[PROBE_ARGUMENTS]; /* of a note, as it describes them */
};

/* The places to find. */
struct probe_search {
	const char *provider; /* a glob; NULL: functions are searched */
	const char *name;     /* a glob, of functions also as in the source: see probe_names.h */
	const char *whole; /* of a function: with a list that may be one of parameters; "": there is none */
	bool returns;	   /* of the functions; see probe_returns.h */
	bool is_shifted;   /* `number` is an offset in the functions */
	uint64_t number;
	const uint64_t *
		addresses; /* of the file, `address_count` of them: what is searched instead; NULL: functions are */
	unsigned address_count;
};

/*
 * probe_file_find - find places. If no function has the name, those that may be meant are found: see `match`.
 * @file: a descriptor of the ELF file
 * @places: set to them, which the caller frees; @count: how many, at most PROBE_PLACES_MAX
 * Context: forks. Return: 0; -ENOEXEC: no ELF file of this machine; -E2BIG: there are more; another -errno.
 */
int probe_file_find(int file, const struct probe_search *search, struct probe_place **places,
		    unsigned *count);

#endif
