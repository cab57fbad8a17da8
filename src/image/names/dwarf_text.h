/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Texts of debug information. */
#ifndef BURIN_IMAGE_NAMES_DWARF_TEXT_H
#define BURIN_IMAGE_NAMES_DWARF_TEXT_H

#include <elfutils/libdw.h>

/*
 * dwarf_text - the text of an attribute, as dwarf_formstring(), which does not find out whether a text among the entries has an end. In a
 * damaged file it may have none.
 * @attribute: may be NULL
 * Return: NULL: there is none, or it has no end.
 */
const char *dwarf_text(Dwarf_Attribute *attribute);

/* dwarf_text_name - the name of an entry, as dwarf_diename(). */
const char *dwarf_text_name(Dwarf_Die *die);

/* dwarf_text_forget - forget the sections of all files: after dwarf_end() another file may have the same address. */
void dwarf_text_forget(void);

#endif
