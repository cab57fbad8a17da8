/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Libraries for LD_PRELOAD; see preload_libraries.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/record/preload_libraries.h"

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
