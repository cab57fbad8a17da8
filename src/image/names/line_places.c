/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The places of a line; see line_places.h. */
#include <string.h>

#include <dwarf.h>

#include "image/names/line_places.h"

/* A line with code, and one of its addresses; 0: there is none. */
struct near {
	uint32_t line;
	uint64_t address;
};

struct search {
	const struct line_places *wanted;
	bool found;
	struct near before, behind;
};

/* A row of a line table. */
struct row {
	Dwarf_Addr address;
	uint32_t line; /* 0: of another file, or the end of a sequence */
	bool begins;   /* a statement */
};

static bool is_file(const char *path, const char *file)
{
	const size_t all = strlen(path), bytes = strlen(file);

	return all >= bytes && strcmp(path + all - bytes, file) == 0 &&
	       (all == bytes || path[all - bytes - 1] == '/');
}

static struct row line_places_read_row(const struct search *search, Dwarf_Line *line)
{
	const char *path = dwarf_linesrc(line, NULL, NULL);
	struct row row = { .line = 0 };
	bool ends = false;
	int number = 0;

	if (dwarf_lineaddr(line, &row.address) != 0 || dwarf_lineendsequence(line, &ends) != 0 || ends)
		return row;
	dwarf_linebeginstatement(line, &row.begins);
	if (path && is_file(path, search->wanted->file) && dwarf_lineno(line, &number) == 0 && number > 0)
		row.line = (uint32_t)number;
	return row;
}

static void take_near(struct search *search, const struct row *row)
{
	struct near *near = row->line < search->wanted->line ? &search->before : &search->behind;

	if (!near->line || (near == &search->before ? row->line > near->line : row->line < near->line))
		*near = (struct near){ row->line, row->address };
}

/* Rows of one line after each other are one piece; its begin is its first statement. */
static void search_table(struct search *search, Dwarf_Lines *lines, size_t count)
{
	const struct line_places *wanted = search->wanted;
	bool within = false;

	for (size_t n = 0; n < count; n++) {
		const struct row row = line_places_read_row(search, dwarf_onesrcline(lines, n));

		if (row.line != wanted->line)
			within = false;
		if (!row.line || !row.begins || !wanted->is_code(wanted->data, row.address))
			continue;
		if (row.line != wanted->line)
			take_near(search, &row);
		else if (!within)
			wanted->found(wanted->data, row.address, row.line);
		within |= row.line == wanted->line;
		search->found |= within;
	}
}

void line_places_find(Dwarf *dwarf, const struct line_places *wanted)
{
	struct search search = { .wanted = wanted };
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;

	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0) {
		Dwarf_Lines *lines;
		size_t count;

		if ((type == DW_UT_compile || type == DW_UT_skeleton) &&
		    dwarf_getsrclines(&unit, &lines, &count) == 0)
			search_table(&search, lines, count);
	}
	if (!search.found && search.before.line)
		wanted->found(wanted->data, search.before.address, search.before.line);
	if (!search.found && search.behind.line)
		wanted->found(wanted->data, search.behind.address, search.behind.line);
}
