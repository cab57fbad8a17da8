/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program without tracepoints and without the library, which loads objects that have them: argv[1], argv[2]
 * times. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	for (long times = argc > 2 ? strtol(argv[2], NULL, 0) : 1; times > 0; times--) {
		void *object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
		void (*function)(int) = object ? (void (*)(int))dlsym(object, "object_c") : NULL;

		if (!function) {
			fprintf(stderr, "%s\n", dlerror());
			return 90;
		}
		function(7);
		dlclose(object);
	}
	return 0;
}
