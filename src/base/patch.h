/*
 * patch.h - places in a program's own code that are switched once, before its main: five bytes of nop that
 * become a jump. A Caper build's questions are switched on (base/caper.h), the checks of a full build
 * are switched off (base/filter.h).
 */
#ifndef DH_BASE_PATCH_H
#define DH_BASE_PATCH_H

#include "base/base.h"

enum { DH_PATCH_NOP = 5 }; /* bytes of a nop, and of a near jump */

/* A nop in the code, and where it may lead. The compiler's plugin writes them into a section, in no order;
 * several may have one nop. Distances are from the field itself, so the section needs no relocation. */
struct dh_patch_point {
    int32_t nop;
    int32_t to;
    u32 group; /* those of one group are switched together */
};
_Static_assert(sizeof(struct dh_patch_point) == 12, "the assembler writes three words");

/* Assembly for the plugin: the nop, and behind it the beginning of the section's part, which goes with that
 * of the function if the linker drops it; then any number of points, and the end. Labels are the compiler's:
 * ${:uid} is a number of this place, ${0:l} where the jump leads. */
#define DH_PATCH_ASM_BEGIN(section)                       \
    ".Ldhq${:uid}:\n\t.byte 0x0f,0x1f,0x44,0x00,0x00\n\t" \
    ".pushsection " section ",\"ao\",@progbits,.Ldhq${:uid}\n\t"
#define DH_PATCH_ASM_POINT ".long .Ldhq${:uid}-., ${0:l}-., %u\n\t"
#define DH_PATCH_ASM_END ".popsection"

struct dh_patch {
    const struct dh_patch_point *points, *end;
    const u8 *wanted; /* by group: not 0 if its nops become jumps */
    u32 n_groups;
};

/* While there is one thread. False if not all that are wanted could be switched. */
bool dh_patch_program(const struct dh_patch *p);

#endif
