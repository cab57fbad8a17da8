/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The file of a kernel, which distributions ship as it is booted: compressed, behind the code that unpacks it (vmlinuz, bzImage of x86-64;
 * vmlinuz.efi of aarch64). A file that is compressed as a whole (Image.gz, System.map.xz) is unpacked as well.
 */
#ifndef BURIN_IMAGE_ELF_KERNEL_FILE_H
#define BURIN_IMAGE_ELF_KERNEL_FILE_H

/*
 * kernel_file_open - open a file, or what is packed in it, as a file in memory.
 * Return: a descriptor; -EMEDIUMTYPE: a packed kernel of another kind; -EBADMSG, -ELIBACC: see unpack_range(); -EFBIG,
 * -ENOMEM, or another -errno.
 */
int kernel_file_open(const char *path);

/* kernel_file_unpack - the same for an open file, which the caller closes. Return: also -ENOEXEC: it is not packed. */
int kernel_file_unpack(int file);

/* kernel_file_problem - why there is nothing to read, and what to give instead. @error: negative */
const char *kernel_file_problem(int error);

#endif
