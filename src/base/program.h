/*
 * program.h - the program that this code is linked into: its headers, and its build id.
 */
#ifndef DH_BASE_PROGRAM_H
#define DH_BASE_PROGRAM_H

#include <elf.h>

#include "base/base.h"

enum { DH_PROGRAM_BUILD_ID = 20 }; /* bytes that are compared; a shorter id is padded with zeros */

const Elf64_Phdr *dh_program_headers(u32 *ret_n);
/* What to add to the addresses in the headers. */
u64 dh_program_bias(void);
/* Its build id. Returns its length, which may exceed what is stored; 0: it has none. */
u32 dh_program_build_id(u8 ret[DH_PROGRAM_BUILD_ID]);
/* Is this its build id? */
bool dh_program_is(const u8 id[DH_PROGRAM_BUILD_ID]);

#endif
