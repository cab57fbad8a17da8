/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Types of parameters, and how the System V ABI for x86-64 passes their values. For parameters.c. */
#ifndef BURIN_IMAGE_NAMES_PARAMETER_TYPES_H
#define BURIN_IMAGE_NAMES_PARAMETER_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

/* How 8 bytes of a value are passed. The order is that of the ABI's merging: of two, the larger one wins. */
enum passing {
	NOTHING,
	SSE,
	INTEGER,
	X87,
	MEMORY,
	UNKNOWN,
};

struct value {
	enum passing halves[2];
	bool by_reference; /* of C++: the address of a copy is passed */
	unsigned members;  /* that were looked at */
};

/* parameter_type - the type of a DIE, without typedef and const. Return: false: void. */
bool parameter_type(Dwarf_Die *die, Dwarf_Die *type);

/* parameter_number - a number in an attribute. @absent: returned without the attribute. Return: UINT64_MAX: it is no number. */
uint64_t parameter_number(Dwarf_Die *die, unsigned name, uint64_t absent);

/*
 * parameter_next - go to the next sibling. Return: whether there was one. In damaged DWARF it may be an earlier one: that ends
 * the walk.
 */
bool parameter_next(Dwarf_Die *die);

/* parameter_is_cxx - whether the unit of a DIE is in another language than C. */
bool parameter_is_cxx(Dwarf_Die *die);

/* parameter_value - how a value is passed. */
struct value parameter_value(Dwarf_Die *type);
bool parameter_has(const struct value *value, enum passing passing);

/* parameter_letters - the type as a SPEC has it, "i32"; "": it has none. */
void parameter_letters(Dwarf_Die *type, char out[4]);

/* parameter_labels - the labels of an enumeration, "{A=1 B=2}"; "": it has none, or they need more room. */
void parameter_labels(Dwarf_Die *type, char *out, size_t room);

#endif
