/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's types; see kernel_types.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf/btf.h"
#include "source/kernel/kernel_types.h"

/* Read the whole file. It is of the kernel, which states its size. */
static char *read_types(size_t *count)
{
	const int file = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *bytes = NULL;
	ssize_t got = 1;

	*count = 0;
	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && status.st_size > 0 && status.st_size <= BTF_BYTES_MAX)
		bytes = malloc((size_t)status.st_size);
	while (bytes && *count < (size_t)status.st_size && got > 0) {
		got = read(file, bytes + *count, (size_t)status.st_size - *count);
		if (got > 0)
			*count += (size_t)got;
	}
	close(file);
	return bytes;
}

int kernel_types_find(const char *const *names, uint32_t *types, unsigned count)
{
	struct btf btf;
	size_t size;
	char *bytes = read_types(&size);
	int error = bytes ? btf_open(&btf, bytes, size) : -ENOENT;

	if (!error) {
		for (unsigned n = 0; n < count; n++) {
			types[n] = btf_typedef(&btf, names[n]);
			if (!types[n])
				error = -ENOENT;
		}
		btf_close(&btf);
	}
	free(bytes);
	return error;
}
