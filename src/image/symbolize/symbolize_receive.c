/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checks the messages of children and makes entries of the table from them; see symbolize_messages.h. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/leb128.h"
#include "image/names/lines.h"
#include "image/names/parameters.h"
#include "image/symbolize/symbolize_parts.h"

/* The rest of a message. A missing number is read as 0 and sets `wrong`. */
struct message {
	const unsigned char *at, *end;
	bool wrong;
};

static uint64_t symbolize_receive_take(struct message *message, uint64_t most)
{
	uint64_t value = 0;
	const unsigned char *at = message->wrong ? NULL : leb128_get(message->at, message->end, &value);

	if (!at || value > most) {
		message->wrong = true;
		return 0;
	}
	message->at = at;
	return value;
}

static const char *symbolize_receive_take_text(struct message *message, size_t *bytes)
{
	const char *text;

	*bytes = symbolize_receive_take(message, WIRE_TEXT_MAX);
	text = (const char *)message->at;
	if (*bytes > (size_t)(message->end - message->at))
		message->wrong = true;
	if (message->wrong)
		*bytes = 0;
	message->at += *bytes;
	return text;
}

unsigned char *symbolize_put_text(unsigned char *at, const char *text, size_t bytes)
{
	bytes = bytes < WIRE_TEXT_MAX ? bytes : WIRE_TEXT_MAX;
	at = leb128_put(at, bytes);
	return (unsigned char *)memcpy(at, text, bytes) + bytes;
}

int symbolize_emit_entry(const struct symbolize *all, const unsigned char *end)
{
	return all->options->entry(all->options->data, all->entry, (size_t)(end - all->entry));
}

static int receive_text(struct symbolize *all, struct job *job, struct message *message)
{
	size_t bytes;
	const char *text = symbolize_receive_take_text(message, &bytes);
	uint32_t number;
	bool fresh;

	if (!array_reserve(job->texts, job->text_room, job->text_count + 1))
		return -ENOMEM;
	number = texts_number(&all->texts, text, bytes, &fresh);
	if (!number)
		return -ENOMEM;
	job->texts[job->text_count++] = number;
	if (!fresh)
		return 0;
	return symbolize_emit_entry(
		all, symbolize_put_text(leb128_put(all->entry, WIRE_SYMBOLS_TEXT), text, bytes));
}

/* The trace's number of a text, from the child's number. */
static uint32_t symbolize_receive_take_number(struct message *message, const struct job *job)
{
	const uint64_t number = symbolize_receive_take(message, job->text_count);

	return number ? job->texts[number - 1] : 0;
}

static int symbolize_receive_compare_offsets(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/*
 * Emits one entry for the function instead of one for each location in it. The location has its own entry if an earlier
 * function may also contain it, or if this child follows a failed one, which may have found another function.
 * @end: of the location's entry
 */
static int emit_function(struct symbolize *all, struct job *job, const struct function *function,
			 const unsigned char *end)
{
	const struct function *last = &job->function;
	unsigned char *at = all->entry;

	if (function->begin == last->begin && function->size == last->size && function->name == last->name)
		return 0;
	if (job->left || function->begin < last->begin || function->begin - last->begin < last->size)
		return symbolize_emit_entry(all, end);
	job->function = *function;
	at = leb128_put(at, WIRE_SYMBOLS_FUNCTION);
	at = leb128_put(at, job->task.image->number);
	at = leb128_put(leb128_put(at, function->begin), function->size);
	return symbolize_emit_entry(all, leb128_put(at, function->name));
}

/* A location's functions and lines, with the trace's numbers of texts. */
struct location {
	uint64_t offset;
	struct function function; /* without its name */
	unsigned count;
	struct {
		uint32_t name, file, line;
	} frames[LINES_FRAMES_MAX];
};

static int emit_location(struct symbolize *all, struct job *job, const struct location *location)
{
	bool named = false, lined = false, filed = false;
	struct function function = location->function;
	unsigned char *at = leb128_put(all->entry, WIRE_SYMBOLS_LOCATION);

	at = leb128_put(at, job->task.image->number);
	at = leb128_put(at, location->offset);
	at = leb128_put(leb128_put(at, function.begin), function.size);
	at = leb128_put(at, location->count);
	for (unsigned n = 0; n < location->count; n++) {
		const uint32_t name = location->frames[n].name, file = location->frames[n].file,
			       line = location->frames[n].line;

		at = leb128_put(leb128_put(leb128_put(at, name), file), line);
		function.name = name;
		named |= name;
		lined |= line;
		filed |= file;
	}
	all->counts->named += named;
	all->counts->lined += lined;
	if (location->count <= 1 && !lined && !filed && location->offset - function.begin < function.size)
		return emit_function(all, job, &function, at);
	return symbolize_emit_entry(all, at);
}

static struct names_cache_text symbolize_receive_text_of(const struct symbolize *all, uint32_t number)
{
	if (!number)
		return (struct names_cache_text){ 0 };
	return (struct names_cache_text){ all->texts.all[number - 1].text, all->texts.all[number - 1].bytes };
}

/* A function of the kernel has no lines: its name is that of all of it. */
static void keep_location(const struct symbolize *all, const struct job *job, const struct location *location)
{
	const bool whole = job->task.image->kind == WIRE_IMAGE_KERNEL && location->function.size;
	struct names_cache_answer answer;

	if (!job->result->cache.usable)
		return;
	answer.begin = location->function.begin;
	answer.size = location->function.size;
	answer.from = whole ? answer.begin : location->offset;
	answer.to = whole ? answer.begin + answer.size : location->offset + 1;
	answer.count = location->count;
	for (unsigned n = 0; n < location->count; n++) {
		answer.frames[n].name = symbolize_receive_text_of(all, location->frames[n].name);
		answer.frames[n].file = symbolize_receive_text_of(all, location->frames[n].file);
		answer.frames[n].line = location->frames[n].line;
	}
	names_cache_add(&job->result->cache, &answer);
}

static int receive_location(struct symbolize *all, struct job *job, struct message *message)
{
	struct location location = { .offset = symbolize_receive_take(message, UINT64_MAX) };
	const uint64_t *asked = bsearch(&location.offset, job->task.offsets, job->task.count,
					sizeof(location.offset), symbolize_receive_compare_offsets);

	location.function.begin = symbolize_receive_take(message, UINT64_MAX);
	location.function.size = symbolize_receive_take(message, UINT64_MAX);
	location.count = (unsigned)symbolize_receive_take(message, LINES_FRAMES_MAX);
	for (unsigned n = 0; n < location.count && !message->wrong; n++) {
		location.frames[n].name = symbolize_receive_take_number(message, job);
		location.frames[n].file = symbolize_receive_take_number(message, job);
		location.frames[n].line = (uint32_t)symbolize_receive_take(message, UINT32_MAX);
	}
	if (message->wrong || !asked || job->answered[asked - job->task.offsets]) {
		message->wrong = true;
		return 0;
	}
	job->answered[asked - job->task.offsets] = true;
	keep_location(all, job, &location);
	return emit_location(all, job, &location);
}

/* ---- names of earlier look-ups */

/* Return: the trace's number; 0: no text, or *error. */
static uint32_t symbolize_receive_number_of(struct symbolize *all, struct names_cache_text text, int *error)
{
	uint32_t number;
	bool fresh;

	if (!text.bytes || *error)
		return 0;
	number = texts_number(&all->texts, text.text, text.bytes, &fresh);
	if (!number)
		*error = -ENOMEM;
	else if (fresh)
		*error = symbolize_emit_entry(
			all,
			symbolize_put_text(leb128_put(all->entry, WIRE_SYMBOLS_TEXT), text.text, text.bytes));
	return number;
}

static int emit_kept(struct symbolize *all, struct job *job, uint64_t offset,
		     const struct names_cache_answer *answer)
{
	struct location location = { .offset = offset,
				     .function = { .begin = answer->begin, .size = answer->size },
				     .count = answer->count };
	int error = 0;

	for (unsigned n = 0; n < answer->count; n++) {
		location.frames[n].name = symbolize_receive_number_of(all, answer->frames[n].name, &error);
		location.frames[n].file = symbolize_receive_number_of(all, answer->frames[n].file, &error);
		location.frames[n].line = answer->frames[n].line;
	}
	if (error || (!answer->count && !answer->size))
		return error;
	return emit_location(all, job, &location);
}

ssize_t symbolize_kept(struct symbolize *all, struct job *job, uint64_t *left)
{
	struct names_cache_answer answer;
	ssize_t count = 0;
	int error = 0;

	for (size_t n = 0; n < job->task.count && !error; n++) {
		const uint64_t offset = job->task.offsets[n];

		if (names_cache_find(&job->result->cache, offset, &answer))
			error = emit_kept(all, job, offset, &answer);
		else
			left[count++] = offset;
	}
	return error ? error : count;
}

static void symbolize_receive_copy_text(struct message *message, char *out, size_t room)
{
	size_t bytes;
	const char *text = symbolize_receive_take_text(message, &bytes);

	message->wrong |= bytes >= room || memchr(text, 0, bytes);
	if (message->wrong)
		bytes = 0;
	memcpy(out, text, bytes);
	out[bytes] = 0;
}

static void receive_parameters(const struct symbolize *all, const struct job *job, struct message *message)
{
	const uint64_t offset = symbolize_receive_take(message, UINT64_MAX);
	const bool described = symbolize_receive_take(message, 1);
	char spec[PARAMETERS_SPEC_MAX], file[PATH_MAX];

	symbolize_receive_copy_text(message, spec, sizeof(spec));
	symbolize_receive_copy_text(message, file, sizeof(file));
	message->wrong |= !job->task.parameters;
	if (!message->wrong)
		all->options->parameters(all->options->data, job->task.image->number, offset,
					 described ? spec : NULL, file);
}

static void receive_place(const struct symbolize *all, const struct job *job, struct message *message)
{
	const uint64_t address = symbolize_receive_take(message, UINT64_MAX);
	const uint32_t line = (uint32_t)symbolize_receive_take(message, UINT32_MAX);

	message->wrong |= !job->task.source;
	if (!message->wrong)
		all->options->place(all->options->data, address, line);
}

int symbolize_hint(struct result *result, const char *text, size_t bytes)
{
	char *copy = strndup(text, bytes);

	if (!copy)
		return -ENOMEM;
	free(result->hint);
	result->hint = copy;
	return 0;
}

static int receive_image(struct job *job, struct message *message)
{
	const enum wire_symbols_state state =
		(enum wire_symbols_state)symbolize_receive_take(message, WIRE_SYMBOLS_STATES - 1);
	const bool missing = symbolize_receive_take(message, 1);
	size_t bytes;
	const char *hint = symbolize_receive_take_text(message, &bytes);
	struct result *result = job->result;

	if (message->wrong)
		return 0;
	job->finished = true;
	if (result->received && result->state <= state)
		return 0;
	result->state = state;
	result->missing = missing && !result->damaged;
	result->received = true;
	return result->damaged ? 0 : symbolize_hint(result, hint, bytes);
}

static int receive_message(struct symbolize *all, struct job *job, const unsigned char *bytes, size_t count)
{
	struct message message = { bytes, bytes + count, false };
	int error = 0;

	message.wrong = job->wants; /* that was the last message */
	switch (symbolize_receive_take(&message, CHILD_PLACE)) {
	case CHILD_TEXT:
		error = receive_text(all, job, &message);
		break;
	case CHILD_LOCATION:
		error = receive_location(all, job, &message);
		break;
	case CHILD_DONE:
		job->done = symbolize_receive_take(&message, job->task.count);
		break;
	case CHILD_IMAGE:
		error = receive_image(job, &message);
		break;
	case CHILD_WANT:
		job->wants = job->finished = true;
		message.wrong |= !job->task.may_want ||
				 memchr(job->answered, true, job->task.count * sizeof(*job->answered));
		break;
	case CHILD_FREE:
		all->counts->unconfined = -(int)symbolize_receive_take(&message, 4095);
		break;
	case CHILD_PARAMETERS:
		receive_parameters(all, job, &message);
		break;
	case CHILD_PLACE:
		receive_place(all, job, &message);
		break;
	case CHILD_LASTING:
		job->result->lasting = true;
		break;
	default:
		message.wrong = true;
		break;
	}
	job->wrong |= message.wrong || message.at != message.end;
	return error;
}

int symbolize_receive(struct symbolize *all, struct job *job)
{
	size_t at = 0;
	int error = 0;

	while (!error && !job->wrong && job->filled - at >= sizeof(uint32_t)) {
		uint32_t bytes;

		memcpy(&bytes, job->buffer + at, sizeof(bytes));
		if (bytes > CHILD_MESSAGE_MAX)
			job->wrong = true;
		if (job->wrong || bytes > job->filled - at - sizeof(bytes))
			break;
		error = receive_message(all, job, job->buffer + at + sizeof(bytes), bytes);
		at += sizeof(bytes) + bytes;
	}
	job->filled -= at;
	memmove(job->buffer, job->buffer + at, job->filled);
	return error;
}
