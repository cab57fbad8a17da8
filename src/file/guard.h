/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Mappings of files that other processes can truncate.
 *
 * An access to the truncated part of a file's mapping raises SIGBUS, and so does one to a hole when the file system is
 * full. The guard maps pages of zeros there, so that the access succeeds; code that reads mappings expects any bytes
 * anyway. It must call guard_truncated() afterwards to find out whether the bytes were there. The reading library does
 * not need the guard, since it uses read(). Traced programs do not have it, since their signals are their own.
 */
#ifndef BURIN_FILE_GUARD_H
#define BURIN_FILE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* guard_begin - guard all present and future shared file mappings of this process. Forked children inherit the guard. */
void guard_begin(void);

/* guard_truncated - whether an access to a part of a mapping found it missing. Context: any thread. */
bool guard_truncated(const void *base, size_t bytes);

/* guard_forget - remove a mapping's holes before it is unmapped, since its addresses may be reused. */
void guard_forget(const void *base, size_t bytes);

/* guard_unreported - the name of a file with a missing part that guard_truncated() was not called for; NULL: there is none. */
const char *guard_unreported(void);

#endif
