/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A socket's address as strace writes it: `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}`. */
#ifndef BURIN_VIEW_SYSCALLS_VALUES_SOCKET_TEXT_H
#define BURIN_VIEW_SYSCALLS_VALUES_SOCKET_TEXT_H

#include <stdint.h>

#include "view/buffer.h"

/* socket_text - append it. @bytes: as the process gave them, of any family, also too few */
void socket_text(const uint8_t *bytes, size_t count, struct view_buffer *out);

#endif
