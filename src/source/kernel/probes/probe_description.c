/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Descriptions of probes; see probe_description.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/kernel/probes/probe_description.h"

/* Kinds of probes, by the word before the first colon. */
static const char of_functions[] = "u:", of_returns[] = "uret:", of_notes[] = "usdt:";

static bool probe_description_starts(const char *text, const char *kind)
{
	return strncmp(text, kind, strlen(kind)) == 0;
}

bool probe_description_is_one(const char *text)
{
	return probe_description_starts(text, of_functions) || probe_description_starts(text, of_returns) ||
	       probe_description_starts(text, of_notes);
}

/* Whether a colon separates parts: not that of "::", nor that of a mark of the ABI, "f[abi:cxx11]". */
static bool probe_description_separates(const char *text, const char *colon)
{
	static const char mark[] = "[abi";
	const size_t bytes = sizeof(mark) - 1;

	return colon[1] != ':' && (colon == text || colon[-1] != ':') &&
	       !((size_t)(colon - text) >= bytes && strncmp(colon - bytes, mark, bytes) == 0);
}

/* Cut the text at its last colon before parentheses and templates. Return: the part behind it; NULL: it has none. */
static char *probe_description_cut(char *text)
{
	char *colon = text + strcspn(text, "(<{");

	while (colon > text && !(*colon == ':' && probe_description_separates(text, colon)))
		colon--;
	if (colon == text || !colon[1])
		return NULL;
	*colon = 0;
	return colon + 1;
}

/* The list in parentheses at the end; NULL: there is none. An opening one that is not closed begins a list that is wrong. */
static char *find_list(char *name)
{
	char *at = name + strlen(name);
	unsigned depth = 0, open = 0;

	for (const char *one = name; *one; one++)
		open += *one == '(' ? 1 : *one == ')' && open ? -1u : 0;
	if (open)
		return strchr(name, '(');
	if (at == name || at[-1] != ')')
		return NULL;
	do {
		at--;
		depth += *at == ')' ? 1 : *at == '(' ? -1u : 0;
	} while (depth && at > name);
	return depth ? NULL : at;
}

static void parse_list(struct probe_description *out, const char *list)
{
	if (!probe_arguments_parse(&out->arguments, list, out->wrong))
		return;
	if (probe_arguments_has_members(&out->arguments))
		snprintf(out->wrong, sizeof(out->wrong),
			 "members of structures can be given of functions of the kernel only (k:)");
	else if (out->returns && out->arguments.count > 1)
		snprintf(out->wrong, sizeof(out->wrong),
			 "a return has one value: uret:FILE:FUNCTION(NAME:TYPE)");
}

/* Parse a number: "0x1f", "31". Return: whether it is all of the text. */
static bool probe_description_parse_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* "SOURCE:LINE" instead of a function: then the name is all of that. Return: false: the source is missing. */
static bool probe_description_parse_line(struct probe_description *out, char *name)
{
	char *source;

	if (!*name || name[strspn(name, "0123456789")] || !probe_description_parse_number(name, &out->number))
		return true;
	source = probe_description_cut(out->text);
	if (!source)
		return false;
	strcpy(out->source, source);
	name[-1] = ':';
	out->name = source;
	return true;
}

/* An address instead of a name, or an offset behind it. */
static void probe_description_parse_place(struct probe_description *out, char *name)
{
	char *sign = strrchr(name, '+');

	out->is_address = strncmp(name, "0x", 2) == 0 && probe_description_parse_number(name, &out->number);
	if (out->is_address || !sign || sign == name || strlen(sign) >= sizeof(out->shift) ||
	    !probe_description_parse_number(sign + 1, &out->number))
		return;
	snprintf(out->shift, sizeof(out->shift), "%s", sign);
	*sign = 0;
}

int probe_description_parse(struct probe_description *out, const char *text, char why[PROBE_WHY])
{
	const bool notes = probe_description_starts(text, of_notes),
		   returns = probe_description_starts(text, of_returns);
	char *name, *list;

	if (strlen(text) >= sizeof(out->text)) {
		snprintf(why, PROBE_WHY, "it is longer than %d bytes", PROBE_TEXT - 1);
		return -EINVAL;
	}
	out->returns = returns;
	strcpy(out->text, text + strlen(notes ? of_notes : returns ? of_returns : of_functions));
	name = probe_description_cut(out->text);
	out->provider = notes && name ? probe_description_cut(out->text) : NULL;
	out->file = out->text;
	out->name = name;
	if (!name || !*out->file || (notes && !out->provider)) {
		snprintf(why, PROBE_WHY, "give %s",
			 notes	   ? "usdt:FILE:PROVIDER:NAME"
			 : returns ? "uret:FILE:FUNCTION"
				   : "u:FILE:FUNCTION");
		return -EINVAL;
	}
	list = find_list(name);
	strcpy(out->whole, list ? name : "");
	parse_list(out, list);
	if (list)
		*list = 0;
	if (notes && *out->wrong) {
		snprintf(why, PROBE_WHY, "%s", out->wrong);
		return -EINVAL;
	}
	if (!notes)
		probe_description_parse_place(out, name);
	if (!notes && !probe_description_parse_line(out, name)) {
		snprintf(why, PROBE_WHY, "give u:FILE:SOURCE:LINE or u:FILE:FUNCTION");
		return -EINVAL;
	}
	if (returns && (out->is_address || *out->shift || *out->source)) {
		snprintf(why, PROBE_WHY,
			 "a return has no address, no offset and no line; give uret:FILE:FUNCTION");
		return -EINVAL;
	}
	return 0;
}
