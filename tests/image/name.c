/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names locations of one image, for the scripts: the output of symbolize(), as text.
 *
 *	name [-k KIND] [-r ROOT] [-b BUILD-ID] [-c CHILDREN] [-p PATIENCE-MS] [-d DEADLINE-MS] [-x HOW] [-a] [-P] [-C] PATH < OFFSETS
 *
 * -C: with kept names, as a recording.
 *
 * OFFSETS are hexadecimal, one per line; with -a they are the image's addresses instead. Each location becomes a line
 * `place OFFSET BEGIN SIZE`, with a tab and `name|file|line` for each frame, in the order of arrival. Then follow
 * `image STATE HINT` and `counts PLACES NAMED LINED DAMAGED`, and on stderr the time and the memory of the largest child.
 */
#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/leb128.h"
#include "image/elf/image.h"
#include "image/symbolize/symbolize.h"

static char **texts;
static size_t text_count;

static struct function {
	uint64_t begin, size, name;
} * functions; /* in order for each child */
static size_t function_count;
static uint64_t *own_entries; /* locations that have an entry of their own */
static size_t own_count;

static const char *fault = "";

/* Tries the actions of an attacker in the reader. Return: whether any of them works. */
static bool look_around(void)
{
	static const char *const paths[] = { "/etc/passwd", "/dev/null", "/proc/self/maps", "/etc/passwd.dwo",
					     "x.dwo" };

	for (size_t n = 0; n < sizeof(paths) / sizeof(*paths); n++) {
		if (open(paths[n], O_RDONLY) >= 0)
			return true;
	}
	return open("/tmp/burin-look", O_WRONLY | O_CREAT, 0600) >= 0 || !access("/etc/passwd", R_OK);
}

/* Allocates all memory. */
static void fill(void)
{
	void *more;

	while ((more = malloc(64 << 20)))
		memset(more, 1, 64 << 20);
}

/* Replaces the library's function. */
Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *group)
{
	Dwarf *(*real)(Elf * elf, Dwarf_Cmd command, Elf_Scn * group) =
		(Dwarf * (*)(Elf *, Dwarf_Cmd, Elf_Scn *)) dlsym(RTLD_NEXT, "dwarf_begin_elf");

	if (!strcmp(fault, "die"))
		raise(SIGSEGV);
	while (!strcmp(fault, "hang"))
		__asm__ volatile("");
	if (!strcmp(fault, "call"))
		close(socket(AF_INET, SOCK_DGRAM, 0));
	if (!strcmp(fault, "open") && look_around())
		abort();
	if (!strcmp(fault, "fill"))
		fill();
	return real(elf, command, group);
}

static uint64_t number(const unsigned char **at, const unsigned char *end)
{
	uint64_t value;

	*at = leb128_get(*at, end, &value);
	if (!*at)
		exit(3);
	return value;
}

static char *text(const unsigned char **at, const unsigned char *end)
{
	const uint64_t bytes = number(at, end);

	if (bytes > (size_t)(end - *at))
		exit(3);
	*at += bytes;
	return strndup((const char *)*at - bytes, bytes);
}

static const char *text_of(uint64_t index)
{
	if (index > text_count)
		exit(3);
	return index ? texts[index - 1] : "?";
}

static int on_entry(void *data, const void *bytes, size_t count)
{
	const unsigned char *at = bytes, *end = at + count;
	const uint64_t what = number(&at, end);

	(void)data;
	if (what == WIRE_SYMBOLS_TEXT) {
		texts = reallocarray(texts, text_count + 1, sizeof(char *));
		texts[text_count++] = text(&at, end);
	} else if (what == WIRE_SYMBOLS_LOCATION) {
		number(&at, end);
		own_entries = reallocarray(own_entries, own_count + 1, sizeof(*own_entries));
		own_entries[own_count] = number(&at, end);
		printf("place %" PRIx64, own_entries[own_count++]);
		printf(" %" PRIx64, number(&at, end));
		printf(" %" PRIx64, number(&at, end));
		for (uint64_t frames = number(&at, end); frames; frames--) {
			printf("\t%s", text_of(number(&at, end)));
			printf("|%s", text_of(number(&at, end)));
			printf("|%" PRIu64, number(&at, end));
		}
		putchar('\n');
	} else if (what == WIRE_SYMBOLS_FUNCTION) {
		number(&at, end);
		functions = reallocarray(functions, function_count + 1, sizeof(*functions));
		functions[function_count].begin = number(&at, end);
		functions[function_count].size = number(&at, end);
		functions[function_count++].name = number(&at, end);
	} else {
		number(&at, end);
		printf("image %" PRIu64, number(&at, end));
		printf(" %s\n", text(&at, end));
	}
	return at == end ? 0 : -1;
}

/* -P: a line `parameters OFFSET SPEC` for each function, in place of names. */
static void on_parameters(void *data, uint32_t image, uint64_t offset, const char *spec, const char *file)
{
	(void)data;
	(void)image;
	(void)file;
	printf("parameters %" PRIx64 " %s\n", offset, spec ?: "-");
}

static int compare(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

/* Locations that have no entry but are in a function that has one. */
static void print_by_function(const struct symbolize_image *image)
{
	for (size_t n = 0; n < image->count; n++) {
		const uint64_t offset = image->offsets[n];
		const struct function *best = NULL;

		for (size_t k = 0; k < function_count; k++)
			if (functions[k].begin <= offset && (!best || functions[k].begin > best->begin))
				best = &functions[k];
		if (!best || offset - best->begin >= best->size)
			continue;
		for (size_t k = 0; best && k < own_count; k++)
			best = own_entries[k] == offset ? NULL : best;
		if (!best)
			continue;
		printf("place %" PRIx64 " %" PRIx64 " %" PRIx64, offset, best->begin, best->size);
		if (best->name)
			printf("\t%s|?|0", text_of(best->name));
		putchar('\n');
	}
}

static size_t read_offsets(uint64_t **offsets, const char *addresses_of)
{
	size_t count = 0, room = 0, kept = 0;
	struct image image = { .fd = -1 };
	char line[64];

	if (addresses_of && image_open(&image, open(addresses_of, O_RDONLY)) != 0)
		exit(4);
	while (fgets(line, sizeof(line), stdin)) {
		if (count == room)
			*offsets = reallocarray(*offsets, room = room * 2 + 64, sizeof(**offsets));
		(*offsets)[count] = strtoull(line, NULL, 16);
		if (!addresses_of || !image_offset(&image, (*offsets)[count], &(*offsets)[count]))
			count++;
	}
	if (addresses_of)
		image_close(&image);
	if (count)
		qsort(*offsets, count, sizeof(**offsets), compare);
	for (size_t n = 0; n < count; n++) {
		if (!n || (*offsets)[n] != (*offsets)[n - 1])
			(*offsets)[kept++] = (*offsets)[n];
	}
	return kept;
}

static size_t read_hex(unsigned char *out, const char *hex)
{
	size_t bytes = 0;

	for (; sscanf(hex, "%2hhx", &out[bytes]) == 1; hex += 2)
		bytes++;
	return bytes;
}

int main(int argc, char **argv)
{
	struct symbolize_image image = { .kind = WIRE_IMAGE_FILE, .number = 7, .file = -1 };
	struct symbolize_options options = { .entry = on_entry };
	struct symbolize_counts counts;
	struct timespec begin, end;
	struct rusage usage;
	unsigned char id[64];
	uint64_t *offsets = NULL;
	int option, error, addresses = 0;

	while ((option = getopt(argc, argv, "k:r:b:c:p:d:x:aPC")) != -1) {
		if (option == 'k')
			image.kind = (enum wire_image)atoi(optarg);
		else if (option == 'r')
			options.root = optarg;
		else if (option == 'b')
			image.build_id_bytes = read_hex(id, optarg);
		else if (option == 'c')
			options.children = (unsigned)atoi(optarg);
		else if (option == 'p')
			options.patience_ms = (unsigned)atoi(optarg);
		else if (option == 'd')
			options.deadline_ms = (uint64_t)atoi(optarg);
		else if (option == 'x')
			fault = optarg;
		else if (option == 'a')
			addresses = 1;
		else if (option == 'P')
			options.parameters = on_parameters;
		else if (option == 'C')
			options.cached = true;
		else
			return 2;
	}
	image.build_id = id;
	image.path = argv[optind];
	if (options.cached && image.kind == WIRE_IMAGE_FILE)
		image.file = open(image.path, O_RDONLY | O_CLOEXEC);
	image.count = read_offsets(&offsets, addresses ? image.path : NULL);
	image.offsets = offsets;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	error = symbolize(&image, 1, &options, &counts);
	clock_gettime(CLOCK_MONOTONIC, &end);
	print_by_function(&image);
	getrusage(RUSAGE_CHILDREN, &usage);
	fprintf(stderr, "%.3f ms, %ld KiB\n",
		(double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6,
		usage.ru_maxrss);
	printf("counts %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", counts.locations, counts.named,
	       counts.lined, counts.damaged);
	return error ? 1 : 0;
}
