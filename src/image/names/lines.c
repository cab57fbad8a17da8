/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lines and inlined functions; see lines.h. */
#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/containers/array.h"
#include "image/names/dwarf_text.h"
#include "image/names/lines.h"

enum {
	DEPTH_MAX = 512, /* of nested DIEs; only damaged DWARF is deeper */
};

/* Code of a compilation unit. */
struct range {
	size_t first, last; /* addresses in it, from first to before last */
	Dwarf_Die unit;	    /* has the line table */
	Dwarf_Die code;	    /* describes the code; the same unless it was split off */
};

struct ranges {
	struct range *all;
	size_t count, room;
};

/* A function around an address; those of one address are a list, since their number is not known in advance. */
struct frame {
	uint32_t inner; /* number of the next, plus 1; 0: none */
	uint32_t line;	/* where it is called */
	const char *function, *file;
};

struct chain {
	uint32_t first, last, count; /* frames, the outermost first; numbers plus 1 */
	bool reported;
	uint64_t begin, end;
};

struct walk {
	const uint64_t *addresses;
	size_t address_count;
	struct chain *chains; /* of each address */
	struct frame *frames;
	size_t count, room;
	Dwarf_Files *files;
	bool no_memory;
};

/* The first of addresses[from] to addresses[to - 1] that is not below @address; @to: none. */
static size_t lines_first_from(const uint64_t *addresses, size_t from, size_t to, uint64_t address)
{
	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (addresses[middle] < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* ---- compilation units and their code */

static int add_range(struct ranges *ranges, const struct range *range)
{
	if (!array_reserve(ranges->all, ranges->room, ranges->count + 1))
		return -ENOMEM;
	ranges->all[ranges->count++] = *range;
	return 0;
}

/* Adds the ranges of a unit that contain addresses. */
static int read_unit(struct ranges *ranges, Dwarf_Die *unit, Dwarf_Die *code, const struct walk *walk)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int error = 0;

	while (!error && (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
		const size_t first = lines_first_from(walk->addresses, 0, walk->address_count, begin);
		const size_t last = lines_first_from(walk->addresses, first, walk->address_count, end);

		if (first < last)
			error = add_range(ranges, &(struct range){ first, last, *unit, *code });
	}
	return error;
}

/* Adds the ranges of all units, those of one unit in a row. Return: 0 or -ENOMEM. */
static int read_units(struct ranges *ranges, Dwarf *dwarf, const struct walk *walk)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit, split;
	uint8_t type;
	int error = 0;

	while (!error && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, &split) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			error = read_unit(ranges, &unit, split.addr ? &split : &unit, walk);
	return error;
}

/* ---- functions */

static const char *lines_text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_text(dwarf_attr_integrate(die, name, &attribute));
}

static const char *lines_function_of(Dwarf_Die *die)
{
	const char *name = lines_text_of(die, DW_AT_linkage_name);

	if (!name)
		name = lines_text_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : lines_text_of(die, DW_AT_name);
}

static uint64_t lines_number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

static void lines_add_frame(struct walk *walk, struct chain *chain, const struct frame *frame)
{
	if (chain->count == LINES_FRAMES_MAX)
		return;
	if (!array_reserve_max(walk->frames, walk->room, walk->count + 1, UINT32_MAX)) {
		walk->no_memory = true;
		return;
	}
	walk->frames[walk->count++] = *frame;
	if (chain->last)
		walk->frames[chain->last - 1].inner = (uint32_t)walk->count;
	else
		chain->first = (uint32_t)walk->count;
	chain->last = (uint32_t)walk->count;
	chain->count++;
}

/* The addresses with the numbers from `from` to before `to` are in a function, or in one that was inlined. */
static void lines_enter(struct walk *walk, Dwarf_Die *die, bool inlined, size_t from, size_t to,
			uint64_t begin, uint64_t end)
{
	struct frame frame = { .function = lines_function_of(die) };

	if (inlined) {
		frame.line = (uint32_t)lines_number_of(die, DW_AT_call_line);
		if (walk->files)
			frame.file =
				dwarf_filesrc(walk->files, lines_number_of(die, DW_AT_call_file), NULL, NULL);
	}
	for (size_t n = from; n < to; n++) {
		struct chain *chain = &walk->chains[n];

		if (!inlined)
			*chain = (struct chain){ .begin = begin, .end = end, .reported = chain->reported };
		else if (!chain->count)
			continue; /* inlined into nothing */
		lines_add_frame(walk, chain, &frame);
	}
}

static void lines_walk_children(struct walk *walk, Dwarf_Die *parent, size_t from, size_t to, unsigned depth);

/* Visits a DIE with code of its own, as far as addresses are in it. */
static void walk_code(struct walk *walk, Dwarf_Die *die, int tag, size_t from, size_t to, unsigned depth)
{
	size_t lowest = to, highest = from;
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		const size_t first = lines_first_from(walk->addresses, from, to, begin);
		const size_t last = lines_first_from(walk->addresses, first, to, end);

		if (first == last)
			continue;
		if (tag != DW_TAG_lexical_block)
			lines_enter(walk, die, tag == DW_TAG_inlined_subroutine, first, last, begin, end);
		lowest = first < lowest ? first : lowest;
		highest = last > highest ? last : highest;
	}
	if (lowest < highest)
		lines_walk_children(walk, die, lowest, highest, depth + 1);
}

static void walk_die(struct walk *walk, Dwarf_Die *die, size_t from, size_t to, unsigned depth)
{
	const int tag = dwarf_tag(die);

	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
		walk_code(walk, die, tag, from, to, depth);
		break;
	case DW_TAG_namespace: /* compilers other than gcc put functions there */
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		lines_walk_children(walk, die, from, to, depth + 1);
		break;
	default:
		break;
	}
}

/* Return: whether there was a next one. In damaged DWARF the next one may be an earlier one: that ends the walk. */
static bool next_sibling(Dwarf_Die *die)
{
	const void *was = die->addr;

	return dwarf_siblingof(die, die) == 0 && (const char *)die->addr > (const char *)was;
}

static void lines_walk_children(struct walk *walk, Dwarf_Die *parent, size_t from, size_t to, unsigned depth)
{
	Dwarf_Die die;
	bool more = depth < DEPTH_MAX && dwarf_child(parent, &die) == 0;

	while (more) {
		walk_die(walk, &die, from, to, depth);
		more = next_sibling(&die);
	}
}

/* Visits functions within functions, whose code is outside of the outer function. */
static void walk_nested(struct walk *walk, Dwarf_Die *parent, size_t from, size_t to, unsigned depth)
{
	Dwarf_Die die;
	bool more = depth < DEPTH_MAX && dwarf_child(parent, &die) == 0;

	while (more) {
		const int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			walk_code(walk, &die, tag, from, to, depth);
		if (dwarf_haschildren(&die) > 0)
			walk_nested(walk, &die, from, to, depth + 1);
		more = next_sibling(&die);
	}
}

/* ---- one unit */

static void report_one(const struct walk *walk, size_t number, const char *file, uint32_t line,
		       void (*found)(void *data, size_t number, const struct lines_location *location),
		       void *data)
{
	struct lines_frame frames[LINES_FRAMES_MAX];
	const struct chain *chain = &walk->chains[number];
	struct lines_location location = { frames, chain->count, chain->begin, chain->end };
	uint32_t at = chain->first;

	/* In DWARF, the line of a call is an attribute of the inlined function; here it is the caller's line. */
	for (unsigned n = chain->count; n-- && at; at = walk->frames[at - 1].inner) {
		const struct frame *frame = &walk->frames[at - 1];
		const struct frame *inner = frame->inner ? &walk->frames[frame->inner - 1] : NULL;

		frames[n] = (struct lines_frame){
			.function = frame->function,
			.file = inner ? inner->file : file,
			.line = inner ? inner->line : line,
		};
	}
	if (!location.count && file) {
		frames[0] = (struct lines_frame){ NULL, file, line };
		location.count = 1;
	}
	found(data, number, &location);
}

static void lines_find_line(Dwarf_Die *unit, uint64_t address, const char **file, uint32_t *number)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int value;

	*file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	*number = line && dwarf_lineno(line, &value) == 0 && value > 0 ? (uint32_t)value : 0;
}

static bool all_found(const struct walk *walk, const struct range *ranges, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		for (size_t at = ranges[n].first; at < ranges[n].last; at++)
			if (!walk->chains[at].count)
				return false;
	}
	return true;
}

/* Reports the addresses in the ranges of one unit. */
static void find_in_unit(struct walk *walk, struct range *ranges, size_t count,
			 void (*found)(void *data, size_t number, const struct lines_location *location),
			 void *data)
{
	size_t lowest = ranges->first, highest = ranges->last, files;

	for (size_t n = 1; n < count; n++) {
		lowest = ranges[n].first < lowest ? ranges[n].first : lowest;
		highest = ranges[n].last > highest ? ranges[n].last : highest;
	}
	walk->count = 0;
	if (dwarf_getsrcfiles(&ranges->code, &walk->files, &files) != 0)
		walk->files = NULL;
	lines_walk_children(walk, &ranges->code, lowest, highest, 0);
	if (!all_found(walk, ranges, count))
		walk_nested(walk, &ranges->code, lowest, highest, 0);
	for (size_t n = 0; n < count; n++) {
		for (size_t at = ranges[n].first; at < ranges[n].last; at++) {
			const char *file;
			uint32_t line;

			if (walk->chains[at].reported)
				continue;
			walk->chains[at].reported = true;
			lines_find_line(&ranges->unit, walk->addresses[at], &file, &line);
			report_one(walk, at, file, line, found, data);
		}
	}
}

int lines_find(Dwarf *dwarf, const uint64_t *addresses, size_t count,
	       void (*found)(void *data, size_t number, const struct lines_location *location), void *data)
{
	struct walk walk = { .addresses = addresses, .address_count = count };
	struct ranges ranges = { 0 };
	int error = -ENOMEM;

	walk.chains = calloc(count + 1, sizeof(*walk.chains));
	if (walk.chains)
		error = read_units(&ranges, dwarf, &walk);
	for (size_t n = 0, next; n < ranges.count && !error; n = next) {
		for (next = n + 1;
		     next < ranges.count && ranges.all[next].unit.addr == ranges.all[n].unit.addr;)
			next++;
		find_in_unit(&walk, &ranges.all[n], next - n, found, data);
		error = walk.no_memory ? -ENOMEM : 0;
	}
	for (size_t n = 0; n < count && !error; n++) {
		if (!walk.chains[n].reported)
			found(data, n, &(struct lines_location){ 0 });
	}
	free(ranges.all);
	free(walk.chains);
	free(walk.frames);
	return error;
}
