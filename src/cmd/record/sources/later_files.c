/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files that a command loads while it runs; see later_files.h. */
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/record/sources/later_files.h"

/* For each file: less than a process waits. */
static const uint64_t FILE_NS = UINT64_C(8000000000);

static void later_files_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* The path of an image, which processes of the session may change meanwhile. Return: NULL: it has none. */
static char *later_files_copy_path(const struct session *session, const struct wire_call_image *image)
{
	const uint32_t at = __atomic_load_n(&image->path, __ATOMIC_RELAXED);

	return at < WIRE_CALL_TEXT && session->calls.text[at] == '/'
		       ? strndup(session->calls.text + at, WIRE_CALL_TEXT - at < WIRE_CALL_PATH_MAX
								   ? WIRE_CALL_TEXT - at
								   : WIRE_CALL_PATH_MAX)
		       : NULL;
}

static bool was_read(const struct later_files *files, const struct wire_call_image *image)
{
	const struct wire_call_described *described = files->session->calls.header->described_files;

	for (uint32_t n = 0; n < files->found->files; n++)
		if (described[n].inode == image->inode && described[n].device == image->device)
			return true;
	return false;
}

static void later_files_read_one(struct later_files *files, const struct wire_call_image *entry)
{
	const struct wire_call_image image = *entry;
	char *path =
		image.inode && !was_read(files, &image) ? later_files_copy_path(files->session, entry) : NULL;

	if (path)
		auto_arguments_later(files->found, path, &image, files->session);
	free(path);
}

static uint32_t count_images(const struct wire_calls *calls)
{
	/* Acquire: pairs with the release in call_register.c. */
	const uint32_t count = __atomic_load_n(&calls->images, __ATOMIC_ACQUIRE);

	return count < WIRE_CALL_IMAGES_MAX ? count : WIRE_CALL_IMAGES_MAX;
}

/* Read each image that is registered, once a process has asked for one. */
static _Noreturn void later_files_serve(struct later_files *files)
{
	struct wire_calls *calls = files->session->calls.header;
	uint32_t done = 0, wanted = 0;

	for (;;) {
		syscall(SYS_futex, &calls->known_wanted, FUTEX_WAIT, wanted, NULL, NULL, 0);
		wanted = __atomic_load_n(&calls->known_wanted, __ATOMIC_ACQUIRE);
		for (; done < count_images(calls); done++) {
			later_files_read_one(files, &files->session->calls.images[done]);
			/* Release: pairs with the acquire in call_facts.c. */
			__atomic_store_n(&calls->known_done, done + 1, __ATOMIC_RELEASE);
		}
		later_files_wake(&calls->known_done);
	}
}

static _Noreturn void later_files_be_child(struct later_files *files, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The command waits for the end of a pipe of the recorder's, before it starts. */
	if (getppid() != parent || close_range(STDERR_FILENO + 1, ~0u, 0) != 0)
		_exit(1);
	later_files_serve(files);
}

void later_files_begin(struct later_files *files, struct session *session, const struct auto_arguments *found)
{
	const pid_t self = getpid();

	*files = (struct later_files){ .session = session };
	files->found =
		mmap(NULL, sizeof(*files->found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (files->found == MAP_FAILED)
		return;
	*files->found = *found;
	if (!found->options.deadline_ns || found->options.deadline_ns > FILE_NS)
		files->found->options.deadline_ns = FILE_NS;
	files->child = fork();
	if (files->child == 0)
		later_files_be_child(files, self);
	if (files->child > 0)
		__atomic_store_n(&session->calls.header->known_reader, 1, __ATOMIC_RELEASE);
}

void later_files_ended(struct later_files *files, pid_t child)
{
	struct wire_calls *calls;

	if (files->child <= 0 || files->child != child)
		return;
	calls = files->session->calls.header;
	files->child = 0;
	__atomic_store_n(&calls->known_reader, 0, __ATOMIC_RELEASE);
	later_files_wake(&calls->known_done);
}

void later_files_finish(struct later_files *files, struct auto_arguments *found)
{
	const pid_t child = files->child;

	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		later_files_ended(files, child);
	}
	if (files->found && files->found != MAP_FAILED) {
		*found = *files->found;
		munmap(files->found, sizeof(*files->found));
	}
	files->found = NULL;
}
