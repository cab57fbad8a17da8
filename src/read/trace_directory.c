/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds the files of each stream in the directory, and reads files.
 *
 * The files are listed before any packet is read. A stream's file is created only when the previous one is
 * complete, so when files are read, all but the last of the list are final.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/number.h"
#include "read/trace.h"
#include "wire/wire_profile.h"
#include "wire/wire_terms.h"

enum {
	PROBES_MAX = 16, /* missing numbers that are tried by name */
};

const char *read_chunk_file(const struct burin_trace *trace, unsigned chunk, const char *file,
			    char path[READ_FILE_NAME_MAX])
{
	const char *name = trace->chunks[chunk].name;

	if (!*name)
		return file;
	snprintf(path, READ_FILE_NAME_MAX, "%s/%.24s", name, file);
	return path;
}

int read_chunks_single(struct burin_trace *trace)
{
	trace->chunks = calloc(1, sizeof(*trace->chunks));
	trace->chunk_count = trace->chunks != NULL;
	return trace->chunks ? 0 : -ENOMEM;
}

/* Symbolic links could lead out of the trace; opening a device can have effects. Neither is opened. */
static int open_regular(int directory, const char *name)
{
	struct stat status;
	int file;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADF;
	/* O_NONBLOCK: the file may have been replaced by a pipe since. */
	file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return file < 0 ? -errno : file;
}

/* @name: a file, or a file in directories, such as ".burin/events" or "0003/cpu0" */
static int trace_directory_open_below(int directory, const char *name)
{
	int below = directory, file;
	const char *slash;

	while ((slash = strchr(name, '/'))) {
		char first[READ_FILE_NAME_MAX];
		int next;

		if ((size_t)snprintf(first, sizeof(first), "%.*s", (int)(slash - name), name) >=
		    sizeof(first))
			next = -ENAMETOOLONG;
		else if ((next = openat(below, first, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
			next = errno == ENOTDIR ? -EBADF : -errno;
		if (below != directory)
			close(below);
		if (next < 0)
			return next;
		below = next;
		name = slash + 1;
	}
	file = open_regular(below, name);
	if (below != directory)
		close(below);
	return file;
}

int read_directory_open(const struct burin_trace *trace, const char *name, uint64_t *size)
{
	int file = trace_directory_open_below(trace->directory, name);
	struct stat status;

	if (file < 0)
		return file;
	if (fstat(file, &status) || !S_ISREG(status.st_mode)) {
		close(file);
		return -EBADF;
	}
	*size = (uint64_t)status.st_size;
	return file;
}

/*
 * A file of a few KiB may claim to have terabytes, all of them a hole. No recorder leaves one, so no reader
 * goes beyond.
 */
uint64_t read_hole(int file, uint64_t size)
{
	const off_t hole = lseek(file, 0, SEEK_HOLE);

	return hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole;
}

ssize_t read_fully(int file, void *data, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t part = pread(file, (char *)data + done, bytes - done, (off_t)(offset + done));

		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return -errno;
		if (!part)
			break;
		done += (size_t)part;
	}
	return (ssize_t)done;
}

int read_directory_load(const struct burin_trace *trace, const char *name, uint64_t limit, char **data,
			size_t *bytes)
{
	uint64_t size, hole;
	ssize_t done;
	int file = read_directory_open(trace, name, &size);

	*data = NULL;
	if (file < 0)
		return file;
	if (size > limit)
		size = limit;
	hole = read_hole(file, size);
	if (hole < size)
		read_fault(trace, BURIN_FAULT_FILE, name, hole,
			   "a hole begins here, which no recorder leaves; from here on the file is not read");
	size = hole;
	*data = malloc(size + 1);
	if (!*data) {
		close(file);
		return -ENOMEM;
	}
	done = read_fully(file, *data, size, 0);
	close(file);
	if (done < 0) {
		free(*data);
		*data = NULL;
		return (int)done;
	}
	(*data)[done] = '\0';
	*bytes = (size_t)done;
	return 0;
}

/* A decimal number without leading zeros, below READ_NUMBER_MAX. Return: the text after it, or NULL. */
static const char *trace_directory_parse_number(const char *text, uint32_t *number)
{
	if (*text < '0' || *text > '9' || (*text == '0' && text[1] >= '0' && text[1] <= '9'))
		return NULL;
	for (*number = 0; *text >= '0' && *text <= '9'; text++) {
		*number = *number * 10 + (uint32_t)(*text - '0');
		if (*number >= READ_NUMBER_MAX)
			return NULL;
	}
	return text;
}

struct stream_name {
	char base[READ_FILE_NAME_MAX]; /* "cpu3" */
	uint32_t stream_id;
	enum wire_file kind;
	uint32_t ring, file, chunk;
};

static bool trace_directory_parse_name(const char *text, struct stream_name *name)
{
	const char *rest = NULL;

	memset(name, 0, sizeof(*name));
	for (unsigned kind = 0; kind < WIRE_FILE_KINDS && !rest; kind++) {
		const size_t bytes = strlen(wire_file_keys[kind]);

		if (strncmp(text, wire_file_keys[kind], bytes) != 0)
			continue;
		name->kind = kind;
		rest = text + bytes;
	}
	if (!rest)
		return false;
	/* The streams before it in the list have a number, those of names and changes have none. */
	if (name->kind < WIRE_FILE_NAMES) {
		rest = trace_directory_parse_number(rest, &name->ring);
	} else {
		name->stream_id = WIRE_STREAM_NAMES;
		name->ring = UINT32_MAX - (name->kind == WIRE_FILE_CHANGES);
	}
	if (!rest || rest - text >= (ptrdiff_t)sizeof(name->base))
		return false;
	memcpy(name->base, text, (size_t)(rest - text));
	if (*rest == '.')
		rest = trace_directory_parse_number(rest + 1, &name->file);
	return rest && !*rest && (!strchr(text, '.') || name->file);
}

/* @number: of the file, 0 for the first; @base: its name without the number */
static int trace_directory_add_file(const struct burin_trace *trace, struct read_stream *stream,
				    uint32_t chunk, const char *base, uint32_t number)
{
	char name[READ_FILE_NAME_MAX], path[READ_FILE_NAME_MAX];
	struct read_file *file;

	if (!array_reserve(stream->files, stream->file_room, stream->file_count + 1))
		return -ENOMEM;
	file = &stream->files[stream->file_count++];
	file->number = number;
	file->chunk = chunk;
	if (number)
		snprintf(name, sizeof(name), "%.24s.%u", base, (unsigned)number);
	else
		snprintf(name, sizeof(name), "%.24s", base);
	snprintf(file->name, sizeof(file->name), "%s", read_chunk_file(trace, chunk, name, path));
	return 0;
}

static int trace_directory_by_number(const void *a, const void *b)
{
	const struct read_file *one = a, *other = b;

	return number_order(one->chunk, other->chunk) ?: number_order(one->number, other->number);
}

static bool same_stream(const struct stream_name *one, const struct stream_name *other)
{
	return one->stream_id == other->stream_id && one->kind == other->kind && one->ring == other->ring;
}

static int by_stream(const void *a, const void *b)
{
	const struct stream_name *one = a, *other = b;

	return number_order(one->stream_id, other->stream_id) ?:
	       number_order(one->kind, other->kind) ?:
	       number_order(one->ring, other->ring) ?:
	       number_order(one->chunk, other->chunk) ?:
	       number_order(one->file, other->file);
}

/* Tries a missing file by its name. Return: 0; -ENOENT; -ENOMEM. */
static int trace_directory_probe(const struct burin_trace *trace, struct read_stream *stream, uint32_t chunk,
				 const char *base, uint32_t number)
{
	char name[READ_FILE_NAME_MAX + 16], path[READ_FILE_NAME_MAX];
	struct stat status;

	snprintf(name, sizeof(name), number ? "%s.%u" : "%s", base, (unsigned)number);
	if (fstatat(trace->directory, read_chunk_file(trace, chunk, name, path), &status, 0))
		return -ENOENT;
	return trace_directory_add_file(trace, stream, chunk, base, number);
}

/* readdir() may list a new file and miss an earlier one that is new too, so missing numbers are tried by name. */
static int fill_gaps(struct burin_trace *trace, struct read_stream *stream, const char *base)
{
	const unsigned listed = stream->file_count;
	uint32_t expected = 0;

	if (listed)
		qsort(stream->files, listed, sizeof(*stream->files), trace_directory_by_number);
	for (unsigned n = 0; n < listed; n++, expected++) {
		const uint32_t number = stream->files[n].number, chunk = stream->files[n].chunk;
		uint32_t first_missing = number;

		if (n && chunk != stream->files[n - 1].chunk)
			expected = 0;
		for (uint32_t missing = expected; missing < number; missing++) {
			int result = missing - expected < PROBES_MAX
					     ? trace_directory_probe(trace, stream, chunk, base, missing)
					     : -ENOENT;

			if (result == -ENOMEM)
				return result;
			if (result) {
				first_missing = missing;
				break;
			}
		}
		if (first_missing < number)
			read_fault(trace, BURIN_FAULT_FILE, stream->files[n].name, 0,
				   "the file before it is missing: number %u of this stream",
				   (unsigned)first_missing);
		expected = number;
	}
	if (stream->file_count > listed)
		qsort(stream->files, stream->file_count, sizeof(*stream->files), trace_directory_by_number);
	return 0;
}

/* The streams' names that were found so far. */
struct found {
	struct stream_name *names;
	size_t count, room;
};

static int list_entries(struct burin_trace *trace, uint32_t chunk, DIR *directory, struct found *found)
{
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(directory))) {
		struct stream_name *name;

		if (!array_reserve(found->names, found->room, found->count + 1))
			return -ENOMEM;
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "metadata"))
			continue;
		name = &found->names[found->count];
		if (trace_directory_parse_name(entry->d_name, name)) {
			name->chunk = chunk;
			found->count++;
		} else if (trace->strict && !*trace->chunks[chunk].name) {
			read_fault(trace, BURIN_FAULT_FILE, entry->d_name, 0,
				   "not a file of a trace; CTF readers would read it as a stream");
		}
	}
	return -errno;
}

static int list_chunk(struct burin_trace *trace, uint32_t chunk, struct found *found)
{
	const char *name = trace->chunks[chunk].name;
	int copy = openat(trace->directory, *name ? name : ".",
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
	    result;
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);

	if (directory) {
		result = list_entries(trace, chunk, directory, found);
		closedir(directory);
		return result;
	}
	result = -errno;
	if (copy >= 0)
		close(copy);
	return result;
}

/* Of a split recording, what can be listed is read. The recorder may have removed the oldest chunks meanwhile. */
static int trace_directory_list_chunks(struct burin_trace *trace, struct found *found,
				       struct burin_diagnosis *why)
{
	bool oldest = true;

	for (uint32_t chunk = 0; chunk < trace->chunk_count; chunk++) {
		const char *name = trace->chunks[chunk].name;
		const int result = list_chunk(trace, chunk, found);

		if (result == -ENOMEM)
			return result;
		if (result && !*name) {
			read_diagnose(why, result, "", 0, "cannot list the directory: %s",
				      burin_fault_name(result));
			return result;
		}
		if (result && !(oldest && result == -ENOENT))
			read_fault(trace, BURIN_FAULT_FILE, name, 0, "cannot list the directory: %s",
				   burin_fault_name(result));
		oldest &= result == -ENOENT;
	}
	return 0;
}

/* Makes the streams from file names that are sorted by stream. */
static int trace_directory_make_streams(struct burin_trace *trace, const struct stream_name *names,
					size_t count)
{
	struct read_stream *stream = NULL;
	int result = 0;

	free(trace->streams);
	trace->streams = calloc(count ? count : 1, sizeof(*trace->streams));
	if (!trace->streams)
		return -ENOMEM;
	for (size_t n = 0; n < count && !result; n++) {
		if (names[n].stream_id == WIRE_STREAM_NAMES) {
			stream = names[n].kind == WIRE_FILE_CHANGES ? &trace->changes_stream
								    : &trace->names_stream;
		} else if (!n || !same_stream(&names[n], &names[n - 1])) {
			stream = &trace->streams[trace->stream_count++];
			stream->ring.locked = names[n].kind == WIRE_FILE_LOCKED;
			stream->ring.cpu = names[n].ring;
			stream->ring.number = names[n].kind == WIRE_FILE_SAMPLES ? WIRE_SAMPLES_INSTANCE : 0;
			if (names[n].kind == WIRE_FILE_KERNEL) {
				stream->ring.number = WIRE_KERNEL_INSTANCE + names[n].ring;
				stream->ring.cpu = names[n].ring / WIRE_KERNEL_DEPTHS;
			}
		}
		result =
			trace_directory_add_file(trace, stream, names[n].chunk, names[n].base, names[n].file);
		if (!result && (n + 1 == count || !same_stream(&names[n], &names[n + 1])))
			result = fill_gaps(trace, stream, names[n].base);
	}
	return result;
}

/* The name of a stream: that of its first file, without its directory. */
static void trace_directory_name_stream(struct read_stream *stream)
{
	const char *name = stream->files[0].name, *slash = strrchr(name, '/');

	stream->ring.name = slash ? slash + 1 : name;
}

int read_directory_list(struct burin_trace *trace, struct burin_diagnosis *why)
{
	struct found found = { .count = 0 };
	int result = trace_directory_list_chunks(trace, &found, why);

	if (!result && found.count)
		qsort(found.names, found.count, sizeof(*found.names), by_stream);
	if (!result)
		result = trace_directory_make_streams(trace, found.names, found.count);
	free(found.names);
	if (result)
		return result;
	for (unsigned n = 0; n < trace->stream_count; n++)
		trace_directory_name_stream(&trace->streams[n]);
	return 0;
}
