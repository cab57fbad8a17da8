/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A socket's address as text; see socket_text.h. */
#include "view/syscalls/values/socket_text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/netlink.h>

#include "view/syscalls/values/syscall_words.h"
#include "view/syscalls/values/word_text.h"

enum {
	WITHOUT_SCOPE = offsetof(struct sockaddr_in6, sin6_scope_id), /* as old programs have it */
};

/* Families are the same on all machines. */
static void put_family(struct view_buffer *out, unsigned family)
{
	for (unsigned n = 0; n < syscall_argument_count; n++) {
		const struct syscall_argument *argument = &syscall_arguments[n];
		const struct syscall_words *words = &syscall_machines[0].words[argument->words];

		if (strcmp(argument->call, "socket") != 0 || strcmp(argument->name, "family") != 0)
			continue;
		for (unsigned word = 0; word < words->count; word++)
			if (words->words[word].value == family) {
				view_buffer_print(out, "{sa_family=%s", words->words[word].name);
				return;
			}
	}
	view_buffer_print(out, "{sa_family=%#x", family);
}

static void put_unix(struct view_buffer *out, const uint8_t *path, size_t count)
{
	if (!count)
		return;
	if (path[0] || count == 1) {
		view_buffer_print(out, ", sun_path=");
		word_text_octets(out, path, strnlen((const char *)path, count));
	} else {
		view_buffer_print(out, ", sun_path=@");
		word_text_octets(out, path + 1, count - 1);
	}
}

static void put_inet(struct view_buffer *out, const uint8_t *bytes)
{
	struct sockaddr_in address;
	char text[INET_ADDRSTRLEN];

	memcpy(&address, bytes, sizeof(address));
	view_buffer_print(out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(address.sin_port),
			  inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text)));
}

static void put_inet6(struct view_buffer *out, const uint8_t *bytes, size_t count)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	char text[INET6_ADDRSTRLEN];

	memcpy(&address, bytes, count < sizeof(address) ? count : sizeof(address));
	view_buffer_print(out,
			  ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", "
			  "&sin6_addr)",
			  ntohs(address.sin6_port), ntohl(address.sin6_flowinfo),
			  inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof(text)));
	if (count >= sizeof(address))
		view_buffer_print(out, ", sin6_scope_id=%u", address.sin6_scope_id);
}

static void put_netlink(struct view_buffer *out, const uint8_t *bytes)
{
	struct sockaddr_nl address;

	memcpy(&address, bytes, sizeof(address));
	if (address.nl_pad)
		view_buffer_print(out, ", nl_pad=%#x", address.nl_pad);
	view_buffer_print(out, ", nl_pid=%u, nl_groups=", address.nl_pid);
	view_buffer_print(out, address.nl_groups ? "%#08x" : "%08x", address.nl_groups);
}

void socket_text(const uint8_t *bytes, size_t count, struct view_buffer *out)
{
	const size_t head = sizeof(sa_family_t);
	sa_family_t family;

	if (count < head) {
		view_buffer_print(out, "{}");
		return;
	}
	memcpy(&family, bytes, head);
	put_family(out, family);
	if (family == AF_UNIX) {
		put_unix(out, bytes + head, count - head);
	} else if (family == AF_INET && count >= sizeof(struct sockaddr_in)) {
		put_inet(out, bytes);
	} else if (family == AF_INET6 && count >= WITHOUT_SCOPE) {
		put_inet6(out, bytes, count);
	} else if (family == AF_NETLINK && count >= sizeof(struct sockaddr_nl)) {
		put_netlink(out, bytes);
	} else if (count > head) {
		view_buffer_print(out, ", sa_data=");
		word_text_octets(out, bytes + head, count - head);
	}
	view_buffer_print(out, "}");
}
