/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The parameters and results of the functions of a program, from DWARF, as `burin record --args` takes them
 * (session/calls/call_arguments.h): "path/s%1,kind/u32{OPEN=0 CLOSED=1}%2,retval/i32". Each has its place by the System V ABI for x86-64.
 *
 * Only functions of C and C++ are described. A compiler may give a function that is local to its file, or a clone, another
 * convention. The name of its symbol shows that, an attribute, or a parameter that is in another register when the function
 * begins. Then only parameters are described whose location is a register at the first instruction.
 */
#ifndef BURIN_IMAGE_NAMES_PARAMETERS_H
#define BURIN_IMAGE_NAMES_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "image/names/symbols.h"

enum {
	PARAMETERS_MAX = 10,	      /* of a function, that are described */
	PARAMETERS_NAME_MAX = 31,     /* bytes of a name; longer ones are cut */
	PARAMETERS_LABELS_MAX = 1400, /* bytes of the labels of all its enumerations; others are numbers */
	PARAMETERS_SPEC_MAX = 640 + PARAMETERS_LABELS_MAX, /* bytes of a description, with its NUL */
};

/*
 * parameters_find - describe all functions that have code.
 * @places_known: parameters are described; otherwise only source files are
 * @found: called for each. @spec: "": its parameters cannot be described; NULL: it has neither parameters nor a result.
 * @file: of the source; NULL: unknown
 * Context: allocates; one thread per Dwarf.
 */
void parameters_find(Dwarf *dwarf, const struct symbols *symbols, bool places_known,
		     void (*found)(void *data, uint64_t address, const char *spec, const char *file),
		     void *data);

#endif
