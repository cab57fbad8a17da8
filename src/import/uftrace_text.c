/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lines of text; see uftrace_text.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/foreign.h"
#include "import/uftrace_text.h"

static int uftrace_text_read_all(int fd, char *bytes, size_t size, size_t *got)
{
	for (*got = 0; *got < size;) {
		const ssize_t part = read(fd, bytes + *got, size - *got);

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return part < 0 ? -errno : 0;
		*got += (size_t)part;
	}
	return 0;
}

int uftrace_text_load(struct uftrace_text *text, int directory, const char *name, uint64_t max)
{
	const int fd = foreign_open(&(struct foreign){ .bytes_max = max }, directory, name);
	struct stat status;
	size_t bytes = 0;
	int error = 0;

	*text = (struct uftrace_text){ .bytes = NULL };
	if (fd < 0)
		return fd;
	if (fstat(fd, &status) != 0)
		error = -errno;
	if (!error)
		text->bytes = malloc((size_t)status.st_size + 1);
	if (!error && !text->bytes)
		error = -ENOMEM;
	if (!error)
		error = uftrace_text_read_all(fd, text->bytes, (size_t)status.st_size, &bytes);
	close(fd);
	if (error) {
		free(text->bytes);
		text->bytes = NULL;
		return error;
	}
	text->bytes[bytes] = '\0';
	text->at = text->bytes;
	text->end = text->bytes + bytes;
	return 0;
}

char *uftrace_text_line(struct uftrace_text *text)
{
	char *line = text->at, *end;

	if (line >= text->end)
		return NULL;
	end = memchr(line, '\n', (size_t)(text->end - line));
	if (!end)
		end = text->end;
	*end = '\0';
	text->at = end + 1;
	return line;
}

void uftrace_text_free(struct uftrace_text *text)
{
	free(text->bytes);
	*text = (struct uftrace_text){ .bytes = NULL };
}

char *uftrace_quoted(char *line, const char *key)
{
	char *from = strstr(line, key), *to;

	if (!from || from[strlen(key)] != '"')
		return NULL;
	from += strlen(key) + 1;
	to = strrchr(from, '"');
	if (!to)
		return NULL;
	*to = '\0';
	return from;
}

bool uftrace_number(const char *line, const char *key, uint32_t *number)
{
	const char *at = strstr(line, key);
	unsigned long value;
	char *end;

	if (!at || at[strlen(key)] < '0' || at[strlen(key)] > '9')
		return false;
	value = strtoul(at + strlen(key), &end, 10);
	*number = (uint32_t)value;
	return value <= UINT32_MAX;
}

bool uftrace_stamp(const char *line, uint64_t *ns)
{
	static const char key[] = "timestamp=";
	const char *at = strstr(line, key);
	unsigned long long seconds, rest;
	char *end;

	if (!at)
		return false;
	seconds = strtoull(at + sizeof(key) - 1, &end, 10);
	if (*end != '.' || seconds > UINT32_MAX)
		return false;
	rest = strtoull(end + 1, NULL, 10);
	*ns = seconds * 1000000000 + rest % 1000000000;
	return true;
}
