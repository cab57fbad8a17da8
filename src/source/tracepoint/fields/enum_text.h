/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The enums of BURIN_ENUM, as the text with which an event is registered (wire/wire_enum.h). */
#ifndef BURIN_SOURCE_TRACEPOINT_FIELDS_ENUM_TEXT_H
#define BURIN_SOURCE_TRACEPOINT_FIELDS_ENUM_TEXT_H

#include "burin/burin.h"

/*
 * enum_text - the enums to which a format refers.
 * @begin, @end: the enums of the format's object
 * Return: a text to be freed; if a name or label is not valid, one that is not valid either, so that the event is refused;
 * NULL: the format refers to none, or there is no memory.
 */
char *enum_text(const char *format, const struct burin_enum *begin, const struct burin_enum *end);

#endif
