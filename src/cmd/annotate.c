/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* burin annotate: where within a function the time went, by source line and by instruction. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burin/profile.h"
#include "cmd/profile.h"
#include "image/image.h"
#include "view/annotate.h"
#include "view/symbol.h"

const char cmd_annotate_help[] =
	"Usage: burin annotate [options] DIR SYMBOL\n"
	"\n"
	"Tell where within a function the samples of the trace in DIR are: by line of the\n"
	"source, if the trace knows lines, and by instruction, if the file that was sampled\n"
	"and objdump are here. Percentages are of all samples; self includes what was\n"
	"inlined into the line.\n"
	"\n"
	"      --no-assembly    lines only\n"
	"  -j, --json           as JSON: lines and addresses, without their text\n" CMD_PROFILE_HELP
	"  -h, --help           this text\n"
	"\n"
	"Exit code: 0; 1 if the trace has faults or writing failed; 2 if nothing was read, or\n"
	"there is no such function.\n";

static const char name[] = "annotate";

enum {
	OPTION_NO_ASSEMBLY = CMD_PROFILE_OWN,
};

static const struct option options[] = {
	CMD_PROFILE_OPTIONS,
	{ "no-assembly", no_argument, NULL, OPTION_NO_ASSEMBLY },
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 },
};

/* Why there is no assembly, in a line of the output. */
static void without(struct view_buffer *out, const char *why, const char *path)
{
	view_buffer_print(out, "No assembly: ");
	view_buffer_escape(out, path);
	view_buffer_print(out, "%s%s\n", *path ? ": " : "", why);
}

/* Opens the file that was sampled. Return: whether it is that one, and the image is open; or it is told why not. */
static bool open_image(const struct burin_image *of, struct image *image, struct view_buffer *out)
{
	int file;

	if (!of || of->kind != BURIN_IMAGE_FILE) {
		without(out, "not code of a file", burin_image_name(of));
		return false;
	}
	file = open(of->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0 || image_open(image, file)) {
		without(out, file < 0 ? "cannot be opened here" : "no ELF file", of->path);
		return false;
	}
	if (of->build_id_bytes && (image->build_id_bytes != of->build_id_bytes ||
				   memcmp(image->build_id, of->build_id, of->build_id_bytes) != 0)) {
		without(out, "is another file than the one that was sampled: its build id differs", of->path);
		image_close(image);
		return false;
	}
	return true;
}

/* Starts objdump on a span of addresses; returns its output, or NULL. */
static FILE *start_objdump(const char *path, uint64_t begin, uint64_t end, pid_t *child)
{
	char from[48], to[48];
	int ends[2];

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, begin);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, end);
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	*child = fork();
	if (!*child) {
		dup2(ends[1], STDOUT_FILENO);
		execlp("objdump", "objdump", "-d", "-C", "--no-show-raw-insn", from, to, "--", path,
		       (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

/* What the addresses from one instruction to the next cost; moves on in the list. */
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
	AROUND = 8,	     /* instructions that are shown before and behind those with samples */
	TARGET_COLUMNS = 40, /* of the name of what is called */
	LINE_BYTES = 4096,
};

/* A disassembled line, waiting until it is known what it costs, and whether one near to it costs something. */
struct listing {
	char *lines[AROUND + 1]; /* the oldest first; the last one's cost is not known yet */
	unsigned count, behind;	 /* behind: so many more are shown after one with samples */
	bool gap, any;
};

static void print_line(const struct view_profile *counted, const struct view_cost *cost, const char *line,
		       struct view_buffer *out)
{
	view_cost_text(counted, cost, out);
	view_buffer_escape(out, line);
	view_buffer_print(out, "\n");
}

/* The last line costs so much: it is shown, or waits for one that is, or is left out. */
static void settle(struct listing *listing, const struct view_profile *counted, const struct view_cost *cost,
		   struct view_buffer *out)
{
	unsigned first = 0;

	if (!listing->count)
		return;
	if (cost->all || listing->behind) {
		if (listing->gap)
			print_line(counted, NULL, "...", out);
		for (; first + 1 < listing->count; first++)
			print_line(counted, NULL, listing->lines[first], out);
		print_line(counted, cost->all ? cost : NULL, listing->lines[first++], out);
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

/* A line of objdump's, the name of what it refers to shortened; to be freed. */
static char *tidy(char *text)
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
		 view_symbol_short(target, TARGET_COLUMNS, room, sizeof(room)), offset ? "+" : "",
		 offset ? offset + 1 : "");
	return strdup(line);
}

/* What an instruction costs is known when the next one is: its addresses lie before that. Return: what is shown. */
static uint64_t print_instructions(const struct view_annotation *annotation, const struct image *image,
				   const struct view_profile *counted, FILE *dump, struct view_buffer *out)
{
	struct listing listing = { .count = 0 };
	char *text = NULL;
	size_t room = 0, at = 0;
	uint64_t shown = 0;
	ssize_t bytes;

	do {
		uint64_t address = UINT64_MAX;
		struct view_cost cost;
		char *end = NULL;

		bytes = getline(&text, &room, dump);
		if (bytes >= 0 && *text == ' ')
			address = strtoull(text, &end, 16);
		if (bytes >= 0 && (!end || *end != ':'))
			continue;
		cost = cost_before(annotation, image, address, &at);
		shown += listing.count ? cost.all : 0;
		settle(&listing, counted, &cost, out);
		if (bytes > 0 && (listing.lines[listing.count] = tidy(text)))
			listing.count++;
	} while (bytes >= 0);
	while (listing.count)
		free(listing.lines[--listing.count]);
	free(text);
	return shown;
}

/* Samples at addresses that are not shown: it is inlined elsewhere too, or has parts, or namesakes. */
static void tell_rest(const struct view_annotation *annotation, const struct view_profile *counted,
		      uint64_t shown, struct view_buffer *out)
{
	uint64_t all = 0;

	for (size_t n = 0; n < annotation->address_count; n++)
		all += annotation->addresses[n].self.all;
	if (all <= shown)
		return;
	view_buffer_print(
		out,
		"%6.2f%%  elsewhere: inlined into other functions, in parts of its own, or in namesakes\n",
		100.0 * (double)(all - shown) / (double)counted->weight);
}

static void print_assembly(const struct view_annotation *annotation, const struct view_profile *counted,
			   struct view_buffer *out)
{
	const struct burin_image *of = burin_profile_image(counted->profile, annotation->image);
	struct image image;
	uint64_t begin, end;
	pid_t child;
	int status = 0;
	FILE *dump;

	if (!annotation->address_count) {
		without(out, "no sample was taken in the function itself", "");
		return;
	}
	if (!annotation->size) {
		without(out, "the trace does not know where the function begins", "");
		return;
	}
	if (!open_image(of, &image, out))
		return;
	if (image_address(&image, annotation->begin, &begin)) {
		without(out, "the function lies outside the file", of->path);
	} else {
		end = begin + annotation->size;
		dump = start_objdump(of->path, begin, end, &child);
		if (dump) {
			size_t before = out->used;
			uint64_t shown;

			view_buffer_print(out, "   SELF  %s", view_waited_title(counted));
			view_buffer_escape(out, of->path);
			view_buffer_print(out, "\n");
			shown = print_instructions(annotation, &image, counted, dump, out);
			tell_rest(annotation, counted, shown, out);
			fclose(dump);
			waitpid(child, &status, 0);
			if (status)
				out->used = before;
		}
		if (!dump || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
			without(out, "objdump is not installed; install the package binutils", "");
		else if (status)
			without(out, "objdump failed", of->path);
	}
	image_close(&image);
}

struct style {
	bool assembly, json;
};

static int annotate(const struct cmd_profile *profile, const char *symbol, const struct style *style)
{
	struct view_buffer out = { .used = 0 };
	struct view_annotation annotation;
	int result = view_annotate(&annotation, &profile->counted, symbol);

	if (result)
		return cmd_failed(name, "%s", strerror(-result));
	if (!annotation.image) {
		view_annotation_free(&annotation);
		cmd_failed(name, "no sample is in a function \"%s\"; burin report lists them", symbol);
		return CMD_USAGE;
	}
	if (style->json)
		view_annotation_json(&annotation, &profile->counted, &out);
	else
		view_annotation_text(&annotation, &profile->counted, &out);
	if (style->assembly && !style->json)
		print_assembly(&annotation, &profile->counted, &out);
	view_annotation_free(&annotation);
	return cmd_profile_write(name, &out, dup(STDOUT_FILENO));
}

static int take_option(void *data, int option, const char *value)
{
	struct style *style = data;

	(void)value;
	if (option == 'j')
		style->json = true;
	else if (option == OPTION_NO_ASSEMBLY)
		style->assembly = false;
	else
		return -1;
	return 0;
}

int cmd_annotate(int argc, char **argv)
{
	struct cmd_profile profile = { .name = name };
	struct style style = { .assembly = true };
	int result = cmd_profile_options(&profile, argc, argv, "p:j", options, take_option, &style);

	if (!result && argc - optind != 2)
		result = cmd_usage(name, "which trace, and which function?");
	if (!result)
		result = cmd_profile_open(&profile, argv[optind]);
	if (!result)
		result = annotate(&profile, argv[optind + 1], &style);
	return cmd_profile_close(&profile, argv[optind < argc ? optind : argc - 1], result);
}
