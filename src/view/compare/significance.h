/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which of many rows differ between two sides of recordings, by more than recordings of one program differ.
 *
 * A row has a value in each recording, such as the share of a function, and how exact that value is by itself: the variance of as many
 * draws, or the one that slices of the recording show. The difference of the sides' means, divided by its standard error, is Student's t. The means are those
 * of logarithms, unless a value of the row is 0. The error comes from
 *
 *	the recordings	how much the row's values on one side differ from each other, if a side has two or more
 *	all rows	the exactness by itself, and the variation between recordings that rows have in common
 *
 * Few recordings of one row show its variance badly, all rows together show a variance well. So the two are averaged as if the second were
 * that of some more recordings. How many is computed from how much the rows' variances differ from each other: this is the moderated t
 * of Smyth (2004), by which counts of genes are compared, also three with three.
 *
 * Of few rows only the first is used. With one recording on each side only the second is known: the variation between recordings is then
 * what the rows differ by in common, at least what the caller knows of such values.
 *
 * Many rows are compared, so chances are adjusted (Benjamini and Hochberg): of the rows with a chance up to 0.05, 5 % are wrong.
 */
#ifndef BURIN_VIEW_COMPARE_SIGNIFICANCE_H
#define BURIN_VIEW_COMPARE_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SIGNIFICANCE_GROUPS = 8,
};

#define SIGNIFICANCE_LEVEL 0.05

/* A row's value in a recording. */
struct significance_value {
	double value;	 /* NaN: the recording has none */
	double variance; /* of the value by itself */
};

struct significance_row {
	const struct significance_value *values; /* by recording */
	bool wanted;				 /* is judged, if each side has a value */
	unsigned group;				 /* rows of one group have variances of one kind */
	/* Results */
	double mean[2];	  /* of the sides, the geometric one unless a value is 0; NaN: no value */
	double low, high; /* where the difference of the means is, with 95 %; by their ratio */
	double chance;	  /* NaN: not judged */
};

/* A group of rows, and their common variation. */
struct significance_group {
	double between_min; /* the caller's: variation between single recordings, as a part of a value, at least */
	/* Results */
	size_t judged;
	double between; /* variation between recordings */
	double weight;	/* of all rows in a row's variance, in recordings; 0: none */
};

/* How rows were judged. */
struct significance {
	const uint8_t *sides; /* of each recording: 0 or 1 */
	unsigned recordings;
	struct significance_group groups[SIGNIFICANCE_GROUPS];
	/* Results */
	size_t judged;
	bool between_known; /* a side has two recordings or more */
};

/* significance_judge - Return: 0 or -ENOMEM. */
int significance_judge(struct significance *how, struct significance_row *rows, size_t count);

#endif
