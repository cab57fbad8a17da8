/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The private directory in which a user's sessions lie. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain.h"
#include "base/text.h"
#include "session/directory.h"

/* Memory-backed places, best first. */
static int directory_name(char *path, size_t path_bytes)
{
	const char *runtime = plain_environment("XDG_RUNTIME_DIR");
	struct plain name = { path, path_bytes, 0, false };

	if (access("/dev/shm", W_OK | X_OK) == 0) {
		plain_text(&name, "/dev/shm/burin-");
		plain_decimal(&name, plain_user());
	} else if (runtime && runtime[0] == '/') {
		plain_text(&name, runtime);
		plain_text(&name, "/burin");
	} else {
		return -ENOENT;
	}
	return name.cut ? -ENAMETOOLONG : 0;
}

int directory_of_sessions(char *path, size_t path_bytes, const char **why)
{
	struct stat status;
	int error = directory_name(path, path_bytes);

	if (error) {
		*why = "neither /dev/shm nor XDG_RUNTIME_DIR can be written to";
		return error;
	}
	if (mkdir(path, 0700) == 0) {
		chmod(path, 0700); /* whatever the umask */
	} else if (errno != EEXIST) {
		*why = "the directory for sessions cannot be made";
		return -errno;
	}
	/* Somebody else may have made it first, to look at what we trace. */
	if (lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != plain_user() ||
	    (status.st_mode & 077) != 0) {
		*why = "the directory for sessions is not private to this user";
		return -EPERM;
	}
	return 0;
}

int directory_file(char *path, size_t path_bytes, const struct wire_geometry *geometry, const char **why)
{
	int error = directory_of_sessions(path, path_bytes, why);
	struct plain name = { path, path_bytes, error ? 0 : strlen(path), false };
	char random[8];

	if (error)
		return error;
	plain_text(&name, "/");
	plain_decimal(&name, geometry->owner);
	if (geometry->owner_kind == WIRE_OWNER_PROGRAM) {
		plain_text(&name, ".");
		plain_hex(&name, geometry->owner_start);
	} else {
		plain_text(&name, "-");
		plain_bytes(&name, random, text_hex(random, geometry->uuid, sizeof(random) / 2));
	}
	if (name.cut) {
		*why = "its name is too long";
		return -ENAMETOOLONG;
	}
	return 0;
}
