/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Addresses of sockets as text: of every family, too short ones, and bytes that a process may have there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/syscalls/values/socket_text.h"

static void check(const char *bytes, size_t count, const char *text)
{
	uint8_t *exact = malloc(count + !count); /* a tool for memory finds a read behind it */
	struct view_buffer out = { .bytes = NULL };

	memcpy(exact, bytes, count);
	socket_text(exact, count, &out);
	view_buffer_put(&out, "", 1);
	assert_string_equal(out.bytes, text);
	view_buffer_free(&out);
	free(exact);
}

#define CHECK(bytes, text) check(bytes, sizeof(bytes) - 1, text)

static void knows_the_families(void **state)
{
	(void)state;
	CHECK("\2\0\x1f\x90\x7f\0\0\1\0\0\0\0\0\0\0\0",
	      "{sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr(\"127.0.0.1\")}");
	CHECK("\12\0\0\x50\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\3\0\0\0",
	      "{sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(2), inet_pton(AF_INET6, "
	      "\"::1\", "
	      "&sin6_addr), sin6_scope_id=3}");
	CHECK("\12\0\0\x50\0\0\0\0\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1",
	      "{sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "
	      "\"fe80::1\", "
	      "&sin6_addr)}");
	CHECK("\1\0/run/x\0rest", "{sa_family=AF_UNIX, sun_path=\"/run/x\"}");
	CHECK("\1\0\0ab\0\x31", "{sa_family=AF_UNIX, sun_path=@\"ab\\0001\"}");
	CHECK("\1\0", "{sa_family=AF_UNIX}");
	CHECK("\20\0\0\0\7\0\0\0\5\0\0\0", "{sa_family=AF_NETLINK, nl_pid=7, nl_groups=0x000005}");
	CHECK("\20\0\1\0\7\0\0\0\0\0\0\0",
	      "{sa_family=AF_NETLINK, nl_pad=0x1, nl_pid=7, nl_groups=00000000}");
	CHECK("\0\0ab", "{sa_family=AF_UNSPEC, sa_data=\"ab\"}");
}

static void shows_any_bytes(void **state)
{
	(void)state;
	CHECK("", "{}");
	CHECK("\2", "{}");
	CHECK("\2\0\x1f\x90\x7f\0\0\1", "{sa_family=AF_INET, sa_data=\"\\37\\220\\177\\0\\0\\1\"}");
	CHECK("\xfe\xff\x1b", "{sa_family=0xfffe, sa_data=\"\\33\"}");
	CHECK("\1\0\"\\\n\x1b[1m\x80", "{sa_family=AF_UNIX, sun_path=\"\\\"\\\\\\n\\33[1m\\200\"}");
	CHECK("\1\0%s", "{sa_family=AF_UNIX, sun_path=\"%s\"}");
	CHECK("\1\0no end", "{sa_family=AF_UNIX, sun_path=\"no end\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_families),
		cmocka_unit_test(shows_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
