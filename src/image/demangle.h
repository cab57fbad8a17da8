/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Names as the compilers of C++ and Rust write them into object files, made readable. */
#ifndef BURIN_IMAGE_DEMANGLE_H
#define BURIN_IMAGE_DEMANGLE_H

#include <stddef.h>

enum {
	DEMANGLE_IN_MAX = 8192,	 /* bytes of a name that is looked at; longer ones stay as they are */
	DEMANGLE_OUT_MAX = 4096, /* bytes of what comes out, NUL included; longer ones end in an ellipsis */
};

/*
 * demangle - a name as it stands in the source, with the types of its parameters, without that of its result.
 * Context: allocates.
 * Return: the bytes written to @out, without the NUL; 0: the name is none of C++ or Rust, and stays as it is.
 */
size_t demangle(char out[DEMANGLE_OUT_MAX], const char *name);

#endif
