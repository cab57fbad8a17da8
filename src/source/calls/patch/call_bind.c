/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which definition the dynamic linker binds a symbol to; see call_bind.h.
 *
 * No function of the C library answers that. The linker takes the first object that defines the name either in the version
 * that is asked for or without any version: so malloc() of a program, or of a library that is preloaded, comes before that of
 * the C library, which has versions. dlvsym() passes by definitions without a version; dlsym() prefers default versions. Its rules
 * are those of do_lookup_x() and check_match() in glibc's elf/dl-lookup.c.
 */
#include <dlfcn.h>
#include <string.h>

#include "source/calls/patch/call_bind.h"

enum {
	VERSION_OLDEST = 2, /* what objects without versions are bound to */
};

/* The name of a version that an object defines; NULL: there is none of that number. */
static const char *version_defined(const struct loaded_object *object, uint16_t number)
{
	const uint8_t *at = loaded_object_pointer(object, DT_VERDEF);
	ElfW(Verdef) version;

	for (uint64_t n = loaded_object_value(object, DT_VERDEFNUM); at && n-- > 0; at += version.vd_next) {
		ElfW(Verdaux) name;

		memcpy(&version, at, sizeof(version));
		memcpy(&name, at + version.vd_aux, sizeof(name));
		if (version.vd_ndx == number)
			return object->names + name.vda_name;
	}
	return NULL;
}

/* Whether an object has a definition whose version's number is in a range. */
static bool defines(const struct loaded_object *object, const char *name, unsigned low, unsigned high)
{
	const ElfW(Sym) *symbol = NULL;

	while ((symbol = loaded_object_definition(object, name, symbol)) != NULL) {
		const unsigned version =
			object->versions ? object->versions[symbol - object->symbols] & ~LOADED_VERSION_HIDDEN
					 : 0;

		if (version >= low && version <= high)
			return true;
	}
	return false;
}

static uint64_t look_up(void *where, const char *name, const char *version)
{
	void *found = version ? dlvsym(where, name, version) : dlsym(where, name);

	if (!found)
		dlerror(); /* else the program would read our error */
	return (uint64_t)(uintptr_t)found;
}

/* For an object without versions. @any: what dlsym() finds */
static uint64_t oldest_version(void *where, const char *name, uint64_t any)
{
	struct loaded_object object;
	const char *version = NULL;

	if (loaded_object_find(&object, any) && !defines(&object, name, 0, LOADED_VERSION_GLOBAL) &&
	    defines(&object, name, VERSION_OLDEST, VERSION_OLDEST))
		version = version_defined(&object, VERSION_OLDEST);
	return (version ? look_up(where, name, version) : 0) ?: any;
}

/* Whether a definition without a version stands in an object before that of another definition. */
static bool comes_before(const char *name, uint64_t any, uint64_t other)
{
	struct loaded_object first, second;

	return loaded_object_find(&first, any) && defines(&first, name, 0, LOADED_VERSION_GLOBAL) &&
	       loaded_object_find(&second, other) && first.place < second.place;
}

static uint64_t bind_in(void *where, const char *name, const char *version)
{
	const uint64_t any = look_up(where, name, NULL), exact = version ? look_up(where, name, version) : 0;

	if (!any || any == exact)
		return exact;
	if (!version)
		return oldest_version(where, name, any);
	return !exact || comes_before(name, any, exact) ? any : exact;
}

/* As the linker does: in all global objects, then in those that this object asked for. */
uint64_t call_bind(const struct loaded_object *object, uint64_t symbol)
{
	const char *name = object->names + object->symbols[symbol].st_name,
		   *version = loaded_object_version(object, symbol);
	uint64_t found = bind_in(RTLD_DEFAULT, name, version);
	void *self;

	if (found || !*object->info.dlpi_name)
		return found;
	self = dlopen(object->info.dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!self) {
		dlerror();
		return 0;
	}
	found = bind_in(self, name, version);
	dlclose(self);
	return found;
}
