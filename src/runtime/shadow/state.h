/*
 * state.h - what each thread keeps for the shadow: spare records for split cells (split.c). Part of struct
 * dh_thread (threads/thread.h); only the owning thread writes it, inside the runtime.
 */
#ifndef DH_RUNTIME_SHADOW_STATE_H
#define DH_RUNTIME_SHADOW_STATE_H

#include "base/base.h"

enum { DH_SPARE_SPLITS = 64 };

struct dh_spare_splits {
    u32 number[DH_SPARE_SPLITS];
    u32 n;
};

#endif
