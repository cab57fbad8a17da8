/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A system call as text; see syscall_text.h. */
#include "view/syscalls/syscall_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/kernel/kernel_view.h"
#include "view/syscalls/values/message_text.h"
#include "view/syscalls/values/syscall_words.h"
#include "view/syscalls/values/word_text.h"

enum {
	ERRNO_OWN = 512, /* from here on: of the kernel itself */
	NEGATIVE =
		4096, /* a number of 32 bits is negative if it is so near to its end: a descriptor that is none */
};

/* The next line of an argument. @from: line to begin at */
static const struct syscall_argument *find_argument(const struct syscall_argument *from, const char *call,
						    const char *name)
{
	for (; from < syscall_arguments + syscall_argument_count; from++)
		if (strcmp(from->name, name) == 0 && (*from->call == '*' || strcmp(from->call, call) == 0))
			return from;
	return NULL;
}

static int find_array(const struct burin_event *event, const char *name)
{
	const int field = burin_event_find(event, name);

	return field >= 0 && burin_event_field(event, (unsigned)field)->type == BURIN_TYPE_ARRAY ? field : -1;
}

/* Which arguments point to what the records have. */
static void find_memory(struct syscall_style *style, const struct burin_event *event, const char *call)
{
	static const char *const names[MEMORY_PIECES] = { "memory", "memory2", "memory3", "memory4" };

	style->first = burin_event_find(event, "after_ns") == 0; /* of arguments that were read at the end */
	style->counts[0] = burin_event_find(event, "argc");
	style->counts[1] = burin_event_find(event, "vars");
	style->list = style->counts[0] >= 0 && style->counts[1] >= 0 ? burin_event_find(event, "args") : -1;
	style->socket = find_array(event, "sockaddr");
	for (unsigned n = 0; n < MEMORY_PIECES; n++)
		style->memory[n] = find_array(event, names[n]);
	if (find_array(event, "vectors") >= 0) {
		style->memory[0] = find_array(event, "vectors");
		style->vectors = true;
	}
	if (style->memory[0] < 0)
		style->memory[0] = style->socket;
	if (find_array(event, "data") >= 0) /* behind a socket's address */
		style->memory[1] = find_array(event, "data");
	style->pointers = memory_call_find(call);
}

const struct syscall_machine *syscall_text_machine(const struct burin_trace *trace)
{
	const char *name = burin_trace_recording(trace, "machine");

	if (!name) /* traces did not say it while there was no other one */
		name = "x86_64";
	for (unsigned n = 0; n < syscall_machine_count; n++)
		if (strcmp(syscall_machines[n].name, name) == 0)
			return &syscall_machines[n];
	return NULL;
}

bool syscall_style_make(struct syscall_style *style, const struct syscall_machine *machine,
			const struct burin_event *event, const char *call)
{
	static const char *const addresses[] = { "brk", "mmap", "mremap", "shmat" };

	*style = (struct syscall_style){ .count = event->fields, .call = call, .machine = machine };
	for (unsigned n = 0; n < sizeof(addresses) / sizeof(addresses[0]); n++)
		style->address |= strcmp(call, addresses[n]) == 0;
	style->number = kernel_number_field(event, call);
	find_memory(style, event, call);
	style->arguments = calloc((size_t)event->fields + 1, sizeof(style->arguments[0]));
	for (unsigned n = 0; style->arguments && n < event->fields; n++) {
		const struct burin_field *field = burin_event_field(event, n);

		style->arguments[n] = find_argument(syscall_arguments, call, field->name);
		/* The address of pipe's pair is called as the descriptor of dup. */
		if (n < 32 && field->type != BURIN_TYPE_PTR && descriptor_is_argument(call, field->name))
			style->descriptors |= UINT32_C(1) << n;
	}
	return style->arguments;
}

void syscall_style_free(struct syscall_style *style)
{
	free(style->arguments);
	style->arguments = NULL;
}

/* ---- arguments */

static void put_plain(struct view_buffer *out, unsigned type, uint64_t value)
{
	if (type == BURIN_TYPE_PTR)
		word_text_address(out, value);
	else if (type >= BURIN_TYPE_I8 && type <= BURIN_TYPE_I64)
		view_buffer_print(out, "%" PRId64, (int64_t)value);
	else if (type == BURIN_TYPE_U32 && (uint32_t)value > UINT32_MAX - NEGATIVE)
		view_buffer_print(out, "%d", (int32_t)(uint32_t)value);
	else
		view_buffer_print(out, "%" PRIu64, value);
}

/* Read any integer, with its sign. */
static bool get_number(const struct burin_record *record, unsigned field, uint64_t *value)
{
	int64_t number;

	if (burin_record_u64(record, field, value) == 0)
		return true;
	if (burin_record_i64(record, field, &number))
		return false;
	*value = (uint64_t)number;
	return true;
}

/* An argument by its name. */
static bool get_other(const struct burin_record *record, const char *name, uint64_t *value)
{
	const int field = burin_event_find(record->event, name);

	return field >= 0 && get_number(record, (unsigned)field, value);
}

static bool syscall_text_fits(const struct syscall_argument *argument, const struct burin_record *record)
{
	uint64_t value;

	if (!argument->value_count)
		return true;
	if (!get_other(record, argument->other, &value))
		return false;
	for (unsigned n = 0; n < argument->value_count; n++)
		if ((value & argument->mask) == argument->values[n])
			return true;
	return false;
}

/* How this call's argument is written, which may depend on another one; NULL: as its type says. */
static const struct syscall_argument *choose_line(const struct syscall_style *style,
						  const struct burin_record *record, unsigned n)
{
	const struct syscall_argument *line = n < style->count ? style->arguments[n] : NULL;

	while (line && !syscall_text_fits(line, record))
		line = find_argument(line + 1, style->call, burin_event_field(record->event, n)->name);
	return line;
}

static void syscall_text_put_argument(const struct syscall_style *style,
				      const struct syscall_argument *argument,
				      const struct burin_record *record, unsigned n, struct view_buffer *out)
{
	const unsigned type = burin_event_field(record->event, n)->type;
	const bool is_signed = type >= BURIN_TYPE_I8 && type <= BURIN_TYPE_I64;
	const char *text;
	uint64_t value;

	if (type == BURIN_TYPE_STR && burin_record_string(record, n, &text, NULL) == 0) {
		if (!argument || argument->form != SYSCALL_BUFFER ||
		    !get_other(record, argument->other, &value))
			value = SIZE_MAX;
		word_text_quoted(out, text, value);
		return;
	}
	if (!get_number(record, n, &value)) {
		view_buffer_print(out, "?");
		return;
	}
	switch (argument ? argument->form : SYSCALL_PLAIN) {
	case SYSCALL_WORDS:
		if (style->machine)
			word_text_put(out, &style->machine->words[argument->words], value, is_signed);
		else
			put_plain(out, type, value);
		break;
	case SYSCALL_OCTAL:
		view_buffer_print(out, value ? "0%" PRIo64 : "%" PRIo64, value & 07777777);
		break;
	case SYSCALL_ADDRESS:
		word_text_address(out, value);
		break;
	case SYSCALL_HEXADECIMAL:
		view_buffer_print(out, "%#" PRIx64, value);
		break;
	case SYSCALL_SIGNED:
		view_buffer_print(out, "%" PRId64, (int64_t)value);
		break;
	case SYSCALL_INTEGER:
		view_buffer_print(out, "%d", (int32_t)(uint32_t)value);
		break;
	default:
		put_plain(out, type, value);
	}
}

/* The form of what a call points to, of which the command of an ioctl, or the option of a socket, decides. */
static enum memory_form find_form(const struct memory_pointer *pointer, const struct burin_record *record)
{
	uint64_t word, level;

	switch (pointer->form) {
	case MEMORY_COMMAND:
		return get_other(record, "cmd", &word) ? memory_command_form((uint32_t)word) : MEMORY_NONE;
	case MEMORY_LOCK_COMMAND:
	case MEMORY_LOCK_RETURNED:
		return get_other(record, "cmd", &word)
			       ? memory_lock_form((uint32_t)word, pointer->form == MEMORY_LOCK_RETURNED)
			       : MEMORY_NONE;
	case MEMORY_NAME_COMMAND:
	case MEMORY_NAME_RETURNED:
		return get_other(record, "option", &word)
			       ? memory_name_form((uint32_t)word, pointer->form == MEMORY_NAME_RETURNED)
			       : MEMORY_NONE;
	case MEMORY_OPTION:
	case MEMORY_OPTION_RETURNED:
		return get_other(record, "level", &level) && get_other(record, "optname", &word)
			       ? memory_option_form((uint32_t)level, (uint32_t)word)
			       : MEMORY_NONE;
	default:
		return pointer->form;
	}
}

/* Bytes of a record. */
static struct message_part part_of_record(const struct burin_record *record, int field)
{
	struct message_part part = { .count = 0 };

	if (field < 0 || burin_record_array(record, (unsigned)field, &part.bytes, &part.count) != 0)
		part.count = 0;
	return part;
}

static bool syscall_text_put_message(const struct syscall_style *style, const struct descriptor_place *place,
				     const struct burin_record *record, struct view_buffer *out)
{
	const bool whole = style->memory[0] != style->socket;
	const struct message message = { part_of_record(record, style->socket),
					 part_of_record(record, whole ? style->memory[0] : -1),
					 part_of_record(record, style->memory[1]) };

	return message_text(style->machine, place, &message, out);
}

/*
 * An argument that points to what the record has: this piece of memory.
 * @times: of elements, or the result
 * Return: whether it was written.
 */
static bool syscall_text_put_memory(const struct syscall_style *style, const struct descriptor_place *place,
				    const struct burin_record *record, unsigned piece, enum memory_form form,
				    int64_t times, struct view_buffer *out)
{
	const void *bytes;
	size_t count;

	if (form == MEMORY_MESSAGE)
		return syscall_text_put_message(style, place, record, out);
	if (style->vectors && form == MEMORY_VECTOR) {
		const struct message_part part = part_of_record(record, style->memory[piece]);

		return times >= 0 && message_text_vectors(&part, (uint64_t)times, out);
	}
	return style->memory[piece] >= 0 &&
	       burin_record_array(record, (unsigned)style->memory[piece], &bytes, &count) == 0 &&
	       (count || (!times && memory_may_be_empty(form))) &&
	       memory_text(form, style->machine, place, bytes, count, times, out);
}

/* The length of what was returned, to which the next argument points. Return: -1: more than the record has. */
static int64_t returned_length(const struct syscall_style *style, const struct burin_record *record)
{
	const void *bytes;
	size_t count;

	if (style->memory[0] < 0 ||
	    burin_record_array(record, (unsigned)style->memory[0], &bytes, &count) != 0 ||
	    count >= MEMORY_MAX)
		return -1;
	return (int64_t)count;
}

static void put_length(int64_t length, struct view_buffer *out)
{
	if (length < 0)
		view_buffer_print(out, ", [>= %d]", MEMORY_MAX);
	else
		view_buffer_print(out, ", [%" PRId64 "]", length);
}

/* How many descriptors the sets of a select may have: the first argument says it. Return: -1: none, or unknown. */
static int64_t count_descriptors(const struct syscall_style *style, const struct burin_record *record)
{
	uint64_t count;

	return style->pointers && style->pointers->begin.form == MEMORY_SET &&
			       get_number(record, style->first, &count)
		       ? (int32_t)(uint32_t)count
		       : -1;
}

/* How many elements an argument points to, in most calls the next one says it. Return: -1: it is NULL, or this is unknown. */
static int64_t count_elements(const struct syscall_style *style, const struct burin_record *record,
			      enum memory_form form, unsigned n)
{
	uint64_t address, count;

	if (!get_number(record, n, &address) || !address)
		return -1;
	if (form == MEMORY_SET)
		return count_descriptors(style, record);
	return n + 1 < record->event->fields && get_number(record, n + 1, &count) ? (int64_t)count : -1;
}

/* ---- an exec */

static bool is_of_list(const struct syscall_style *style, int n)
{
	return style->list >= 0 && (n == style->list || n == style->counts[0] || n == style->counts[1]);
}

/* A count of its lists. Return: -1: unknown. */
static int64_t list_count(const struct syscall_style *style, const struct burin_record *record, int list)
{
	uint64_t count;

	return style->list >= 0 && get_number(record, (unsigned)style->counts[list], &count)
		       ? (int32_t)(uint32_t)count
		       : -1;
}

/* The arguments whose texts the record has. Return: how many. */
static int64_t put_texts(const struct syscall_style *style, const struct burin_record *record,
			 struct view_buffer *out)
{
	const void *bytes;
	const char *at;
	size_t room = 0;
	int64_t put = 0;

	if (burin_record_array(record, (unsigned)style->list, &bytes, &room) != 0)
		return 0;
	for (at = bytes; room && memchr(at, 0, room); put++) {
		const size_t length = strlen(at) + 1;

		view_buffer_print(out, put ? ", " : "");
		word_text_quoted(out, at, SIZE_MAX);
		at += length;
		room -= length;
	}
	return put;
}

/*
 * Keep what the record has of an exec's lists. One that comes late has them as the new program got them, without variables: of a
 * script these are others, and more.
 */
static void keep_lists(const struct syscall_style *style, const struct burin_record *record,
		       struct syscall_arguments *out)
{
	const int64_t count = list_count(style, record, 0), vars = list_count(style, record, 1);
	const void *bytes;
	size_t used = 0;
	int64_t put;

	if (style->list < 0 || burin_record_array(record, (unsigned)style->list, &bytes, &used) != 0)
		return;
	if (style->first && vars < 0 && count != out->argc)
		return;
	out->argc = count;
	if (vars >= 0)
		out->vars = vars;
	if (count < 0 && !used)
		return;
	out->list.used = 0;
	view_buffer_print(&out->list, "[");
	put = put_texts(style, record, &out->list);
	if (put != count)
		view_buffer_print(&out->list, put ? ", ..." : "...");
	view_buffer_print(&out->list, "]");
}

/* An argument that leads to one of the lists. Return: whether it is one, and written. */
static bool put_list(const struct syscall_style *style, const struct burin_record *record, unsigned n,
		     const struct syscall_arguments *arguments, struct view_buffer *part)
{
	const char *name = burin_event_field(record->event, n)->name;

	if (style->list < 0)
		return false;
	if (strcmp(name, "argv") == 0 && arguments->list.used) {
		view_buffer_add(part, &arguments->list);
		return true;
	}
	if (strcmp(name, "envp") != 0 || arguments->vars < 0)
		return false;
	syscall_text_put_argument(style, style->arguments[n], record, n, part);
	view_buffer_print(part, " /* %" PRId64 " var%s */", arguments->vars, text_plural(arguments->vars));
	return true;
}

/* An argument that points to memory: what is there, or its address. */
static void put_pointer(const struct syscall_style *style, const struct descriptor_place *place,
			const struct burin_record *record, unsigned piece, enum memory_form form, unsigned n,
			struct view_buffer *out)
{
	uint64_t address;

	if (syscall_text_put_memory(style, place, record, piece, form, count_elements(style, record, form, n),
				    out))
		return;
	if (get_number(record, n, &address))
		word_text_address(out, address);
	else
		view_buffer_print(out, "?");
}

/*
 * An argument that points to what the record of the begin has.
 * @piece: is set to the number of this memory
 * Return: its form; MEMORY_NONE: it is another one.
 */
static enum memory_form syscall_text_find_begin(const struct syscall_style *style,
						const struct burin_record *record, unsigned n,
						unsigned *piece)
{
	const struct memory_call *line = style->pointers;

	for (*piece = 0; line && *piece < MEMORY_PIECES; line = memory_call_next(line), ++*piece)
		if (line->begin.form && n - style->first == line->begin.argument)
			return find_form(&line->begin, record);
	return MEMORY_NONE;
}

static bool is_memory(const struct syscall_style *style, int n)
{
	for (unsigned piece = 0; piece < MEMORY_PIECES; piece++)
		if (n == style->memory[piece])
			return true;
	return n == style->socket;
}

/* The part of the text that an argument belongs to. */
static struct view_buffer *syscall_text_part_of(const struct syscall_style *style, unsigned n,
						struct syscall_arguments *out)
{
	const struct memory_pointer *end = style->pointers ? &style->pointers->end : NULL;

	n -= style->first;
	if (!end || !end->form || n < end->argument)
		return &out->before;
	return n < end->argument + memory_arguments(end->form) ? &out->memory : &out->after;
}

/* The path of an argument that is a descriptor. */
static void syscall_text_put_path(const struct syscall_style *style, const struct descriptor_place *place,
				  const struct burin_record *record, unsigned n, struct view_buffer *out)
{
	uint64_t value;

	if (n < 32 && style->descriptors >> n & 1 && get_number(record, n, &value))
		descriptor_text(descriptor_path(place, value), out);
}

void syscall_text_arguments(const struct syscall_style *style, const struct descriptor_place *place,
			    const struct burin_record *record, struct syscall_arguments *out)
{
	out->form = style->pointers ? find_form(&style->pointers->end, record) : MEMORY_NONE;
	out->before.used = out->memory.used = out->after.used = 0;
	out->descriptors = count_descriptors(style, record);
	keep_lists(style, record, out);
	for (unsigned n = style->first; n < record->event->fields; n++) {
		struct view_buffer *part = syscall_text_part_of(style, n, out);
		const struct syscall_argument *line = choose_line(style, record, n);
		unsigned piece;
		const enum memory_form form = syscall_text_find_begin(style, record, n, &piece);

		if (is_memory(style, (int)n) || (int)n == style->number || is_of_list(style, (int)n) ||
		    (line && line->form == SYSCALL_NONE))
			continue;
		if (n > style->first)
			view_buffer_print(part, ", ");
		/* Of an epoll_ctl that removes, the kernel does not look there: the line of this operation says so. */
		if (form && !(line && line->value_count))
			put_pointer(style, place, record, piece, form, n, part);
		else if (!put_list(style, record, n, out, part))
			syscall_text_put_argument(style, line, record, n, part);
		syscall_text_put_path(style, place, record, n, part);
	}
}

/* The result of a select, and how far its sets account for it. */
struct returned {
	int64_t result;	     /* descriptors that are ready */
	int64_t descriptors; /* that each set may have; -1: unknown */
	int64_t left;	     /* of the result: not in a set before */
	bool all;	     /* the record has all of them: a set has none that it lacks */
};

/* How much of a piece that stands behind the result counts. */
static int64_t returned_times(const struct syscall_style *style, const struct burin_record *record,
			      unsigned piece, enum memory_form form, struct returned *returned)
{
	int64_t most = returned->descriptors < 0 ? INT64_MAX : returned->descriptors;
	const void *bytes;
	size_t count;

	if (form < MEMORY_SET_IN || form > MEMORY_SET_EXCEPT || returned->result <= 0 ||
	    style->memory[piece] < 0 ||
	    burin_record_array(record, (unsigned)style->memory[piece], &bytes, &count) != 0)
		return returned->result;
	if (returned->all && count && most > (int64_t)count * 8)
		most = (int64_t)count * 8;
	return memory_set_end(bytes, count, most, &returned->left);
}

static bool has_all(const struct syscall_style *style, const struct burin_record *record,
		    struct returned returned)
{
	const struct memory_call *line = style->pointers;

	for (unsigned piece = 0; line && piece < MEMORY_PIECES; line = memory_call_next(line), piece++)
		returned_times(style, record, piece, line->end.form, &returned);
	return !returned.left;
}

/* Write the memory that is printed behind the result. */
static void put_behind(const struct syscall_style *style, const struct descriptor_place *place,
		       const struct burin_record *record, int64_t result, struct syscall_arguments *out)
{
	const struct memory_call *line = style->pointers;
	struct returned returned = { result, out->descriptors, result, false };

	returned.all = has_all(style, record, returned);
	for (unsigned piece = 0; line && piece < MEMORY_PIECES; line = memory_call_next(line), piece++) {
		const enum memory_form form = line->end.form;
		const size_t before = out->returned.used;

		if (!form || memory_arguments(form))
			continue;
		if (before)
			view_buffer_print(&out->returned, ", ");
		if (!syscall_text_put_memory(style, place, record, piece, form,
					     returned_times(style, record, piece, form, &returned),
					     &out->returned))
			out->returned.used = before;
	}
}

void syscall_text_returned(const struct syscall_style *style, const struct descriptor_place *place,
			   const struct burin_record *record, int64_t result, struct syscall_arguments *out)
{
	const struct memory_pointer *end = style->pointers ? &style->pointers->end : NULL;
	const size_t before = out->memory.used;
	int64_t times = result;

	put_behind(style, place, record, result, out);
	if (!before || !end || !out->form)
		return;
	if (end->argument)
		view_buffer_print(&out->memory, ", ");
	if (memory_arguments(end->form) == 2)
		times = returned_length(style, record);
	if (syscall_text_put_memory(style, place, record, 0, out->form, times, &out->memory)) {
		if (memory_arguments(end->form) == 2)
			put_length(times, &out->memory);
		memmove(out->memory.bytes, out->memory.bytes + before, out->memory.used - before);
		out->memory.used -= before;
	} else {
		out->memory.used = before;
	}
}

const struct view_buffer *syscall_arguments_text(struct syscall_arguments *arguments)
{
	view_buffer_add(&arguments->before, &arguments->memory);
	view_buffer_add(&arguments->before, &arguments->after);
	arguments->memory.used = arguments->after.used = 0;
	arguments->failed |= arguments->before.failed || arguments->memory.failed ||
			     arguments->after.failed || arguments->returned.failed || arguments->list.failed;
	return &arguments->before;
}

void syscall_arguments_empty(struct syscall_arguments *arguments)
{
	arguments->before.used = arguments->memory.used = arguments->after.used = 0;
	arguments->returned.used = arguments->list.used = 0;
	arguments->argc = arguments->vars = arguments->descriptors = -1;
}

void syscall_arguments_free(struct syscall_arguments *arguments)
{
	view_buffer_free(&arguments->before);
	view_buffer_free(&arguments->memory);
	view_buffer_free(&arguments->after);
	view_buffer_free(&arguments->returned);
	view_buffer_free(&arguments->list);
}

void syscall_text_result(const struct syscall_style *style, int64_t result, struct view_buffer *out)
{
	char text[TEXT_SHORT];

	if (kernel_is_error(result))
		view_buffer_print(out, "%s %s", result <= -ERRNO_OWN ? "?" : "-1",
				  kernel_errno_name((int)-result, text));
	else if (style && style->address)
		view_buffer_print(out, "%#" PRIx64, (uint64_t)result);
	else
		view_buffer_print(out, "%" PRId64, result);
}
