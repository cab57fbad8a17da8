/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder that the plugin starts if it is loaded without one: `-plugin libburin-qemu.so,out=DIR`.
 *
 * It is `burin record --guest`, in a process of its own. So it outlives a SIGKILL of QEMU, and has the options, the checks and the
 * messages of any recording. A socket joins both. The recorder sends the path of its session and the plugin's arguments when it is
 * ready. The end of QEMU closes the socket, and that ends the recording; the end of the recorder closes the other end.
 */
#ifndef BURIN_SOURCE_GUEST_GUEST_RECORDER_H
#define BURIN_SOURCE_GUEST_GUEST_RECORDER_H

#include <stdbool.h>

/* guest_recorder_is_wanted - whether one of the plugin's arguments is "out=DIR". */
bool guest_recorder_is_wanted(int count, char *const *arguments);

/*
 * guest_recorder_begin - start the recorder with the plugin's arguments as its options, and wait until it is ready.
 * @take: receives each argument that it has for the plugin. Return: false after a message
 * Return: the path of its session, which is never freed; NULL after a message, also one of the recorder.
 */
const char *guest_recorder_begin(int count, char *const *arguments, bool (*take)(const char *argument));

/* guest_recorder_end - end the recording, and wait until the trace is written. */
void guest_recorder_end(void);

#endif
