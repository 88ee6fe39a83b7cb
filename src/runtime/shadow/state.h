/*
 * state.h - what each thread keeps for the shadow: records of split cells that are at hand (split.c). struct
 * dh_thread (threads/thread.h) holds it; the owning thread alone writes it, inside the runtime.
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
