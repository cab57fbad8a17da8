/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * `.burin/recording`: how the trace was recorded, lines of key=value (docs/format.md).
 *
 * The recorder overwrites its one block of 4096 bytes in place, by one write, also while readers read. Lines
 * end at the first empty one, and newlines fill the rest. A wrong line is a fault and left out, the others
 * count. No value is needed to read records; sizes and numbers in it are checked where they are used.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "read/trace.h"
#include "wire/wire_context.h"

static const char recording_file[] = ".burin/recording";
static const char first_line[] = "burin recording 1\n";

enum {
	RECORDING_BYTES = 4096,
};

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

bool read_uuid_parse(const char *text, uint8_t uuid[16])
{
	unsigned digits = 0;

	for (; *text; text++) {
		int value = hex_value(*text);

		if (*text == '-')
			continue;
		if (value < 0 || digits == 32)
			return false;
		uuid[digits / 2] = (uint8_t)(digits % 2 ? uuid[digits / 2] | value : value << 4);
		digits++;
	}
	return digits == 32;
}

/* Unescapes `\\` and `\n` in place. */
static void recording_info_unescape(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			*out++ = *text == 'n' ? '\n' : *text;
		} else {
			*out++ = *text;
		}
	}
	*out = '\0';
}

int read_recording_copy(struct read_recording *recording, const char *key, const char *value)
{
	struct read_line *line;

	if (!array_reserve(recording->lines, recording->room, recording->count + 1))
		return -ENOMEM;
	line = &recording->lines[recording->count];
	line->key = strdup(key);
	line->value = strdup(value);
	if (!line->key || !line->value) {
		free(line->key);
		free(line->value);
		return -ENOMEM;
	}
	recording->count++;
	return 0;
}

int read_recording_add(struct read_recording *recording, const char *key, const char *value)
{
	const int result = read_recording_copy(recording, key, value);

	if (!result)
		recording_info_unescape(recording->lines[recording->count - 1].value);
	return result;
}

static int parse_lines(const struct burin_trace *trace, const char *file, char *data,
		       struct read_recording *recording)
{
	char *at = data + sizeof(first_line) - 1;

	while (*at && *at != '\n') {
		char *end = strchrnul(at, '\n'), *equals;
		char *next = *end ? end + 1 : end;

		*end = '\0';
		equals = strchr(at, '=');
		if (!equals || equals == at) {
			read_fault(trace, BURIN_FAULT_RECORDING, file, (uint64_t)(at - data),
				   "a line without key=value");
		} else {
			*equals = '\0';
			if (read_recording_value(recording, at))
				read_fault(trace, BURIN_FAULT_RECORDING, file, (uint64_t)(at - data),
					   "%.32s is given twice", at);
			else if (read_recording_add(recording, at, equals + 1))
				return -ENOMEM;
		}
		at = next;
	}
	for (; *at == '\n'; at++)
		;
	if (at - data != RECORDING_BYTES && trace->strict)
		read_fault(trace, BURIN_FAULT_RECORDING, file, (uint64_t)(at - data),
			   *at ? "text after the empty lines"
			       : "the text ends here, or has a NUL, instead of newlines up to byte 4096");
	return 0;
}

void read_recording_context(struct burin_trace *trace)
{
	const char *text = burin_trace_recording(trace, "context");

	if (text && !context_parse(text, &trace->context))
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0,
			   "context=%.32s: a field other than correlation and depth", text);
}

int read_recording_load(struct burin_trace *trace, unsigned chunk, struct read_recording *recording)
{
	char path[READ_FILE_NAME_MAX], *data;
	const char *file = read_chunk_file(trace, chunk, recording_file, path);
	size_t bytes = 0;
	int result = read_directory_load(trace, file, RECORDING_BYTES + 1, &data, &bytes);

	if (result == -ENOMEM)
		return result;
	if (result == -ENOENT) { /* perhaps not a trace: reported later by read_recording_missing() */
		recording->missing = true;
		return 0;
	}
	if (result) {
		recording->error = result == -EBADF ? 0 : result; /* not a regular file */
		read_fault_file(trace, BURIN_FAULT_RECORDING, file, result);
		return 0;
	}
	if (bytes != RECORDING_BYTES)
		read_fault(trace, BURIN_FAULT_RECORDING, file, bytes, "the file is %s than 4096 bytes",
			   bytes < RECORDING_BYTES ? "shorter" : "longer");
	if (strncmp(data, first_line, sizeof(first_line) - 1)) {
		read_fault(trace, BURIN_FAULT_RECORDING, file, 0, "does not begin \"burin recording 1\"");
	} else {
		recording->sound = true;
		result = parse_lines(trace, file, data, recording);
	}
	free(data);
	return result;
}

void read_recording_missing(struct burin_trace *trace)
{
	if (trace->recording.missing)
		read_fault_file(trace, BURIN_FAULT_RECORDING, recording_file, -ENOENT);
}

void read_recording_free(struct read_recording *recording)
{
	for (unsigned n = 0; n < recording->count; n++) {
		free(recording->lines[n].key);
		free(recording->lines[n].value);
	}
	free(recording->lines);
}

const char *read_recording_value(const struct read_recording *recording, const char *key)
{
	for (unsigned n = 0; n < recording->count; n++)
		if (!strcmp(recording->lines[n].key, key))
			return recording->lines[n].value;
	return NULL;
}

const char *burin_trace_recording(const struct burin_trace *trace, const char *key)
{
	return read_recording_value(&trace->recording, key);
}

int burin_trace_recording_at(const struct burin_trace *trace, unsigned n, const char **key,
			     const char **value)
{
	if (n >= trace->recording.count)
		return -ENOENT;
	*key = trace->recording.lines[n].key;
	*value = trace->recording.lines[n].value;
	return 0;
}

static int recording_info_to_number(const char *text, uint64_t *value)
{
	char *end;

	if (!text)
		return -ENOENT;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

int read_recording_number(const struct burin_trace *trace, const char *key, uint64_t *value)
{
	return recording_info_to_number(burin_trace_recording(trace, key), value);
}

/* ---- The recording files of chunks, joined */

static bool is_finished(const struct read_recording *recording)
{
	const char *state = read_recording_value(recording, "state");

	return state && !strcmp(state, "finished");
}

/* Replaces the value of a key, or adds it. */
static int recording_info_set(struct read_recording *recording, const char *key, const char *value)
{
	for (unsigned n = 0; n < recording->count; n++) {
		char *copy;

		if (strcmp(recording->lines[n].key, key) != 0)
			continue;
		copy = strdup(value);
		if (!copy)
			return -ENOMEM;
		free(recording->lines[n].value);
		recording->lines[n].value = copy;
		return 0;
	}
	return read_recording_copy(recording, key, value);
}

static int recording_info_add_up(struct read_recording *recording, const struct read_recording *before,
				 const char *key)
{
	uint64_t sum = 0, more = 0;
	char text[24];

	recording_info_to_number(read_recording_value(recording, key), &sum);
	if (recording_info_to_number(read_recording_value(before, key), &more))
		return 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(sum + more));
	return recording_info_set(recording, key, text);
}

static int recording_info_keep(struct read_recording *recording, const struct read_recording *before,
			       const char *key)
{
	const char *value = read_recording_value(before, key);

	return value ? recording_info_set(recording, key, value) : 0;
}

int read_recording_join(struct read_recording *recording, struct read_recording *later)
{
	static const char *const sums[] = { "lost_late", "lost_names", "lost_unreported" };
	const bool first = !recording->count;
	struct read_recording before = *recording;
	int result = 0;

	if (!later->count && !first)
		return 0;
	*recording = *later;
	*later = (struct read_recording){ .lines = NULL };
	for (unsigned n = 0; n < sizeof(sums) / sizeof(*sums) && !result; n++)
		result = recording_info_add_up(recording, &before, sums[n]);
	if (!result && !first && !is_finished(&before))
		result = recording_info_keep(recording, &before, "state");
	if (!result)
		result = recording_info_keep(recording, &before, "trouble");
	recording->sound |= before.sound;
	read_recording_free(&before);
	return result;
}
