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
#include "base/nolibc.h"
#include "base/number.h"
#include "filter/filter_compile.h"
#include "source/tracepoint/settings.h"
#include "wire/wire_context.h"

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

static void add_rule(struct settings *settings, enum wire_switch state, unsigned level, const char *glob)
{
	if (settings->rule_count == SETTINGS_RULES_MAX)
		fault(settings, "there are more than %d globs; use wider ones", SETTINGS_RULES_MAX);
	else
		settings->rules[settings->rule_count++] =
			(struct settings_rule){ glob, { .state = state, .level = level, .where = "" } };
}

/*
 * Make the rules from @first on conditional, as far as they switch on. @where: of the setting, for the message.
 * @expression: a filter's; its form is checked here, as the events and their fields are not known yet
 */
static void add_filter(struct settings *settings, unsigned first, const char *where, const char *expression)
{
	struct filter_error error;
	const bool valid = *expression && filter_check(expression, &error) == 0;

	if (!*expression)
		fault(settings, "%s: an expression is missing behind where", where);
	else if (!valid)
		fault(settings, "%s: where %.40s: %.80s", where, expression, error.message);
	for (unsigned n = first; valid && n < settings->rule_count; n++) {
		struct session_rule *rule = &settings->rules[n].rule;

		if (rule->state == WIRE_ON) {
			rule->state = WIRE_CONDITIONAL;
			rule->sample = 1;
			rule->where = expression;
		}
	}
	if (!valid)
		settings->rule_count = first;
}

/* The rest of a line or list behind a word. */
static const char *expression_at(const char *rest)
{
	return rest + strspn(rest, blanks);
}

/* Read a size and check its bounds. */
static bool take_size(struct settings *settings, const char *where, const char *text, uint64_t min,
		      uint64_t max, uint64_t *out)
{
	uint64_t size;

	if (!number_parse_size(text, &size) || size < min || size > max) {
		fault(settings, "%s: '%.40s' is not a valid size or number", where, text);
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

/* @more: behind a comma, or NULL */
static void take_context(struct settings *settings, const char *where, const char *text, const char *more)
{
	uint32_t fields = 0, other = 0;
	const bool first = context_parse(text, &fields), second = !more || context_parse(more, &other);

	if (first && second)
		settings->session.context = fields | other;
	else
		fault(settings, "%s: '%.40s' is not a context; use correlation, depth or both", where,
		      first ? more : text);
}

static void take_answer(struct settings *settings, const char *where, const char *text, bool *yes)
{
	if (!strcmp(text, "yes") || !strcmp(text, "no"))
		*yes = *text == 'y';
	else
		fault(settings, "%s: '%.40s' is neither yes nor no", where, text);
}

/* "GLOB [LEVEL] [where EXPRESSION]". @word: behind the glob, or NULL; @rest: behind that */
static void take_enable(struct settings *settings, const char *where, const char *glob, const char *word,
			char *rest)
{
	const unsigned first = settings->rule_count;
	uint64_t level = WIRE_LEVEL_MAX;

	if (word && *word != '#' && strcmp(word, "where") != 0) {
		if (!take_size(settings, where, word, 0, WIRE_LEVEL_MAX, &level))
			return;
		word = strtok_r(NULL, blanks, &rest);
	}
	if (word && *word != '#' && strcmp(word, "where") != 0) {
		fault(settings, "%s: '%.40s' is not where, which begins a condition", where, word);
		return;
	}
	add_rule(settings, WIRE_ON, (unsigned)level, glob);
	if (word && *word != '#')
		add_filter(settings, first, where, expression_at(rest));
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
		fault(settings, "%s: '%.40s' needs a value", where, word);
	} else if (!strcmp(word, "enable")) {
		take_enable(settings, where, value, level, rest);
	} else if (!strcmp(word, "disable")) {
		add_rule(settings, WIRE_OFF, 0, value);
	} else if (!strcmp(word, "buffer")) {
		take_buffer(settings, where, value);
	} else if (!strcmp(word, "buffer-max")) {
		take_size(settings, where, value, 0, UINT64_C(16) << 30, &settings->session.buffer_max);
	} else if (!strcmp(word, "session")) {
		take_answer(settings, where, value, &settings->on);
	} else if (!strcmp(word, "populate")) {
		take_answer(settings, where, value, &settings->populate);
	} else if (!strcmp(word, "context")) {
		take_context(settings, where, value, level);
	} else if (!strcmp(word, "keep")) {
		if (take_size(settings, where, value, 0, 100000, &number))
			settings->limits.count = (unsigned)number;
	} else if (!strcmp(word, "keep-bytes")) {
		take_size(settings, where, value, 0, UINT64_MAX, &settings->limits.bytes);
	} else {
		fault(settings, "%s: '%.40s' is not a setting", where, word);
	}
}

/* "[GLOB]": whether the following lines are for this program. */
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

/* Read the configuration file. Return: its text; NULL: there is none. */
static char *read_file(struct settings *settings)
{
	const char *config = nolibc_environment("XDG_CONFIG_HOME"), *home = nolibc_environment("HOME");
	char *text = settings->text + settings->used;
	size_t room = sizeof(settings->text) - settings->used;
	struct nolibc_string name = { text, room, 0, false }; /* until the file is open */
	struct stat status;
	ssize_t got = -1;
	int fd;

	if (config && config[0] == '/') {
		nolibc_text(&name, config);
		nolibc_text(&name, "/burin/config");
	} else if (home && home[0] == '/') {
		nolibc_text(&name, home);
		nolibc_text(&name, "/.config/burin/config");
	} else {
		return NULL;
	}
	fd = name.truncated ? -1 : open(text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		got = read(fd, text, room);
	close(fd);
	if (got < 0 || (size_t)got >= room) {
		fault(settings, "config: it is not a file of less than %zu bytes", room);
		return NULL;
	}
	text[got] = 0;
	settings->used += (size_t)got + 1;
	return text;
}

/* The end of a list of globs: a semicolon that is not in quotes, or the end of @text. */
static char *list_end(char *text)
{
	char quote = 0;

	for (; *text && (quote || *text != ';'); text++) {
		if (quote && *text == '\\' && text[1])
			text++;
		else if (quote ? *text == quote : *text == '"' || *text == '\'')
			quote = quote ? 0 : *text;
	}
	return text;
}

/* "net.* -net.rx where len > 100": globs that are on, or behind a minus off; a condition for those that are on. */
static void take_list(struct settings *settings, char *text)
{
	const unsigned first = settings->rule_count;
	char *rest;

	for (char *glob = strtok_r(text, blanks, &rest); glob; glob = strtok_r(NULL, blanks, &rest)) {
		if (!strcmp(glob, "where")) {
			add_filter(settings, first, "BURIN_ENABLE", expression_at(rest));
			return;
		}
		if (!strcmp(glob, "-"))
			fault(settings, "BURIN_ENABLE: a glob is missing behind a -");
		else if (*glob == '-')
			add_rule(settings, WIRE_OFF, 0, glob + 1);
		else
			add_rule(settings, WIRE_ON, WIRE_LEVEL_MAX, glob);
	}
}

/* Lists, separated by semicolons. */
static void take_globs(struct settings *settings, const char *globs)
{
	char *text = settings->text + settings->used;
	size_t bytes = strlen(globs) + 1;

	if (bytes > sizeof(settings->text) - settings->used) {
		fault(settings, "BURIN_ENABLE: it is too long");
		return;
	}
	memcpy(text, globs, bytes);
	settings->used += bytes;
	for (bool more = true; more;) {
		char *end = list_end(text);

		more = *end;
		*end = 0;
		take_list(settings, text);
		text = end + 1;
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
	settings->on = true;
	settings->limits = (struct session_limits){ .count = SETTINGS_KEEP, .bytes = SETTINGS_KEEP_BYTES };
	file = read_file(settings);
	if (file)
		take_file(settings, file);
	globs = nolibc_environment("BURIN_ENABLE");
	if (globs) {
		settings->on = true;
		take_globs(settings, globs);
	}
	buffer = nolibc_environment("BURIN_BUFFER");
	if (buffer)
		take_buffer(settings, "BURIN_BUFFER", buffer);
	buffer_max = nolibc_environment("BURIN_BUFFER_MAX");
	if (buffer_max)
		take_size(settings, "BURIN_BUFFER_MAX", buffer_max, 0, UINT64_C(16) << 30,
			  &settings->session.buffer_max);
	context = nolibc_environment("BURIN_CONTEXT");
	if (context)
		take_context(settings, "BURIN_CONTEXT", context, NULL);
}
