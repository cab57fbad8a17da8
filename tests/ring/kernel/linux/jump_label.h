/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#define DECLARE_STATIC_KEY_TRUE(name) extern bool name
#define static_branch_likely(key)     (*(key))
