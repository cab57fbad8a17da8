/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls without a tracepoint of their own; see unnamed_calls.h. */
#include <stdio.h>

#include "base/glob.h"
#include "source/kernel/points/unnamed_calls.h"

enum {
	NUMBER_PLACE = 8, /* in the kernel's records of all system calls (raw_syscalls) */
	VALUES_PLACE = 16,
	ARGUMENTS = 6,
};

static const char *const names[][2] = {
	{ "sys_enter_" UNNAMED_CALL, "sys_exit_" UNNAMED_CALL },
	{ "sys_enter_" COMPAT_CALL, "sys_exit_" COMPAT_CALL },
};

static void unnamed_calls_add(struct tracepoint *point, const struct tracepoint_field *field)
{
	point->fields[point->count++] = *field;
}

/* The registers of another interface's arguments are unknown, so an entry of it has none. */
static void unnamed_calls_make(struct tracepoint *point, bool exits, bool compat)
{
	*point = (struct tracepoint){ .id = UNNAMED_FIRST_ID + 2 * compat + exits,
				      .system = TRACEPOINT_SYSCALLS };
	snprintf(point->name, sizeof(point->name), "%s", names[compat][exits]);
	if (exits)
		unnamed_calls_add(point, &(struct tracepoint_field){ .name = "ret",
								     .type = "long",
								     .kind = TRACEPOINT_INTEGER,
								     .is_signed = true,
								     .offset = VALUES_PLACE,
								     .size = 8,
								     .bytes = 8 });
	for (unsigned n = 0; !exits && !compat && n < ARGUMENTS; n++) {
		struct tracepoint_field field = { .type = "unsigned long",
						  .kind = TRACEPOINT_POINTER,
						  .offset = (uint16_t)(VALUES_PLACE + 8 * n),
						  .size = 8,
						  .bytes = 8 };

		snprintf(field.name, sizeof(field.name), "arg%u", n + 1);
		unnamed_calls_add(point, &field);
	}
	unnamed_calls_add(point, &(struct tracepoint_field){ .name = "number",
							     .type = "int",
							     .kind = TRACEPOINT_CALL_NUMBER,
							     .is_signed = true,
							     .offset = NUMBER_PLACE,
							     .size = 8,
							     .bytes = 4 });
	tracepoint_make_event(point);
}

static bool unnamed_calls_is_wanted(const char *const *globs, const char *name)
{
	char whole[2 * TRACEPOINT_NAME];

	if (!*globs)
		return true;
	snprintf(whole, sizeof(whole), TRACEPOINT_SYSCALLS ":%s", name);
	for (; *globs; globs++)
		if (glob_match(*globs, whole))
			return true;
	return false;
}

int unnamed_calls_each(const char *const *globs, int (*take)(void *context, const struct tracepoint *),
		       void *context)
{
	struct tracepoint point;
	int error = 0;

	for (unsigned n = 0; n < 4 && !error; n++) {
		if (!unnamed_calls_is_wanted(globs, names[n / 2][n % 2]))
			continue;
		unnamed_calls_make(&point, n % 2, n / 2);
		error = take(context, &point);
	}
	return error;
}
