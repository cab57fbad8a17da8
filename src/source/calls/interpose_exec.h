/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Programs that are executed with another environment take part in the recording, too. */
#ifndef BURIN_SOURCE_CALLS_INTERPOSE_EXEC_H
#define BURIN_SOURCE_CALLS_INTERPOSE_EXEC_H

#ifndef CALLS_STATIC
/* interpose_exec_begin - keep Burin's variables of the environment. Context: before the program's own code. */
void interpose_exec_begin(void);
#else
static inline void interpose_exec_begin(void)
{
}
#endif

#endif
