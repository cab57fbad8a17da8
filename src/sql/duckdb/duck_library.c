/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Loads libduckdb.so; see duck_library.h. */
#include "sql/duckdb/duck_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct duck_library duck;

static const struct {
	const char *name;
	size_t at;
} members[] = {
#define DUCK_NAME(result, name, arguments) { "duckdb_" #name, offsetof(struct duck_library, name) },
	DUCK_FUNCTIONS(DUCK_NAME)
#undef DUCK_NAME
};

bool duck_library_load(const char *path, char *message, size_t bytes)
{
	if (duck.loaded)
		return true;
	duck.loaded = dlopen(path ? path : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
	if (!duck.loaded) {
		snprintf(message, bytes,
			 "cannot load DuckDB: %s; get libduckdb.so from duckdb.org, and give its path by "
			 "--library",
			 dlerror());
		return false;
	}
	for (size_t n = 0; n < sizeof(members) / sizeof(*members); n++) {
		void *function = dlsym(duck.loaded, members[n].name);

		if (!function) {
			snprintf(message, bytes, "%s lacks %s; install DuckDB 1.5 or later",
				 path ? path : "libduckdb.so", members[n].name);
			dlclose(duck.loaded);
			duck.loaded = NULL;
			return false;
		}
		memcpy((char *)&duck + members[n].at, &function, sizeof(function));
	}
	return true;
}
