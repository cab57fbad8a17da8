/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The texts of a data directory of uftrace, line by line. */
#ifndef BURIN_IMPORT_UFTRACE_TEXT_H
#define BURIN_IMPORT_UFTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file in memory. Its lines end in NUL once they were taken. */
struct uftrace_text {
	char *bytes, *at, *end;
};

/* uftrace_text_load - read a file of at most @max bytes. Return: 0; -errno. uftrace_text_free() frees it. */
int uftrace_text_load(struct uftrace_text *text, int directory, const char *name, uint64_t max);

/* uftrace_text_line - the next line, without its end; NULL: there is none. */
char *uftrace_text_line(struct uftrace_text *text);

void uftrace_text_free(struct uftrace_text *text);

/* uftrace_quoted - the text in quotes behind a key, which is cut out of the line; NULL: there is none. */
char *uftrace_quoted(char *line, const char *key);

/* uftrace_stamp - the seconds and nanoseconds behind "timestamp=". */
bool uftrace_stamp(const char *line, uint64_t *ns);

/* uftrace_number - the number behind a key, such as " pid=". */
bool uftrace_number(const char *line, const char *key, uint32_t *number);

#endif
