/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Passing descriptors over a socket, from a process that opens files to one that asked for them. */
#ifndef BURIN_FILE_DESCRIPTOR_H
#define BURIN_FILE_DESCRIPTOR_H

#include <stdbool.h>

/*
 * descriptor_send - answer a request. It does not wait.
 * @file: a descriptor, which stays the caller's; or a negative errno, which is passed as it is
 * Return: false: the other side is gone.
 */
bool descriptor_send(int socket, int file);

/*
 * descriptor_receive - receive such an answer.
 * Context: any, signal handlers; waits for the answer.
 * Return: a descriptor (close-on-exec), which the caller closes; the sender's negative errno; -EPIPE: the other side is
 * gone, or its answer is not understood.
 */
int descriptor_receive(int socket);

#endif
