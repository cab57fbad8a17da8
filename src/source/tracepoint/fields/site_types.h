/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The types of a site: what the compiler knows, completed by the format, and the types of its records.
 */
#ifndef BURIN_SOURCE_TRACEPOINT_FIELDS_SITE_TYPES_H
#define BURIN_SOURCE_TRACEPOINT_FIELDS_SITE_TYPES_H

#include <stdint.h>

/*
 * site_types_complete - the types of a site.
 * @format: the site's
 * @types: from the compiler: every pointer to characters is a str
 *
 * Only the format decides whether a `char *` is text (%s), an address (%p) or a text with the length before it (%.*s):
 * under %p it becomes a ptr, and the int before one under %.*s becomes a WIRE_END. Call it, and store its result in the
 * site, before the event is registered and before it is switched on.
 *
 * Context: any thread; allocates nothing.
 * Return: the types; unchanged if the format is not valid, which format_parse() reports later.
 */
uint64_t site_types_complete(const char *format, uint64_t types);

/*
 * site_types_of_records - the types of a site's records, as registered (wire/wire_event.h).
 * @types: the site's, from site_types_complete(): one for each burin_arg
 */
uint64_t site_types_of_records(uint64_t types);

#endif
