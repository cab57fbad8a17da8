/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of a guest by name; see guest_functions.h. */
#include <stdlib.h>
#include <string.h>

#include "base/containers/array.h"
#include "base/glob.h"
#include "base/number.h"
#include "cmd/cmd.h"
#include "base/edit_distance.h"
#include "cmd/record/guests/guest_functions.h"

enum {
	ALIGNED = 64, /* the widest usual alignment of functions */
};

void guest_functions_free(struct guest_functions *functions)
{
	guest_names_free(&functions->names);
	free(functions->ranges);
}

static const char *guest_functions_name_of(const struct guest_functions *functions, size_t n)
{
	return functions->names.text + functions->names.all[n].name;
}

bool guest_functions_address(const struct guest_functions *functions, const char *name, uint64_t *address)
{
	for (size_t n = 0; n < functions->names.count; n++)
		if (strcmp(guest_functions_name_of(functions, n), name) == 0) {
			*address = functions->names.all[n].address;
			return true;
		}
	return false;
}

static bool is_used(const struct guest_functions *functions, const char *glob)
{
	for (size_t n = 0; n < functions->names.count; n++)
		if (glob_match(glob, guest_functions_name_of(functions, n)))
			return true;
	return false;
}

/* Whether one of a function's names is selected. @next: the function behind it */
static bool guest_functions_is_selected(const struct guest_functions *functions,
					const struct view_globs *globs, size_t n, size_t *next)
{
	const struct guest_name *names = functions->names.all;
	bool selected = false;

	for (*next = n; *next < functions->names.count && names[*next].address == names[n].address; ++*next)
		selected = selected || view_globs_match(globs, guest_functions_name_of(functions, *next));
	return selected;
}

static uint64_t guest_functions_end_of(const struct guest_name *name)
{
	return name->size ? name->address + name->size : UINT64_MAX - ALIGNED;
}

/*
 * Calls go to the first instruction of a function. Behind that of a program, another program can have functions of its own.
 * @before: the function before, if it is selected, too; otherwise NULL. Between both there are only bytes that align the second: one range has both.
 */
static bool guest_functions_add(struct guest_functions *functions, const struct guest_name *name,
				const struct guest_name *before)
{
	if (!before || name->address > guest_functions_end_of(before) + ALIGNED) {
		if (!array_reserve(functions->ranges, functions->room, functions->count + 1))
			return false;
		functions->ranges[functions->count++].begin = name->address;
	}
	functions->ranges[functions->count - 1].end =
		functions->program ? name->address + 1 : guest_functions_end_of(name);
	return true;
}

/* A nearer name than those before; NULL: none is near, or it is a pattern. */
static const char *guest_functions_nearest(const struct guest_functions *functions, const char *glob,
					   unsigned *best)
{
	const char *found = NULL;

	for (size_t n = 0; n < functions->names.count && !strpbrk(glob, "*?["); n++)
		if (edit_distance_nearer(glob, guest_functions_name_of(functions, n), best))
			found = guest_functions_name_of(functions, n);
	return found;
}

/* The options that gave files with functions. */
static const char *options_of(const struct guest_functions *files, size_t count)
{
	return count < 2	      ? "--guest-kernel"
	       : files[0].names.count ? "--guest-kernel or --guest-program"
				      : "--guest-program";
}

/* Return: CMD_USAGE. */
static int refuse_unknown(const struct guest_functions *files, size_t count, const char *glob)
{
	const char *meant = NULL, *option = options_of(files, count);
	unsigned best = 0;

	for (size_t n = 0; n < count; n++)
		meant = guest_functions_nearest(&files[n], glob, &best) ?: meant;
	return meant ? cmd_usage("--guest-calls: no function of %s is called '%s'; did you mean %s?", option,
				 glob, meant)
		     : cmd_usage("--guest-calls: no function of %s matches '%s'", option, glob);
}

/* Return: 0 or CMD_USAGE. */
static int check_used(const struct guest_functions *files, size_t count, const char *glob)
{
	bool used = false;

	for (size_t n = 0; n < count; n++) {
		if (!is_used(&files[n], glob))
			continue;
		used = true;
		if (files[n].program && !files[n].names.fixed)
			return cmd_usage(
				"--guest-calls: '%s': %s is position-independent, so the place of its "
				"functions is not known before it runs; link it with -no-pie, or record "
				"without --guest-calls",
				glob, files[n].program);
	}
	return used ? 0 : refuse_unknown(files, count, glob);
}

/* Return: false: no memory. */
static bool select_in(struct guest_functions *functions, const struct view_globs *globs)
{
	const struct guest_name *before = NULL;
	bool done = true;

	for (size_t n = 0, next; done && globs->count && n < functions->names.count; n = next) {
		const struct guest_name *name = &functions->names.all[n];
		const bool selected = guest_functions_is_selected(functions, globs, n, &next);

		done = !selected || guest_functions_add(functions, name, before);
		before = selected ? name : NULL;
	}
	return done;
}

int guest_functions_select(struct guest_functions *files, size_t count, const struct view_globs *globs)
{
	for (size_t n = 0; n < globs->count; n++)
		if (check_used(files, count, globs->globs[n]))
			return CMD_USAGE;
	for (size_t n = 0; n < count; n++)
		if (!select_in(&files[n], globs))
			return cmd_failed("out of memory");
	return 0;
}

bool guest_functions_were_called(const struct guest_functions *functions, const char *glob,
				 const uint64_t *addresses, size_t count, uint64_t moved)
{
	const struct guest_name *names = functions->names.all;

	for (size_t n = 0; n < functions->names.count; n++) {
		const uint64_t address = names[n].address + moved;

		if (bsearch(&address, addresses, count, sizeof(*addresses), guest_functions_order) &&
		    glob_match(glob, guest_functions_name_of(functions, n)))
			return true;
	}
	return false;
}

int guest_functions_order(const void *one, const void *other)
{
	return number_order(*(const uint64_t *)one, *(const uint64_t *)other);
}
