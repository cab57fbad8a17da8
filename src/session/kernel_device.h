/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's session (wire/wire_device.h), as commands read and change it.
 *
 * Only the fixed path is trusted. Nothing is stored into the mapping: a transaction is prepared in a private copy of the
 * session's head, and the kernel carries it out.
 */
#ifndef BURIN_SESSION_KERNEL_DEVICE_H
#define BURIN_SESSION_KERNEL_DEVICE_H

#include <stdbool.h>

#include "session/session.h"
#include "wire/wire_device.h"

/* kernel_device_is_there - whether burin.ko is loaded, as far as this process can see. */
bool kernel_device_is_there(void);

/*
 * kernel_device_file - open the device. @write: for changes
 * Return: a descriptor; -ENOENT: burin.ko is not loaded; -errno; and *why.
 */
int kernel_device_file(bool write, const char **why);

/* kernel_device_header - copy the header of the session, checked. @file: the device. Return: 0; -errno and *why. */
int kernel_device_header(int file, struct wire_session *header, const char **why);

/*
 * kernel_device_open - map the kernel's session. @write: it is to be changed, else only read
 * Context: a command; session_leave() unmaps it. Return: 0; -errno and *why.
 */
int kernel_device_open(struct session *session, bool write, const char **why);

/*
 * kernel_device_claim - become the one reader that gives packets back, in stream mode; until session_leave().
 * Return: 0; -EBUSY: another process is that reader; -errno.
 */
int kernel_device_claim(const struct session *session);

/* kernel_device_close_packets - let that reader give back all records that exist now, before its last round. */
void kernel_device_close_packets(const struct session *session);

/* kernel_device_explain - describe an error of a change in a few words, with the way out. */
const char *kernel_device_explain(int error);

#endif
