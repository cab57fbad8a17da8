/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files that are compressed as a whole, as kernels are: by gzip, xz, lzma, zstd, or lz4 in its legacy format. They are foreign: the size of
 * what they become is bounded while it is unpacked, and not by what they say.
 */
#ifndef BURIN_IMAGE_ELF_UNPACK_H
#define BURIN_IMAGE_ELF_UNPACK_H

#include <stdint.h>

/*
 * unpack_range - unpack a part of a file. Bytes behind the compressed data are ignored.
 * @at, @end: of the part, which lies in the file
 * Return: a file in memory; -ENOEXEC: it is not compressed, or in another way; -EBADMSG: it is damaged; -ELIBACC: it needs
 * liblz4.so.1, which is not installed; -EFBIG, -ENOMEM, or another -errno.
 */
int unpack_range(int file, uint64_t at, uint64_t end);

#endif
