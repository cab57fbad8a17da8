/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The plugin that started this recorder; see guest_socket.h. */
#include "cmd/record/guests/guest_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "cmd/cmd.h"
#include "file/foreign_file.h"

enum {
	LINE_MAX_BYTES =
		1 << 20, /* of QEMU's command line; the rest is left out of the trace's description */
};

/* Return: the words; NULL: they cannot be read. */
static char **read_words(pid_t pid)
{
	char *line = calloc(1, LINE_MAX_BYTES + 1), **words = NULL;
	size_t count = 0, room = 0;
	ssize_t bytes = 0, got = 1;
	int file;

	file = foreign_contents((uint32_t)pid, "cmdline", LINE_MAX_BYTES);
	while (line && file >= 0 && got > 0 && bytes < LINE_MAX_BYTES) {
		got = read(file, line + bytes, (size_t)(LINE_MAX_BYTES - bytes));
		bytes += got > 0 ? got : 0;
	}
	if (file >= 0)
		close(file);
	for (char *word = line; bytes && word < line + bytes; word += strlen(word) + 1) {
		if (!array_reserve(words, room, count + 2))
			return NULL;
		words[count++] = word;
		words[count] = NULL;
	}
	return words;
}

pid_t guest_socket_peer(int socket, char ***command)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid <= 0 ||
	    fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
		cmd_failed(
			"--guest-socket: it is for libburin-qemu.so, which starts the recorder for out=DIR");
		return 0;
	}
	*command = read_words(peer.pid);
	if (!*command) {
		cmd_failed("/proc/%d/cmdline: cannot read QEMU's command line", peer.pid);
		return 0;
	}
	return peer.pid;
}

static int send_text(int socket, const char *text)
{
	size_t left = strlen(text) + 1;

	while (left) {
		const ssize_t sent = send(socket, text, left, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return errno;
		if (sent > 0) {
			text += sent;
			left -= (size_t)sent;
		}
	}
	return 0;
}

int guest_socket_begin(int socket, const char *session_path, const char *arguments)
{
	return send_text(socket, session_path) ?: send_text(socket, arguments);
}
