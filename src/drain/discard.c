/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Taking back a trace in which nothing was recorded; see drain.h. */
#include <fcntl.h>
#include <unistd.h>

#include "drain/drain.h"

void drain_discard(const char *path)
{
	static const char *const files[] = { "metadata", ".burin/events", ".burin/recording" };
	int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (directory < 0)
		return;
	for (unsigned n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		unlinkat(directory, files[n], 0);
	unlinkat(directory, ".burin", AT_REMOVEDIR);
	close(directory);
	rmdir(path); /* fails, and rightly, if there is anything else in it */
}
