/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of functions, as languages with templates write them: long, and most of it in brackets. What stands in <> and
 * in () tells instances and overloads apart; the rest is what people call the function.
 */
#ifndef BURIN_VIEW_SYMBOL_H
#define BURIN_VIEW_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * view_symbol_fits - whether a name is meant by a glob.
 *
 * The name itself, one that the glob matches, or one that it would match without its brackets, and, if the glob has no
 * "::", without what stands before the last: `ns::f` and `f` mean `ns::f<int>(int, char) const`, too; and so do
 * `ns::f<…>(int, char) const` and `ns::f<…>(…) const`, as view_symbol_short() makes it.
 */
bool view_symbol_fits(const char *glob, const char *name);

/*
 * view_symbol_short - a name in so many characters, if leaving out what stands in brackets is enough: `f<…>(…)`.
 * @room: of @size bytes, for what is made of it
 * Return: the name or @room.
 */
const char *view_symbol_short(const char *name, size_t columns, char *room, size_t size);

#endif
