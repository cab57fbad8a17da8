/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A buffer of our own in tracefs, with its own switches: a folder below instances/. Other users of tracefs neither see its records nor
 * are disturbed by it. Its name has the recorder's process id and start time, so that the instance of one that was killed is found.
 */
#ifndef BURIN_SOURCE_KERNEL_MECHANISMS_TRACEFS_INSTANCE_H
#define BURIN_SOURCE_KERNEL_MECHANISMS_TRACEFS_INSTANCE_H

/*
 * tracefs_instance_make - make one for this process.
 * @events: of tracefs_open()
 * Return: a descriptor of its folder; -EEXIST: this process has one; another -errno.
 */
int tracefs_instance_make(int events);

/* tracefs_instance_remove - remove that of this process, in which no file is open. Return: 0 or -errno. */
int tracefs_instance_remove(int events);

/* tracefs_instance_sweep - remove those of recorders that do not live any more. Return: how many. */
unsigned tracefs_instance_sweep(int events);

/* tracefs_instance_write - write a text to a file of an instance, or of tracefs. Return: 0 or -errno. */
int tracefs_instance_write(int folder, const char *path, const char *text);

#endif
