/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which files of the directory make which stream, and reading of files.
 *
 * The list is made before any packet is looked at: a stream's file appears only when the one before is
 * complete, so of every file but the last in the list the content is final by the time it is read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/trace.h"
#include "wire/profile.h"

enum {
	PROBES_MAX = 16, /* missing numbers that are looked for by name */
};

int read_directory_open(const struct burin_trace *trace, const char *name, uint64_t *size)
{
	struct stat status;
	int file;

	/* O_NONBLOCK: somebody may have put a pipe there. */
	file = openat(trace->directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		return -errno;
	if (fstat(file, &status) || !S_ISREG(status.st_mode)) {
		close(file);
		return -EBADF;
	}
	*size = (uint64_t)status.st_size;
	return file;
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
	uint64_t size;
	ssize_t done;
	int file = read_directory_open(trace, name, &size);

	*data = NULL;
	if (file < 0)
		return file;
	if (size > limit)
		size = limit;
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

/* A decimal number without needless zeros, below READ_NUMBER_MAX; returns what follows, or NULL. */
static const char *parse_number(const char *text, uint32_t *number)
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

/* What a stream of records is of, in the order of the streams. */
enum stream_kind {
	STREAM_CPU,
	STREAM_LOCKED,
	STREAM_SAMPLES,
};

struct stream_name {
	char base[READ_FILE_NAME_MAX]; /* "cpu3" */
	uint32_t stream_id;
	enum stream_kind kind;
	uint32_t ring, file;
};

static bool parse_name(const char *text, struct stream_name *name)
{
	const char *rest = text;

	memset(name, 0, sizeof(*name));
	if (!strncmp(text, "cpu", 3)) {
		rest = parse_number(text + 3, &name->ring);
	} else if (!strncmp(text, "locked", 6)) {
		name->kind = STREAM_LOCKED;
		rest = parse_number(text + 6, &name->ring);
	} else if (!strncmp(text, "samples", 7)) {
		name->kind = STREAM_SAMPLES;
		rest = parse_number(text + 7, &name->ring);
	} else if (!strncmp(text, "names", 5)) {
		name->stream_id = WIRE_STREAM_NAMES;
		name->ring = UINT32_MAX;
		rest = text + 5;
	} else {
		return false;
	}
	if (!rest || rest - text >= (ptrdiff_t)sizeof(name->base))
		return false;
	memcpy(name->base, text, (size_t)(rest - text));
	if (*rest == '.')
		rest = parse_number(rest + 1, &name->file);
	return rest && !*rest && (!strchr(text, '.') || name->file);
}

static int add_file(struct read_stream *stream, const char *base, uint32_t number)
{
	struct read_file *files = stream->files, *file;

	if ((stream->file_count & (stream->file_count - 1)) == 0) {
		files = realloc(files, (stream->file_count ? 2 * stream->file_count : 1) * sizeof(*files));
		if (!files)
			return -ENOMEM;
		stream->files = files;
	}
	file = &files[stream->file_count++];
	file->number = number;
	if (number)
		snprintf(file->name, sizeof(file->name), "%.24s.%u", base, (unsigned)number);
	else
		snprintf(file->name, sizeof(file->name), "%.24s", base);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct read_file *one = a, *other = b;

	return (one->number > other->number) - (one->number < other->number);
}

static bool same_stream(const struct stream_name *one, const struct stream_name *other)
{
	return one->stream_id == other->stream_id && one->kind == other->kind && one->ring == other->ring;
}

static int by_stream(const void *a, const void *b)
{
	const struct stream_name *one = a, *other = b;

	if (one->stream_id != other->stream_id)
		return one->stream_id < other->stream_id ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	if (one->ring != other->ring)
		return one->ring < other->ring ? -1 : 1;
	return (one->file > other->file) - (one->file < other->file);
}

/* Reading a directory while files appear in it may show a later file and not an earlier one: look for it by
 * name. */
static int fill_gaps(struct burin_trace *trace, struct read_stream *stream)
{
	unsigned listed = stream->file_count;
	uint32_t expected = 0;
	char base[READ_FILE_NAME_MAX];

	qsort(stream->files, listed, sizeof(*stream->files), by_number);
	strcpy(base, stream->files[0].name);
	if (strchr(base, '.'))
		*strchr(base, '.') = '\0';
	for (unsigned n = 0; n < listed; n++, expected++) {
		uint32_t number = stream->files[n].number, first_missing = number;

		for (uint32_t probe = expected; probe < number; probe++) {
			struct stat status;
			char name[READ_FILE_NAME_MAX + 16];

			snprintf(name, sizeof(name), probe ? "%s.%u" : "%s", base, (unsigned)probe);
			if (probe - expected < PROBES_MAX && !fstatat(trace->directory, name, &status, 0)) {
				if (add_file(stream, base, probe))
					return -ENOMEM;
			} else {
				first_missing = probe;
				break;
			}
		}
		if (first_missing < number)
			read_fault(trace, BURIN_FAULT_FILE, stream->files[n].name, 0,
				   "the file before it is missing: number %u of this stream",
				   (unsigned)first_missing);
		expected = number;
	}
	qsort(stream->files, stream->file_count, sizeof(*stream->files), by_number);
	return 0;
}

static int list_entries(struct burin_trace *trace, DIR *directory, struct stream_name **names, size_t *count)
{
	const struct dirent *entry;
	size_t room = 0;

	while ((entry = readdir(directory))) {
		struct stream_name *more;

		if (*count == room) {
			room = room ? 2 * room : 16;
			more = realloc(*names, room * sizeof(*more));
			if (!more)
				return -ENOMEM;
			*names = more;
		}
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "metadata"))
			continue;
		if (parse_name(entry->d_name, &(*names)[*count]))
			(*count)++;
		else if (trace->strict)
			read_fault(trace, BURIN_FAULT_FILE, entry->d_name, 0,
				   "not a file of a trace; CTF readers would take it for a stream");
	}
	return 0;
}

/* Makes streams of the names, which are sorted by stream. */
static int make_streams(struct burin_trace *trace, const struct stream_name *names, size_t count)
{
	struct read_stream *stream = NULL;

	trace->streams = calloc(count ? count : 1, sizeof(*trace->streams));
	if (!trace->streams)
		return -ENOMEM;
	for (size_t n = 0; n < count; n++) {
		if (names[n].stream_id == WIRE_STREAM_NAMES) {
			stream = &trace->names_stream;
		} else if (!n || !same_stream(&names[n], &names[n - 1])) {
			stream = &trace->streams[trace->stream_count++];
			stream->ring.locked = names[n].kind == STREAM_LOCKED;
			stream->ring.cpu = names[n].ring;
			stream->ring.number = names[n].kind == STREAM_SAMPLES ? WIRE_SAMPLES_INSTANCE : 0;
		}
		if (add_file(stream, names[n].base, names[n].file))
			return -ENOMEM;
	}
	return 0;
}

int read_directory_list(struct burin_trace *trace, struct burin_diagnosis *why)
{
	int copy = openat(trace->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	struct stream_name *names = NULL;
	size_t count = 0;

	if (!directory) {
		result = -errno;
		if (copy >= 0)
			close(copy);
		read_diagnose(why, result, "", 0, "cannot list the directory: %s", burin_fault_name(result));
		return result;
	}
	result = list_entries(trace, directory, &names, &count);
	closedir(directory);
	if (!result && count)
		qsort(names, count, sizeof(*names), by_stream);
	if (!result)
		result = make_streams(trace, names, count);
	free(names);
	for (unsigned n = 0; n < trace->stream_count && !result; n++)
		result = fill_gaps(trace, &trace->streams[n]);
	if (!result && trace->names_stream.file_count)
		result = fill_gaps(trace, &trace->names_stream);
	if (result)
		return result;
	for (unsigned n = 0; n < trace->stream_count; n++)
		trace->streams[n].ring.name = trace->streams[n].files[0].name;
	return 0;
}
