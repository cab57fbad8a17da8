/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of functions as users write them: that of the symbol table, and of C++ and Rust that of the source, with or without the types of its
 * parameters.
 *
 * Names of the source are compared as they are written here: without spaces that separate no words, "char const*" for "const char *",
 * "std::string" for the template that it stands for.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_NAMES_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "image/names/demangle.h"

/* How a function fits a description: the larger, the better. Only the best ones are meant. */
enum probe_match {
	PROBE_NO_MATCH,
	PROBE_NEAR,	     /* its name may be what was meant */
	PROBE_UNQUALIFIED,   /* it has this name in a class or a namespace that was not given */
	PROBE_BY_GLOB,	     /* the name without the list matches a glob ... */
	PROBE_BY_NAME,	     /* ... or is the same */
	PROBE_BY_WHOLE_GLOB, /* the list in parentheses is that of parameters, and it matches a glob ... */
	PROBE_BY_WHOLE,	     /* ... or is the same */
	PROBE_MATCHES
};

/* A description, ready for comparison. */
struct probe_wanted {
	char name[DEMANGLE_OUT_MAX];  /* without the list of arguments */
	char whole[DEMANGLE_OUT_MAX]; /* with it, since it may be one of parameters; "": there is none */
	const char *given;	      /* the name as it was given */
	unsigned near;		      /* how near the nearest one was; 0: there was none */
};

/* A function of a file. */
struct probe_function {
	const char *symbol;
	char text[DEMANGLE_OUT_MAX]; /* its name in the source, with parameters; of C the symbol */
	char bare[DEMANGLE_OUT_MAX]; /* without parameters */
};

/* probe_names_want - @whole: NULL: there is no list in parentheses */
void probe_names_want(struct probe_wanted *out, const char *name, const char *whole);

/* probe_names_match - compare a function. @out: set to its names, if there is a match. Context: allocates. */
enum probe_match probe_names_match(struct probe_wanted *wanted, struct probe_function *out,
				   const char *symbol);

#endif
