/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Descriptors of programs and maps; see kernel_files.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "source/kernel/bpf/kernel_files.h"

int kernel_files_keep(struct kernel_files *files, int file)
{
	if (file < 0)
		return file;
	if (!array_reserve(files->files, files->room, files->count + 1)) {
		close(file);
		return -ENOMEM;
	}
	files->files[files->count++] = file;
	return 0;
}

int kernel_files_keep_program(struct kernel_files *files, int program)
{
	int error = kernel_files_keep(files, program);

	if (!error && !array_reserve(files->programs, files->program_room, files->program_count + 1))
		error = -ENOMEM;
	if (error)
		return error;
	files->programs[files->program_count++] = program;
	return program;
}

void kernel_files_close(struct kernel_files *files)
{
	for (size_t n = 0; n < files->count; n++)
		close(files->files[n]);
	files->count = files->program_count = 0;
}

void kernel_files_free(struct kernel_files *files)
{
	free(files->files);
	free(files->programs);
	*files = (struct kernel_files){ .files = NULL };
}

void kernel_files_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* It ends when the pipe's last descriptor is closed, and holds no output of ours. */
int kernel_files_hold(void)
{
	int pipe[2] = { -1, -1 };
	char byte;

	if (pipe2(pipe, O_CLOEXEC) == 0 && fork() == 0) {
		close(pipe[1]);
		syscall(SYS_close_range, 0, 2, 0);
		if (read(pipe[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(pipe[0]);
	return pipe[1];
}

void kernel_files_release(int holder)
{
	close(holder);
}
