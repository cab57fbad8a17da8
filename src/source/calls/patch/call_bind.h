/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which definition the dynamic linker binds a symbol to. */
#ifndef BURIN_SOURCE_CALLS_PATCH_CALL_BIND_H
#define BURIN_SOURCE_CALLS_PATCH_CALL_BIND_H

#include "base/loaded_object.h"

/*
 * call_bind - what the dynamic linker would write into an object's slot at its first call. @symbol: its index
 * Context: takes the dynamic linker's lock. Return: 0: nothing defines it.
 */
uint64_t call_bind(const struct loaded_object *object, uint64_t symbol);

#endif
