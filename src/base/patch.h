/*
 * patch.h - places in a program's own code that are switched once, before its main: five-byte nops that
 * become jumps. A Caper build's questions are switched on (base/caper.h), the checks of a full build are
 * switched off (base/filter.h).
 */
#ifndef DH_BASE_PATCH_H
#define DH_BASE_PATCH_H

#include "base/base.h"

enum { DH_PATCH_NOP = 5 }; /* bytes of a nop, and of a near jump */

/* A nop in the code, and its jump target. The compiler plugin writes them into a section, in no particular
 * order; several may share a nop. Distances are from the field itself, so the section needs no relocation. */
struct dh_patch_point {
    int32_t nop;
    int32_t to;
    u32 group; /* those of one group are switched together */
};
_Static_assert(sizeof(struct dh_patch_point) == 12, "the assembler writes three words");

/* Assembly for the plugin: the nop, followed by the beginning of its part of the section, which the linker
 * drops together with the function; then any number of points, and the end. Labels are the compiler's:
 * ${:uid} is a unique number of this place, ${0:l} the jump target. */
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

/* Call it while there is one thread. False if not all wanted ones could be switched. */
bool dh_patch_program(const struct dh_patch *p);

#endif
