/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where within one function the time went: by source line and by address. */
#ifndef BURIN_VIEW_ANNOTATE_H
#define BURIN_VIEW_ANNOTATE_H

#include "view/profile.h"

struct view_line_cost {
	uint32_t file, line;	/* file: in strings */
	uint64_t of_file;	/* self of all lines of that */
	struct view_cost self;	/* of the innermost frame there, what was inlined included */
	struct view_cost total; /* of any frame: a sample once, however many are there */
	size_t last;		/* pair that is in total, from 1 */
};

struct view_address_cost {
	uint32_t image;
	uint64_t offset;
	uint64_t begin, size;  /* of the function there; 0, 0: unknown */
	struct view_cost self; /* of the innermost frame */
};

struct view_annotation {
	struct view_strings strings;
	struct view_line_cost *lines; /* by file, those with most self first, then line */
	size_t line_count, line_room;
	struct view_address_cost *addresses; /* by image, then offset */
	size_t address_count;
	uint32_t image;	      /* where most of it is; 0: the function is in no sample */
	uint64_t begin, size; /* of the function there; 0, 0: unknown */
};

/* `symbol`: as in view_symbol_fits(); all functions that it fits are taken together. Return: 0 or -ENOMEM. */
int view_annotate(struct view_annotation *annotation, const struct view_profile *counted, const char *symbol);
void view_annotation_free(struct view_annotation *annotation);

/* The lines of each file as text; a source file that is there is shown around them. */
void view_annotation_text(const struct view_annotation *annotation, const struct view_profile *counted,
			  struct view_buffer *out);

/* Lines and addresses; offsets are those in the image's file. */
void view_annotation_json(const struct view_annotation *annotation, const struct view_profile *counted,
			  struct view_buffer *out);

#endif
