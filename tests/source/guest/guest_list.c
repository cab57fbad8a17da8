/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Prints the functions of a guest that a file has, for the scripts: a line `ADDRESS NAME` each, or the error. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "image/elf/kernel_file.h"
#include "image/names/kernel/guest_names.h"

int main(int argc, char **argv)
{
	const int file = argc == 2 ? kernel_file_open(argv[1]) : -1;
	struct guest_names names;
	const int error = file < 0 ? file : guest_names_read(&names, file);

	if (error) {
		printf("%s\n", strerrorname_np(-error));
		return 1;
	}
	for (size_t n = 0; n < names.count; n++)
		printf("%016" PRIx64 " %s\n", names.all[n].address, names.text + names.all[n].name);
	guest_names_free(&names);
	return 0;
}
