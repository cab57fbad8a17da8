/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The file of a command; see program_path.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/program_path.h"

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool program_path(char path[PATH_MAX], const char *command)
{
	const char *directories = getenv("PATH") ?: "/bin:/usr/bin";
	char tried[PATH_MAX];

	if (strchr(command, '/'))
		return is_program(command) && realpath(command, path);
	for (;;) {
		const size_t bytes = strcspn(directories, ":");

		if ((size_t)snprintf(tried, sizeof(tried), "%.*s/%s", bytes ? (int)bytes : 1,
				     bytes ? directories : ".", command) < sizeof(tried) &&
		    is_program(tried))
			return realpath(tried, path);
		if (!directories[bytes])
			return false;
		directories += bytes + 1;
	}
}
