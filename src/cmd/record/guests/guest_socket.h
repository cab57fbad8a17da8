/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The socket between a recorder and the plugin in QEMU that started it (libburin-qemu.so,out=DIR). The recorder sends two texts, each
 * with its NUL: the path of its session and the plugin's arguments. The end of QEMU closes the socket.
 */
#ifndef BURIN_CMD_RECORD_GUESTS_GUEST_SOCKET_H
#define BURIN_CMD_RECORD_GUESTS_GUEST_SOCKET_H

#include <sys/types.h>

/*
 * guest_socket_peer - QEMU's process, and its command line, which is never freed.
 * Return: its pid; 0 after a message.
 */
pid_t guest_socket_peer(int socket, char ***command);

/* guest_socket_begin - let the guest begin. Return: 0 or an errno. */
int guest_socket_begin(int socket, const char *session_path, const char *arguments);

#endif
