/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Errors of filter expressions; see filter_error.h. */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "filter/filter_error.h"

bool filter_error_set(struct filter_error *fault, size_t offset, size_t bytes, const char *message, ...)
{
	va_list arguments;

	fault->offset = offset;
	fault->bytes = bytes;
	va_start(arguments, message);
	vsnprintf(fault->message, sizeof(fault->message), message, arguments);
	va_end(arguments);
	return false;
}

/* Print text safe for a terminal, with backslashes as typed and a blank for each tab. Return: columns. */
static size_t print_safe(FILE *file, const char *text, size_t bytes)
{
	size_t columns = 0;

	while (bytes) {
		char out[TEXT_ESCAPE_MAX * 64 + 1];
		size_t taken = 0;

		while (taken < bytes && taken < 64 && text[taken] != '\\' && text[taken] != '\t')
			taken++;
		while (taken > 60 && taken < bytes && ((unsigned char)text[taken] & 0xc0) == 0x80)
			taken--;
		if (taken == 0) {
			fputc(*text == '\t' ? ' ' : '\\', file);
			columns++;
			taken = 1;
		} else {
			out[text_escape(out, text, taken)] = '\0';
			fputs(out, file);
			columns += text_columns(out);
		}
		text += taken;
		bytes -= taken;
	}
	return columns;
}

void filter_error_print(FILE *file, const char *text, const struct filter_error *fault)
{
	size_t length = strlen(text), offset = fault->offset < length ? fault->offset : length;
	size_t bytes = fault->bytes < length - offset ? fault->bytes : length - offset, before, width;

	fputs("    ", file);
	before = print_safe(file, text, offset);
	width = print_safe(file, text + offset, bytes);
	print_safe(file, text + offset + bytes, length - offset - bytes);
	fprintf(file, "\n    %*s^", (int)before, "");
	for (size_t n = 1; n < width; n++)
		fputc('~', file);
	fputc('\n', file);
}
