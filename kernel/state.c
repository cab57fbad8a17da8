// SPDX-License-Identifier: GPL-2.0-only
/* The session and its lock; see state.h. */
#include "state.h"

struct session burin_session;
DEFINE_MUTEX(burin_mutex);
