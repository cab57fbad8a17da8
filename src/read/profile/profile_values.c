/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The lines of `.burin/profile`: how the samples were taken.
 *
 * Each chunk has its own. Joined, they look like those of one trace: counts are added, of other keys the
 * newest value is taken, and keys that may occur several times (excess, limit) are all kept, each once. A
 * value that only some chunks have would be a wrong sum: `counted` is dropped then.
 *
 * The files are foreign. Look-ups are linear, so the number of lines is limited: of a file, and less of all
 * together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/profile/profile_parts.h"

static const char profile_file[] = ".burin/profile";

enum {
	PROFILE_BYTES = 1 << 20,
	PROFILE_LINES = 4096, /* look-ups are linear */
	PROFILE_JOINED = 256, /* of all chunks; each of their lines is looked up */
};

/* Reads a chunk's lines. Return: 0; -ENOENT: it has none; -ENOMEM. */
static int load_lines(const struct burin_trace *trace, unsigned chunk, struct read_recording *values)
{
	char path[READ_FILE_NAME_MAX], *data;
	const char *file = read_chunk_file(trace, chunk, profile_file, path);
	size_t bytes = 0;
	int result = read_directory_load(trace, file, PROFILE_BYTES, &data, &bytes);

	if (result == -ENOMEM || result == -ENOENT)
		return result;
	if (result) {
		read_fault_file(trace, BURIN_FAULT_TABLE, file, result);
		return -ENOENT;
	}
	if (strlen(data) != bytes && trace->strict)
		read_fault(trace, BURIN_FAULT_TABLE, file, strlen(data), "a NUL byte in the text");
	for (char *at = data; *at && !result;) {
		char *end = strchrnul(at, '\n'), *next = *end ? end + 1 : end, *equals;

		*end = '\0';
		equals = strchr(at, '=');
		if (values->count == PROFILE_LINES) {
			read_fault(trace, BURIN_FAULT_TABLE, file, (uint64_t)(at - data),
				   "more than %d lines; from here on the file is not read", PROFILE_LINES);
			break;
		}
		if (equals && equals != at) {
			*equals = '\0';
			result = read_recording_add(values, at, equals + 1);
		} else {
			read_fault(trace, BURIN_FAULT_TABLE, file, (uint64_t)(at - data),
				   "a line without key=value");
		}
		at = next;
	}
	free(data);
	return result;
}

static uint64_t profile_values_to_number(const char *text)
{
	uint64_t value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

/* ---- The lines of chunks, joined */

/* Whether a key counts what happened in its chunk. The others are choices, or count from the recording's beginning. */
static bool is_sum(const char *key)
{
	static const char *const others[] = { "state",	 "frequency", "call_graph",	  "unit.",
					      "weight.", "over.",     "image_unreadable", "jit_late" };

	for (unsigned n = 0; n < sizeof(others) / sizeof(*others); n++)
		if (!strncmp(key, others[n], strlen(others[n])))
			return false;
	return true;
}

static bool profile_values_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static bool has_line(const struct read_recording *values, const struct read_line *line)
{
	for (unsigned n = 0; n < values->count; n++)
		if (!strcmp(values->lines[n].key, line->key) && !strcmp(values->lines[n].value, line->value))
			return true;
	return false;
}

static struct read_line *profile_values_find_line(const struct read_recording *values, const char *key)
{
	for (unsigned n = 0; n < values->count; n++)
		if (!strcmp(values->lines[n].key, key))
			return &values->lines[n];
	return NULL;
}

/* Adds a line of an earlier chunk: a count to that of the later ones; of other keys the newest value counts. */
static int join_line(struct read_recording *values, const struct read_line *line)
{
	struct read_line *same = profile_values_find_line(values, line->key);
	char text[24], *copy;

	if (!strcmp(line->key, "excess") || !strcmp(line->key, "limit"))
		same = has_line(values, line) ? same : NULL;
	if (!same)
		return values->count < PROFILE_JOINED ? read_recording_copy(values, line->key, line->value)
						      : 0;
	if (!is_sum(line->key) || !profile_values_is_number(line->value) ||
	    !profile_values_is_number(same->value))
		return 0;
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(profile_values_to_number(same->value) +
				      profile_values_to_number(line->value)));
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(same->value);
	same->value = copy;
	return 0;
}

/* The count is known only if every chunk with samples has it. */
static void forget_count(struct read_recording *values)
{
	struct read_line *counted = profile_values_find_line(values, "counted");

	if (!counted)
		return;
	free(counted->key);
	free(counted->value);
	*counted = values->lines[--values->count];
}

int read_profile_values_load(struct burin_profile *profile)
{
	struct read_recording *values = &profile->values;
	bool counted = true;
	int result = 0;

	/* The newest first. A recorder that was killed may have left the newest chunk without the file. */
	for (unsigned chunk = profile->trace->chunk_count; chunk-- > 0 && !result;) {
		struct read_recording lines = { .lines = NULL };

		result = load_lines(profile->trace, chunk, &lines);
		if (result == -ENOENT) {
			result = 0;
			continue;
		}
		counted &= profile_values_find_line(&lines, "counted") != NULL;
		if (!profile->has_values) {
			profile->has_values = true;
			*values = lines;
			continue;
		}
		for (unsigned n = 0; n < lines.count && !result; n++)
			result = join_line(values, &lines.lines[n]);
		read_recording_free(&lines);
	}
	if (!counted)
		forget_count(values);
	return result;
}

const char *burin_profile_value(const struct burin_profile *profile, const char *key)
{
	for (unsigned n = 0; n < profile->values.count; n++)
		if (!strcmp(profile->values.lines[n].key, key))
			return profile->values.lines[n].value;
	return NULL;
}

uint64_t burin_profile_number(const struct burin_profile *profile, const char *key)
{
	return profile_values_to_number(burin_profile_value(profile, key));
}

int burin_profile_value_at(const struct burin_profile *profile, unsigned n, const char **key,
			   const char **value)
{
	if (n >= profile->values.count)
		return -ENOENT;
	*key = profile->values.lines[n].key;
	*value = profile->values.lines[n].value;
	return 0;
}
