/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The user's settings; see settings.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/plain.h"
#include "base/size.h"
#include "source/user/settings.h"
#include "wire/context.h"

enum {
	SETTINGS_BUFFER = 4 << 20,
	SETTINGS_BUFFER_MAX = 64 << 20,
	SETTINGS_PACKET = 64 << 10,
	SETTINGS_KEEP = 16,
	SETTINGS_KEEP_BYTES = 256 << 20,
};

static const char blanks[] = " \t,";

__attribute__((format(printf, 2, 3))) static void fault(struct settings *settings, const char *format, ...)
{
	va_list arguments;

	if (settings->fault[0])
		return;
	va_start(arguments, format);
	vsnprintf(settings->fault, sizeof(settings->fault), format, arguments);
	va_end(arguments);
}

static void add_rule(struct settings *settings, char sign, unsigned level, const char *glob)
{
	if (settings->rule_count == SETTINGS_RULES_MAX)
		fault(settings, "there are more than %d globs; use wider ones", SETTINGS_RULES_MAX);
	else
		settings->rules[settings->rule_count++] = (struct settings_rule){ sign, level, glob };
}

/* A size within bounds, or a fault. */
static bool take_size(struct settings *settings, const char *where, const char *text, uint64_t min,
		      uint64_t max, uint64_t *out)
{
	uint64_t size;

	if (!size_parse(text, &size) || size < min || size > max) {
		fault(settings, "%s: '%.40s' will not do as a size", where, text);
		return false;
	}
	*out = size;
	return true;
}

static void take_buffer(struct settings *settings, const char *where, const char *text)
{
	take_size(settings, where, text, 4 * WIRE_PACKET_MIN, UINT64_C(1) << 30,
		  &settings->session.buffer_bytes);
	if (settings->session.packet_bytes * 4 > settings->session.buffer_bytes)
		settings->session.packet_bytes = WIRE_PACKET_MIN;
}

static void take_context(struct settings *settings, const char *where, const char *text)
{
	uint32_t fields = 0;

	if (!context_parse(text, &fields))
		fault(settings, "%s: '%.40s' will not do; there are correlation and depth", where, text);
	settings->session.context |= fields;
}

/* "enable GLOB [LEVEL]" and the like. */
static void take_line(struct settings *settings, const char *where, char *line)
{
	char *rest, *word = strtok_r(line, blanks, &rest), *value, *level;
	uint64_t number = WIRE_LEVEL_MAX;

	if (!word || *word == '#')
		return;
	value = strtok_r(NULL, blanks, &rest);
	level = strtok_r(NULL, blanks, &rest);
	if (!value) {
		fault(settings, "%s: '%.40s' wants a value", where, word);
	} else if (!strcmp(word, "enable")) {
		if (!level || take_size(settings, where, level, 0, WIRE_LEVEL_MAX, &number))
			add_rule(settings, '+', (unsigned)number, value);
	} else if (!strcmp(word, "disable")) {
		add_rule(settings, '-', 0, value);
	} else if (!strcmp(word, "buffer")) {
		take_buffer(settings, where, value);
	} else if (!strcmp(word, "buffer-max")) {
		take_size(settings, where, value, 0, UINT64_C(16) << 30, &settings->session.buffer_max);
	} else if (!strcmp(word, "session")) {
		settings->off = !strcmp(value, "no");
		if (!settings->off && strcmp(value, "yes") != 0)
			fault(settings, "%s: '%.40s' is neither yes nor no", where, value);
	} else if (!strcmp(word, "context")) {
		settings->session.context = 0;
		take_context(settings, where, value);
		if (level) /* behind the comma */
			take_context(settings, where, level);
	} else if (!strcmp(word, "keep")) {
		if (take_size(settings, where, value, 0, 100000, &number))
			settings->limits.count = (unsigned)number;
	} else if (!strcmp(word, "keep-bytes")) {
		take_size(settings, where, value, 0, UINT64_MAX, &settings->limits.bytes);
	} else {
		fault(settings, "%s: '%.40s' is no setting", where, word);
	}
}

/* "[GLOB]": what follows is for programs of that name. */
static bool section_is_ours(char *line)
{
	char *end = strchr(line, ']');

	if (end)
		*end = 0;
	return glob_match(line + 1, program_invocation_short_name);
}

static void take_file(struct settings *settings, char *text)
{
	char where[24], *rest, *line = text;
	bool ours = true;

	for (unsigned number = 1; line; line = rest, number++) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = 0;
		snprintf(where, sizeof(where), "config:%u", number);
		if (*line == '[')
			ours = section_is_ours(line);
		else if (ours)
			take_line(settings, where, line);
	}
}

/* The configuration file's text, or NULL. */
static char *read_file(struct settings *settings)
{
	const char *config = plain_environment("XDG_CONFIG_HOME"), *home = plain_environment("HOME");
	char *text = settings->text + settings->used;
	size_t room = sizeof(settings->text) - settings->used;
	struct plain name = { text, room, 0, false }; /* until the file is open */
	struct stat status;
	ssize_t got = -1;
	int fd;

	if (config && config[0] == '/') {
		plain_text(&name, config);
		plain_text(&name, "/burin/config");
	} else if (home && home[0] == '/') {
		plain_text(&name, home);
		plain_text(&name, "/.config/burin/config");
	} else {
		return NULL;
	}
	fd = name.cut ? -1 : open(text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		got = read(fd, text, room);
	close(fd);
	if (got < 0 || (size_t)got >= room) {
		fault(settings, "config: it is no file of less than %zu bytes", room);
		return NULL;
	}
	text[got] = 0;
	settings->used += (size_t)got + 1;
	return text;
}

/* "net.* -net.rx": globs, on or, behind a minus, off. */
static void take_globs(struct settings *settings, const char *globs)
{
	char *text = settings->text + settings->used, *rest;
	size_t bytes = strlen(globs) + 1;

	if (bytes > sizeof(settings->text) - settings->used) {
		fault(settings, "BURIN_ENABLE: it is too long");
		return;
	}
	memcpy(text, globs, bytes);
	settings->used += bytes;
	for (char *glob = strtok_r(text, blanks, &rest); glob; glob = strtok_r(NULL, blanks, &rest)) {
		if (*glob == '-')
			add_rule(settings, '-', 0, glob + 1);
		else
			add_rule(settings, '+', WIRE_LEVEL_MAX, glob);
	}
}

void settings_read(struct settings *settings)
{
	const char *globs, *buffer, *buffer_max, *context;
	char *file;

	settings->session = (struct session_options){ .owner = WIRE_OWNER_PROGRAM,
						      .mode = WIRE_MODE_FLIGHT,
						      .buffer_bytes = SETTINGS_BUFFER,
						      .buffer_max = SETTINGS_BUFFER_MAX,
						      .packet_bytes = SETTINGS_PACKET,
						      .string_max = WIRE_STRING_MAX };
	settings->limits = (struct session_limits){ .count = SETTINGS_KEEP, .bytes = SETTINGS_KEEP_BYTES };
	file = read_file(settings);
	if (file)
		take_file(settings, file);
	globs = plain_environment("BURIN_ENABLE");
	if (globs) {
		settings->off = false;
		take_globs(settings, globs);
	}
	buffer = plain_environment("BURIN_BUFFER");
	if (buffer)
		take_buffer(settings, "BURIN_BUFFER", buffer);
	buffer_max = plain_environment("BURIN_BUFFER_MAX");
	if (buffer_max)
		take_size(settings, "BURIN_BUFFER_MAX", buffer_max, 0, UINT64_C(16) << 30,
			  &settings->session.buffer_max);
	context = plain_environment("BURIN_CONTEXT");
	if (context) {
		settings->session.context = 0;
		take_context(settings, "BURIN_CONTEXT", context);
	}
}
