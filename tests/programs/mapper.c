/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Maps files as if they were code, in ways that make work for a recorder.
 *
 *	mapper swap MS FILE TARGET	FILE, which is then unmapped, and replaced by a link to TARGET
 *	mapper pages MS N		one page of a file, in N mappings
 *	mapper files MS N		N files
 *
 * Then it says "mapped", runs for MS, and ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE = 4096,
};

static int swap(const char *file, const char *target)
{
	const int fd = open(file, O_RDONLY);
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return at == MAP_FAILED || munmap(at, PAGE) || close(fd) || unlink(file) || symlink(target, file);
}

static int memory(const char *name, off_t bytes)
{
	const int fd = memfd_create(name, 0);

	return fd < 0 || ftruncate(fd, bytes) ? -1 : fd;
}

static int pages(long count)
{
	const int fd = memory("pages", PAGE);
	char *at = mmap(NULL, (size_t)count * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long n = 0; n < count; n++, at += PAGE) /* of the same page each: neighbours do not become one */
		if (at == MAP_FAILED ||
		    mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return 1;
	return 0;
}

static int files(long count)
{
	for (long n = 0; n < count; n++) {
		const int fd = memory("file", PAGE);

		if (fd < 0 || mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
		    close(fd))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct timespec now;
	int error = 2;
	long end;

	if (argc > 4 && strcmp(argv[1], "swap") == 0)
		error = swap(argv[3], argv[4]);
	else if (argc > 3 && strcmp(argv[1], "pages") == 0)
		error = pages(atol(argv[3]));
	else if (argc > 3 && strcmp(argv[1], "files") == 0)
		error = files(atol(argv[3]));
	if (error) {
		perror("mapper");
		return error;
	}
	puts("mapped");
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + atol(argv[2]);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
	return 0;
}
