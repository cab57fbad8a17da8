/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Images and their files; see images.h. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/array.h"
#include "base/containers/hash.h"
#include "base/number.h"
#include "file/foreign_file.h"
#include "source/perf/tasks/images.h"

enum {
	FILES_MAX = 1 << 16,	     /* open files */
	TRIES = 8,		     /* to open a file */
	TABLE_BYTES_MAX = 512 << 20, /* of all images; LLVM, Chromium and Java have 10 MiB together */
};

/* Three of four descriptors that the recorder may open. */
static uint64_t files_max(void)
{
	struct rlimit limit = { 1024, 1024 };

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_max / 4 * 3 < FILES_MAX ? limit.rlim_max / 4 * 3 : FILES_MAX;
}

void images_init(struct images *images, struct table_writer *table)
{
	*images = (struct images){ .table = table,
				   .tables_max = IMAGES_TABLES_MAX,
				   .kept = IMAGES_KEPT,
				   .meter = { .limit = UINT64_MAX } };
	budget_init(&images->budget, files_max());
}

/* The inode is hashed, too, since files such as `/memfd:name (deleted)` can have the same name. */
static uint64_t images_hash_of(const struct sample_image *image)
{
	uint64_t hash = hash_begin();

	for (const char *path = image->path; *path; path++)
		hash = hash_byte(hash, *path);
	for (unsigned n = 0; n < image->build_id_bytes; n++)
		hash = hash_byte(hash, (char)image->build_id[n]);
	hash = hash_pair(hash, image->inode);
	return hash_pair(hash, image->process);
}

static bool images_same(const struct sample_image *one, const struct sample_image *other)
{
	return one->kind == other->kind && one->process == other->process && one->inode == other->inode &&
	       one->generation == other->generation && one->major == other->major &&
	       one->minor == other->minor && one->build_id_bytes == other->build_id_bytes &&
	       memcmp(one->build_id, other->build_id, one->build_id_bytes) == 0 &&
	       strcmp(one->path, other->path) == 0;
}

static void set_seen(struct sample_image *image)
{
	image->seen = image->of->period;
	image->round = image->of->round;
}

/* Find an equal image, or add it. @pid: the process whose allowance a new one uses. *made: whether it is new. */
static struct sample_image *images_find_or_add(struct images *images, const struct sample_image *wanted,
					       uint32_t pid, bool *made)
{
	const uint64_t hash = images_hash_of(wanted);
	struct sample_image *image;
	uint32_t place;

	*made = false;
	for (size_t at = 0; (place = hash_table_next(&images->places, hash, &at));)
		if (images_same(images->all[place - 1], wanted))
			return images->all[place - 1];
	if (!budget_spend(&images->budget, BUDGET_IMAGES, pid)) {
		budget_over(&images->budget, BUDGET_IMAGES, pid);
		return NULL;
	}
	if (!array_reserve(images->all, images->room, images->count + 1) ||
	    !hash_table_reserve(&images->places))
		return NULL;
	image = malloc(sizeof(*image));
	if (!image)
		return NULL;
	*image = *wanted;
	image->fd = -1;
	image->of = images;
	set_seen(image);
	image->own = budget_payment(&images->budget, pid);
	image->in_memory = image->kind == WIRE_IMAGE_FILE && strncmp(wanted->path, "/memfd:", 7) == 0;
	image->path = strdup(wanted->path);
	if (!image->path) {
		budget_return(&images->budget, BUDGET_IMAGES, &image->own);
		free(image);
		return NULL;
	}
	images->all[images->count++] = image;
	hash_table_add(&images->places, hash, (uint32_t)images->count);
	*made = true;
	return image;
}

/* `jit-PID.dump`: the file name by which just-in-time compilers announce a jitdump. */
static bool is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	int end = 0;

	/* Most names end here, long before sscanf() would see that. */
	return slash && strncmp(slash, "/jit-", 5) == 0 && sscanf(slash, "/jit-%*[0-9].dump%n", &end) == 0 &&
	       end && !slash[end];
}

/* The kind of an image, from the kernel's name of the mapping. */
static enum wire_image kind_of(const char *path)
{
	if (strcmp(path, "[vdso]") == 0)
		return WIRE_IMAGE_VDSO;
	if (path[0] != '/' || strncmp(path, "//anon", 6) == 0 || strncmp(path, "/dev/zero", 9) == 0 ||
	    strncmp(path, "/anon_hugepage", 14) == 0 || strncmp(path, "/SYSV", 5) == 0)
		return WIRE_IMAGE_ANONYMOUS;
	return is_jitdump(path) ? WIRE_IMAGE_JITDUMP : WIRE_IMAGE_FILE;
}

/* Remove the kernel's suffix of a deleted file from a path. */
static void clean_path(const char *path, char *out, size_t bytes)
{
	static const char suffix[] = " (deleted)";
	size_t length = strncmp(path, "//anon", 6) == 0 ? 0 : strnlen(path, bytes - 1);

	memcpy(out, path, length);
	out[length] = 0;
	if (length > sizeof(suffix) - 1 && strcmp(out + length - (sizeof(suffix) - 1), suffix) == 0)
		out[length - (sizeof(suffix) - 1)] = 0;
}

/* Whether an open file is the mapped one. If the mapping has a build id, the file is opened as ELF and stays so. */
static bool is_the_file(struct sample_image *image, int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	if (image->build_id_bytes) {
		if (image_open(&image->elf, fd) != 0) {
			image->fd = -1;
			return false;
		}
		image->opened = image->elf.build_id_bytes == image->build_id_bytes &&
				memcmp(image->elf.build_id, image->build_id, image->build_id_bytes) == 0;
		if (!image->opened)
			image_close(&image->elf);
	} else if (status.st_ino == image->inode) { /* not st_dev, which may differ on btrfs and overlay */
		image->fd = fd;
	}
	if (!image->opened && image->fd < 0)
		return false;
	image->bytes = (uint64_t)status.st_size;
	return true;
}

/* Use a file if it is the mapped one. @fd: the image owns it then, otherwise it is closed; negative: an error */
static bool images_take_file(struct sample_image *image, int fd)
{
	bool taken;

	if (fd < 0)
		return false;
	taken = is_the_file(image, fd);
	if (!taken && !image->build_id_bytes) /* otherwise image_open() has closed it */
		close(fd);
	return taken;
}

/*
 * The user whose rights are used to open a path that a process named: the process' user, also after the process ended.
 *
 * If the process ended before its user was read, a mapping with a build id is opened with our rights, since the process
 * knew at least that id. Any other file is opened with the rights of uid 65534: an inode number proves nothing, since a
 * process can choose one in a file system of its own. A jitdump is identified only by its owner, which must be us then.
 */
static const struct foreign_user *reader_of(const struct sample_image *image,
					    const struct foreign_user *process,
					    const struct foreign_user *ourselves)
{
	static const struct foreign_user unprivileged = { 65534, 65534 };

	if (process)
		return process;
	return image->kind == WIRE_IMAGE_JITDUMP || image->build_id_bytes ? ourselves : &unprivileged;
}

static bool images_take_answer(struct sample_image *image, uint32_t pid, int fd)
{
	if (fd == -ETIMEDOUT)
		budget_over(&image->of->budget, BUDGET_WAITS, pid);
	return images_take_file(image, fd);
}

/*
 * Open the file while a process has it mapped: through the mapping itself, by its path from the process' root, or by its
 * path from ours. A mapping proves that the process could read the file. A path does not: it may lead elsewhere by now.
 */
static bool images_open_mapped(struct images *images, struct sample_image *image, uint32_t pid,
			       const struct record_map *map)
{
	const bool dump = image->kind == WIRE_IMAGE_JITDUMP;
	struct foreign_process process;
	const bool known = pid && foreign_process_read(&process, pid) == 0;
	const struct foreign_user ourselves = { geteuid(), getegid() };
	const struct foreign_user *user =
		reader_of(image, known ? &process.user : budget_user(&images->budget, pid), &ourselves);
	struct foreign checks = { .bytes_max = dump ? FOREIGN_MAP_MAX : FOREIGN_IMAGE_MAX,
				  .reader = dump ? user : NULL,
				  .owner = dump ? user : NULL };

	if (known &&
	    images_take_answer(image, pid, foreign_mapped(&checks, pid, map->begin, map->begin + map->bytes)))
		return true;
	checks.reader = user;
	if (known && images_take_answer(image, pid, foreign_named(&checks, pid, true, image->path)))
		return true;
	return images_take_answer(image, pid, foreign_named(&checks, pid, false, image->path));
}

/* The file is closed, or another image has it: it counts no longer. */
static void images_unpay(struct sample_image *image)
{
	if (image->paid)
		budget_return(&image->of->budget, BUDGET_FILES, &image->payment);
	image->paid = false;
}

const struct image *images_elf(struct sample_image *image)
{
	if (image->kind == WIRE_IMAGE_VDSO && !image->opened && !image->refused) {
		image->opened = image_open_vdso(&image->elf) == 0;
		image->refused = !image->opened;
	}
	if (!image->opened && !image->refused && image->fd >= 0) {
		image->opened = image_open(&image->elf, image->fd) == 0;
		image->refused = !image->opened;
		image->fd = -1;
		if (image->refused)
			images_unpay(image);
	}
	return image->opened ? &image->elf : NULL;
}

bool images_is_go(struct sample_image *image)
{
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	const struct image *elf = image->judged || image->kind != WIRE_IMAGE_FILE ? NULL : images_elf(image);
	struct image_section section;

	image->judged = true;
	for (unsigned n = 0; elf && n < sizeof(sections) / sizeof(sections[0]); n++)
		image->go |= image_section(elf, sections[n], &section) == 0;
	return image->go;
}

struct unwind_table *images_tables(struct sample_image *image)
{
	struct images *images = image->of;
	const struct image *elf;

	image->used = images->period;
	if (image->unwound)
		return image->tables;
	if (!unwind_meter_permits(&images->meter))
		return NULL;
	image->unwound = true;
	elf = image->kind > WIRE_IMAGE_VDSO ? NULL : images_elf(image);
	if (elf && images->table_bytes < TABLE_BYTES_MAX &&
	    array_reserve(images->tabled, images->tabled_room, images->tabled_count + 1) &&
	    unwind_table_open_file(&image->tables, elf, &images->meter) == 0) {
		images->tabled[images->tabled_count++] = image;
		images->table_bytes += unwind_table_bytes(image->tables);
		return image->tables;
	}
	image->no_tables =
		elf || image->kind > WIRE_IMAGE_VDSO ? WIRE_TRUNCATION_TABLES : WIRE_TRUNCATION_IMAGE;
	return image->tables = NULL;
}

/* The image whose tables were used longest ago, and not lately: its place in ->tabled. Return: NULL: there is none. */
static struct sample_image **find_unused(const struct images *images)
{
	struct sample_image **oldest = NULL;

	for (size_t n = 0; n < images->tabled_count; n++) {
		struct sample_image **image = &images->tabled[n];

		if (images->period - (*image)->used > IMAGES_PERIODS &&
		    (!oldest || (*image)->used < (*oldest)->used))
			oldest = image;
	}
	return oldest;
}

static void drop_tables(struct images *images, struct sample_image **place)
{
	struct sample_image *image = *place;

	images->table_bytes -= unwind_table_bytes(image->tables);
	unwind_table_close(image->tables);
	image->tables = NULL;
	image->unwound = false;
	*place = images->tabled[--images->tabled_count];
}

static bool images_is_open(const struct sample_image *image)
{
	return image->opened || image->fd >= 0;
}

static void close_file(struct sample_image *image)
{
	if (image->opened)
		image_close(&image->elf);
	else if (image->fd >= 0)
		close(image->fd);
	image->opened = false;
	image->fd = -1;
}

/* ---- files that no process has mapped */

/* Whether names of samples will be sought in a file. */
static bool has_names(const struct sample_image *image)
{
	return image->number && image->chunk >= image->of->needed;
}

/* Those that have no names to be found come first. Then those that were mapped longest ago. */
static int compare_need(const void *left, const void *right)
{
	const struct sample_image *a = *(struct sample_image *const *)left,
				  *b = *(struct sample_image *const *)right;

	return number_order(has_names(a), has_names(b)) * 2 + number_order(a->round, b->round);
}

static bool is_idle(const struct images *images, const struct sample_image *image)
{
	return !has_names(image) && images->round - image->round > IMAGES_PENDING;
}

static bool is_old(const struct images *images, const struct sample_image *image)
{
	return images->period - image->seen > IMAGES_PERIODS;
}

/* The files that can be closed, by need. Return: how many; *found: the caller frees it */
static size_t find_unmapped(const struct images *images,
			    bool (*may)(const struct images *, const struct sample_image *),
			    struct sample_image ***found)
{
	size_t count = 0;

	*found = malloc(images->count * sizeof(**found));
	for (size_t n = 0; *found && n < images->count; n++) {
		struct sample_image *image = images->all[n];

		if (image->kind == WIRE_IMAGE_FILE && images_is_open(image) && !image->mappings &&
		    may(images, image))
			(*found)[count++] = image;
	}
	if (count)
		qsort(*found, count, sizeof(**found), compare_need);
	return count;
}

/* A mapping that comes later opens the file again. */
static void images_give_back(struct images *images, struct sample_image *image)
{
	for (size_t n = 0; image->tables && n < images->tabled_count; n++)
		if (images->tabled[n] == image)
			drop_tables(images, &images->tabled[n]);
	close_file(image);
	image->unwound = false;
	images_unpay(image);
}

/* A user may have half of all files open. Where a quarter is open, there is room again before that is used up. */
static void give_back_files(struct images *images)
{
	const uint64_t *open = &images->budget.spent[BUDGET_FILES], eighth = images->budget.files_max / 8;
	struct sample_image **unmapped;
	const bool names_too = *open > 3 * eighth;
	size_t count;

	if (*open <= 2 * eighth)
		return;
	count = find_unmapped(images, is_old, &unmapped);
	for (size_t n = 0; n < count; n++) {
		const bool named = has_names(unmapped[n]);

		if (*open <= (named ? 2 : 1) * eighth || (named && !names_too))
			break;
		images_give_back(images, unmapped[n]);
	}
	free(unmapped);
}

void images_round(struct images *images)
{
	struct sample_image **idle;
	size_t count;

	images->round++;
	if (images->opened < IMAGES_IDLE / 2)
		return;
	images->opened = 0;
	count = find_unmapped(images, is_idle, &idle);
	for (size_t n = 0; n + IMAGES_IDLE < count; n++)
		images_give_back(images, idle[n]);
	free(idle);
}

/* ---- images that nothing names */

void images_set(struct sample_image **place, struct sample_image *image)
{
	if (image)
		image->holders++;
	if (*place)
		(*place)->holders--;
	*place = image;
}

static void free_image(struct sample_image *image)
{
	if (image->tables)
		unwind_table_close(image->tables);
	close_file(image);
	free(image->path);
	free(image);
}

/* Its file is needed for the names of its samples. Without a file, these are looked up by what the table of images has. */
static bool images_is_needed(const struct images *images, const struct sample_image *image)
{
	return image->kind == WIRE_IMAGE_KERNEL || image->mappings || image->holders ||
	       images->period - image->seen <= IMAGES_PERIODS || (has_names(image) && images_is_open(image));
}

static void forget_image(struct images *images, struct sample_image *image)
{
	images_give_back(images, image);
	if (image->number && image->number <= images->numbered_count)
		images->numbered[image->number - 1] = NULL;
	budget_return(&images->budget, BUDGET_IMAGES, &image->own);
	images_set(&image->other, NULL);
	free_image(image);
}

/* Adding needs no memory: there is room for as many as before. */
static void index_images(struct images *images)
{
	hash_table_clear(&images->places);
	for (size_t n = 0; n < images->count; n++)
		hash_table_add(&images->places, images_hash_of(images->all[n]), (uint32_t)n + 1);
}

/* A recorder that runs for weeks sees more programs than there is memory for. */
static void forget_images(struct images *images)
{
	size_t kept = 0;

	if (images->count <= images->kept)
		return;
	for (size_t n = 0; n < images->count; n++) {
		if (images_is_needed(images, images->all[n]))
			images->all[kept++] = images->all[n];
		else
			forget_image(images, images->all[n]);
	}
	if (kept == images->count)
		return;
	images->count = kept;
	index_images(images);
}

void images_trim(struct images *images)
{
	struct sample_image **unused;
	bool freed = false;

	images->period++;
	give_back_files(images);
	forget_images(images);
	images->table_bytes = 0;
	for (size_t n = 0; n < images->tabled_count; n++) {
		struct unwind_table *tables = images->tabled[n]->tables;

		unwind_table_shrink(tables);
		images->table_bytes += unwind_table_bytes(tables);
	}
	while (images->table_bytes > images->tables_max && (unused = find_unused(images))) {
		drop_tables(images, unused);
		freed = true;
	}
	if (freed) /* rows are too small for memory of their own, and malloc would keep theirs */
		malloc_trim(0);
}

void images_pin(struct sample_image *image, int fd)
{
	struct stat before, now;

	if (image->fd >= 0 && fstat(image->fd, &before) == 0 && fstat(fd, &now) == 0 &&
	    before.st_dev == now.st_dev && before.st_ino == now.st_ino)
		return;
	if (image->fd >= 0)
		close(image->fd);
	image->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

int images_file(const struct images *images, uint32_t number)
{
	const struct sample_image *image =
		number && number <= images->numbered_count ? images->numbered[number - 1] : NULL;

	if (!image)
		return -1;
	return image->opened ? image->elf.fd : image->fd;
}

/* An image identified by its inode, whose file has a build id, is replaced by the image with that build id. */
static void images_identify(struct images *images, struct sample_image *image)
{
	const struct image *elf = images_elf(image);
	struct sample_image wanted = { .kind = image->kind, .path = image->path, .bytes = image->bytes },
			    *other;
	bool made;

	if (!elf || !elf->build_id_bytes)
		return;
	wanted.build_id_bytes = elf->build_id_bytes;
	memcpy(wanted.build_id, elf->build_id, elf->build_id_bytes);
	other = images_find_or_add(images, &wanted, 0, &made);
	if (!other)
		return;
	set_seen(other);
	if (images_is_open(other)) {
		close_file(image);
		images_unpay(image);
	} else {
		other->elf = image->elf;
		other->opened = true;
		other->unwound = false;
		other->payment = image->payment;
		other->paid = true;
		image->paid = false;
	}
	image->opened = false;
	images_set(&image->other, other);
}

/* Open the file of a new image, or put that off to the next mapping if the process has no allowance left. */
static void images_open_file(struct images *images, struct sample_image *image, uint32_t pid,
			     const struct record_map *map)
{
	struct budget *budget = &images->budget;
	const bool permitted = budget_spend(budget, BUDGET_OPENS, pid);

	if (!permitted || !budget_spend(budget, BUDGET_FILES, pid)) {
		if (!image->deferred)
			budget_over(budget, permitted ? BUDGET_FILES : BUDGET_OPENS, pid);
		image->deferred = true;
		return;
	}
	image->deferred = false;
	image->payment = budget_payment(budget, pid);
	image->paid = true;
	if (!images_open_mapped(images, image, pid, map)) {
		images_unpay(image);
		images->unreadable += image->tries++ == 0;
		return;
	}
	images->opened++;
	images->unreadable -= image->tries != 0;
	image->tries = 0;
	image->unwound = false;
	if (!image->build_id_bytes && image->kind == WIRE_IMAGE_FILE)
		images_identify(images, image);
}

/*
 * Whether the next mapping is a reason to open the file: it was put off, or not found where a process that had ended saw it.
 * In a mount namespace of its own a file is found only while a process lives there.
 */
static bool images_is_missing(const struct sample_image *image)
{
	return image->deferred || (image->kind == WIRE_IMAGE_FILE && !image->opened && image->fd < 0 &&
				   !image->refused && !image->other && image->tries < TRIES);
}

struct sample_image *images_find(struct images *images, uint32_t pid, const struct record_map *map)
{
	char path[4096 + 16];
	struct sample_image wanted = { .path = path }, *image;
	bool made;

	clean_path(map->path, path, sizeof(path));
	wanted.kind = kind_of(path);
	if (wanted.kind == WIRE_IMAGE_FILE || wanted.kind == WIRE_IMAGE_JITDUMP) {
		wanted.build_id_bytes = map->build_id_bytes;
		memcpy(wanted.build_id, map->build_id, map->build_id_bytes);
		wanted.major = map->major;
		wanted.minor = map->minor;
		wanted.inode = map->inode;
		wanted.generation = map->generation;
	}
	image = images_find_or_add(images, &wanted, pid, &made);
	if (!image)
		return NULL;
	set_seen(image);
	if (image->other && !images_is_open(image->other)) /* its file was given back */
		images_set(&image->other, NULL);
	if ((made || images_is_missing(image)) && image->kind != WIRE_IMAGE_ANONYMOUS &&
	    image->kind != WIRE_IMAGE_VDSO)
		images_open_file(images, image, pid, map);
	if (!image->other)
		return image;
	set_seen(image->other);
	return image->other;
}

struct sample_image *images_named(struct images *images, enum wire_image kind, const char *path,
				  uint32_t process, const unsigned char *build_id, unsigned build_id_bytes)
{
	char empty[] = "";
	struct sample_image wanted = { .kind = kind, .process = process, .build_id_bytes = build_id_bytes };
	char *copy = path ? strdup(path) : NULL;
	struct sample_image *image;
	bool made;

	wanted.path = copy ? copy : empty;
	if (build_id_bytes)
		memcpy(wanted.build_id, build_id, build_id_bytes);
	image = images_find_or_add(images, &wanted, 0, &made);
	free(copy);
	return image;
}

/* Entries are made in the order of their numbers. Without memory the file is sought by its path. */
static void number_image(struct images *images, struct sample_image *image)
{
	if (!image->number || !array_reserve(images->numbered, images->numbered_room, (size_t)image->number))
		return;
	while (images->numbered_count < image->number)
		images->numbered[images->numbered_count++] = NULL;
	images->numbered[image->number - 1] = image;
}

uint32_t images_number(struct images *images, struct sample_image *image)
{
	const struct image *elf;
	const unsigned char *build_id = image->build_id;
	unsigned build_id_bytes = image->build_id_bytes;

	image->chunk = images->chunk;
	if (image->number)
		return image->number;
	elf = build_id_bytes || image->kind > WIRE_IMAGE_VDSO ? NULL : images_elf(image);
	if (elf) {
		build_id = elf->build_id;
		build_id_bytes = elf->build_id_bytes;
	}
	table_writer_number(images->table, image->kind);
	table_writer_number(images->table, image->bytes);
	table_writer_text(images->table, build_id, build_id_bytes);
	table_writer_text(images->table, image->path, strlen(image->path));
	image->number = table_writer_end(images->table);
	number_image(images, image);
	return image->number;
}

void images_sampled(struct images *images, uint32_t number)
{
	struct sample_image *image =
		number && number <= images->numbered_count ? images->numbered[number - 1] : NULL;

	if (image)
		image->chunk = images->chunk;
}

void images_release(struct images *images)
{
	while (images->tabled_count)
		drop_tables(images, images->tabled);
	malloc_trim(0);
}

void images_free(struct images *images)
{
	for (size_t n = 0; n < images->count; n++)
		free_image(images->all[n]);
	free(images->all);
	free(images->numbered);
	free(images->tabled);
	hash_table_free(&images->places);
	budget_free(&images->budget);
	*images = (struct images){ 0 };
}
