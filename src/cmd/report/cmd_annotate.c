/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin annotate: print where within a function the time went, by source line and by instruction. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burin/profile.h"
#include "cmd/report/open_profile.h"
#include "image/symbolize/confine.h"
#include "file/foreign.h"
#include "image/debuginfod/debuginfod.h"
#include "image/elf/image.h"
#include "view/profile/annotate.h"
#include "view/symbol_label.h"

static bool no_assembly, json;

static const struct cmd_option table[] = {
	OPTION_FLAG("--no-assembly", &no_assembly, "print source lines only"),
	OPTION_FLAG("-j, --json", &json, "JSON: lines and addresses, without source and instructions"),
	OPTION_GROUP(cmd_profile_options),
	CMD_MEMORY,
	{ 0 },
};

/* Print why there is no assembly. */
static void print_no_assembly(struct view_buffer *out, const char *why, const char *path)
{
	view_buffer_print(out, "No assembly: %s%s%s\n", path, *path ? ": " : "", why);
}

/* Open the sampled file, and check that it is the same one. Return: false after a line of output. */
static bool cmd_annotate_open_image(const struct burin_image *of, const struct foreign_user *reader,
				    struct image *image, struct view_buffer *out)
{
	const struct foreign how = { .bytes_max = FOREIGN_IMAGE_MAX, .reader = reader };
	int file;

	if (!of || of->kind != BURIN_IMAGE_FILE) {
		print_no_assembly(out, "its code is not from a file", burin_image_name(of));
		return false;
	}
	file = foreign_open(&how, FOREIGN_HERE, of->path);
	if (file < 0 || image_open(image, file)) {
		print_no_assembly(out, file < 0 ? "cannot be opened here" : "not an ELF file", of->path);
		return false;
	}
	if (of->build_id_bytes && (image->build_id_bytes != of->build_id_bytes ||
				   memcmp(image->build_id, of->build_id, of->build_id_bytes) != 0)) {
		print_no_assembly(out, "not the file that was sampled: its build id differs", of->path);
		image_close(image);
		return false;
	}
	return true;
}

enum {
	COPY_MAX = 1 << 30, /* bytes, without holes */
};

/*
 * Copy the file into memory, so that a process of any user can read it by this descriptor. Its owner may have made it far
 * larger than this machine's memory: holes stay holes. Return: a descriptor or -1.
 */
static int cmd_annotate_copy_file(const struct image *image)
{
	const int copy = memfd_create("image", 0);
	char bytes[65536];
	uint64_t copied = 0;
	struct stat status;
	bool done = copy >= 0 && fstat(image->fd, &status) == 0 && ftruncate(copy, status.st_size) == 0;
	off_t at = 0;
	size_t got;

	while (done && (at = lseek(image->fd, at, SEEK_DATA)) >= 0 &&
	       (got = image_read(image, (uint64_t)at, bytes, sizeof(bytes))) > 0) {
		copied += got;
		done = copied <= COPY_MAX && pwrite(copy, bytes, got, at) == (ssize_t)got;
		at += (off_t)got;
	}
	if (done)
		return copy;
	if (copy >= 0)
		close(copy);
	return -1;
}

/* Exit codes of a child that could not execute objdump, as a shell has them. */
enum {
	OBJDUMP_UNSTARTED = 126,
	OBJDUMP_MISSING = 127,
};

/* Execute objdump in this process. The file is not trusted, so root becomes a user that may not be able to open it. */
static _Noreturn void execute_objdump(const struct image *image, const char *from, const char *to)
{
	struct stat status;
	const bool open_to_all = fstat(image->fd, &status) == 0 && status.st_mode & S_IROTH;
	const int file = geteuid() == 0 && !open_to_all ? cmd_annotate_copy_file(image) : dup(image->fd);
	const int keep[] = { STDOUT_FILENO, file };
	char path[64];

	if (file < 0)
		_exit(OBJDUMP_UNSTARTED);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	confine_process(&(struct confine){ .execute = true,
					   .memory = UINT64_C(2) << 30,
					   .seconds = 60,
					   .keep = keep,
					   .keep_count = 2,
					   .asks = -1 });
	execlp("objdump", "objdump", "-d", "-C", "--no-show-raw-insn", from, to, "--", path, (char *)NULL);
	/* EACCES: objdump is not in PATH, of which this user cannot search some directory. */
	_exit(errno == ENOENT || errno == EACCES ? OBJDUMP_MISSING : OBJDUMP_UNSTARTED);
}

/* Start objdump on a range of addresses. Return: its output, or NULL and errno. */
static FILE *start_objdump(const struct image *image, uint64_t begin, uint64_t end, pid_t *child)
{
	char from[48], to[48];
	int ends[2], error;
	FILE *dump;

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, begin);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, end);
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	dump = fdopen(ends[0], "r");
	*child = dump ? fork() : -1;
	if (!*child) {
		if (dup2(ends[1], STDOUT_FILENO) < 0)
			_exit(OBJDUMP_UNSTARTED);
		execute_objdump(image, from, to);
	}
	error = errno;
	close(ends[1]);
	if (*child > 0)
		return dump;
	if (dump)
		fclose(dump);
	else
		close(ends[0]);
	errno = error;
	return NULL;
}

/* The cost of the addresses below @next, from @at in the list on. */
static struct view_cost cost_before(const struct view_annotation *annotation, const struct image *image,
				    uint64_t next, size_t *at)
{
	struct view_cost sum = { 0, 0 };
	uint64_t address;

	for (; *at < annotation->address_count; (*at)++) {
		const struct view_address_cost *cost = &annotation->addresses[*at];

		if (cost->image != annotation->image || image_address(image, cost->offset, &address))
			continue;
		if (address >= next)
			break;
		sum.all += cost->self.all;
		sum.waited += cost->self.waited;
	}
	return sum;
}

enum {
	AROUND = 8,	     /* instructions that are printed before and after those with samples */
	TARGET_COLUMNS = 40, /* of the name of a call's target */
	LINE_BYTES = 4096,
};

/* The last disassembled lines, until their costs, and those of the lines around them, are known. */
struct listing {
	char *lines[AROUND + 1]; /* the oldest first; the last one's cost is not known yet */
	unsigned count, behind;	 /* behind: how many more are printed after one with samples */
	bool gap, any;
};

static void cmd_annotate_print_line(const struct view_profile *counted, const struct view_cost *cost,
				    const char *line, struct view_buffer *out)
{
	view_cost_text(counted, cost, out);
	view_buffer_print(out, "%s\n", line);
}

/* @cost: of the last line. Print it, keep it until a line nearby has samples, or drop it. */
static void print_or_keep(struct listing *listing, const struct view_profile *counted,
			  const struct view_cost *cost, struct view_buffer *out)
{
	unsigned first = 0;

	if (!listing->count)
		return;
	if (cost->all || listing->behind) {
		if (listing->gap)
			cmd_annotate_print_line(counted, NULL, "...", out);
		for (; first + 1 < listing->count; first++)
			cmd_annotate_print_line(counted, NULL, listing->lines[first], out);
		cmd_annotate_print_line(counted, cost->all ? cost : NULL, listing->lines[first++], out);
		listing->behind = cost->all ? AROUND : listing->behind - 1;
		listing->gap = false;
		listing->any = true;
	} else if (listing->count > AROUND) {
		first = 1;
		listing->gap = listing->any;
	}
	for (unsigned n = 0; n < first; n++)
		free(listing->lines[n]);
	listing->count -= first;
	memmove(listing->lines, listing->lines + first, listing->count * sizeof(*listing->lines));
}

/* A line of objdump, with the name of its target shortened; the caller frees it. */
static char *cmd_annotate_shorten(char *text)
{
	char line[LINE_BYTES], room[LINE_BYTES], *target, *offset;

	text[strcspn(text, "\n")] = '\0';
	for (char *tab = text; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	text += strspn(text, " ");
	target = strstr(text, " <");
	if (!target || text[strlen(text) - 1] != '>')
		return strdup(text);
	*target = text[strlen(text) - 1] = '\0';
	target += 2;
	offset = strrchr(target, '+');
	if (offset && !strncmp(offset, "+0x", 3))
		*offset = '\0';
	else
		offset = NULL;
	snprintf(line, sizeof(line), "%s <%s%s%s>", text,
		 view_symbol_short(target, TARGET_COLUMNS, 0, room, sizeof(room)), offset ? "+" : "",
		 offset ? offset + 1 : "");
	return strdup(line);
}

/* Read a line and drop the end of a long one: names in foreign files have any length. Return: false: end of file. */
static bool cmd_annotate_read_line(FILE *in, char text[LINE_BYTES])
{
	int next;

	if (!fgets(text, LINE_BYTES, in))
		return false;
	if (!strchr(text, '\n'))
		while ((next = getc(in)) != EOF && next != '\n')
			;
	return true;
}

/* The next instruction's address bounds an instruction, so its cost is known then. Return: the cost of the printed ones. */
static uint64_t print_instructions(const struct view_annotation *annotation, const struct image *image,
				   const struct view_profile *counted, FILE *dump, struct view_buffer *out)
{
	struct listing listing = { .count = 0 };
	char text[LINE_BYTES];
	size_t at = 0;
	uint64_t shown = 0;
	bool more;

	do {
		uint64_t address = UINT64_MAX;
		struct view_cost cost;
		char *end = NULL;

		more = cmd_annotate_read_line(dump, text);
		if (more && *text == ' ')
			address = strtoull(text, &end, 16);
		if (more && (!end || *end != ':'))
			continue;
		cost = cost_before(annotation, image, address, &at);
		shown += listing.count ? cost.all : 0;
		print_or_keep(&listing, counted, &cost, out);
		if (more && (listing.lines[listing.count] = cmd_annotate_shorten(text)))
			listing.count++;
		else if (more)
			out->failed = true;
	} while (more);
	while (listing.count)
		free(listing.lines[--listing.count]);
	return shown;
}

/* Print the share of samples at other addresses: inlined copies, split parts, functions of the same name. */
static void print_rest(const struct view_annotation *annotation, const struct view_profile *counted,
		       uint64_t shown, struct view_buffer *out)
{
	uint64_t all = 0;

	for (size_t n = 0; n < annotation->address_count; n++)
		all += annotation->addresses[n].self.all;
	if (all <= shown)
		return;
	view_buffer_print(out,
			  "%6.2f%%  elsewhere: inlined copies, split parts, or functions of the same name\n",
			  100.0 * (double)(all - shown) / (double)counted->weight);
}

static void print_assembly(const struct view_annotation *annotation, const struct view_profile *counted,
			   const struct foreign_user *reader, struct view_buffer *out)
{
	const struct burin_image *of = burin_profile_image(counted->profile, annotation->image);
	struct image image;
	uint64_t begin, end;
	pid_t child;
	int status = 0, unread = 0;
	FILE *dump;

	if (!annotation->address_count) {
		print_no_assembly(out, "no samples in the function itself", "");
		return;
	}
	if (!annotation->size) {
		print_no_assembly(out, "the trace does not have the function's address", "");
		return;
	}
	if (!cmd_annotate_open_image(of, reader, &image, out))
		return;
	if (image_address(&image, annotation->begin, &begin)) {
		print_no_assembly(out, "the function's address is outside the file", of->path);
	} else {
		end = begin + annotation->size;
		dump = start_objdump(&image, begin, end, &child);
		if (dump) {
			size_t before = out->used;
			uint64_t shown;

			view_buffer_print(out, "   SELF  %s%s\n", view_waited_title(counted), of->path);
			shown = print_instructions(annotation, &image, counted, dump, out);
			print_rest(annotation, counted, shown, out);
			unread = !feof(dump);
			fclose(dump);
			waitpid(child, &status, 0);
			if (status || unread)
				out->used = before;
		}
		if (!dump)
			print_no_assembly(out, strerror(errno), "cannot start objdump");
		else if (unread)
			print_no_assembly(out, "cannot read the output of objdump", of->path);
		else if (WIFEXITED(status) && WEXITSTATUS(status) == OBJDUMP_UNSTARTED)
			print_no_assembly(out, "cannot start objdump", "");
		else if (WIFEXITED(status) && WEXITSTATUS(status) == OBJDUMP_MISSING)
			print_no_assembly(out, "objdump is not installed; install the package binutils", "");
		else if (status)
			print_no_assembly(out, "objdump failed", of->path);
	}
	image_close(&image);
}

/* Sources from servers. */
struct sources {
	const struct burin_profile *profile;
	struct debuginfod from;
	uint64_t until_ms;
};

enum {
	SOURCES_MS = 60000, /* that all downloads may take */
};

/* Root sends requests only for files of root's that are here: others choose their build ids and paths. */
static bool cmd_annotate_is_ours(const struct burin_image *of)
{
	const struct foreign how = { .bytes_max = FOREIGN_IMAGE_MAX };
	const int file = of->kind == BURIN_IMAGE_FILE ? foreign_open(&how, FOREIGN_HERE, of->path) : -1;
	struct image image;
	struct stat status;
	bool ours;

	if (file < 0 || image_open(&image, file))
		return false;
	ours = fstat(image.fd, &status) == 0 && status.st_uid == 0 &&
	       image.build_id_bytes == of->build_id_bytes &&
	       memcmp(image.build_id, of->build_id, of->build_id_bytes) == 0;
	image_close(&image);
	return ours;
}

static int cmd_annotate_find_source(void *data, uint32_t number, const char *path)
{
	struct sources *sources = data;
	const struct burin_image *image = burin_profile_image(sources->profile, number);

	if (!image || !image->build_id_bytes || (geteuid() == 0 && !cmd_annotate_is_ours(image)))
		return -1;
	return debuginfod_find_source(&sources->from, image->build_id, image->build_id_bytes, path,
				      sources->until_ms);
}

/* Print the lines, with sources from servers. Root asks no server on behalf of another user's trace. */
static void print_lines(const struct view_annotation *annotation, const struct cmd_profile *profile,
			const struct foreign_user *reader, struct view_buffer *out)
{
	struct sources sources = { .profile = profile->counted.profile, .from = { .what = "source files" } };
	const struct view_source_finder finder = { &sources, cmd_annotate_find_source };
	const bool ask = debuginfod_is_wanted() && reader->user == geteuid();
	char text[DEBUGINFOD_TEXT_MAX];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sources.until_ms = (uint64_t)now.tv_sec * 1000 + SOURCES_MS;
	view_annotation_text(annotation, &profile->counted, reader, ask ? &finder : NULL, out);
	debuginfod_close(&sources.from, text, sizeof(text));
	if (sources.from.stopped || sources.from.refused)
		cmd_note("burin: DEBUGINFOD_URLS: %s\n", text);
}

/* The owner of a trace chose its paths, so root opens them with the owner's rights. */
static int cmd_annotate_print(const struct cmd_profile *profile, const char *path, const char *symbol)
{
	struct stat status;
	struct view_buffer out = { .used = 0 };
	struct view_annotation annotation;
	struct foreign_user reader;
	int result = stat(path, &status) ? -errno : 0;

	if (!result)
		result = view_annotate(&annotation, &profile->counted, symbol);
	if (result)
		return cmd_failed("%s", cmd_error(result));
	reader = (struct foreign_user){ status.st_uid, status.st_gid };
	if (!annotation.image) {
		view_annotation_free(&annotation);
		return cmd_usage("no samples in a function \"%s\"; burin report lists functions", symbol);
	}
	if (json)
		view_annotation_json(&annotation, &profile->counted, &out);
	else
		print_lines(&annotation, profile, &reader, &out);
	if (!no_assembly && !json)
		print_assembly(&annotation, &profile->counted, &reader, &out);
	view_annotation_free(&annotation);
	return cmd_profile_write(&out, dup(STDOUT_FILENO), NULL);
}

static int cmd_annotate_run(char **operands)
{
	struct cmd_profile profile = { .foot = true };
	int result = cmd_profile_open(&profile, operands[0]);

	if (!result)
		result = cmd_annotate_print(&profile, operands[0], operands[1]);
	return cmd_profile_close(&profile, operands[0], result);
}

const struct cmd cmd_annotate = {
	.name = "annotate",
	.line = "print where within a function the time went, by line and instruction",
	.usage = "Usage: burin annotate [options] DIR SYMBOL\n"
		 "\n"
		 "Print where within a function the samples of the trace in DIR are: by source line, if\n"
		 "the trace has lines, and by instruction, if objdump and the sampled file are on this\n"
		 "system. Percentages are of all samples; self includes functions inlined into the line.\n"
		 "\n"
		 "Sources that are not on this system come from the servers of DEBUGINFOD_URLS.\n"
		 "\n"
		 "As root, sources and programs are read with the rights of the trace's owner, and\n"
		 "objdump runs with those of the program's owner.\n",
	.notes = "Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read, or\n"
		 "there is no such function.\n",
	.options = table,
	.operands = { 2, 2, "give a trace and a function", { CMD_IS_TRACE } },
	.views = true,
	.main = cmd_annotate_run,
};
