/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arguments of a probe; see probe_arguments.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kernel/probes/probe_arguments.h"

struct type {
	const char *name;
	enum tracepoint_kind kind;
	uint8_t bytes;
	bool is_signed;
};

static const struct type types[] = {
	{ "i8", TRACEPOINT_INTEGER, 1, true },	 { "i16", TRACEPOINT_INTEGER, 2, true },
	{ "i32", TRACEPOINT_INTEGER, 4, true },	 { "i64", TRACEPOINT_INTEGER, 8, true },
	{ "u8", TRACEPOINT_INTEGER, 1, false },	 { "u16", TRACEPOINT_INTEGER, 2, false },
	{ "u32", TRACEPOINT_INTEGER, 4, false }, { "u64", TRACEPOINT_INTEGER, 8, false },
	{ "ptr", TRACEPOINT_POINTER, 8, false }, { "str", TRACEPOINT_USER_TEXT, 8, false },
};

/* A register of x86-64 and its parts, in struct pt_regs. */
struct known_register {
	const char *names[5]; /* of 64, 32, 16, 8 bits, and of the second 8 */
	uint8_t offset;
};

static const struct known_register registers[] = {
	{ { "rax", "eax", "ax", "al", "ah" }, 80 }, { { "rbx", "ebx", "bx", "bl", "bh" }, 40 },
	{ { "rcx", "ecx", "cx", "cl", "ch" }, 88 }, { { "rdx", "edx", "dx", "dl", "dh" }, 96 },
	{ { "rsi", "esi", "si", "sil" }, 104 },	    { { "rdi", "edi", "di", "dil" }, 112 },
	{ { "rbp", "ebp", "bp", "bpl" }, 32 },	    { { "rsp", "esp", "sp", "spl" }, 152 },
	{ { "r8", "r8d", "r8w", "r8b" }, 72 },	    { { "r9", "r9d", "r9w", "r9b" }, 64 },
	{ { "r10", "r10d", "r10w", "r10b" }, 56 },  { { "r11", "r11d", "r11w", "r11b" }, 48 },
	{ { "r12", "r12d", "r12w", "r12b" }, 24 },  { { "r13", "r13d", "r13w", "r13b" }, 16 },
	{ { "r14", "r14d", "r14w", "r14b" }, 8 },   { { "r15", "r15d", "r15w", "r15b" }, 0 },
};

/* rdi, rsi, rdx, rcx, r8, r9 */
static const uint8_t argument_registers[] = { 112, 104, 96, 88, 72, 64 };

/* ---- what the user gives */

/* Words of types: a list of those is one of parameters, which have no names there. */
static bool is_type(const char *text, size_t bytes)
{
	static const char *const words[] = { "bool", "char",	"const",    "double",  "enum",	 "float",
					     "int",  "long",	"short",    "signed",  "struct", "union",
					     "void", "wchar_t", "unsigned", "volatile" };

	for (unsigned n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (strlen(words[n]) == bytes && memcmp(words[n], text, bytes) == 0)
			return true;
	return false;
}

static bool probe_arguments_is_name(const char *text, size_t bytes)
{
	if (!bytes || is_type(text, bytes) || bytes >= TRACEPOINT_NAME || (*text >= '0' && *text <= '9'))
		return false;
	for (size_t n = 0; n < bytes; n++)
		if (!(text[n] >= '0' && text[n] <= '9') &&
		    !((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z') && text[n] != '_')
			return false;
	return true;
}

bool probe_arguments_next(const char **path, char name[TRACEPOINT_NAME])
{
	const size_t bytes = strcspn(*path, "-.");

	if (!bytes || bytes >= TRACEPOINT_NAME)
		return false;
	memcpy(name, *path, bytes);
	name[bytes] = 0;
	*path += bytes;
	*path += strncmp(*path, "->", 2) == 0 ? 2 : **path == '.';
	return true;
}

bool probe_arguments_has_members(const struct probe_arguments *arguments)
{
	for (unsigned n = 0; n < arguments->count; n++)
		if (strpbrk(arguments->list[n].path, "-."))
			return true;
	return false;
}

/* Make the field's name of a path. Return: whether each of its parts is a name. */
static bool probe_arguments_name_field(struct probe_argument *out)
{
	const char *rest = out->path;
	char part[TRACEPOINT_NAME];
	size_t used = 0;

	while (probe_arguments_next(&rest, part)) {
		if (!probe_arguments_is_name(part, strlen(part)))
			return false;
		used += (size_t)snprintf(out->name + used, sizeof(out->name) - used, "%s%s", used ? "_" : "",
					 part);
	}
	return used && !*rest && strchr("-.>", out->path[strlen(out->path) - 1]) == NULL;
}

/* Parse one of the arguments. Return: the text behind it; NULL: it is wrong. */
static const char *probe_arguments_parse_one(struct probe_argument *out, const char *text)
{
	const size_t name = strcspn(text, ":,) ");
	size_t type;

	if (name >= sizeof(out->path))
		return NULL;
	snprintf(out->path, sizeof(out->path), "%.*s", (int)name, text);
	if (!probe_arguments_name_field(out))
		return NULL;
	text += name;
	if (*text != ':')
		return text;
	type = strcspn(++text, ",) ");
	for (unsigned n = 0; n < sizeof(types) / sizeof(types[0]); n++)
		if (strlen(types[n].name) == type && strncmp(types[n].name, text, type) == 0) {
			out->kind = types[n].kind;
			out->bytes = types[n].bytes;
			out->is_signed = types[n].is_signed;
			return text + type;
		}
	return NULL;
}

bool probe_arguments_parse(struct probe_arguments *out, const char *text, char *why)
{
	out->count = 0;
	out->listed = text;
	if (!text)
		return true;
	text += 1 + strspn(text + 1, " ");
	while (*text && *text != ')' && out->count < PROBE_ARGUMENTS_MAX) {
		text = probe_arguments_parse_one(&out->list[out->count++], text);
		if (!text)
			break;
		text += strspn(text, " ");
		if (*text == ',')
			text += 1 + strspn(text + 1, " ");
		else if (*text != ')')
			break;
	}
	if (text && text[0] == ')' && !text[1])
		return true;
	snprintf(why, PROBE_WHY,
		 "the arguments of a probe are (NAME:TYPE, ...), with a TYPE of i8 to i64, u8 to u64, ptr or "
		 "str");
	return false;
}

/* ---- the fields */

static struct tracepoint_field *probe_arguments_add_field(struct tracepoint *point)
{
	struct tracepoint_field *field = &point->fields[point->count++];

	snprintf(field->name, sizeof(field->name), "arg%u", point->count);
	strcpy(field->type, "argument");
	return field;
}

void probe_arguments_adapt(struct tracepoint_field *field, const struct probe_argument *given)
{
	memcpy(field->name, given->name, sizeof(field->name));
	if (given->kind == TRACEPOINT_OTHER || field->kind == TRACEPOINT_OTHER)
		return;
	field->kind = given->kind;
	field->is_signed = given->is_signed;
	/* Memory has no more bytes than the note says, and a text needs the whole address. */
	if (field->source.place != TRACEPOINT_MEMORY || given->bytes < field->bytes)
		field->bytes = given->bytes;
	if (field->bytes != 8 && given->kind != TRACEPOINT_INTEGER)
		field->kind = TRACEPOINT_OTHER;
}

static void take_register(struct tracepoint_field *field, uint8_t place)
{
	field->kind = TRACEPOINT_INTEGER;
	field->is_signed = true;
	field->bytes = 8;
	field->source = (struct tracepoint_source){ .place = TRACEPOINT_REGISTER,
						    .base = place,
						    .index = TRACEPOINT_NO_REGISTER };
}

void probe_arguments_of_return(struct tracepoint *point, const struct probe_arguments *given)
{
	struct tracepoint_field *field = probe_arguments_add_field(point);

	strcpy(field->name, "ret");
	take_register(field, registers[0].offset);
	if (given->count)
		probe_arguments_adapt(field, &given->list[0]);
}

uint8_t probe_arguments_register(unsigned n)
{
	return argument_registers[n % sizeof(argument_registers)];
}

void probe_arguments_of_function(struct tracepoint *point, const struct probe_arguments *given)
{
	for (unsigned n = 0; n < given->count; n++) {
		struct tracepoint_field *field = probe_arguments_add_field(point);

		if (n < sizeof(argument_registers))
			take_register(field, argument_registers[n]);
		probe_arguments_adapt(field, &given->list[n]);
	}
}

/* Parse "%NAME". @shift: set to that of its value. Return: the text behind it; NULL: the register is not known. */
static const char *parse_register(const char *text, uint8_t *offset, uint8_t *shift)
{
	const size_t bytes = *text == '%' ? strcspn(text + 1, "(), ") : 0;

	for (unsigned n = 0; bytes && n < sizeof(registers) / sizeof(registers[0]); n++)
		for (unsigned part = 0; part < 5 && registers[n].names[part]; part++)
			if (strlen(registers[n].names[part]) == bytes &&
			    memcmp(registers[n].names[part], text + 1, bytes) == 0) {
				*offset = registers[n].offset;
				*shift = part == 4 ? 8 : 0;
				return text + 1 + bytes;
			}
	return NULL;
}

/* Parse "[NUMBER](%BASE[,%INDEX[,SCALE]])" or "(,%INDEX,SCALE)". Return: whether it is that. */
static bool parse_memory(const char *text, struct tracepoint_source *out)
{
	uint8_t shift = 0;
	char *end;

	out->number = strtoll(text, &end, 0);
	if (out->number != (int32_t)out->number || *end != '(')
		return false;
	text = end + 1;
	if (*text != ',')
		text = parse_register(text, &out->base, &shift);
	if (text && *text == ',') {
		text = parse_register(text + 1, &out->index, &shift);
		if (text && *text == ',') {
			const long scale = strtol(text + 1, &end, 10);

			out->scale = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
			text = scale == 1 << out->scale ? end : NULL;
		}
	}
	return text && text[0] == ')' && !text[1] && !shift;
}

static bool probe_arguments_parse_place(const char *text, struct tracepoint_source *out)
{
	const char *end;
	char *behind;

	*out = (struct tracepoint_source){ .base = TRACEPOINT_NO_REGISTER, .index = TRACEPOINT_NO_REGISTER };
	if (*text == '$') {
		out->place = TRACEPOINT_NUMBER;
		out->number = strtoll(text + 1, &behind, 0);
		return behind != text + 1 && !*behind;
	}
	if (*text == '%') {
		out->place = TRACEPOINT_REGISTER;
		end = parse_register(text, &out->base, &out->shift);
		return end && !*end;
	}
	out->place = TRACEPOINT_MEMORY;
	return parse_memory(text, out);
}

/* One argument of a note. */
static void parse_argument(struct tracepoint_field *field, const char *text)
{
	char *at;
	const long size = strtol(text, &at, 10);
	const unsigned long bytes = size < 0 ? 0 - (unsigned long)size : (unsigned long)size;

	/* Without a size, older assemblers mean a whole register. */
	if (at == text && *text != '@') {
		field->bytes = 8;
	} else if (*at == '@' && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) {
		field->bytes = (uint8_t)bytes;
		field->is_signed = size < 0;
		at++;
	} else {
		return;
	}
	if (probe_arguments_parse_place(at, &field->source))
		field->kind = TRACEPOINT_INTEGER;
}

void probe_arguments_of_note(struct tracepoint *point, const struct probe_arguments *given, const char *text)
{
	while (*(text += strspn(text, " ")) && point->count < PROBE_ARGUMENTS_MAX) {
		const size_t bytes = strcspn(text, " ");
		struct tracepoint_field *field = probe_arguments_add_field(point);
		char one[64];

		if (bytes < sizeof(one)) {
			snprintf(one, sizeof(one), "%.*s", (int)bytes, text);
			parse_argument(field, one);
		}
		if (point->count <= given->count)
			probe_arguments_adapt(field, &given->list[point->count - 1]);
		text += bytes;
	}
}
