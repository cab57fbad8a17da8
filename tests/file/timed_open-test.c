/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files that a helper opens with a deadline. A FIFO without a writer stands for a file that keeps its reader waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/timed_open.h"

enum {
	FAILURES = TIMED_LEFT_MAX + 4, /* more than may be left behind */
};

static char place[] = "/tmp/timed_open-XXXXXX";
static char file_path[64], fifo_path[64];

static int put_files(void **state)
{
	int file;

	(void)state;
	if (!mkdtemp(place))
		return -1;
	snprintf(file_path, sizeof(file_path), "%s/file", place);
	snprintf(fifo_path, sizeof(fifo_path), "%s/fifo", place);
	file = open(file_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (file < 0 || write(file, "0123456789", 10) != 10 || mkfifo(fifo_path, 0600) != 0)
		return -1;
	close(file);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	return unlink(file_path) || unlink(fifo_path) || rmdir(place);
}

static int copy(const char *path, size_t bytes)
{
	uint64_t blocked;
	const int file = timed_open(
		&(struct timed_request){ .kind = TIMED_COPY, .path = path, .bytes = bytes }, &blocked);

	if (file == -ECHILD)
		skip(); /* an emulator of processes without such children */
	return file;
}

static void assert_text(int file, const char *text)
{
	char found[64];
	const ssize_t got = read(file, found, sizeof(found) - 1);

	assert_true(got >= 0);
	found[got] = 0;
	assert_string_equal(found, text);
	close(file);
}

/* Of memory, a part is copied, up to the end of what is mapped. */
static void memory(void **state)
{
	static const char bytes[] = "a piece of memory";
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), found[64],
	     path[32];
	struct timed_request request = { .kind = TIMED_COPY, .path = path, .bytes = sizeof(found) };
	uint64_t blocked;
	int file;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	memcpy(page + 4096 - sizeof(bytes), bytes, sizeof(bytes));
	assert_int_equal(munmap(page + 4096, 4096), 0);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)getpid());
	request.begin = (uintptr_t)page + 4096 - sizeof(bytes);
	file = timed_open(&request, &blocked);
	if (file == -ECHILD)
		skip();
	assert_int_equal(read(file, found, sizeof(found)), sizeof(bytes));
	assert_memory_equal(found, bytes, sizeof(bytes));
	close(file);
	request.begin = (uintptr_t)page + 4096;
	assert_int_equal(timed_open(&request, &blocked), -EIO);
	munmap(page, 4096);
}

static void answers(void **state)
{
	const struct foreign_user other = { geteuid() + 1, getegid() }, self = { geteuid(), getegid() };
	const struct foreign any = { 0 }, of_self = { .owner = &self }, small = { .bytes_max = 9 };
	const struct foreign of_other = { .owner = &other };
	uint64_t blocked;

	(void)state;
	assert_text(copy(file_path, 0), "0123456789");
	assert_text(copy(file_path, 4), "0123");
	assert_int_equal(copy("/proc/self/none", 0), -ENOENT);
	assert_text(
		timed_open(&(struct timed_request){ .kind = TIMED_LINK, .how = &of_self, .path = file_path },
			   &blocked),
		"0123456789");
	assert_text(timed_open(
			    &(struct timed_request){
				    .kind = TIMED_PATH, .how = &any, .root = place, .path = "file" },
			    &blocked),
		    "0123456789");
	assert_int_equal(
		timed_open(&(struct timed_request){ .kind = TIMED_LINK, .how = &small, .path = file_path },
			   &blocked),
		-EFBIG);
	if (geteuid() != 0)
		assert_int_equal(timed_open(&(struct timed_request){ .kind = TIMED_LINK,
								     .how = &of_other,
								     .path = file_path },
					    &blocked),
				 -EPERM);
}

/* Each failure ends a helper. They are gone afterwards, so there can be any number. */
static void deadline(void **state)
{
	uint64_t blocked;

	(void)state;
	assert_text(copy(file_path, 0), "0123456789");
	for (unsigned n = 0; n < FAILURES; n++) {
		const int file = timed_open(&(struct timed_request){ .kind = TIMED_COPY, .path = fifo_path },
					    &blocked);

		assert_int_equal(file, -ETIMEDOUT);
		assert_text(copy(file_path, 0), "0123456789");
	}
}

/* The helper is no child that wait(2) finds, and keeps no file of its parent open. */
static void helper_apart(void **state)
{
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(copy(fifo_path, 0), -ETIMEDOUT); /* the next one has the pipe at its start */
	assert_text(copy(file_path, 0), "0123456789");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

/* A forked process does not talk to its parent's helper. */
static void forked(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_text(copy(file_path, 0), "0123456789");
	pid = fork();
	if (pid == 0) {
		uint64_t blocked;

		_exit(timed_open(&(struct timed_request){ .kind = TIMED_COPY, .path = fifo_path },
				 &blocked) != -ETIMEDOUT);
	}
	assert_text(copy(file_path, 4), "0123");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_text(copy(file_path, 0), "0123456789");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),	cmocka_unit_test(answers), cmocka_unit_test(deadline),
		cmocka_unit_test(helper_apart), cmocka_unit_test(forked),
	};

	return cmocka_run_group_tests(tests, put_files, remove_files);
}
