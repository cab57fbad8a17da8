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

const char cmd_annotate_help[] =
	"Usage: burin annotate [options] DIR SYMBOL\n"
	"\n"
	"Tell where within a function the samples of the trace in DIR are: by line of the\n"
	"source, if the trace knows lines, and by instruction, if the file that was sampled\n"
	"and objdump are here. Percentages are of all samples; self includes what was\n"
	"inlined into the line.\n"
	"\n"
	"      --no-assembly    lines only\n" CMD_PROFILE_HELP "  -h, --help           this text\n"
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

/* An instruction is printed when the next one is known, since its cost is what lies before that. */
static void print_instructions(const struct view_annotation *annotation, const struct image *image,
			       const struct view_profile *counted, FILE *dump, struct view_buffer *out)
{
	char *text = NULL, *last = NULL;
	size_t room = 0, at = 0;
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
		if (last) {
			view_cost_text(counted, cost.all ? &cost : NULL, out);
			view_buffer_escape(out, last);
			view_buffer_print(out, "\n");
		}
		free(last);
		last = NULL;
		if (bytes > 0) {
			text[bytes - (text[bytes - 1] == '\n')] = '\0';
			for (char *tab = text; (tab = strchr(tab, '\t'));)
				*tab = ' ';
			last = strdup(text + strspn(text, " "));
		}
	} while (bytes >= 0);
	free(text);
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

			view_buffer_print(out, "   SELF  %s", view_waited_title(counted));
			view_buffer_escape(out, of->path);
			view_buffer_print(out, "\n");
			print_instructions(annotation, &image, counted, dump, out);
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

static int annotate(const struct cmd_profile *profile, const char *symbol, bool assembly)
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
	view_annotation_text(&annotation, &profile->counted, &out);
	if (assembly)
		print_assembly(&annotation, &profile->counted, &out);
	view_annotation_free(&annotation);
	return cmd_profile_write(name, &out, dup(STDOUT_FILENO));
}

int cmd_annotate(int argc, char **argv)
{
	struct cmd_profile profile = { .name = name };
	bool assembly = true;
	int option, result = 0;

	cmd_output_begin();
	optind = 0;
	while (!result && (option = getopt_long(argc, argv, "p:", options, NULL)) != -1) {
		result = cmd_profile_option(&profile, option, optarg);
		if (result >= 0)
			continue;
		result = 0;
		if (option == OPTION_NO_ASSEMBLY) {
			assembly = false;
		} else {
			fprintf(stderr, "See: burin annotate --help\n");
			result = CMD_USAGE;
		}
	}
	if (!result && argc - optind != 2)
		result = cmd_usage(name, "which trace, and which function?");
	if (!result)
		result = cmd_profile_open(&profile, argv[optind]);
	if (!result)
		result = annotate(&profile, argv[optind + 1], assembly);
	return cmd_profile_close(&profile, argv[optind < argc ? optind : argc - 1], result);
}
