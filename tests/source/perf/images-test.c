/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opening files that ended processes had mapped: with which rights, and which files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image/elf/image.h"
#include "source/perf/tasks/images.h"
#include "source/perf/tasks/mappings.h"

enum {
	USER = 61234,
	OTHER = 61235,
	UNSEEN = 0x7ffffff0, /* pids of no process */
	SEEN,
};

struct fixture {
	struct images images;
	char path[64];
};

static uid_t user_of(uint32_t pid, struct foreign_user *own)
{
	*own = (struct foreign_user){ USER, USER };
	return pid == SEEN ? USER : FOREIGN_NO_USER;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	strcpy(fixture->path, "/tmp/burin-images-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	assert_int_equal(chmod(fixture->path, 0755), 0);
	images_init(&fixture->images, NULL);
	fixture->images.budget.user_of = user_of;
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	images_free(&fixture->images);
	snprintf(command, sizeof(command), "rm -rf %s", fixture->path);
	free(fixture);
	return system(command);
}

/* Whether a mapped file of this owner and mode is opened. @program: a copy of this program, identified by build id */
static bool is_opened(struct fixture *fixture, uint32_t pid, uid_t owner, mode_t mode, bool program)
{
	static unsigned number;
	char path[128], command[256];
	struct record_map map = { .begin = 0x10000, .bytes = 4096, .path = path };
	const uint64_t before = fixture->images.unreadable;
	struct image image;
	struct stat status;

	snprintf(path, sizeof(path), "%s/file%u", fixture->path, number++);
	snprintf(command, sizeof(command), "cp %s %s", program ? "/proc/$PPID/exe" : "/etc/passwd", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(chmod(path, mode), 0);
	assert_int_equal(chown(path, owner, owner), 0);
	assert_int_equal(stat(path, &status), 0);
	map.major = major(status.st_dev);
	map.minor = minor(status.st_dev);
	map.inode = status.st_ino;
	if (program) {
		assert_int_equal(image_open(&image, open(path, O_RDONLY | O_CLOEXEC)), 0);
		assert_true(image.build_id_bytes > 0);
		memcpy(map.build_id, image.build_id, image.build_id_bytes);
		map.build_id_bytes = image.build_id_bytes;
		map.inode = map.major = map.minor = 0;
		image_close(&image);
	}
	assert_non_null(images_find(&fixture->images, pid, &map));
	return fixture->images.unreadable == before;
}

static void by_inode(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid() != 0)
		skip();
	assert_true(is_opened(fixture, UNSEEN, 0, 0644, false));
	assert_false(is_opened(fixture, UNSEEN, 0, 0600, false));
	assert_false(is_opened(fixture, UNSEEN, USER, 0600, false));
	assert_true(is_opened(fixture, SEEN, USER, 0600, false));
	assert_true(is_opened(fixture, SEEN, OTHER, 0644, false));
	assert_false(is_opened(fixture, SEEN, OTHER, 0600, false));
	assert_false(is_opened(fixture, SEEN, 0, 0600, false));
}

static void by_build_id(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid() != 0)
		skip();
	assert_true(is_opened(fixture, UNSEEN, 0, 0600, true));
	assert_true(is_opened(fixture, SEEN, USER, 0600, true));
	assert_false(is_opened(fixture, SEEN, 0, 0600, true));
}

/* A file that is not there when it is seen first is opened at a later mapping, but not sought for ever. */
static void later(void **state)
{
	struct fixture *fixture = *state;
	char path[128], hidden[160];
	struct record_map map = { .begin = 0x10000, .bytes = 4096, .path = path };
	const struct sample_image *image;
	struct stat status;

	for (unsigned misses = 1; misses <= 8; misses += 7) {
		snprintf(path, sizeof(path), "%s/late%u", fixture->path, misses);
		snprintf(hidden, sizeof(hidden), "%s.hidden", path);
		assert_int_equal(close(creat(hidden, 0644)), 0);
		assert_int_equal(stat(hidden, &status), 0);
		map.major = major(status.st_dev);
		map.minor = minor(status.st_dev);
		map.inode = status.st_ino;
		fixture->images.unreadable = 0;
		for (unsigned n = 0; n < misses; n++)
			image = images_find(&fixture->images, UNSEEN, &map);
		assert_int_equal(fixture->images.unreadable, 1);
		assert_int_equal(rename(hidden, path), 0);
		assert_ptr_equal(images_find(&fixture->images, UNSEEN, &map), image);
		assert_int_equal(fixture->images.unreadable, misses != 1);
	}
}

/* The file of the object that an address belongs to. */
static const char *object_of(const void *address)
{
	Dl_info object;

	assert_int_not_equal(dladdr(address, &object), 0);
	return object.dli_fname;
}

/* Unwind tables that were not used lately are freed if all take too much memory; they are opened again when they are needed. */
static void unused_tables_are_freed(void **state)
{
	/* Programs of the machine may be of another architecture than this one, which an emulator runs. */
	const char *const paths[] = { "/proc/self/exe",
				      object_of((const void *)(uintptr_t)gnu_get_libc_version),
				      object_of((const void *)getauxval(AT_BASE)) };
	struct fixture *fixture = *state;
	struct images *images = &fixture->images;
	struct sample_image *all[3];
	struct unwind_table *table;
	uint64_t bytes = 0;

	for (unsigned n = 0; n < 3; n++) {
		char *path = realpath(paths[n], NULL);
		struct record_map map = { .begin = 0x10000, .bytes = 4096, .path = path };
		struct stat status;

		assert_non_null(path);
		assert_int_equal(stat(path, &status), 0);
		map.inode = status.st_ino;
		map.major = major(status.st_dev);
		map.minor = minor(status.st_dev);
		all[n] = images_find(images, (uint32_t)getpid(), &map);
		free(path);
		assert_non_null(all[n]);
		assert_non_null(images_tables(all[n]));
		bytes += unwind_table_bytes(all[n]->tables);
	}
	images_trim(images);
	assert_int_equal(images->table_bytes, bytes);
	images->tables_max = bytes - 1;
	for (unsigned n = 0; n + 1 < IMAGES_PERIODS; n++) {
		images_trim(images);
		assert_int_equal(images->table_bytes, bytes); /* used lately */
		images_tables(all[1]);
	}
	images_trim(images);
	assert_null(all[0]->tables);
	assert_non_null(all[1]->tables);
	assert_in_range(images->table_bytes, 0, images->tables_max);
	table = images_tables(all[0]);
	assert_non_null(table);
	images_trim(images);
	assert_ptr_equal(images_tables(all[0]), table);
}

enum {
	FILES_MAX = 32, /* files are given back from 9 on, also those of images with samples from 13 on */
};

/* An image of its own for each number. */
static struct sample_image *map_file(struct fixture *fixture, unsigned number)
{
	const struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
	} elf = { { .e_ident = ELFMAG "\2\1\1", /* 64 bits, little-endian */
		    .e_phoff = sizeof(elf.header),
		    .e_phentsize = sizeof(elf.segment),
		    .e_phnum = 1 },
		  { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = sizeof(elf), .p_memsz = sizeof(elf) } };
	char path[128];
	struct record_map map = { .begin = 0x10000, .bytes = 4096, .path = path };
	struct stat status;
	int fd;

	snprintf(path, sizeof(path), "%s/mapped%u", fixture->path, number);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, &elf, sizeof(elf)), sizeof(elf));
	assert_int_equal(fstat(fd, &status), 0);
	close(fd);
	map.major = major(status.st_dev);
	map.minor = minor(status.st_dev);
	map.inode = status.st_ino;
	return images_find(&fixture->images, SEEN, &map);
}

static unsigned count_open(struct sample_image *const *all, unsigned begin, unsigned end)
{
	unsigned count = 0;

	while (begin < end)
		count += all[begin++]->opened;
	return count;
}

/* Files that no process has mapped, and that no name will need, stay open in a small number only. */
static void idle_files_are_few(void **state)
{
	struct fixture *fixture = *state;
	struct images *images = &fixture->images;
	struct sample_image *all[3 * IMAGES_IDLE];
	const uint64_t *opened = &images->budget.spent[BUDGET_FILES];
	struct table_writer table;
	const int directory = open(fixture->path, O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(mkdirat(directory, ".burin", 0700), 0); /* for drafts */
	assert_int_equal(table_writer_begin(&table, directory, "table", WIRE_TABLE_IMAGES), 0);
	images->table = &table;
	images->chunk = 1;
	for (unsigned n = 0; n < 3 * IMAGES_IDLE; n++) {
		all[n] = map_file(fixture, n);
		assert_true(all[n]->opened);
		if (n % 3 == 0) /* one of three has samples in the first trace */
			assert_int_equal(images_number(images, all[n]), n / 3 + 1);
		if (n % 8 == 7)
			images_round(images);
	}
	for (unsigned n = 0; n <= IMAGES_PENDING;
	     n++) /* the last ones are mapped as soon as their turn comes */
		images_round(images);
	assert_in_range(*opened, 2 * IMAGES_IDLE,
			2 * IMAGES_IDLE + IMAGES_IDLE / 2 + 8 * (IMAGES_PENDING + 1));
	for (unsigned n = 0; n < 3 * IMAGES_IDLE; n++)
		assert_true(all[n]->opened || n % 3);
	assert_true(all[3 * IMAGES_IDLE - 1]->opened);

	images->chunk = 2; /* which has samples of two of them */
	images_number(images, all[0]);
	images_sampled(images, all[3]->number);
	images->needed = 2;
	images->opened = IMAGES_IDLE;
	images_round(images);
	assert_int_equal(*opened, IMAGES_IDLE + 2);
	assert_true(all[0]->opened && all[3]->opened && !all[6]->opened);
	images->table = NULL;
	table_writer_close(&table);
	close(directory);
}

/* Files of images that no process has mapped are closed where many are open; a mapping opens them again. */
static void unmapped_files_are_given_back(void **state)
{
	struct fixture *fixture = *state;
	struct images *images = &fixture->images;
	struct mapping mapping = { .begin = 0x1000, .end = 0x2000 };
	struct mappings mappings = { .count = 0 };
	struct sample_image *all[FILES_MAX];
	const uint64_t *open = &images->budget.spent[BUDGET_FILES];

	images->budget.files_max = FILES_MAX;
	for (unsigned n = 0; n < 12; n++)
		all[n] = map_file(fixture, n);
	assert_int_equal(count_open(all, 0, 12), 12);
	assert_int_equal(*open, 12);
	for (unsigned n = 0; n < 9; n++)
		all[n]->number = n + 1; /* these have samples */
	mapping.image = all[11];
	assert_int_equal(mappings_add(&mappings, &mapping), 0);
	for (unsigned n = 0; n < IMAGES_PERIODS; n++)
		images_trim(images);
	assert_int_equal(*open, 12); /* they were mapped a moment ago */
	images_trim(images);
	assert_int_equal(count_open(all, 0, 9), 9);
	assert_int_equal(count_open(all, 9, 12), 1);
	assert_true(all[11]->opened);
	assert_int_equal(*open, 10);
	assert_ptr_equal(map_file(fixture, 10), all[10]);
	assert_true(all[10]->opened);
	for (unsigned n = 12; n < 15; n++)
		all[n] = map_file(fixture, n);
	map_file(fixture, 3);
	assert_int_equal(*open, 14);
	images_trim(images);
	assert_int_equal(*open, 8);
	assert_true(all[3]->opened);
	assert_int_equal(count_open(all, 0, 9), 3); /* the last of those without a mapping, and that one */
	assert_int_equal(count_open(all, 10, 15), 5);
	for (unsigned n = 15; n < 23; n++)
		assert_true(map_file(fixture, n)->opened);
	assert_true(map_file(fixture, 23)->deferred); /* half of all is a user's share */
	mappings_clear(&mappings);
	for (unsigned n = 0; n <= IMAGES_PERIODS; n++)
		images_trim(images);
	assert_int_equal(*open, 8);
	assert_true(map_file(fixture, 23)->opened);
}

/* Short-lived programs, each with a file of its own: their images are freed, and what each may have is not used up. */
static void unnamed_images_are_freed(void **state)
{
	enum {
		KEPT = 8,
		PROGRAMS = 300,
	};
	struct fixture *fixture = *state;
	struct images *images = &fixture->images;
	struct mapping mapping = { .begin = 0x1000, .end = 0x2000 };
	struct mappings mappings = { .count = 0 };
	struct sample_image *held = NULL, *mapped = map_file(fixture, 0), *sampled = map_file(fixture, 1);
	const uint64_t *spent = &images->budget.spent[BUDGET_IMAGES];

	images->kept = KEPT;
	images_set(&held, map_file(fixture, 2));
	mapping.image = mapped;
	assert_int_equal(mappings_add(&mappings, &mapping), 0);
	sampled->number = 1; /* as of a sample */
	for (unsigned n = 3; n < PROGRAMS; n++) {
		assert_non_null(map_file(fixture, n));
		images_trim(images);
		assert_in_range(images->count, 1, KEPT + IMAGES_PERIODS + 1);
		assert_int_equal(*spent, images->count);
		assert_in_range(images->budget.spent[BUDGET_FILES], 1, images->count);
	}
	assert_ptr_equal(map_file(fixture, 0), mapped);
	assert_ptr_equal(map_file(fixture, 1), sampled);
	assert_ptr_equal(map_file(fixture, 2), held);
	assert_true(mapped->opened && sampled->opened && held->opened);
	assert_true(map_file(fixture, 3)->opened); /* anew */
	mappings_clear(&mappings);
	images_set(&held, NULL);
	images->kept = 0;
	for (unsigned n = 0; n <= IMAGES_PERIODS; n++)
		images_trim(images);
	assert_int_equal(images->count, 1);
	assert_ptr_equal(images->all[0], sampled); /* the names of its samples need the file */
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = { CASE(by_inode),
					    CASE(by_build_id),
					    CASE(later),
					    CASE(unused_tables_are_freed),
					    CASE(idle_files_are_few),
					    CASE(unmapped_files_are_given_back),
					    CASE(unnamed_images_are_freed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
