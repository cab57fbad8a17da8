/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program with two shared objects, and a third that comes and goes. */
#include <dlfcn.h>

#include "burin/burin.h"
#include "modes.h"

void object_a(int n);
void object_b(int n);

static int linked(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	BURIN_TRACE("shared.event", "n=%d", 1);
	object_a(2);
	object_b(3);
	BURIN_TRACE("objects.end");
	return 0;
}

/* Loads and unloads argv[1] argv[2] times. */
static int loaded(int argc, char **argv)
{
	const long times = mode_number(argc, argv, 2, 1);

	for (long n = 0; n < times; n++) {
		void *object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		void (*function)(int) = object ? (void (*)(int))dlsym(object, "object_c") : NULL;

		if (!function) {
			fprintf(stderr, "%s\n", dlerror());
			return 90;
		}
		function((int)n);
		dlclose(object);
		BURIN_TRACE("shared.event", "n=%d", -1);
	}
	BURIN_TRACE("objects.end");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = { { "linked", linked }, { "loaded", loaded }, { 0 } };

	return mode_run(modes, argc, argv);
}
