/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A library in place of the library, for the tests of the tracepoint macros: it switches every site on or off
 * and keeps what was recorded last, which the tests compare byte by byte with what they want.
 */
#ifndef BURIN_TESTS_TRACE_CAPTURE_H
#define BURIN_TESTS_TRACE_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern unsigned char capture_switch;		/* of all sites */
extern unsigned capture_count;			/* records since the start */
extern unsigned capture_objects, capture_sites; /* joined and not left */

/* What the next record should be: bytes in the order of the calls. */
void want_int(uint64_t value, unsigned bytes);
void want_float(float value);
void want_double(double value);
void want_text(const char *text);
void want_bytes(const void *bytes, uint16_t count);

/* Compares the only record since the last check with what was wanted, and forgets both. */
void check_at(const char *name, unsigned kind, uint64_t types, const char *format, const char *file,
	      int line);
void check_log_at(const char *names, const char *file,
		  int line); /* names of the records since the last check */
void check_none_at(const char *file, int line);
void check_that_at(int condition, const char *text, const char *file, int line);
int check_result(void); /* failures, for main to return */

#define check(name, types, format)	      check_at(name, 0, types, format, __FILE__, __LINE__)
#define check_kind(name, kind, types, format) check_at(name, kind, types, format, __FILE__, __LINE__)
#define check_log(names)		      check_log_at(names, __FILE__, __LINE__)
#define check_none()			      check_none_at(__FILE__, __LINE__)
#define check_that(condition)		      check_that_at(condition, #condition, __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif

#endif
