/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A process that holds the lock of its own memory: held DIRECTORY UID, as root. DIRECTORY is on a file system of its own.
 *
 * The file system is frozen. A thread writes to a page of one of its files by way of /proc/self/mem, and waits with the lock held
 * for reading; another waits in mmap(2) to hold it for writing. So every later reader waits. `held PID` is printed then.
 *
 * On the whole machine, all that reads command lines or mappings hangs meanwhile. So a guard, which signals to the others do not
 * reach, thaws the file system when the standard input ends, and after HELD_MS in any case. It prints which it was.
 */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/burin.h"

enum {
	HELD_MS = 3000,
};

static char *page;
static int memory;

static int fail(const char *what)
{
	perror(what);
	return EXIT_FAILURE;
}

/* How many threads of a process wait in the kernel, by their stat, which needs no lock. */
static unsigned count_blocked(pid_t pid)
{
	char path[320], text[256];
	const struct dirent *entry;
	const char *state;
	unsigned count = 0;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	list = opendir(path);
	while (list && (entry = readdir(list))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, entry->d_name);
		const int file = open(path, O_RDONLY | O_CLOEXEC);
		const ssize_t got = file < 0 ? 0 : read(file, text, sizeof(text) - 1);

		close(file);
		text[got > 0 ? got : 0] = 0;
		state = strrchr(text, ')');
		count += state && state[2] == 'D';
	}
	if (list)
		closedir(list);
	return count;
}

static bool wait_blocked(pid_t pid, unsigned count)
{
	unsigned ms = 0;

	while (ms++ < HELD_MS && count_blocked(pid) < count)
		usleep(1000);
	return ms <= HELD_MS;
}

static void *write_page(void *unused)
{
	(void)unused;
	return pwrite(memory, "x", 1, (off_t)page) == 1 ? page : NULL;
}

/* @frozen: its first byte says that the file system is */
static int hold(const char *directory, uid_t user, int ready, int frozen)
{
	pthread_t writer;
	char path[256], byte = 0;
	int file;

	prctl(PR_SET_NAME, "holder");
	snprintf(path, sizeof(path), "%s/page", directory);
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, 4096) != 0)
		return fail(path);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	/* Code of a file of its own: a recorder opens it. Newer kernels read lines of maps without the lock. */
	if (page == MAP_FAILED ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED ||
	    setgroups(0, NULL) != 0 || setgid(user) != 0 || setuid(user) != 0 ||
	    prctl(PR_SET_DUMPABLE, 1) != 0)
		return fail("holder");
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (memory < 0 || write(ready, &byte, 1) != 1 || read(frozen, &byte, 1) != 1)
		return fail("/proc/self/mem");
	if (pthread_create(&writer, NULL, write_page, NULL) != 0)
		return EXIT_FAILURE;
	wait_blocked(getpid(), 1);
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

static int guard(int directory, pid_t holder)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int ended;

	ended = poll(&input, 1, HELD_MS);
	kill(holder, SIGKILL);
	ioctl(directory, FITHAW, 0);
	puts(ended > 0 ? "let go" : "too late");
	return 0;
}

/* Start the guard with signals blocked, in a process group of its own. */
static bool start_guard(int directory, pid_t holder)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		setsid();
		exit(guard(directory, holder));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid > 0;
}

int main(int argc, char **argv)
{
	const int directory = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int ready[2], frozen[2];
	pid_t holder;
	char byte = 0;

	if (directory < 0 || pipe2(ready, O_CLOEXEC) != 0 || pipe2(frozen, O_CLOEXEC) != 0)
		return fail("held");
	BURIN_TRACE("held.begin", "as %s", argv[2]);
	holder = fork();
	if (holder == 0)
		return hold(argv[1], (uid_t)atoi(argv[2]), ready[1], frozen[0]);
	close(ready[1]);
	if (holder < 0 || read(ready[0], &byte, 1) != 1 || !start_guard(directory, holder))
		return fail("held");
	if (ioctl(directory, FIFREEZE, 0) != 0 || write(frozen[1], &byte, 1) != 1)
		return fail("FIFREEZE");
	if (!wait_blocked(holder, 2))
		return EXIT_FAILURE;
	printf("held %d\n", (int)holder);
	fflush(stdout);
	while (wait(NULL) > 0)
		continue;
	return 0;
}
