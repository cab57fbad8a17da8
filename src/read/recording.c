/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * `.burin/recording`: how the trace came about, lines of key=value (docs/format.md).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/trace.h"
#include "wire/context.h"

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

/* Takes `\\` and `\n` back, in place. */
static void unescape(char *text)
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

int read_recording_add(struct read_recording *recording, const char *key, const char *value)
{
	struct read_line *lines = realloc(recording->lines, (recording->count + 1) * sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	recording->lines = lines;
	lines += recording->count;
	lines->key = strdup(key);
	lines->value = strdup(value);
	if (!lines->key || !lines->value) {
		free(lines->key);
		free(lines->value);
		return -ENOMEM;
	}
	unescape(lines->value);
	recording->count++;
	return 0;
}

static int parse_lines(struct burin_trace *trace, char *data)
{
	char *at = data + sizeof(first_line) - 1;

	while (*at && *at != '\n') {
		char *end = strchrnul(at, '\n'), *equals;
		char *next = *end ? end + 1 : end;

		*end = '\0';
		equals = strchr(at, '=');
		if (!equals || equals == at) {
			read_fault(trace, BURIN_FAULT_RECORDING, recording_file, (uint64_t)(at - data),
				   "a line that is no key=value");
		} else {
			*equals = '\0';
			if (burin_trace_recording(trace, at))
				read_fault(trace, BURIN_FAULT_RECORDING, recording_file,
					   (uint64_t)(at - data), "%.32s is told twice", at);
			else if (read_recording_add(&trace->recording, at, equals + 1))
				return -ENOMEM;
		}
		at = next;
	}
	for (; *at == '\n'; at++)
		;
	if (at - data != RECORDING_BYTES && trace->strict)
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, (uint64_t)(at - data),
			   *at ? "text behind the empty lines"
			       : "the text ends here, or has a NUL, instead of newlines up to byte 4096");
	return 0;
}

static void set_context(struct burin_trace *trace)
{
	const char *text = burin_trace_recording(trace, "context");

	if (text && !context_parse(text, &trace->context))
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0,
			   "context=%.32s: there are other fields than correlation and depth", text);
}

int read_recording_load(struct burin_trace *trace)
{
	char *data;
	size_t bytes = 0;
	int result = read_directory_load(trace, recording_file, RECORDING_BYTES + 1, &data, &bytes);

	if (result == -ENOMEM)
		return result;
	if (result) {
		read_fault_file(trace, BURIN_FAULT_RECORDING, recording_file, result);
		return 0;
	}
	if (bytes != RECORDING_BYTES)
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, bytes,
			   "the file is %s than 4096 bytes", bytes < RECORDING_BYTES ? "shorter" : "longer");
	if (strncmp(data, first_line, sizeof(first_line) - 1)) {
		read_fault(trace, BURIN_FAULT_RECORDING, recording_file, 0,
			   "does not begin \"burin recording 1\"");
	} else {
		trace->recording.sound = true;
		result = parse_lines(trace, data);
		set_context(trace);
	}
	free(data);
	return result;
}

void read_recording_free(struct read_recording *recording)
{
	for (unsigned n = 0; n < recording->count; n++) {
		free(recording->lines[n].key);
		free(recording->lines[n].value);
	}
	free(recording->lines);
}

const char *burin_trace_recording(const struct burin_trace *trace, const char *key)
{
	for (unsigned n = 0; n < trace->recording.count; n++) {
		if (!strcmp(trace->recording.lines[n].key, key))
			return trace->recording.lines[n].value;
	}
	return NULL;
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

int read_recording_number(const struct burin_trace *trace, const char *key, uint64_t *value)
{
	const char *text = burin_trace_recording(trace, key);
	char *end;

	if (!text)
		return -ENOENT;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}
