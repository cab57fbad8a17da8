/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Mutated traces: a trace is foreign input and must not crash a reader (promise P6).
 *
 *	mutate [-n COUNT] [-s SEED] [-r ROUND] [-d TRACE] [-b BURIN] [-v]
 *
 * Each round starts from the valid trace and damages one to four of its files (bits, bytes, whole words, sizes, headers;
 * truncation, holes, swapped files). A child process reads it in every way: by the library, and by dump, info and check,
 * with the program BURIN if it is given. No child may crash, hang, or end with an exit code other than 0, 1 or 2. Missing
 * records must be reported. The seed is printed; a round depends only on the seed and its number, so one can be repeated
 * alone (-r ROUND); its trace is then kept. -v lists damage that no command reported: a number within a record may be any
 * number.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burin/read.h"
#include "synth.h"
#include "touch.h"
#include "wire/wire_packet.h"
#include "wire/wire_record.h"

enum {
	FILES_MAX = 64,
	TIME_LIMIT_S = 100,
};

struct trace_file {
	char name[300];
	unsigned char *bytes;
	size_t size;
};

static struct trace_file files[FILES_MAX];
static unsigned file_count;
static uint64_t random_state;

static uint64_t random_next(void)
{
	uint64_t value = (random_state += 0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

static size_t random_below(size_t limit)
{
	return limit ? random_next() % limit : 0;
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void load_directory(const char *path, const char *prefix)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;

	if (!directory)
		die(path);
	while ((entry = readdir(directory))) {
		struct trace_file *file = &files[file_count];
		char name[1024];
		struct stat status;
		FILE *in;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (stat(name, &status) || !S_ISREG(status.st_mode) || file_count == FILES_MAX)
			continue;
		snprintf(file->name, sizeof(file->name), "%s%s", prefix, entry->d_name);
		file->size = (size_t)status.st_size;
		file->bytes = malloc(file->size + 1);
		in = fopen(name, "rb");
		if (!in || !file->bytes || fread(file->bytes, 1, file->size, in) != file->size)
			die(name);
		fclose(in);
		file_count++;
	}
	closedir(directory);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct trace_file *)a)->name, ((const struct trace_file *)b)->name);
}

static void store(const char *directory, const char *name, const void *bytes, size_t size)
{
	char path[1024];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "wb");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out))
		die(path);
}

/* Values that often cause faults. */
static uint64_t odd_value(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   7,
					   8,
					   11,
					   12,
					   13,
					   sizeof(struct wire_packet),
					   8 * sizeof(struct wire_packet),
					   0x7fff,
					   0xfffe,
					   0xffff,
					   0x10000,
					   0x7fffffff,
					   0x80000000,
					   0xffffffff,
					   0x7fffffffffffffff,
					   0x8000000000000000,
					   0xffffffffffffffff,
					   WIRE_MAGIC };

	return random_below(3) ? values[random_below(sizeof(values) / sizeof(values[0]))] : random_next();
}

static void mutate_bytes(unsigned char *bytes, size_t size)
{
	size_t at = random_below(size);
	uint64_t value = odd_value();
	size_t width = (size_t)1 << random_below(4), span;

	switch (random_below(7)) {
	case 0:
		bytes[at] ^= (unsigned char)(1 << random_below(8));
		break;
	case 1:
		bytes[at] = (unsigned char)random_next();
		break;
	case 2: /* a word at a multiple of its size */
		at &= ~(width - 1);
		if (at + width <= size)
			memcpy(bytes + at, &value, width);
		break;
	case 3: /* a field of the first packet's header, or of a record near it */
		at = random_below(64) * 4;
		if (at + 8 <= size)
			memcpy(bytes + at, &value, 8);
		break;
	case 4: /* a stretch of one byte */
		span = random_below(size - at < 600 ? size - at : 600);
		memset(bytes + at, (int)random_below(256), span);
		break;
	case 5: /* a stretch from elsewhere */
		span = random_below(size - at < 400 ? size - at : 400);
		memmove(bytes + at, bytes + random_below(size - span), span);
		break;
	default: /* at an 8-aligned offset, where records begin: another header */
		at &= ~(size_t)7;
		if (at + 4 <= size) {
			uint16_t header[2] = { (uint16_t)odd_value(), (uint16_t)odd_value() };

			memcpy(bytes + at, header, 4);
		}
		break;
	}
}

/* Writes one file of the trace, damaged. */
static void store_damaged(const char *directory, const struct trace_file *file)
{
	unsigned char *bytes = malloc(file->size + 4096);
	size_t size = file->size;

	if (!bytes)
		die("malloc");
	memcpy(bytes, file->bytes, size);
	switch (random_below(10)) {
	case 0:
		size = random_below(size + 1);
		break;
	case 1: /* longer than it was */
		for (size_t more = random_below(4096); more--;)
			bytes[size++] = (unsigned char)(random_below(2) ? 0 : random_next());
		break;
	case 2: { /* another file's content under this name */
		const struct trace_file *other = &files[random_below(file_count)];

		free(bytes);
		store(directory, file->name, other->bytes, other->size);
		return;
	}
	case 3: /* removed */
		free(bytes);
		return;
	default:
		for (size_t count = 1 + random_below(random_below(4) ? 4 : 40); count-- && size;)
			mutate_bytes(bytes, size);
		break;
	}
	store(directory, file->name, bytes, size);
	free(bytes);
}

static void make_round(const char *directory)
{
	bool damaged[FILES_MAX] = { false };
	char extras[1024];

	for (size_t count = 1 + random_below(4); count--;)
		damaged[random_below(file_count)] = true;
	snprintf(extras, sizeof(extras), "%s/.burin", directory);
	if (mkdir(directory, 0700) || mkdir(extras, 0700))
		die(directory);
	for (unsigned n = 0; n < file_count; n++) {
		if (damaged[n])
			store_damaged(directory, &files[n]);
		else
			store(directory, files[n].name, files[n].bytes, files[n].size);
	}
}

/* Reads a trace by the library, in a child. Exit code as of the commands; 3: an inconsistency. */
static int read_by_library(const char *directory, uint64_t records_whole)
{
	const struct burin_cursor_options options = { .size = sizeof(options), .flags = BURIN_CURSOR_NAMES };
	struct burin_trace *trace;
	struct burin_cursor *cursor;
	const struct burin_record *record;
	uint64_t count = 0, last = 0, sum = 0, begin, end;
	int result = burin_trace_open(&trace, directory, NULL, NULL);

	if (result)
		return 2;
	if (burin_cursor_open(&cursor, trace, &options))
		return 3;
	while ((result = burin_cursor_next(cursor, &record)) > 0) {
		if (record->time < last)
			return 3; /* the order is guaranteed for any trace */
		last = record->time;
		if (!touch_record(record, &sum))
			return 3;
		count += record->ring != UINT32_MAX;
	}
	burin_trace_range(trace, &begin, &end);
	burin_cursor_seek(cursor, begin + (end - begin) / 2);
	if (burin_cursor_next(cursor, &record) > 0 && record->time < begin + (end - begin) / 2)
		return 3;
	burin_cursor_close(cursor);
	/* Records may be missing without a fault only if whole files at the end of a stream are missing. */
	if (count > records_whole && !burin_trace_faults(trace))
		fprintf(stderr, "more records than before, but no fault\n");
	result = burin_trace_faults(trace) ? 1 : 0;
	burin_trace_close(trace);
	return sum == 12345 ? 0 : result;
}

/* Runs a child with a time limit. Return: its exit code, or -1 when it crashed or hung. */
static int run_child(const char *what, const char *burin, const char *directory, uint64_t records)
{
	pid_t child = fork();
	int status, silence;

	if (child < 0)
		die("fork");
	if (!child) {
		alarm(TIME_LIMIT_S);
		silence = open("/dev/null", O_WRONLY);
		dup2(silence, 1);
		if (!burin)
			_exit(read_by_library(directory, records));
		dup2(silence, 2);
		if (!strcmp(what, "json"))
			execl(burin, burin, "dump", "--json", "--names", directory, (char *)NULL);
		execl(burin, burin, what, directory, (char *)NULL);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0)
		die("waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) <= 2)
		return WEXITSTATUS(status);
	printf("  %s: %s %d\n", what, WIFSIGNALED(status) ? "signal" : "exit code",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return -1;
}

/* Whether the damaged trace differs from the valid one. */
static bool differs(const char *directory)
{
	for (unsigned n = 0; n < file_count; n++) {
		char path[2048];
		const char *name = files[n].name;
		unsigned char *bytes = malloc(files[n].size + 1);
		FILE *in;
		bool same = false;

		snprintf(path, sizeof(path), "%s/%.300s", directory, name);
		in = fopen(path, "rb");
		if (in) {
			same = bytes && fread(bytes, 1, files[n].size + 1, in) == files[n].size &&
			       !memcmp(bytes, files[n].bytes, files[n].size);
			fclose(in);
		}
		free(bytes);
		if (!same)
			return true;
	}
	return false;
}

struct settings {
	uint64_t seed, count, only;
	const char *trace, *burin;
	bool verbose;
};

static bool run_round(const struct settings *settings, uint64_t round, const char *base, uint64_t records,
		      uint64_t *unnoticed)
{
	static const char *const commands[] = { "dump", "json", "info", "check" };
	char directory[600];
	bool good, noticed = false;
	int result;

	random_state = settings->seed * 0x2545f4914f6cdd1d + round;
	snprintf(directory, sizeof(directory), "%s/round", base);
	make_round(directory);
	result = run_child("library", NULL, directory, records);
	good = result >= 0;
	for (unsigned n = 0; settings->burin && n < 4; n++) {
		result = run_child(commands[n], settings->burin, directory, records);
		good &= result >= 0;
		noticed |= result > 0;
	}
	if (settings->burin && !noticed && differs(directory)) {
		(*unnoticed)++;
		if (settings->verbose)
			printf("round %llu: no command reported a fault\n", (unsigned long long)round);
	}
	if (settings->only == round) {
		printf("kept: %s\n", directory);
		exit(good ? 0 : 1);
	}
	synth_remove(directory);
	return good;
}

int main(int argc, char **argv)
{
	struct settings settings = { .seed = (uint64_t)time(NULL), .count = 500, .only = UINT64_MAX };
	uint64_t failed = 0, unnoticed = 0, records = UINT64_MAX;
	char base[512], sample[600], extras[1024];
	int option;

	while ((option = getopt(argc, argv, "n:s:d:b:r:v")) != -1) {
		switch (option) {
		case 'n':
			settings.count = strtoull(optarg, NULL, 10);
			break;
		case 's':
			settings.seed = strtoull(optarg, NULL, 10);
			break;
		case 'd':
			settings.trace = optarg;
			break;
		case 'b':
			settings.burin = optarg;
			break;
		case 'r':
			settings.only = strtoull(optarg, NULL, 10);
			break;
		case 'v':
			settings.verbose = true;
			break;
		default:
			fprintf(stderr,
				"usage: mutate [-n COUNT] [-s SEED] [-r ROUND] [-d TRACE] [-b BURIN] [-v]\n");
			return 2;
		}
	}
	synth_directory(base, sizeof(base));
	snprintf(sample, sizeof(sample), "%s/sample", base);
	if (!settings.trace) {
		records = synth_sample(sample);
		settings.trace = sample;
	}
	load_directory(settings.trace, "");
	snprintf(extras, sizeof(extras), "%s/.burin", settings.trace);
	load_directory(extras, ".burin/");
	qsort(files, file_count, sizeof(files[0]), by_name);
	printf("seed %llu, %llu rounds, %u files\n", (unsigned long long)settings.seed,
	       (unsigned long long)settings.count, file_count);
	fflush(stdout);
	for (uint64_t round = 0; round < settings.count; round++) {
		if (settings.only != UINT64_MAX && round != settings.only)
			continue;
		if (!run_round(&settings, round, base, records, &unnoticed)) {
			printf("round %llu of seed %llu failed\n", (unsigned long long)round,
			       (unsigned long long)settings.seed);
			fflush(stdout);
			failed++;
		}
	}
	synth_remove(base);
	printf("%llu failed", (unsigned long long)failed);
	if (settings.burin)
		printf("; %llu damaged traces without a reported fault", (unsigned long long)unnoticed);
	printf("\n");
	return failed ? 1 : 0;
}
