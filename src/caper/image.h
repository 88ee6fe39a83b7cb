/*
 * image.h - what Caper reads from the file of a program, whatever kind of build it is.
 */
#ifndef DH_CAPER_IMAGE_H
#define DH_CAPER_IMAGE_H

#include <gelf.h>

#include "base/program.h"
#include "util/arena.h"

/* The bytes of a section as they are in the file; NULL: it has none of that name. */
Elf_Data *dh_caper_image_section(Elf *elf, const char *name);
/* The build id in hexadecimal; NULL: it has none. */
const char *dh_caper_image_id(struct dh_arena *arena, Elf *elf, u8 ret[DH_PROGRAM_BUILD_ID]);
/* Opens a file and has it read; NULL, or what is wrong with it, to be put behind its name. */
const char *dh_caper_image_read(struct dh_arena *arena, const char *path,
                                const char *(*read)(struct dh_arena *arena, Elf *elf, void *arg), void *arg);

#endif
