/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writing below an open directory. All files and directories of a trace are made, opened for writing, renamed and removed
 * by these functions.
 *
 * Other users may be able to write to a trace's directory, or may have made the trace. Existing files are therefore not
 * trusted. A file is made only under a free name, and no link is followed. An existing file is written to only if it is a
 * regular file with one name and has the owner of the directory. A name has at most two components, such as
 * ".burin/events". They are opened one by one, which also works on old kernels.
 *
 * Files and directories get the mode of the directory above them. A private trace stays private, and a trace that a later
 * command completes keeps its mode.
 */
#ifndef BURIN_FILE_CREATE_H
#define BURIN_FILE_CREATE_H

/* create_directory - make a directory and open it. Return: a descriptor or -errno. */
int create_directory(int directory, const char *name);

/*
 * create_enter - open an existing directory. Return: a descriptor; -EPERM: it has another owner than @directory;
 * -errno.
 */
int create_enter(int directory, const char *name);

/* create_file - make a file, for reading and writing. Return: a descriptor; -EEXIST: the name is taken; -errno. */
int create_file(int directory, const char *name);

/* A new file's temporary name, until create_rename() gives it its own. */
#define CREATE_DRAFT ".burin/draft"

/* create_draft - make that file, in place of an old one. Return: as create_file(). */
int create_draft(int directory);

/*
 * create_reopen - open an existing file for reading and writing.
 * Return: a descriptor; -ELOOP: it is a link; -EMLINK: it has several names; -EPERM: it is not a regular file, or has
 * another owner than @directory; -errno.
 */
int create_reopen(int directory, const char *name);

/* create_read - open an existing file, which may have several names, for reading. Return: as create_reopen(). */
int create_read(int directory, const char *name);

/* create_rename - rename a file or directory. A link is replaced, not followed. Return: 0 or -errno. */
int create_rename(int directory, const char *from, const char *to);

/* create_remove - remove a file, or a link but not its target. Return: 0 or -errno. */
int create_remove(int directory, const char *name);

/*
 * create_remove_directory - remove an open directory, if it is empty.
 * @path: any path that ends in its name
 * Return: 0 or -errno.
 */
int create_remove_directory(int directory, const char *path);

#endif
