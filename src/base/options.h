/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Structs that grow from version to version of a library: their first field is a size_t, the size that the caller
 * was built with. A caller may be older or newer than the library. A field that one side does not have is zero,
 * and zero means the default.
 */
#ifndef BURIN_BASE_OPTIONS_H
#define BURIN_BASE_OPTIONS_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * options_take - copy a caller's options into the library's struct.
 * @out: of @bytes; all zero but its size if @given is NULL
 * Return: 0; -EINVAL: no size, or the caller sets a field that this library does not have.
 */
static inline int options_take(void *out, size_t bytes, const void *given)
{
	size_t size = bytes;

	memset(out, 0, bytes);
	if (given)
		memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return -EINVAL;
	for (size_t at = bytes; at < size; at++)
		if (((const char *)given)[at] != 0)
			return -EINVAL;
	if (given)
		memcpy(out, given, size < bytes ? size : bytes);
	memcpy(out, &bytes, sizeof(bytes));
	return 0;
}

/*
 * options_give - copy a result into a caller's struct; its size stays.
 * @result: of @bytes
 * Return: 0; -EINVAL: the caller's struct has no size.
 */
static inline int options_give(void *given, const void *result, size_t bytes)
{
	size_t size;

	if (!given)
		return -EINVAL;
	memcpy(&size, given, sizeof(size));
	if (size < sizeof(size))
		return -EINVAL;
	memset(given, 0, size);
	memcpy(given, result, size < bytes ? size : bytes);
	memcpy(given, &size, sizeof(size));
	return 0;
}

#endif
