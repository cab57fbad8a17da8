/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of the kernel; see kernel_function.h.
 *
 * All comes from the kernel's types (BTF): which functions there are, the parameters with their types, and where
 * members are. A point's `function` is the number of the function's type, by which the program is loaded and
 * attached.
 *
 * The types are the kernel's own file. Even so, numbers and names are checked before use, typedefs and structures
 * without a name are followed to a bounded depth, and a type that is not understood makes a field that is not
 * recorded, or a reason in words.
 *
 * A member is a list of steps: at each pointer a new one, with the offset in what it points to; members of members
 * add to the last offset. The program reads a pointer at each step (kernel_put_argument()), as plain bytes. A pointer
 * that leads nowhere gives 0: the kernel's helper cannot fault.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/number.h"
#include "image/elf/btf.h"
#include "source/kernel/probes/kernel_function.h"

enum {
	/* Of the format: kinds, and the bytes of a type and of a parameter. */
	KIND_INTEGER = 1,
	KIND_POINTER = 2,
	KIND_ARRAY = 3,
	KIND_STRUCTURE = 4,
	KIND_UNION = 5,
	KIND_ENUM = 6,
	KIND_TYPEDEF = 8,
	KIND_VOLATILE = 9,
	KIND_CONST = 10,
	KIND_RESTRICT = 11,
	KIND_FUNCTION = 12,
	KIND_PROTOTYPE = 13,
	KIND_TAG = 18,
	KIND_ENUM64 = 19,
	TYPE = 12,
	PARAMETER = 8,
	MEMBER = 12,
	MEMBER_BITS = 1 << 24, /* in a structure with bit fields: the size of one is above */
	MEMBERS_DEEP = 8,      /* structures without a name in structures */
	INTEGER_SIGNED = 1 << 24,
	NAMES_DEEP = 16,	  /* typedefs of typedefs */
	FUNCTION_PARAMETERS = 12, /* of a function; the kernel's trampolines take so many at most */
	FUNCTIONS_MAX = 1024,
};

static const char of_entry[] = "k:", of_return[] = "kret:", types_file[] = "/sys/kernel/btf/vmlinux";

struct description {
	char text[256];
	bool returns;
	struct probe_arguments arguments;
};

/* The kernel's types. */
struct types {
	struct btf btf;
	char *bytes;
};

bool kernel_function_is_one(const char *text)
{
	return strncmp(text, of_entry, strlen(of_entry)) == 0 ||
	       strncmp(text, of_return, strlen(of_return)) == 0;
}

static int kernel_function_open_types(struct types *types)
{
	const int file = open(types_file, O_RDONLY | O_CLOEXEC);
	struct stat status;
	size_t bytes = 0;
	ssize_t got = 1;
	int error = 0;

	if (file < 0)
		return -errno;
	if (fstat(file, &status) != 0 || status.st_size <= 0 || status.st_size > BTF_BYTES_MAX)
		error = -ENOEXEC;
	types->bytes = error ? NULL : malloc((size_t)status.st_size);
	while (types->bytes && got > 0 && bytes < (size_t)status.st_size) {
		got = read(file, types->bytes + bytes, (size_t)status.st_size - bytes);
		bytes += got > 0 ? (size_t)got : 0;
	}
	close(file);
	if (error || !types->bytes)
		return error ? error : -ENOMEM;
	return btf_open(&types->btf, types->bytes, bytes);
}

/* A type, which lies in the kernel's own file. Return: NULL: there is none of that number. */
static const char *type_at(const struct btf *btf, uint32_t number, unsigned *kind, unsigned *count)
{
	const char *at;

	if (!number || number > btf->count)
		return NULL;
	at = btf->types + btf->places[number - 1];
	*kind = number_load32(at + 4) >> 24 & 31;
	*count = number_load32(at + 4) & 0xffff;
	return at;
}

static const char *kernel_function_name_at(const struct btf *btf, uint32_t offset)
{
	return offset < btf->string_bytes ? btf->strings + offset : "";
}

/* A type without its names and qualifiers. @number: set to its number, if it is not NULL. Return: NULL: there is none. */
static const char *plain_type(const struct btf *btf, uint32_t *number, unsigned *kind, unsigned *count)
{
	const char *at = NULL;

	for (int deep = 0; deep < NAMES_DEEP; deep++) {
		at = type_at(btf, *number, kind, count);
		if (!at || (*kind != KIND_TYPEDEF && *kind != KIND_VOLATILE && *kind != KIND_CONST &&
			    *kind != KIND_RESTRICT && *kind != KIND_TAG))
			break;
		*number = number_load32(at + 8);
	}
	return at;
}

/* Give a field the type of a parameter. A structure by value, or a number of a floating point, is none. */
static void kernel_function_take_type(const struct btf *btf, uint32_t number, struct tracepoint_field *field)
{
	unsigned kind = 0, count = 0;
	const char *at = plain_type(btf, &number, &kind, &count);

	if (!at)
		return;
	field->bytes = 8;
	if (kind == KIND_POINTER)
		field->kind = TRACEPOINT_POINTER;
	if (kind != KIND_INTEGER && kind != KIND_ENUM && kind != KIND_ENUM64)
		return;
	field->bytes = (uint8_t)number_load32(at + 8);
	field->is_signed = kind == KIND_INTEGER ? number_load32(at + TYPE) & INTEGER_SIGNED
						: number_load32(at + 4) >> 31;
	if (field->bytes == 1 || field->bytes == 2 || field->bytes == 4 || field->bytes == 8)
		field->kind = TRACEPOINT_INTEGER;
}

static void kernel_function_add_field(struct tracepoint *point, const struct btf *btf, uint32_t type,
				      const char *name, unsigned place)
{
	struct tracepoint_field *field = &point->fields[point->count++];

	snprintf(field->name, sizeof(field->name), "%s", name);
	strcpy(field->type, "parameter");
	field->source = (struct tracepoint_source){ .place = TRACEPOINT_CONTEXT,
						    .base = (uint8_t)(place * 8),
						    .index = TRACEPOINT_NO_REGISTER };
	kernel_function_take_type(btf, type, field);
}

/* ---- members of structures */

/*
 * Find a member of a structure, or of those without a name inside.
 * @offset: its bytes are added; @type: set to its type's number
 * Return: NULL; why it cannot be recorded, as a phrase.
 */
static const char *kernel_function_find_member(const struct btf *btf, uint32_t structure, const char *name,
					       uint32_t *offset, uint32_t *type, int deep)
{
	static const char missing[] = "there is no such member";
	unsigned kind = 0, count = 0;
	const char *at = plain_type(btf, &structure, &kind, &count), *why = missing;

	if (!at || (kind != KIND_STRUCTURE && kind != KIND_UNION) || deep == MEMBERS_DEEP)
		return deep ? missing : "it leads to no structure";
	for (unsigned n = 0; n < count && why == missing; n++) {
		const char *member = at + TYPE + n * MEMBER,
			   *named = kernel_function_name_at(btf, number_load32(member));
		const bool has_bits = number_load32(at + 4) >> 31;
		const uint32_t bits = number_load32(member + 8),
			       bytes = (has_bits ? bits & (MEMBER_BITS - 1) : bits) / 8;

		if (*named && strcmp(named, name) == 0) {
			*offset += bytes;
			*type = number_load32(member + 4);
			why = has_bits && bits / MEMBER_BITS ? "it is a bit field" : NULL;
		} else if (!*named) {
			uint32_t inside = *offset + bytes;

			why = kernel_function_find_member(btf, number_load32(member + 4), name, &inside, type,
							  deep + 1);
			*offset = why == missing ? *offset : inside;
		}
	}
	return why;
}

/* Whether a type is an array of characters, which a field has as a text. */
static bool kernel_function_is_text(const struct btf *btf, uint32_t type)
{
	unsigned kind = 0, count = 0;
	const char *at = plain_type(btf, &type, &kind, &count);
	uint32_t element;

	if (!at || kind != KIND_ARRAY)
		return false;
	element = number_load32(at + TYPE);
	at = plain_type(btf, &element, &kind, &count);
	return at && kind == KIND_INTEGER && number_load32(at + 8) == 1;
}

/* Step from a pointer or a structure to one of its members. Return: NULL; why not, as a phrase. */
static const char *step_to(const struct btf *btf, struct tracepoint_source *source, uint32_t *type,
			   const char *name)
{
	unsigned kind = 0, count = 0;
	const char *at = plain_type(btf, type, &kind, &count), *why;
	uint32_t offset = 0;

	if (at && kind == KIND_POINTER) {
		if (source->steps == TRACEPOINT_STEPS)
			return "it is behind too many pointers";
		source->offsets[source->steps++] = 0;
		*type = number_load32(at + 8);
	} else if (!source->steps) {
		return "it is no pointer to a structure";
	}
	offset = source->offsets[source->steps - 1];
	why = kernel_function_find_member(btf, *type, name, &offset, type, 0);
	if (!why && offset > UINT16_MAX)
		return "it lies too far from its structure's beginning";
	source->offsets[source->steps - 1] = (uint16_t)offset;
	return why;
}

/* Let a field be a member of what a parameter points to. @path: behind the parameter's name. Return: NULL; why not, as a phrase. */
static const char *take_members(const struct btf *btf, struct tracepoint_field *field, uint32_t type,
				const char *path)
{
	char name[TRACEPOINT_NAME];
	const char *why = NULL;

	while (!why && probe_arguments_next(&path, name))
		why = step_to(btf, &field->source, &type, name);
	if (why)
		return why;
	field->kind = TRACEPOINT_OTHER;
	kernel_function_take_type(btf, type, field);
	if (field->kind == TRACEPOINT_OTHER && kernel_function_is_text(btf, type)) {
		field->source.is_address = true;
		field->kind = TRACEPOINT_KERNEL_TEXT;
	}
	return field->kind == TRACEPOINT_OTHER ? "it is no number, pointer or text" : NULL;
}

/* ---- the fields */

/* A parameter that is wanted, or a member behind it. Return: whether it is there. */
static bool choose_one(struct tracepoint *point, const struct btf *btf, const char *prototype, unsigned count,
		       const struct probe_argument *wanted, char why[PROBE_WHY])
{
	const char *path = wanted->path, *wrong;
	char name[TRACEPOINT_NAME] = "";
	struct tracepoint_field *field;
	unsigned place = 0;
	uint32_t type;

	probe_arguments_next(&path, name);
	while (place < count &&
	       strcmp(kernel_function_name_at(btf, number_load32(prototype + TYPE + place * PARAMETER)),
		      name) != 0)
		place++;
	if (place == count) {
		snprintf(why, PROBE_WHY, "%s has no parameter %s", point->name, name);
		return false;
	}
	type = number_load32(prototype + TYPE + place * PARAMETER + 4);
	kernel_function_add_field(point, btf, type, name, place);
	field = &point->fields[point->count - 1];
	wrong = *path ? take_members(btf, field, type, path) : NULL;
	if (wrong) {
		snprintf(why, PROBE_WHY, "%s of %s: %s", wanted->path, point->name, wrong);
		return false;
	}
	probe_arguments_adapt(field, wanted);
	if (field->kind == TRACEPOINT_USER_TEXT || field->source.is_address)
		field->kind = TRACEPOINT_KERNEL_TEXT;
	return true;
}

/* The parameters that are wanted, in the user's order. Return: whether all of them are there. */
static bool kernel_function_choose(struct tracepoint *point, const struct btf *btf, const char *prototype,
				   unsigned count, const struct probe_arguments *wanted, char why[PROBE_WHY])
{
	for (unsigned n = 0; n < wanted->count; n++)
		if (!choose_one(point, btf, prototype, count, &wanted->list[n], why))
			return false;
	return true;
}

/* Return: 0; 1: the function's parameters are not such that it can be attached to; -EINVAL. */
static int make_point(struct tracepoint *point, const struct btf *btf, const char *function,
		      const struct description *description, char why[PROBE_WHY])
{
	unsigned kind, count;
	const char *prototype = type_at(btf, number_load32(function + 8), &kind, &count);

	if (!prototype || kind != KIND_PROTOTYPE || count > FUNCTION_PARAMETERS)
		return 1;
	if (description->returns)
		kernel_function_add_field(point, btf, number_load32(prototype + 8), "ret", count);
	else if (description->arguments.count)
		return kernel_function_choose(point, btf, prototype, count, &description->arguments, why)
			       ? 0
			       : -EINVAL;
	for (unsigned n = 0; n < count && !description->returns; n++)
		kernel_function_add_field(
			point, btf, number_load32(prototype + TYPE + n * PARAMETER + 4),
			kernel_function_name_at(btf, number_load32(prototype + TYPE + n * PARAMETER)), n);
	return 0;
}

static int kernel_function_find_types(const struct btf *btf, const struct description *description,
				      int (*take)(void *context, const struct tracepoint *), void *context,
				      char why[PROBE_WHY])
{
	unsigned kind, count, found = 0;
	int error = 0;

	for (uint32_t n = 1; n <= btf->count && error >= 0; n++) {
		const char *at = type_at(btf, n, &kind, &count),
			   *name = kernel_function_name_at(btf, number_load32(at));
		struct tracepoint point = { .id = KERNEL_FUNCTION_FIRST_ID + 2 * n + description->returns,
					    .function = n,
					    .is_return = description->returns };

		if (kind != KIND_FUNCTION || strlen(name) >= sizeof(point.name) ||
		    !glob_match(description->text, name))
			continue;
		strcpy(point.system, description->returns ? "kret" : "k");
		strcpy(point.name, name);
		error = make_point(&point, btf, at, description, why);
		if (error)
			continue;
		if (found++ == FUNCTIONS_MAX) {
			snprintf(why, PROBE_WHY, "more than %d functions of the kernel match; name fewer",
				 FUNCTIONS_MAX);
			return -E2BIG;
		}
		tracepoint_make_event(&point);
		error = take(context, &point);
	}
	if (error >= 0 && !found)
		snprintf(why, PROBE_WHY, "no function of the kernel matches %.60s", description->text);
	return error < 0 ? error : found ? 0 : -ENOENT;
}

int kernel_function_find(const char *text, int (*take)(void *context, const struct tracepoint *),
			 void *context, char why[PROBE_WHY])
{
	struct description description = { .returns = strncmp(text, of_return, strlen(of_return)) == 0 };
	struct types types = { .bytes = NULL };
	char *parenthesis;
	int error;

	text += strlen(description.returns ? of_return : of_entry);
	if (!*text || (size_t)snprintf(description.text, sizeof(description.text), "%s", text) >=
			      sizeof(description.text)) {
		snprintf(why, PROBE_WHY, "give k:FUNCTION");
		return -EINVAL;
	}
	parenthesis = strchr(description.text, '(');
	if (!probe_arguments_parse(&description.arguments, parenthesis, why))
		return -EINVAL;
	if (parenthesis)
		*parenthesis = 0;
	error = kernel_function_open_types(&types);
	if (error)
		snprintf(why, PROBE_WHY, "%s: %s; functions of the kernel need its types (BTF)", types_file,
			 strerror(-error));
	else
		error = kernel_function_find_types(&types.btf, &description, take, context, why);
	if (types.bytes)
		btf_close(&types.btf);
	free(types.bytes);
	return error;
}
