/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Paths that another user names. Each case also runs with the walk that replaces openat2(2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/foreign.h"

enum {
	USER = 61234,
	OTHER = 61235,
};

struct place {
	char path[64];
	int tree; /* PATH/tree, the root of all paths */
};

static void put(const char *path, const char *text, mode_t mode)
{
	const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(file, mode), 0);
	close(file);
}

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	strcpy(place->path, "/tmp/burin-foreign-XXXXXX");
	assert_non_null(mkdtemp(place->path));
	assert_int_equal(chmod(place->path, 0755), 0);
	assert_int_equal(chdir(place->path), 0);
	assert_int_equal(mkdir("tree", 0755), 0);
	assert_int_equal(mkdir("tree/folder", 0755), 0);
	put("secret", "outside", 0644);
	put("tree/file", "inside", 0644);
	put("tree/folder/secret", "inside the folder", 0644);
	assert_int_equal(mkfifo("tree/fifo", 0644), 0);
	place->tree = foreign_root("tree");
	assert_true(place->tree >= 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	char command[128];

	close(place->tree);
	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf %s", place->path);
	assert_int_equal(system(command), 0);
	free(place);
	return 0;
}

/* The text of a file, or the error's name. */
static const char *text_at(const struct foreign *how, int root, const char *path)
{
	static char text[64];
	const int file = foreign_open(how, root, path);
	ssize_t bytes;

	if (file < 0)
		return strerrorname_np(-file);
	bytes = read(file, text, sizeof(text) - 1);
	close(file);
	text[bytes < 0 ? 0 : bytes] = 0;
	return text;
}

static const char *found(const struct place *place, const char *path)
{
	return text_at(&(struct foreign){ 0 }, place->tree, path);
}

/* Repeat a case in a child without openat2(2). */
static void without_openat2(void (*call)(struct place *place), struct place *place)
{
	static struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(refuse) / sizeof(refuse[0]), refuse };
	const pid_t child = fork();
	int status;

	if (child == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(77);
		if (syscall(SYS_openat2, 0, NULL, NULL, 0) != -1 || errno != ENOSYS)
			_exit(78);
		call(place);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		print_message("# seccomp is not permitted here\n");
	else
		assert_int_equal(WEXITSTATUS(status), 0);
}

static void both_ways(void (*call)(struct place *place), struct place *place)
{
	call(place);
	without_openat2(call, place);
}

static void check_links(struct place *place)
{
	assert_string_equal(found(place, "file"), "inside");
	assert_string_equal(found(place, "/file"), "inside");
	assert_string_equal(found(place, "//./folder/../file"), "inside");
	assert_string_equal(found(place, "../secret"), "ENOENT"); /* `..` stops at the root */
	assert_string_equal(found(place, "/../../folder/secret"), "inside the folder");
	assert_string_equal(found(place, "up"), "ENOENT");
	assert_string_equal(found(place, "absolute"), "inside"); /* begins at the root, too */
	assert_string_equal(found(place, "there/secret"), "inside the folder");
	assert_string_equal(found(place, "folder/back"), "inside");
	assert_string_equal(found(place, "loop"), "ELOOP");
	assert_string_equal(found(place, "file/x"), "ENOTDIR");
	assert_string_equal(found(place, "none"), "ENOENT");
	assert_string_equal(text_at(&(struct foreign){ .no_links = true }, place->tree, "there/secret"),
			    "ELOOP");
	assert_string_equal(text_at(&(struct foreign){ .no_links = true }, place->tree, "file"), "inside");
	assert_string_equal(text_at(&(struct foreign){ 0 }, FOREIGN_HERE, "tree/../secret"), "outside");
}

static void links(void **state)
{
	assert_int_equal(symlink("../secret", "tree/up"), 0);
	assert_int_equal(symlink("/file", "tree/absolute"), 0);
	assert_int_equal(symlink("folder", "tree/there"), 0);
	assert_int_equal(symlink("../up/../file", "tree/folder/back"), 0);
	assert_int_equal(unlink("tree/folder/back"), 0);
	assert_int_equal(symlink("../file", "tree/folder/back"), 0);
	assert_int_equal(symlink("loop", "tree/loop"), 0);
	both_ways(check_links, *state);
}

static void check_kinds(struct place *place)
{
	alarm(300); /* opening a FIFO would block */
	assert_string_equal(found(place, "fifo"), "EOPNOTSUPP");
	assert_string_equal(found(place, "folder"), "EOPNOTSUPP");
	assert_string_equal(found(place, "/"), "EOPNOTSUPP");
	assert_string_equal(text_at(&(struct foreign){ 0 }, FOREIGN_HERE, "/dev/null"), "EOPNOTSUPP");
	assert_string_equal(text_at(&(struct foreign){ 0 }, FOREIGN_HERE, "tree/device"), "EOPNOTSUPP");
	/* These appear to be regular files, but reading some files of the kernel blocks or consumes data. */
	assert_string_equal(text_at(&(struct foreign){ 0 }, FOREIGN_HERE, "/proc/version"), "EOPNOTSUPP");
	assert_string_equal(text_at(&(struct foreign){ 0 }, FOREIGN_HERE, "/sys/kernel/notes"), "EOPNOTSUPP");
	/* Links of /proc to a process's files and directories. */
	assert_string_equal(text_at(&(struct foreign){ 0 }, FOREIGN_HERE, "/proc/self/cwd/file"), "ELOOP");
	assert_string_equal(text_at(&(struct foreign){ .bytes_max = 6 }, place->tree, "file"), "inside");
	assert_string_equal(text_at(&(struct foreign){ .bytes_max = 5 }, place->tree, "file"), "EFBIG");
	alarm(0);
}

static void kinds(void **state)
{
	assert_int_equal(symlink("/dev/zero", "tree/device"), 0);
	both_ways(check_kinds, *state);
}

/* A device must not be opened. That would fail with another error, since no driver has this number. */
static void device(void **state)
{
	const struct place *place = *state;

	if (mknod("tree/node", S_IFCHR | 0666, makedev(240, 77)) != 0)
		skip();
	assert_true(open("tree/node", O_RDONLY | O_NONBLOCK) < 0);
	assert_string_equal(found(place, "node"), "EOPNOTSUPP");
}

static void check_as_user(struct place *place)
{
	const struct foreign_user user = { USER, USER }, other = { OTHER, OTHER };
	const struct foreign as_user = { .reader = &user }, owned = { .owner = &user },
			     as_other = { .reader = &other, .owner = &user };

	assert_string_equal(text_at(&as_user, place->tree, "file"), "inside");
	assert_string_equal(text_at(&as_user, place->tree, "roots"), "EACCES");
	assert_string_equal(text_at(&as_user, place->tree, "group"),
			    "EACCES"); /* our groups are dropped, too */
	assert_string_equal(text_at(&as_user, place->tree, "private/file"), "EACCES");
	assert_string_equal(text_at(&as_user, place->tree, "mine"), "the user's");
	assert_string_equal(text_at(&owned, place->tree, "mine"), "the user's");
	assert_string_equal(text_at(&owned, place->tree, "roots"), "root's");
	assert_string_equal(text_at(&owned, place->tree, "others"), "EPERM");
	assert_string_equal(text_at(&as_other, place->tree, "mine"), "EACCES");
	assert_string_equal(text_at(&(struct foreign){ 0 }, place->tree, "roots"),
			    "root's"); /* the rights are restored */
	assert_string_equal(text_at(&(struct foreign){ 0 }, place->tree, "group"), "the group's");
}

static void rights(void **state)
{
	const gid_t group = 0;

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir("tree/private", 0700), 0);
	put("tree/private/file", "private", 0644);
	put("tree/roots", "root's", 0600);
	put("tree/group", "the group's", 0640);
	put("tree/mine", "the user's", 0600);
	put("tree/others", "other", 0644);
	assert_int_equal(chown("tree/mine", USER, USER), 0);
	assert_int_equal(chown("tree/others", OTHER, OTHER), 0);
	assert_int_equal(syscall(SYS_setgroups, 1, &group), 0);
	both_ways(check_as_user, *state);
	assert_int_equal(getgroups(0, NULL), 1);
}

/* Directory services give administrators many groups. */
static void many_groups(void **state)
{
	enum {
		COUNT = 1000
	};
	static gid_t before[COUNT], after[COUNT];
	const struct foreign_user user = { USER, USER };
	const struct foreign as_user = { .reader = &user };
	const struct place *place = *state;

	if (geteuid() != 0)
		skip();
	for (unsigned n = 0; n < COUNT; n++)
		before[n] = 70000 + n;
	put("tree/group", "the group's", 0640);
	assert_int_equal(chown("tree/group", 0, (gid_t)before[COUNT - 1]), 0);
	assert_int_equal(syscall(SYS_setgroups, COUNT, before), 0);
	assert_string_equal(text_at(&as_user, place->tree, "file"), "inside");
	assert_string_equal(text_at(&as_user, place->tree, "group"), "EACCES");
	assert_int_equal(syscall(SYS_getgroups, COUNT, after), COUNT);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(syscall(SYS_setgroups, 0, NULL), 0);
}

static void processes(void **state)
{
	struct foreign_process process;
	struct foreign_user own;

	(void)state;
	assert_int_equal(foreign_process_read(&process, (uint32_t)getpid()), 0);
	assert_int_equal(process.user.user, geteuid());
	assert_int_equal(process.user.group, getegid());
	assert_int_equal(process.inner_pid, getpid());
	assert_int_equal(foreign_process_read(&process, 0x7fffffff), -ESRCH);
	assert_int_equal(foreign_user_of((uint32_t)getpid(), &own), geteuid());
	assert_int_equal(foreign_user_of(0x7fffffff, &own), FOREIGN_NO_USER);
}

static bool write_map(const char *path, const char *text)
{
	const int file = open(path, O_WRONLY);

	return file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
}

/* Processes in namespaces created by an ordinary user count as that user's, at any depth. */
static void namespaces(void **state)
{
	struct foreign_user own;
	int ready[2];
	pid_t child;
	char byte;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (setgid(USER) == 0 && setuid(USER) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
		    unshare(CLONE_NEWUSER) == 0 && write_map("/proc/self/setgroups", "deny") &&
		    write_map("/proc/self/uid_map", "7 61234 1") &&
		    write_map("/proc/self/gid_map", "7 61234 1") && unshare(CLONE_NEWUSER) == 0)
			(void)!write(ready[1], "", 1);
		close(ready[1]);
		pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		assert_int_equal(foreign_user_of((uint32_t)child, &own), USER);
	else
		print_message("# ordinary users may not make namespaces here\n");
	close(ready[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(links),	   CASE(kinds),	    CASE(device),     CASE(rights),
		CASE(many_groups), CASE(processes), CASE(namespaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
