/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls of the C library; see c_library.h.
 *
 * A program may define write() or strlen() itself. The dynamic linker gives that function to every library. If it has
 * hooks, or tracepoints, what records them would call it, and so itself, for ever. And it need not do what the C library's does: getenv() of
 * a test, say. So the slots of this library that lead elsewhere are pointed at the C library, when it is loaded. Most programs
 * have none: then it costs a comparison for each slot. The library is linked with -z now, so that no slot is filled later.
 *
 * Memory is still allocated by the program's malloc(): functions of the C library return such memory.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/c_library.h"
#include "base/loaded_object.h"

#if defined(__x86_64__)
enum {
	JUMP_SLOT = R_X86_64_JUMP_SLOT,
	GLOB_DAT = R_X86_64_GLOB_DAT
};
#elif defined(__aarch64__)
enum {
	JUMP_SLOT = R_AARCH64_JUMP_SLOT,
	GLOB_DAT = R_AARCH64_GLOB_DAT
};
#else
enum {
	JUMP_SLOT,
	GLOB_DAT
}; /* nothing is changed */
#endif

static const char own_names[] = "libburin";
static const char c_library_name[] = "libc.so.6";
static const char *const allocators[] = { "malloc", "calloc", "realloc", "free" };

struct binding {
	struct loaded_object own, c_library;
	void *handle; /* of the C library; NULL: not needed yet */
	__typeof__(&mprotect) protect;
	__typeof__(&dlvsym) find;
};

/* Of this library; by the linker. Programs that are linked statically have none. */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

/* Shared libraries begin with their header. */
static void read_map(struct loaded_object *object, const struct link_map *map)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(uintptr_t)map->l_addr;
	const struct dl_phdr_info info = {
		.dlpi_addr = map->l_addr,
		.dlpi_name = map->l_name,
		.dlpi_phdr = (const ElfW(Phdr) *)(uintptr_t)(map->l_addr + header->e_phoff),
		.dlpi_phnum = header->e_phnum,
	};

	loaded_object_read(object, &info);
}

/* Not by dl_iterate_phdr(), which may be the program's. */
static const struct link_map *own_map(void)
{
	const struct link_map *map = _DYNAMIC ? _r_debug.r_map : NULL;

	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	return map;
}

static const struct link_map *c_library_map(void)
{
	const struct link_map *map = _r_debug.r_map;

	for (; map; map = map->l_next) {
		const char *name = strrchr(map->l_name, '/');

		if (name && strcmp(name + 1, c_library_name) == 0)
			break;
	}
	return map;
}

static bool is_shared_library(const struct loaded_object *own)
{
	const uint64_t name = loaded_object_value(own, DT_SONAME);

	return name && own->symbols && strncmp(own->names + name, own_names, sizeof(own_names) - 1) == 0;
}

/* A function of the C library whose address needs no computation. */
static void *c_library_plain(const struct binding *binding, const char *name)
{
	const ElfW(Sym) *symbol = loaded_object_definition(&binding->c_library, name, NULL);

	return symbol && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC
		       ? (void *)(uintptr_t)(binding->c_library.info.dlpi_addr + symbol->st_value)
		       : NULL;
}

static bool c_library_protect(const struct binding *binding, int access)
{
	const struct loaded_object *own = &binding->own;

	return !own->fixed_bytes ||
	       binding->protect((void *)(uintptr_t)own->fixed, own->fixed_bytes, access) == 0;
}

/* Prepare to change slots. */
static bool open_slots(struct binding *binding)
{
	__typeof__(&dlopen) open;

	if (binding->handle)
		return true;
	*(void **)&open = c_library_plain(binding, "dlopen");
	*(void **)&binding->find = c_library_plain(binding, "dlvsym");
	*(void **)&binding->protect = c_library_plain(binding, "mprotect");
	binding->handle = open && binding->find && binding->protect &&
					  c_library_protect(binding, PROT_READ | PROT_WRITE)
				  ? open(c_library_name, RTLD_LAZY | RTLD_NOLOAD)
				  : NULL;
	return binding->handle != NULL;
}

static bool is_allocator(const char *name)
{
	for (unsigned n = 0; n < sizeof(allocators) / sizeof(*allocators); n++)
		if (strcmp(name, allocators[n]) == 0)
			return true;
	return false;
}

static bool c_library_is_function(const struct binding *binding, const char *name)
{
	const ElfW(Sym) *symbol = loaded_object_definition(&binding->c_library, name, NULL);

	return symbol && (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ||
			  ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC);
}

static void bind_slot(struct binding *binding, const ElfW(Rela) * relocation)
{
	uint64_t *slot = (uint64_t *)(uintptr_t)(binding->own.info.dlpi_addr + relocation->r_offset);
	const uint64_t symbol = ELF64_R_SYM(relocation->r_info);
	const char *name = binding->own.names + binding->own.symbols[symbol].st_name, *version;
	void *target;

	if (loaded_object_has(&binding->c_library, *slot, 1, PF_X) ||
	    binding->own.symbols[symbol].st_shndx != SHN_UNDEF || !c_library_is_function(binding, name) ||
	    is_allocator(name))
		return;
	version = loaded_object_version(&binding->own, symbol);
	if (!version || !open_slots(binding))
		return;
	target = binding->find(binding->handle, name, version);
	if (target)
		*slot = (uint64_t)(uintptr_t)target;
}

static void bind_slots(struct binding *binding, int64_t table, int64_t size)
{
	const ElfW(Rela) *relocations = loaded_object_pointer(&binding->own, table);
	const uint64_t count = loaded_object_value(&binding->own, size) / sizeof(*relocations);

	for (uint64_t n = 0; relocations && n < count; n++) {
		const uint32_t type = (uint32_t)ELF64_R_TYPE(relocations[n].r_info);

		if (type == JUMP_SLOT || type == GLOB_DAT)
			bind_slot(binding, &relocations[n]);
	}
}

void c_library_bind(void)
{
	static bool done;
	const struct link_map *own = own_map(), *c_library = c_library_map();
	struct binding binding = { 0 };

	if (done || !own || !c_library)
		return;
	done = true;
	read_map(&binding.own, own);
	read_map(&binding.c_library, c_library);
	if (!is_shared_library(&binding.own))
		return;
	bind_slots(&binding, DT_JMPREL, DT_PLTRELSZ);
	bind_slots(&binding, DT_RELA, DT_RELASZ);
	if (binding.protect)
		c_library_protect(&binding, PROT_READ);
}
