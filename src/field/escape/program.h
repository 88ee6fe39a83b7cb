/*
 * program.h - the program that the library is part of: its headers, its build id, its allocator, its
 * environment. For Caper builds and alias builds.
 */
#ifndef DH_FIELD_ESCAPE_PROGRAM_H
#define DH_FIELD_ESCAPE_PROGRAM_H

#include <elf.h>

#include "base/caper.h"

const Elf64_Phdr *dh_esc_program_headers(u32 *ret_n);
/* What to add to the addresses in the headers. */
u64 dh_esc_program_bias(void);
/* Is this its build id? */
bool dh_esc_program_is(const u8 id[DH_CAPER_BUILD_ID]);
bool dh_esc_program_has_glibc_heap(void);
/* The value of a variable. NULL if there is none, or it must not be heard. */
const char *dh_esc_program_setting(char **environment, const char *name);

#endif
