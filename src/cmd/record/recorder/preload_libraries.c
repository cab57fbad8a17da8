/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Libraries for LD_PRELOAD; see preload_libraries.h. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/record/recorder/preload_libraries.h"
#include "file/program_path.h"

int preload_find(const char *name, char *path, size_t bytes)
{
	static const char *const folders[] = { ".", ("../" BURIN_LIBDIR "/burin"), "../" BURIN_LIBDIR };
	char self[2048];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return -ENOENT;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	for (unsigned n = 0; n < sizeof(folders) / sizeof(folders[0]); n++)
		if ((size_t)snprintf(path, bytes, "%s/%s/%s", self, folders[n], name) < bytes &&
		    access(path, R_OK) == 0)
			return strpbrk(path, ": ") ? -EINVAL : 0;
	return -ENOENT;
}

const char *preload_problem(int error)
{
	return error == -ENOENT ? "is not beside burin" : "has a space or a colon in its path";
}

/* Whether the dynamic linker that a program names is musl's. */
static bool is_for_musl(int file)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	char linker[256] = "";

	if (pread(file, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	for (unsigned n = 0; n < head.e_phnum && !*linker; n++) {
		if (pread(file, &part, sizeof(part), (off_t)(head.e_phoff + n * sizeof(part))) !=
		    (ssize_t)sizeof(part))
			return false;
		if (part.p_type == PT_INTERP && part.p_filesz < sizeof(linker) &&
		    pread(file, linker, part.p_filesz, (off_t)part.p_offset) < 0)
			return false;
	}
	return strstr(linker, "/ld-musl") != NULL;
}

bool preload_fits(const char *command)
{
	char path[PATH_MAX];
	const int file = program_path(path, command) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	const bool fits = file < 0 || !is_for_musl(file);

	if (file >= 0)
		close(file);
	return fits;
}

bool preload_write(int file, const char *const *paths, unsigned count)
{
	const char *before = getenv("LD_PRELOAD"), *asan = getenv("ASAN_OPTIONS");
	bool some = false, done = true;

	for (unsigned n = 0; done && n < count; n++) {
		if (!*paths[n])
			continue;
		done = dprintf(file, "%s%s", some ? ":" : "LD_PRELOAD=", paths[n]) > 0;
		some = true;
	}
	if (!some || !done)
		return done;
	/* AddressSanitizer refuses to start if another library is loaded before it. */
	return dprintf(file, "%s%s%cASAN_OPTIONS=%s%sverify_asan_link_order=0%c",
		       before && *before ? ":" : "", before ? before : "", 0, asan ? asan : "",
		       asan && *asan ? ":" : "", 0) > 0;
}
