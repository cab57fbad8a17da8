/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What all models here share: named assertions, of which a broken variant is run with one alone (run.sh sets ALL=0
 * and that one to 1), and witnesses: with -DWITNESS=x a case must FAIL at SEEN(x), which shows that it gets there.
 * A model gives each assertion a switch of its name, and each witness x a number W_x.
 */
#ifndef ALL
#define ALL 1
#endif
#define CHECK(name, cond) assert(!name || (cond))

#ifdef WITNESS
#define W_cat(x) W_##x
#define W_num(x) W_cat(x)
#define SEEN(name) assert(W_##name != W_num(WITNESS))
#else
#define SEEN(name) skip
#endif
