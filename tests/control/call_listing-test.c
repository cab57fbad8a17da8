/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of a session whose user changes its texts while a command of another user reads them (control/call_listing.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "control/call_listing.h"
#include "session/calls/call_known.h"
#include "session/calls/session_calls.h"

enum {
	FUNCTION = 0x40, /* its offset */
	TEXT_BYTES = 2 * WIRE_CALL_KNOWN_MAX,
};

static char
	*text; /* all that the session has behind it is in this memory, too; the next page cannot be read */
static struct session session;
static struct call_listing listing;

/* Texts that ended in NUL when they were found: the user has removed it since. */
struct call_known __wrap_call_known_find(const struct session *of, uint32_t image, uint64_t offset);
struct call_known __wrap_call_known_find(const struct session *of, uint32_t image, uint64_t offset)
{
	assert_ptr_equal(of, &session);
	assert_int_equal(image, 1);
	assert_int_equal(offset, FUNCTION);
	return (struct call_known){ .spec = text, .file = text };
}

static int make(void **state)
{
	const struct session_options options = { .buffer_bytes = 64 << 10,
						 .packet_bytes = 16 << 10,
						 .string_max = 64,
						 .globs = (const char *const[]){ NULL },
						 .functions_max = 64 };
	const struct session_call_image image = { .path = "/lib/x.so", .device = 1, .inode = 1 };
	const char *why = "";

	(void)state;
	text = mmap(NULL, TEXT_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(text, MAP_FAILED);
	assert_int_equal(mprotect(text + TEXT_BYTES, 4096, PROT_NONE), 0);
	memset(text, 'x', TEXT_BYTES);
	text += TEXT_BYTES - WIRE_CALL_KNOWN_MAX;
	assert_int_equal(session_create_nameless(&session, &options, &why), 0);
	assert_int_equal(session_call_image(&session, &image, (uint32_t)getpid()), 1);
	assert_int_equal(session_call_function(&session, 1, FUNCTION, 16, WIRE_CALL_OFF, (uint32_t)getpid()),
			 1);
	assert_int_equal(call_listing_read(&listing, &session), 0);
	listing.functions[0].name = "function";
	return 0;
}

static int leave(void **state)
{
	(void)state;
	call_listing_free(&listing);
	session_leave(&session);
	return 0;
}

static size_t matches(const char *word)
{
	size_t matched = 7;

	assert_int_equal(
		call_change(&session, &listing, '+', (char *const[]){ (char *)word, NULL }, &matched), 0);
	return matched;
}

/* The file of the source, without its end. */
static void a_source_without_end(void **state)
{
	(void)state;
	assert_int_equal(matches("file:*y"), 0);
	assert_int_equal(matches("file:*x"), 1);
	assert_int_equal(listing.functions[0].state, WIRE_CALL_ON);
}

/* The arguments, which a rule takes from the session. */
static void arguments_without_end(void **state)
{
	static const char rules[WIRE_CALL_RULES] = "+f:*\0=f:*\0>";
	size_t on = 7;

	(void)state;
	assert_int_equal(call_select(&session, &listing, rules, (char *const[]){ NULL }, &on), 0);
	assert_int_equal(on, 1);
}

/* Also the path of an image lies in the session. */
static void a_path_without_end(void **state)
{
	struct call_listing again;

	(void)state;
	assert_string_equal(call_listing_image(&listing, &listing.functions[0]), "/lib/x.so");
	memset(session.calls.text, 'x', WIRE_CALL_TEXT);
	assert_int_equal(call_listing_read(&again, &session), 0);
	assert_int_equal(strlen(call_listing_image(&again, &again.functions[0])), WIRE_CALL_PATH_MAX);
	/* The copy keeps its text. */
	assert_string_equal(call_listing_image(&listing, &listing.functions[0]), "/lib/x.so");
	call_listing_free(&again);
	session.calls.images[0].path = WIRE_CALL_TEXT + 1;
	assert_int_equal(call_listing_read(&again, &session), 0);
	assert_string_equal(call_listing_image(&again, &again.functions[0]), "");
	call_listing_free(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_source_without_end),
					    cmocka_unit_test(arguments_without_end),
					    cmocka_unit_test(a_path_without_end) };

	return cmocka_run_group_tests(tests, make, leave);
}
