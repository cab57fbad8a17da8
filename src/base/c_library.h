/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Calls of the C library by libraries that are in other's programs. */
#ifndef BURIN_BASE_C_LIBRARY_H
#define BURIN_BASE_C_LIBRARY_H

/*
 * c_library_bind - this shared library calls functions of the C library itself, whatever functions of the same names the program or its other
 * libraries have. In a program or library that contains this code by static linking nothing happens.
 * Context: before the library's first other work; again: nothing happens.
 */
void c_library_bind(void);

#endif
