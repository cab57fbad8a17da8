/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Descriptions of probes in programs, as users write them: see probe.h.
 *
 * The file ends at the last colon that is not one of "::", before the first parenthesis or template. A list in parentheses at the end may be
 * one of parameters, which chooses among functions of one name, or one of arguments that are recorded. Which it is only the file's functions
 * show, so both are kept.
 */
#ifndef BURIN_SOURCE_KERNEL_PROBES_PROBE_DESCRIPTION_H
#define BURIN_SOURCE_KERNEL_PROBES_PROBE_DESCRIPTION_H

#include "source/kernel/probes/probe_arguments.h"

enum {
	PROBE_TEXT = 4096, /* bytes of a description */
};

struct probe_description {
	bool returns;
	char text[PROBE_TEXT]; /* its parts: */
	const char *file, *provider, *name;
	char whole[PROBE_TEXT]; /* the name with the list in parentheses; "": there is none */
	char shift
		[32]; /* the offset in the function as it was given, "+0x10"; "": there is none, or `is_address` */
	bool is_address;	 /* the name is an address of the file */
	uint64_t number;	 /* the offset, the address or the line */
	char source[PROBE_TEXT]; /* the source file of a line; "": the name is none */
	struct probe_arguments arguments;
	char wrong[PROBE_WHY]; /* why the list is none of arguments; "": it is one */
};

/* probe_description_is_one - whether a text describes a probe in a program. */
bool probe_description_is_one(const char *text);

/* probe_description_parse - Return: 0; -EINVAL: *why has the reason. */
int probe_description_parse(struct probe_description *out, const char *text, char why[PROBE_WHY]);

#endif
