/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The event of the records of calls; its state is the switch of all calls. */
#ifndef BURIN_SOURCE_CALLS_CALL_SITE_H
#define BURIN_SOURCE_CALLS_CALL_SITE_H

#include "burin/burin.h"

/* In libburin-calls.a: the section of sites is the program's. */
extern struct burin_site call_static_site;

#ifdef CALLS_STATIC
#define call_site (&call_static_site)
#else
/* The only site of this object (call_process.c), so the object's section of sites begins with it. */
#define call_site (__start_burin_sites)
extern struct burin_site __start_burin_sites[] __attribute__((visibility("hidden")));
#endif

#endif
