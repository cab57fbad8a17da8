/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The head of each area of stubs, whose layout is in call_patch.h; and the message of objects that have none. */
#ifndef BURIN_SOURCE_CALLS_PATCH_CALL_AREA_H
#define BURIN_SOURCE_CALLS_PATCH_CALL_AREA_H

#include <link.h>
#include <stdint.h>

#include "source/calls/hooks/hook_near.h"

enum {
	CALL_PATCH_NEAR = 128,
	CALL_PATCH_STUBS = CALL_PATCH_NEAR + HOOK_NEAR_BYTES,
};

/*
 * call_area_head - write the head of an area of stubs, CALL_PATCH_STUBS bytes. @area: 64-aligned; it stays where it is
 * Context: the process is in its session. Return: what stubs call and jump to.
 */
struct hook_near call_area_head(uint8_t *area);

/*
 * call_area_report - print why an object's calls are not recorded, once in a process. @remedy: "": none
 * Context: any thread.
 */
void call_area_report(const struct dl_phdr_info *object, const char *what, const char *remedy);

#endif
