/*
 * cfi.h - finds a function's caller on the stack: what the unwind tables say about one place.
 *
 * x86-64 only, and only what compilers emit for ordinary functions. libgcc's unwinder does all of this, but
 * it reads whatever a wrong return address points to, and does not reveal the rule it used, which plain.c
 * caches.
 */
#ifndef DH_RUNTIME_THREADS_CFI_H
#define DH_RUNTIME_THREADS_CFI_H

#include "base/base.h"

/* In words. The frame begins `size` words above the stack pointer, or the frame pointer, at the call. The
 * word below its beginning is the return address. */
struct dh_cfi_row {
    bool by_bp;
    u32 size;
    u32 bp_at; /* distance of the caller's saved frame pointer below the beginning; 0: in its register */
};

/* pc: a return address in the function in question. False if there is no table, if the function was not
 * called, or if its frame is of another kind. Reads only tables of loaded modules. No locks, no allocation:
 * async-signal-safe. */
bool dh_cfi_find(uptr pc, struct dh_cfi_row *ret_row);

/* The start of the function containing pc, a return address; 0: not in any table. Also async-signal-safe. */
uptr dh_cfi_function(uptr pc);

#endif
