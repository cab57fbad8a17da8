/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A line of progress; see progress.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/print.h"
#include "cmd/progress.h"
#include "session/clock.h"

enum {
	PROGRESS_COLUMNS = 80, /* of a terminal that does not report its width */
	PROGRESS_NS = 1000000000,
};

/* Codes of the VT100, and of every terminal since. */
static const char save[] = "\0337", restore[] = "\0338", clear[] = "\033[K";

static bool is_terminal(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

static bool output_shares_terminal(void)
{
	struct stat output, error;

	return isatty(STDOUT_FILENO) && fstat(STDOUT_FILENO, &output) == 0 &&
	       fstat(STDERR_FILENO, &error) == 0 && output.st_rdev == error.st_rdev;
}

void progress_begin(struct progress *progress, bool wanted, bool command)
{
	*progress = (struct progress){ .begun = clock_ns(CLOCK_MONOTONIC) };
	progress->enabled = wanted && is_terminal() && !(command && output_shares_terminal());
	progress->next = progress->begun + PROGRESS_NS;
}

bool progress_due(struct progress *progress)
{
	const uint64_t time = progress->enabled ? clock_ns(CLOCK_MONOTONIC) : 0;

	if (time < progress->next)
		return false;
	progress->next = time + PROGRESS_NS;
	return true;
}

unsigned progress_seconds(const struct progress *progress)
{
	return (unsigned)((clock_ns(CLOCK_MONOTONIC) - progress->begun) / 1000000000);
}

static void progress_write_out(const char *text, int bytes)
{
	/* A closed terminal must not end the recording. */
	if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
		return;
}

void progress_show(struct progress *progress, const char *format, ...)
{
	struct winsize size = { .ws_col = PROGRESS_COLUMNS };
	char text[256], line[320];
	va_list arguments;
	int columns;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		size.ws_col = PROGRESS_COLUMNS;
	columns = size.ws_col < sizeof(text) ? size.ws_col - 1 : (int)sizeof(text) - 1;
	va_start(arguments, format);
	print_arguments(text, sizeof(text), format, arguments);
	va_end(arguments);
	progress_write_out(
		line, snprintf(line, sizeof(line), "%sburin: %.*s%s%s", save,
			       (int)print_whole(text, columns > 7 ? strnlen(text, (size_t)columns - 7) : 0),
			       text, clear, restore));
	progress->shown = true;
}

void progress_clear(struct progress *progress)
{
	if (progress->shown)
		progress_write_out(clear, (int)sizeof(clear) - 1);
	progress->shown = false;
}
