/*
 * patch.h - questions are switched on, in the program's own code.
 */
#ifndef DH_FIELD_ESCAPE_PATCH_H
#define DH_FIELD_ESCAPE_PATCH_H

#include "base/caper.h"

struct dh_esc_patch {
    const struct dh_caper_question *questions, *end;
    const u8 *wanted; /* by group */
    u32 n_groups;
};

/* In the code at [from, to). False if not all that are wanted there could be switched on. */
bool dh_esc_patch_part(const struct dh_esc_patch *p, u64 from, u64 to);

#endif
