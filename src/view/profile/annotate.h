/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The cost within one function, by source line and by address. */
#ifndef BURIN_VIEW_PROFILE_ANNOTATE_H
#define BURIN_VIEW_PROFILE_ANNOTATE_H

#include "file/foreign.h"
#include "view/profile/profile_view.h"

struct view_line_cost {
	uint32_t file, line;	/* file: in strings */
	uint32_t image;		/* one that has the line */
	uint64_t of_file;	/* self of all lines of the file */
	struct view_cost self;	/* samples whose innermost frame is here, inlined functions included */
	struct view_cost total; /* samples with any frame here; each counts once */
	size_t last;		/* the last pair added to total, from 1 */
};

struct view_address_cost {
	uint32_t image;
	uint64_t offset;
	uint64_t begin, size;  /* of the function there; 0, 0: unknown */
	struct view_cost self; /* samples whose innermost frame is here */
};

struct view_annotation {
	struct view_strings strings;
	struct view_line_cost *lines; /* by file, those with most self first, then line */
	size_t line_count, line_room;
	struct view_address_cost *addresses; /* by image, then offset */
	size_t address_count;
	uint32_t image;	      /* the one with most samples; 0: the function is in no sample */
	uint64_t begin, size; /* of the function there; 0, 0: unknown */
};

/* @symbol: as in view_symbol_fits(); costs of all functions that it fits are added. Return: 0 or -ENOMEM. */
int view_annotate(struct view_annotation *annotation, const struct view_profile *counted, const char *symbol);
void view_annotation_free(struct view_annotation *annotation);

/* Where sources come from that are not on this system. */
struct view_source_finder {
	void *data;
	/* @path: as the trace has it, any bytes. Return: a descriptor of the source, which the caller closes; -1: none. */
	int (*find)(void *data, uint32_t image, const char *path);
};

/*
 * The lines of each file as text, with the source around them if the file can be opened.
 * @reader: sources are opened with this user's rights; NULL: our own
 * @finder: is asked for a source that cannot be opened; NULL: none
 */
void view_annotation_text(const struct view_annotation *annotation, const struct view_profile *counted,
			  const struct foreign_user *reader, const struct view_source_finder *finder,
			  struct view_buffer *out);

/* Lines and addresses; offsets are those in the image's file. */
void view_annotation_json(const struct view_annotation *annotation, const struct view_profile *counted,
			  struct view_buffer *out);

#endif
