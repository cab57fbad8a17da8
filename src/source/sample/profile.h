/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* `.burin/profile`: what was asked for, the ledger, and what was not permitted (docs/format.md, "Samples"). */
#ifndef BURIN_SOURCE_SAMPLE_PROFILE_H
#define BURIN_SOURCE_SAMPLE_PROFILE_H

#include <stdbool.h>

struct sampler;

/* profile_write - write it anew. @ended: otherwise more is to come. Return: 0 or -errno. */
int profile_write(const struct sampler *sampler, bool ended);

#endif
