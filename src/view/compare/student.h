/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of probability that comparisons need: Student's t, and how much variances of few values differ by chance. */
#ifndef BURIN_VIEW_COMPARE_STUDENT_H
#define BURIN_VIEW_COMPARE_STUDENT_H

/* student_chance - the probability of a t at least as far from 0, on either side. @freedom: degrees, above 0 */
double student_chance(double t, double freedom);

/* student_bound - the t with such a probability. @chance: 0 to 1, exclusive */
double student_bound(double chance, double freedom);

/* student_trigamma - the variance of the logarithm of a gamma variable of shape @x, above 0. It falls as @x grows. */
double student_trigamma(double x);

/* student_variance_median - the median of a variance of so many degrees of freedom, whose true value is 1. */
double student_variance_median(double freedom);

#endif
