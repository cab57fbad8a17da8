/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of functions in languages with templates. Most of such a name is in brackets, which distinguish instances and
 * overloads. Users write the rest.
 */
#ifndef BURIN_VIEW_SYMBOL_LABEL_H
#define BURIN_VIEW_SYMBOL_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * view_symbol_fits - whether a glob selects a name.
 *
 * It does if it equals or matches the name, the name without its brackets, or that without the type of the result. A glob
 * without "::" is also compared with the part after the last "::". So `ns::f` and `f` select `ns::f<int>(int, char) const`; so do the names that
 * view_symbol_short() makes of it: `ns::f<…>(int, char) const` and `ns::f<…>(…) const`.
 */
bool view_symbol_fits(const char *glob, const char *name);

/*
 * view_symbol_short - shorten a name of more than @columns to `f<…>(…)`, which may still be too long.
 * @less: steps to go back, for names that would become alike: to `f<…>(int)`, then to the whole name
 * @room: @size bytes for the result
 * Return: the name or @room.
 */
const char *view_symbol_short(const char *name, size_t columns, unsigned less, char *room, size_t size);

#endif
