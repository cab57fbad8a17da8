/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* For programs in C (bpf_c.h): what <assert.h> has without a C library. */
#define static_assert _Static_assert
