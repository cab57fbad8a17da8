/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A trace as one input: its files one after the other, each as a number of its name (u8), a size (u32, little-endian) and
 * its bytes. Any bytes are an archive: numbers are taken modulo the number of names, and a size that leads out of the
 * input ends with it.
 */
#ifndef BURIN_TESTS_FUZZ_ARCHIVE_H
#define BURIN_TESTS_FUZZ_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

/* archive_directory - where archives are unpacked: a directory of this process's own, removed at its end. */
const char *archive_directory(void);

/* archive_unpack - make the directory hold these files and no others. */
void archive_unpack(const uint8_t *data, size_t size);

/* archive_remove - remove a directory with all that is in it. */
void archive_remove(const char *path);

/* archive_mutate - damage one file of an archive, with the sizes around it put right. Return: the size now. */
size_t archive_mutate(uint8_t *data, size_t size, size_t max, unsigned seed);

#endif
