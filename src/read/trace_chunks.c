/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The chunks of a split recording (docs/format.md, "Chunks"), read as one trace. A trace that is not split is one chunk,
 * which has no name.
 *
 * Files of a chunk have its name in front, "0003/cpu0", so a stream goes on from chunk to chunk as it does from file to
 * file. Directories come from anywhere: a chunk of another recording, and a copy of one, are left out, as a whole and with
 * a fault. Missing chunks are a fault, too, except the oldest: the recorder removes these (--keep).
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
#include "read/trace.h"
#include "wire/wire_origin.h"

static const char recording_file[] = ".burin/recording", origin_file[] = ".burin/origin";

/* A directory that may be a chunk. */
struct candidate {
	struct read_chunk chunk;
	uint8_t uuid[16];
	bool has_uuid, has_origin, is_directory;
};

struct candidates {
	struct candidate *list;
	size_t count, room;
};

/* ---- The directories */

/* The number of a chunk's directory, "0001" or more digits without a zero in front; 0: it is none. */
static uint32_t trace_chunks_parse_name(const char *name)
{
	const size_t digits = strlen(name);
	unsigned long number;

	if (digits < 4 || digits >= READ_CHUNK_NAME_MAX || name[strspn(name, "0123456789")] ||
	    (digits > 4 && *name == '0'))
		return 0;
	number = strtoul(name, NULL, 10);
	return number < READ_NUMBER_MAX ? (uint32_t)number : 0;
}

/* Opens a file of a directory. Return: a descriptor or -errno. */
static int open_in(const struct burin_trace *trace, const char *chunk, const char *file)
{
	char path[READ_FILE_NAME_MAX];
	uint64_t size;

	snprintf(path, sizeof(path), "%s/%s", chunk, file);
	return read_directory_open(trace, path, &size);
}

/* Whether a file exists; one that cannot be opened may. */
static bool exists_in(const struct burin_trace *trace, const char *chunk, const char *file)
{
	const int descriptor = open_in(trace, chunk, file);

	if (descriptor >= 0)
		close(descriptor);
	return descriptor >= 0 || descriptor == -EACCES;
}

static int add_candidate(const struct burin_trace *trace, struct candidates *found, const char *name)
{
	const uint32_t number = trace_chunks_parse_name(name);
	struct candidate *candidate;
	struct stat status;

	/* A chunk may have been removed since it was listed; a directory may be any. */
	if (!number || fstatat(trace->directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    (S_ISDIR(status.st_mode) && !exists_in(trace, name, recording_file) &&
	     !exists_in(trace, name, "metadata")))
		return 0;
	if (!array_reserve(found->list, found->room, found->count + 1))
		return -ENOMEM;
	candidate = &found->list[found->count++];
	*candidate = (struct candidate){ .chunk.number = number,
					 .is_directory = S_ISDIR(status.st_mode),
					 .has_origin = exists_in(trace, name, origin_file) };
	snprintf(candidate->chunk.name, sizeof(candidate->chunk.name), "%s", name);
	return 0;
}

static int trace_chunks_by_number(const void *a, const void *b)
{
	const struct candidate *one = a, *other = b;

	return (one->chunk.number > other->chunk.number) - (one->chunk.number < other->chunk.number);
}

static int trace_chunks_list(const struct burin_trace *trace, struct candidates *found)
{
	int copy = openat(trace->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result = 0;
	DIR *directory = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!directory) {
		if (copy >= 0)
			close(copy);
		return 0; /* the caller reports that it is no trace */
	}
	while (errno = 0, !result && (entry = readdir(directory)))
		result = add_candidate(trace, found, entry->d_name);
	if (!result)
		result = -errno;
	closedir(directory);
	if (found->count)
		qsort(found->list, found->count, sizeof(*found->list), trace_chunks_by_number);
	return result;
}

/* Snapshots of one program stand beside each other in the same way (burin watch), but have no origin. */
static bool are_chunks(const struct candidates *found)
{
	for (size_t n = 0; n < found->count; n++)
		if (found->list[n].has_origin)
			return true;
	return found->count == 1 && found->list->chunk.number == 1 && found->list->is_directory;
}

/* ---- Which of them belong together */

static int by_uuid(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

/* The uuid that most of them have. Return: 0; -ENOENT: none has one; -ENOMEM. */
static int find_uuid(const struct candidates *found, uint8_t uuid[16])
{
	uint8_t(*all)[16] = calloc(found->count, sizeof(*all));
	size_t count = 0, most = 0;

	if (!all)
		return -ENOMEM;
	for (size_t n = 0; n < found->count; n++)
		if (found->list[n].has_uuid)
			memcpy(all[count++], found->list[n].uuid, 16);
	if (count)
		qsort(all, count, sizeof(*all), by_uuid);
	for (size_t begin = 0, n = 1; n <= count; n++) {
		if (n < count && !memcmp(all[n], all[begin], 16))
			continue;
		if (n - begin > most) {
			most = n - begin;
			memcpy(uuid, all[begin], 16);
		}
		begin = n;
	}
	free(all);
	return most ? 0 : -ENOENT;
}

/* Records have another layout with another context. */
static bool same_context(const struct read_recording *one, const struct read_recording *other)
{
	const char *a = read_recording_value(one, "context"), *b = read_recording_value(other, "context");

	return a && b ? !strcmp(a, b) : a == b;
}

/* Return: why a chunk is left out; NULL: it is not. */
static const char *trace_chunks_foreign(const struct candidate *candidate, const uint8_t uuid[16],
					const struct read_recording *recording,
					const struct read_recording *joined)
{
	if (!candidate->is_directory)
		return "not a directory, and links are not followed; it was left out";
	if (candidate->has_uuid && memcmp(candidate->uuid, uuid, 16) != 0)
		return "a chunk of another recording, whose uuid differs; it was left out";
	if (joined->count && recording->count && !same_context(recording, joined))
		return "its records have another context than those of the chunk before; it was left out";
	return NULL;
}

/* Reads which packets of names repeat earlier ones: the origin of the names ring is the last in the file. */
static void load_origin(struct burin_trace *trace, struct candidate *candidate)
{
	char path[READ_FILE_NAME_MAX];
	struct wire_origin names;
	uint64_t size = 0;
	int file;

	if (candidate->chunk.number == 1)
		return;
	snprintf(path, sizeof(path), "%s/%s", candidate->chunk.name, origin_file);
	file = read_directory_open(trace, path, &size);
	if (file >= 0 && size >= sizeof(names) && size % sizeof(names) == 0 &&
	    read_fully(file, &names, sizeof(names), size - sizeof(names)) == (ssize_t)sizeof(names))
		candidate->chunk.own_names = names.sequence + names.statedump;
	else
		read_fault(trace, BURIN_FAULT_FILE, path, 0,
			   "cannot read where the chunk begins in its recording: %s",
			   file < 0 ? burin_fault_name(file) : "the size is wrong");
	if (file >= 0)
		close(file);
}

static void report_missing(const struct burin_trace *trace, uint32_t first, uint32_t last)
{
	char name[READ_CHUNK_NAME_MAX];

	snprintf(name, sizeof(name), "%04u", first);
	if (first == last)
		read_fault(trace, BURIN_FAULT_FILE, name, 0, "this chunk of the recording is missing");
	else
		read_fault(trace, BURIN_FAULT_FILE, name, 0,
			   "%u chunks of the recording are missing, up to %04u", last - first + 1, last);
}

/* Reads the recording file of a candidate; which chunk it becomes is not known yet. */
static int load_recording(struct burin_trace *trace, const struct candidate *candidate,
			  struct read_recording *recording)
{
	*recording = (struct read_recording){ .lines = NULL };
	trace->chunks[trace->chunk_count] = candidate->chunk;
	return candidate->is_directory ? read_recording_load(trace, trace->chunk_count, recording) : 0;
}

/* Joins the candidates that belong together. */
static int trace_chunks_join(struct burin_trace *trace, struct candidates *found, const uint8_t uuid[16])
{
	uint32_t expected = 0;
	int result = 0;

	for (size_t n = 0; n < found->count && !result; n++) {
		struct candidate *candidate = &found->list[n];
		struct read_recording recording;
		const char *reason;

		result = load_recording(trace, candidate, &recording);
		reason = trace_chunks_foreign(candidate, uuid, &recording, &trace->recording);
		if (reason) {
			read_fault(trace, BURIN_FAULT_FILE, candidate->chunk.name, 0, "%s", reason);
		} else if (!result) {
			if (expected && candidate->chunk.number > expected)
				report_missing(trace, expected, candidate->chunk.number - 1);
			expected = candidate->chunk.number + 1;
			load_origin(trace, candidate);
			trace->chunks[trace->chunk_count++] = candidate->chunk;
			result = read_recording_join(&trace->recording, &recording);
		}
		read_recording_free(&recording);
	}
	return result;
}

/* Reads the uuids of the candidates. Their recording files are not kept: they may be many, and large. */
static int load_uuids(struct burin_trace *trace, struct candidates *found)
{
	int result = 0;

	for (size_t n = 0; n < found->count && !result; n++) {
		struct candidate *candidate = &found->list[n];
		struct read_recording recording;
		const char *uuid;

		result = load_recording(trace, candidate, &recording);
		uuid = read_recording_value(&recording, "uuid");
		candidate->has_uuid = uuid && read_uuid_parse(uuid, candidate->uuid);
		if (recording.missing) {
			char path[READ_FILE_NAME_MAX];

			read_fault_file(trace, BURIN_FAULT_RECORDING,
					read_chunk_file(trace, trace->chunk_count, recording_file, path),
					-ENOENT);
		}
		read_recording_free(&recording);
	}
	return result;
}

static int trace_chunks_load(struct burin_trace *trace, struct candidates *found)
{
	uint8_t uuid[16] = { 0 };
	int result;

	free(trace->chunks);
	trace->chunk_count = 0;
	trace->chunks = calloc(found->count, sizeof(*trace->chunks));
	if (!trace->chunks)
		return -ENOMEM;
	read_recording_free(&trace->recording);
	trace->recording = (struct read_recording){ .lines = NULL };
	result = load_uuids(trace, found);
	if (!result)
		result = find_uuid(found, uuid);
	return result == -ENOMEM ? result : trace_chunks_join(trace, found, uuid);
}

int read_chunks_find(struct burin_trace *trace)
{
	struct candidates found = { .count = 0 };
	int result = trace_chunks_list(trace, &found);

	if (!result && found.count && are_chunks(&found))
		result = trace_chunks_load(trace, &found);
	free(found.list);
	return result;
}

/* ---- Chunks that are not later than the one before */

/* The times at which the first, the middle and the last packet with records of a chunk begin, in one stream. */
struct sketch {
	uint64_t times[3];
};

static bool trace_chunks_has_records(const struct read_packet *packet)
{
	return packet->content_bytes > sizeof(struct wire_packet);
}

static uint32_t trace_chunks_chunk_of(const struct read_stream *stream, size_t packet)
{
	return stream->files[stream->packets[packet].file].chunk;
}

/* Return: false: the chunk has no records in the stream. @begin: its first packet, if it has packets */
static bool trace_chunks_draw(const struct read_stream *stream, size_t begin, uint32_t chunk,
			      struct sketch *sketch)
{
	size_t first = begin, end;

	while (first < stream->packet_count && trace_chunks_chunk_of(stream, first) == chunk &&
	       !trace_chunks_has_records(&stream->packets[first]))
		first++;
	for (end = first; end < stream->packet_count && trace_chunks_chunk_of(stream, end) == chunk;)
		end++;
	while (end > first && !trace_chunks_has_records(&stream->packets[end - 1]))
		end--;
	if (end == first)
		return false;
	sketch->times[0] = stream->packets[first].time_begin;
	sketch->times[1] = stream->packets[first + (end - first) / 2].time_begin;
	sketch->times[2] = stream->packets[end - 1].time_begin;
	return true;
}

/* Most of the three decide, since any packet's header may be damaged. */
static bool trace_chunks_is_later(const struct sketch *sketch, const struct sketch *before)
{
	unsigned later = 0;

	for (unsigned n = 0; n < 3; n++)
		later += sketch->times[n] > before->times[n];
	return later >= 2;
}

/* @left_out: by chunk */
static void trace_chunks_leave_out(struct read_stream *stream, const bool *left_out)
{
	size_t kept = 0;

	for (size_t n = 0; n < stream->packet_count; n++)
		if (!left_out[trace_chunks_chunk_of(stream, n)])
			stream->packets[kept++] = stream->packets[n];
	stream->packet_count = kept;
}

/* How the streams of records went on so far. */
struct progress {
	bool *left_out; /* by chunk */
	struct stream_progress {
		size_t at;		   /* the first packet of the present chunk, or a later one */
		bool has, had;		   /* whether the present chunk has records; whether one before has */
		struct sketch now, before; /* of these chunks */
	} * streams;
};

/* Looks at one chunk. Return: whether it is later than the chunks before, in most streams. */
static bool trace_chunks_goes_on(const struct burin_trace *trace, uint32_t chunk, struct progress *progress)
{
	unsigned later = 0, earlier = 0;

	for (unsigned n = 0; n < trace->stream_count; n++) {
		struct stream_progress *stream = &progress->streams[n];

		stream->has = trace_chunks_draw(&trace->streams[n], stream->at, chunk, &stream->now);
		if (!stream->has || !stream->had)
			continue;
		if (trace_chunks_is_later(&stream->now, &stream->before))
			later++;
		else
			earlier++;
	}
	return !earlier || later > earlier;
}

/* Goes to the next chunk; @kept: the present one is the one before. */
static void trace_chunks_advance(const struct burin_trace *trace, uint32_t chunk, bool kept,
				 struct progress *progress)
{
	for (unsigned n = 0; n < trace->stream_count; n++) {
		const struct read_stream *stream = &trace->streams[n];
		struct stream_progress *at = &progress->streams[n];

		if (kept && at->has) {
			at->before = at->now;
			at->had = true;
		}
		while (at->at < stream->packet_count && trace_chunks_chunk_of(stream, at->at) <= chunk)
			at->at++;
	}
}

static void trace_chunks_order(struct burin_trace *trace, struct progress *progress)
{
	bool all = true;

	for (uint32_t chunk = 0; chunk < trace->chunk_count; chunk++) {
		const bool kept = trace_chunks_goes_on(trace, chunk, progress);

		if (!kept)
			read_fault(
				trace, BURIN_FAULT_ORDER, trace->chunks[chunk].name, 0,
				"its records are not later than those of the chunks before; it was left out");
		progress->left_out[chunk] = !kept;
		all &= kept;
		trace_chunks_advance(trace, chunk, kept, progress);
	}
	for (unsigned n = 0; n < trace->stream_count && !all; n++)
		trace_chunks_leave_out(&trace->streams[n], progress->left_out);
	if (!all) {
		trace_chunks_leave_out(&trace->names_stream, progress->left_out);
		trace_chunks_leave_out(&trace->changes_stream, progress->left_out);
	}
}

int read_chunks_order(struct burin_trace *trace)
{
	struct progress progress;
	int result = -ENOMEM;

	if (trace->chunk_count < 2)
		return 0;
	progress.left_out = calloc(trace->chunk_count, sizeof(*progress.left_out));
	progress.streams = calloc(trace->stream_count + 1, sizeof(*progress.streams));
	if (progress.left_out && progress.streams) {
		trace_chunks_order(trace, &progress);
		result = 0;
	}
	free(progress.left_out);
	free(progress.streams);
	return result;
}
