/*
 * image.h - what Caper reads from a program's file, for any kind of build.
 */
#ifndef DH_CAPER_IMAGE_H
#define DH_CAPER_IMAGE_H

#include <gelf.h>

#include "base/program.h"
#include "util/arena.h"

/* The contents of a section in the file; NULL: there is none of that name. */
Elf_Data *dh_caper_image_section(Elf *elf, const char *name);
/* The build id in hexadecimal; NULL: it has none. */
const char *dh_caper_image_id(struct dh_arena *arena, Elf *elf, u8 ret[DH_PROGRAM_BUILD_ID]);
/* Opens a file and calls the reader; NULL, or what is wrong with it, worded to follow its name. */
const char *dh_caper_image_read(struct dh_arena *arena, const char *path,
                                const char *(*read)(struct dh_arena *arena, Elf *elf, void *arg), void *arg);

#endif
