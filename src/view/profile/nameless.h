/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Images whose functions have no names, of samples and of calls, each with what gives them names. */
#ifndef BURIN_VIEW_PROFILE_NAMELESS_H
#define BURIN_VIEW_PROFILE_NAMELESS_H

#include "view/profile/profile_view.h"

struct view_nameless {
	const struct burin_profile *profile;
	uint64_t *weights; /* by stack, [0] without one; NULL: unknown, all images are printed */
	/* The stacks are called functions. All are known by the address where they begin, so an image whose exported names are all that was
	 * called lacks none. */
	bool calls;
};

/* view_stack_weights - the weights of counted samples. Return: the caller frees them; NULL: no memory. */
uint64_t *view_stack_weights(const struct view_profile *counted);

/* Prints them, the heaviest first; or that names have not been looked up. */
void view_nameless_text(const struct view_nameless *all, bool color, struct view_buffer *out);

#endif
