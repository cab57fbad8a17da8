/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state that all files of the library share: the process and the calling thread; see preload.h. */
#include "source/preload/preload.h"

struct preload_process preload_process;
__thread struct preload_thread *preload_thread;
