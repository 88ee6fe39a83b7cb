/*
 * program.h - the program that the library is linked into: its allocator and its environment. For Caper
 * builds and alias builds.
 */
#ifndef DH_FIELD_ESCAPE_PROGRAM_H
#define DH_FIELD_ESCAPE_PROGRAM_H

#include "base/program.h"

bool dh_esc_program_has_glibc_heap(void);
/* The value of a variable. NULL if it is not set, or must be ignored. */
const char *dh_esc_program_setting(char **environment, const char *name);

#endif
