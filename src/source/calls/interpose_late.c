/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions that are replaced late; see interpose_late.h. */
#if defined(__x86_64__)

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/loaded_object.h"
#include "source/calls/patch/call_patch.h"
#include "source/calls/interpose_late.h"

enum {
	PAGE = 4096,
};

/* hook_unwind.c, interpose_jumps.c, interpose_fork.c, and those of libburin.so. */
static struct {
	const char *name;
	uint64_t address; /* of ours */
} replaced[] = {
	{ "_Unwind_RaiseException", 0 },
	{ "_Unwind_Resume", 0 },
	{ "_Unwind_Resume_or_Rethrow", 0 },
	{ "_Unwind_ForcedUnwind", 0 },
	{ "_Unwind_Backtrace", 0 },
	{ "_Unwind_SetIP", 0 },
	{ "_Unwind_Find_FDE", 0 },
	{ "backtrace", 0 },
	{ "setjmp", 0 },
	{ "_setjmp", 0 },
	{ "__sigsetjmp", 0 },
	{ "longjmp", 0 },
	{ "_longjmp", 0 },
	{ "siglongjmp", 0 },
	{ "__longjmp_chk", 0 },
	{ "setcontext", 0 },
	{ "swapcontext", 0 },
	{ "makecontext", 0 },
	{ "dlclose", 0 },
	{ "vfork", 0 },
	{ "_Fork", 0 },
	{ "clone", 0 },
	{ "syscall", 0 },
	{ "prctl", 0 },
	{ "_exit", 0 },
	{ "_Exit", 0 },
};

/* A program that calls one of these may run on a stack that nothing is known of. */
static const char *const contexts[] = {
	"setcontext", "swapcontext", "makecontext", "jump_fcontext", "make_fcontext", "ontop_fcontext",
};

static bool is_late;

/* Whether an object calls others by slots that can be changed. */
static bool object_read(struct loaded_object *object, const struct dl_phdr_info *info)
{
	loaded_object_read(object, info);
	return object->symbols && info->dlpi_addr != getauxval(AT_BASE) &&
	       info->dlpi_addr != getauxval(AT_SYSINFO_EHDR);
}

/* Whether an object is part of Burin, whose own calls stay as they are. */
static bool is_ours(const struct loaded_object *object)
{
	const char *slash = strrchr(object->info.dlpi_name, '/'),
		   *name = slash ? slash + 1 : object->info.dlpi_name;

	return strncmp(name, "libburin", 8) == 0;
}

typedef void each_slot(struct loaded_object *object, const char *name, uint64_t *slot, void *data);

static void each_of(struct loaded_object *object, int64_t table, int64_t bytes, each_slot *each, void *data)
{
	const ElfW(Rela) *at = loaded_object_pointer(object, table);

	for (uint64_t n = at ? loaded_object_value(object, bytes) / sizeof(*at) : 0; n-- > 0; at++) {
		const uint64_t type = ELF64_R_TYPE(at->r_info), slot = object->info.dlpi_addr + at->r_offset;

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && slot % 8 == 0)
			each(object, object->names + object->symbols[ELF64_R_SYM(at->r_info)].st_name,
			     (uint64_t *)(uintptr_t)slot, data);
	}
}

static void each_slot_of(struct loaded_object *object, each_slot *each, void *data)
{
	if (is_ours(object))
		return;
	each_of(object, DT_JMPREL, DT_PLTRELSZ, each, data);
	each_of(object, DT_RELA, DT_RELASZ, each, data);
}

/* ---- whether it can be done */

static void look(struct loaded_object *object, const char *name, uint64_t *slot, void *data)
{
	bool *found = data;

	(void)object;
	(void)slot;
	for (size_t n = 0; n < sizeof(contexts) / sizeof(*contexts); n++)
		*found |= strcmp(name, contexts[n]) == 0;
}

static int visit_looking(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct loaded_object object;

	(void)bytes;
	if (object_read(&object, info))
		each_slot_of(&object, look, data);
	return 0;
}

bool interpose_late_can(void)
{
	bool found = false;

	is_late = true;
	dl_iterate_phdr(visit_looking, &found);
	return !found;
}

/* ---- the change */

static void store(const struct loaded_object *object, uint64_t *slot, uint64_t address)
{
	const uint64_t at = (uint64_t)(uintptr_t)slot;
	void *page = (void *)(uintptr_t)(at & ~(uint64_t)(PAGE - 1));
	const bool is_fixed = at - object->fixed < object->fixed_bytes;

	if (*slot == address || (is_fixed && mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0))
		return;
	__atomic_store_n(slot, address, __ATOMIC_RELEASE);
	if (is_fixed)
		mprotect(page, PAGE, PROT_READ);
}

static void replace(struct loaded_object *object, const char *name, uint64_t *slot, void *data)
{
	(void)data;
	for (size_t n = 0; n < sizeof(replaced) / sizeof(*replaced); n++)
		if (replaced[n].address && strcmp(name, replaced[n].name) == 0)
			store(object, slot, replaced[n].address);
}

static int visit_replacing(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct loaded_object object;

	(void)bytes;
	if (object_read(&object, info))
		each_slot_of(&object, replace, data);
	return 0;
}

/* This library and libburin.so come first in what this handle finds. */
static void find_ours(void)
{
	Dl_info self;
	void *handle = dladdr(&call_patches, &self) ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	for (size_t n = 0; handle && n < sizeof(replaced) / sizeof(*replaced); n++)
		replaced[n].address = (uint64_t)(uintptr_t)dlsym(handle, replaced[n].name);
	/* The C library loads it when the first thread is cancelled; its calls must be replaced before. */
	dlopen("libgcc_s.so.1", RTLD_LAZY);
	dlerror(); /* else the program would read our errors */
}

void interpose_late(void)
{
	if (!is_late)
		return;
	if (!replaced[0].address)
		find_ours();
	dl_iterate_phdr(visit_replacing, NULL);
}

#endif
