/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Passing descriptors; see descriptor.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "file/descriptor.h"

bool descriptor_send(int socket, int file)
{
	int code = file < 0 ? file : 0;
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = &code, .iov_len = sizeof(code) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *with;

	if (file >= 0) {
		message.msg_control = room;
		message.msg_controllen = sizeof(room);
		with = CMSG_FIRSTHDR(&message);
		with->cmsg_level = SOL_SOCKET;
		with->cmsg_type = SCM_RIGHTS;
		with->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(with), &file, sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(code);
}

int descriptor_receive(int socket)
{
	char room[CMSG_SPACE(sizeof(int))];
	int code = 0, file;
	struct iovec part = { .iov_base = &code, .iov_len = sizeof(code) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)
	};
	const struct cmsghdr *with;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(code))
		return -EPIPE;
	if (code)
		return code < 0 ? code : -EPIPE;
	with = CMSG_FIRSTHDR(&message);
	if (!with || with->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&file, CMSG_DATA(with), sizeof(file));
	return file;
}
