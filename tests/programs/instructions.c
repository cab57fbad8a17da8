/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parse single instructions of a file. Lines of input: the offset of an instruction, and its length as another program found it. Lines of
 * output: where the own length is another one, "OFFSET LENGTH OWN"; then "checked N".
 *
 *	instructions FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "source/kernel/probes/x86_instruction.h"

int main(int argc, char **argv)
{
	const int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	unsigned long offset, count = 0;
	unsigned length;
	struct stat status;
	const unsigned char *bytes;

	if (file < 0 || fstat(file, &status) != 0)
		return 1;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (bytes == MAP_FAILED)
		return 1;
	for (; scanf("%lu %u", &offset, &length) == 2; count++) {
		struct x86_instruction one = { .bytes = 0 };
		const bool known =
			offset < (size_t)status.st_size &&
			x86_instruction_parse(bytes + offset, (size_t)status.st_size - offset, &one);

		if (!known || one.bytes != length)
			printf("%lu %u %u\n", offset, length, known ? one.bytes : 0);
	}
	printf("checked %lu\n", count);
	return 0;
}
