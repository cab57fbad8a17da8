/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A data directory of uftrace, as burin import reads it. The input is a list of parts: a number of a file (u8), a size
 * (u32, little-endian), and the bytes of the file.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burin/read.h"
#include "fuzz.h"
#include "import/uftrace_import.h"

static const char *const names[] = { "info",  "task.txt", "sid-0000000000000001.map",
				     "a.sym", "b.sym",	  "1.dat",
				     "2.dat", "3.dat" };

enum {
	NAMES = sizeof(names) / sizeof(*names),
};

static int make_directory(char *path, size_t bytes, const char *name)
{
	int fd;

	snprintf(path, bytes, "%s/%s", archive_directory(), name);
	FUZZ_HOLDS(mkdir(path, 0700) == 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(fd >= 0);
	return fd;
}

static void unpack(int directory, struct fuzz_input input)
{
	while (input.left) {
		const char *name = names[fuzz_take(&input, 1) % NAMES];
		size_t size = fuzz_take(&input, 4);
		int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		size = size < input.left ? size : input.left;
		FUZZ_HOLDS(fd >= 0 && (!size || write(fd, input.at, size) == (ssize_t)size));
		close(fd);
		input.at += size;
		input.left -= size;
	}
}

static void print_fault(void *data, const struct burin_diagnosis *fault)
{
	(void)data;
	fprintf(stderr, "%s: byte %llu: %s\n", fault->file, (unsigned long long)fault->offset, fault->reason);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char source[512], made[512];
	const struct burin_check_options options = { .size = sizeof(options), .on_fault = print_fault };
	const int from = make_directory(source, sizeof(source), "from"),
		  to = make_directory(made, sizeof(made), "to");
	struct burin_check_result checked;
	struct uftrace_import result;

	unpack(from, (struct fuzz_input){ data, size });
	/* What is imported is a sound trace. */
	if (!uftrace_import(from, to, &result))
		FUZZ_HOLDS(!burin_trace_check(made, &options, &checked, NULL) && !checked.faults);
	close(from);
	close(to);
	archive_remove(source);
	archive_remove(made);
	return 0;
}
