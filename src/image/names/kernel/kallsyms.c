/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A kernel's table of its own functions; see kallsyms.h. */
#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "image/names/kernel/kallsyms.h"

enum {
	TOKENS = 256,
	INDEX_BYTES = TOKENS * 2,
	PER_MARKER = 256,
	NAME_MAX_BYTES = 1024, /* of a name with its type; Linux has at most 512 */
	ALIGNMENT = 8,
	ORDER_BYTES = 3, /* of an entry in the order by names */
};

struct tables {
	const unsigned char *bytes;
	size_t end;	      /* of the part */
	size_t tokens, index; /* positions in the part, as all of these */
	size_t count_at, names, markers;
	size_t count; /* of names */
	size_t offsets;
	uint64_t base;
	bool absolute; /* an offset that is not negative is an address */
};

static size_t kallsyms_aligned(size_t at)
{
	return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Return: false: too much was done, by data that were made for that. */
static bool kallsyms_spend(struct kallsyms_reader *reader, uint64_t steps)
{
	const bool enough = steps <= reader->steps;

	reader->steps = enough ? reader->steps - steps : 0;
	return enough;
}

/* ---- Tokens: the only tables that can be recognised by themselves */

static unsigned token_at(const struct tables *tables, unsigned code)
{
	return number_load16(tables->bytes + tables->index + 2 * (size_t)code);
}

/* Whether there are 256 numbers that rise from 0. Those of other tables rise by 1: texts have a character each, on average. */
static bool is_index(const struct tables *tables)
{
	if (token_at(tables, 0) || token_at(tables, TOKENS - 1) < 2 * (TOKENS - 1))
		return false;
	for (unsigned code = 1; code < TOKENS; code++)
		if (token_at(tables, code) <= token_at(tables, code - 1))
			return false;
	return true;
}

/* Whether each text begins where the index has it, behind the end of the one before. */
static bool is_tokens(const struct tables *tables, size_t at)
{
	for (unsigned code = 0; code < TOKENS; code++) {
		const bool last = code == TOKENS - 1;
		const size_t begin = at + token_at(tables, code);
		const size_t end = last ? tables->index : at + token_at(tables, code + 1);
		const unsigned char *nul = memchr(tables->bytes + begin, 0, end - begin);
		const size_t behind = nul ? (size_t)(nul - tables->bytes) + 1 : 0;

		if (!nul || (last ? kallsyms_aligned(behind) : behind) != end)
			return false;
	}
	return true;
}

/* The texts before an index: only how long the last one is, is not known. */
static bool find_texts(struct kallsyms_reader *reader, struct tables *tables)
{
	const size_t least = token_at(tables, TOKENS - 1) + 1, most = least + NAME_MAX_BYTES + ALIGNMENT;

	for (size_t bytes = kallsyms_aligned(least);
	     bytes <= most && bytes <= tables->index && kallsyms_spend(reader, least); bytes += ALIGNMENT) {
		tables->tokens = tables->index - bytes;
		if (is_tokens(tables, tables->tokens))
			return true;
	}
	return false;
}

static bool find_tokens(struct kallsyms_reader *reader, struct tables *tables)
{
	for (; tables->index + INDEX_BYTES <= tables->end && kallsyms_spend(reader, 1);
	     tables->index += ALIGNMENT)
		if (is_index(tables) && find_texts(reader, tables))
			return true;
	return false;
}

/* ---- Names */

/* Where a name's codes begin. Return: the position behind them; 0: they do not end before the tokens. */
static size_t kallsyms_name_at(const struct tables *tables, size_t at, size_t *codes)
{
	const unsigned char *bytes = tables->bytes;
	const size_t wide = bytes[at] >> 7, limit = tables->tokens; /* whether the length has two bytes */
	size_t length = bytes[at] & 0x7f;

	if (at + 1 + wide >= limit)
		return 0;
	if (wide)
		length |= (size_t)bytes[at + 1] << 7;
	*codes = at + 1 + wide;
	return length && length <= limit - *codes ? *codes + length : 0;
}

/* Whether the markers behind the names show the places of these. */
static bool is_marked(const struct tables *tables)
{
	size_t at = tables->names, codes;

	for (size_t n = 0; n < tables->count; n++) {
		if (n % PER_MARKER == 0 && number_load32(tables->bytes + tables->markers +
							 4 * (n / PER_MARKER)) != at - tables->names)
			return false;
		at = kallsyms_name_at(tables, at, &codes);
	}
	return true;
}

/* Whether there are as many names as a count says, and the next tables up to the tokens. */
static bool kallsyms_is_names(struct kallsyms_reader *reader, struct tables *tables)
{
	const uint64_t count = number_load64(tables->bytes + tables->count_at);
	const size_t rest = tables->tokens - tables->count_at;
	size_t at = tables->names = tables->count_at + ALIGNMENT, codes, behind;

	if (!count || count > rest / 2)
		return false;
	tables->count = (size_t)count;
	for (size_t n = 0; n < count; n++) {
		at = at < tables->tokens && kallsyms_spend(reader, 1) ? kallsyms_name_at(tables, at, &codes)
								      : 0;
		if (!at)
			return false;
	}
	tables->markers = kallsyms_aligned(at);
	behind = kallsyms_aligned(tables->markers + 4 * ((tables->count + PER_MARKER - 1) / PER_MARKER));
	return (behind == tables->tokens ||
		kallsyms_aligned(behind + ORDER_BYTES * tables->count) == tables->tokens) &&
	       is_marked(tables);
}

static bool kallsyms_find_names(struct kallsyms_reader *reader, struct tables *tables)
{
	for (tables->count_at = tables->tokens; tables->count_at >= ALIGNMENT && kallsyms_spend(reader, 1);) {
		tables->count_at -= ALIGNMENT;
		if (kallsyms_is_names(reader, tables))
			return true;
	}
	return false;
}

/* A name with its type. Return: false: it is too long, or has no characters that are those of a name. */
static bool kallsyms_expand(const struct tables *tables, size_t from, size_t end,
			    char out[NAME_MAX_BYTES + 1])
{
	size_t used = 0;

	for (size_t at = from; at < end; at++) {
		const char *token =
			(const char *)tables->bytes + tables->tokens + token_at(tables, tables->bytes[at]);

		for (; *token && used < NAME_MAX_BYTES; token++) {
			if (*token == 0x7f || (unsigned char)*token <= ' ')
				return false;
			out[used++] = *token;
		}
		if (*token)
			return false;
	}
	out[used] = 0;
	return used >= 2;
}

static bool kallsyms_is_function(char type)
{
	return type && strchr("tTwW", type);
}

/* ---- Addresses */

static int32_t offset_at(const struct tables *tables, size_t n)
{
	return (int32_t)number_load32(tables->bytes + tables->offsets + 4 * n);
}

static uint64_t address_at(const struct tables *tables, size_t n)
{
	const int32_t offset = offset_at(tables, n);

	if (!tables->absolute)
		return tables->base + (uint32_t)offset;
	return offset >= 0 ? (uint64_t)offset : tables->base + (uint64_t)(-1 - (int64_t)offset);
}

/*
 * Where a CPU's own variables have addresses from 0, offsets of 32 bits do not reach both them and the kernel: those that are not negative are
 * addresses. Then the functions have negative ones, and otherwise none has.
 */
static bool has_absolute(const struct tables *tables)
{
	size_t at = tables->names, codes;

	for (size_t n = 0; n < tables->count; n++) {
		at = kallsyms_name_at(tables, at, &codes);
		if (offset_at(tables, n) < 0 &&
		    kallsyms_is_function(
			    (char)tables->bytes[tables->tokens + token_at(tables, tables->bytes[codes])]))
			return true;
	}
	return false;
}

/* Whether addresses and their base are there: names are in the order of addresses. */
static bool is_addresses(struct kallsyms_reader *reader, struct tables *tables, size_t offsets, size_t base)
{
	tables->offsets = offsets;
	tables->base = number_load64(tables->bytes + base);
	if (!reader->is_base(reader->context, tables->base))
		return false;
	tables->absolute = has_absolute(tables);
	for (size_t n = 1; n < tables->count; n++)
		if (address_at(tables, n) < address_at(tables, n - 1))
			return false;
	return true;
}

static bool kallsyms_find_addresses(struct kallsyms_reader *reader, struct tables *tables)
{
	const size_t bytes = kallsyms_aligned(4 * tables->count), behind = tables->index + INDEX_BYTES;

	return (tables->end - behind >= bytes + 8 && is_addresses(reader, tables, behind, behind + bytes)) ||
	       (tables->count_at >= bytes + 8 &&
		is_addresses(reader, tables, tables->count_at - 8 - bytes, tables->count_at - 8));
}

/* ---- All */

static int kallsyms_add_functions(struct kallsyms_reader *reader, const struct tables *tables)
{
	char name[NAME_MAX_BYTES + 1];
	size_t at = tables->names, codes;
	int error = 0;

	for (size_t n = 0; !error && n < tables->count; n++) {
		at = kallsyms_name_at(tables, at, &codes);
		if (!kallsyms_expand(tables, codes, at, name))
			return -EUCLEAN;
		if (kallsyms_is_function(name[0]))
			error = reader->add(reader->context, address_at(tables, n), name + 1);
	}
	return error;
}

int kallsyms_read(struct kallsyms_reader *reader, const unsigned char *bytes, size_t count)
{
	struct tables tables = { .bytes = bytes, .end = count };

	if (!find_tokens(reader, &tables))
		return -ENOEXEC;
	if (!kallsyms_find_names(reader, &tables) || !kallsyms_find_addresses(reader, &tables))
		return -EUCLEAN;
	return kallsyms_add_functions(reader, &tables);
}
