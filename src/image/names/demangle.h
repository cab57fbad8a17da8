/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Demangles names of C++ and Rust. */
#ifndef BURIN_IMAGE_NAMES_DEMANGLE_H
#define BURIN_IMAGE_NAMES_DEMANGLE_H

#include <stddef.h>

enum {
	DEMANGLE_IN_MAX = 8192,	 /* bytes of a mangled name; longer ones stay as they are */
	DEMANGLE_OUT_MAX = 4096, /* bytes of a demangled name, with the NUL; longer ones end in an ellipsis */
};

/*
 * demangle - a name as in the source, with the types of its parameters, without that of its result.
 * Context: allocates.
 * Return: the bytes written to @out, without the NUL; 0: not a name of C++ or Rust.
 */
size_t demangle(char out[DEMANGLE_OUT_MAX], const char *name);

#endif
