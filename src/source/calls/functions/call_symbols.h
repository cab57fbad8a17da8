/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names of functions in the images of this process, for rules: from the file's .symtab, or from that of its debug
 * file by build id, or from .dynsym. The files are read into memory of our own; a file that is truncated meanwhile does
 * no harm.
 *
 * Context: the caller holds a lock of its own (call_rules.c). No malloc, no stdio.
 */
#ifndef BURIN_SOURCE_CALLS_FUNCTIONS_CALL_SYMBOLS_H
#define BURIN_SOURCE_CALLS_FUNCTIONS_CALL_SYMBOLS_H

#include <stdint.h>

#include "source/calls/functions/call_images.h"

struct call_symbols;

/* call_symbols_of - the names of an image, which are read the first time. Return: NULL: it has none, or no memory. */
const struct call_symbols *call_symbols_of(const struct call_image *image);

/* call_symbols_name - the n-th name of the function around an offset in the image, from 0; NULL: it has no more. */
const char *call_symbols_name(const struct call_symbols *symbols, uint64_t offset, unsigned n);

/* call_symbols_path - the path of an image in the session. It may change while it is read, but ends in NUL. */
const char *call_symbols_path(const struct call_image *image);

/*
 * call_symbols_demangle - a name of C++ as in the source, with parameters, without the result.
 * Return: NULL: it is none, or too long. Valid until the next call.
 */
const char *call_symbols_demangle(const char *name);

#endif
