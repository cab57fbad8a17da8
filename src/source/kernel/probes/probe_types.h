/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names and types of a function's arguments, and the type of its result, from debug information, as `burin record --auto-args` has
 * them (image/names/parameters.h).
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_TYPES_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_TYPES_H

#include "session/calls/call_arguments.h"
#include "source/kernel/probes/probe_arguments.h"
#include "source/kernel/probes/probe_file.h"

/*
 * probe_types_find - read the debug information of a file.
 * @path: its path; @file: a descriptor of it
 * @specs: of @count: set to the description of the function at each place, which the caller frees; NULL: it is unknown
 * Context: forks, for some seconds at most. Without debug information, nothing is found.
 */
void probe_types_find(const char *path, int file, const struct probe_place *places, unsigned count,
		      char **specs);

/*
 * probe_types_arguments - the fields of a function's entry by its description.
 * @given: those that the user wants, by their names; count 0: all
 * @why: of PROBE_WHY bytes: with false
 * Return: false: the function lacks one of them; it has the others then.
 */
bool probe_types_arguments(struct tracepoint *point, const struct call_arguments *known,
			   const struct probe_arguments *given, char *why);

/* probe_types_has - whether the function has an argument of the name of one of these. */
bool probe_types_has(const struct call_arguments *known, const struct probe_arguments *given);

/* probe_types_result - the field of a function's return by its description. Return: false: it has no result that is known. */
bool probe_types_result(struct tracepoint *point, struct call_arguments *known);

#endif
