/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef BURIN_KERNEL_STDINT_H
#define BURIN_KERNEL_STDINT_H

#include <linux/limits.h>
#include <linux/types.h>

#define UINT8_MAX  0xff
#define UINT16_MAX 0xffff
#ifndef UINT32_MAX
#define UINT32_MAX 0xffffffffu
#endif
#define UINT64_MAX  0xffffffffffffffffull
#define INT32_MAX   0x7fffffff
#define INT64_MAX   0x7fffffffffffffffll
#define PTRDIFF_MAX 0x7fffffffffffffffl
#define UINT32_C(c) c##u
#define UINT64_C(c) c##ull

#endif
