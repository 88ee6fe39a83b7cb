/*
 * cfi.h - where a function's caller is found on the stack: what the tables for unwinding say of one place.
 *
 * x86-64 only, and only what compilers make of ordinary functions. The unwinder of libgcc does all of it, but
 * it reads whatever a wrong return address points to, and it cannot tell what it went by, which is what
 * plain.c remembers.
 */
#ifndef DH_RUNTIME_THREADS_CFI_H
#define DH_RUNTIME_THREADS_CFI_H

#include "base/base.h"

/* In words. The frame begins `size` words above the stack pointer, or the frame pointer, at the call. The
 * word below its beginning is the return address. */
struct dh_cfi_row {
    bool by_bp;
    u32 size;
    u32 bp_at; /* the caller's frame pointer is so far below the beginning; 0: still in its register */
};

/* pc: a return address, in the function that is asked about. False if there is no table, if the function
 * was not called, or if its frame is of another kind. Reads nothing but tables of modules that are
 * loaded. No locks, no memory: fit for signal handlers. */
bool dh_cfi_find(uptr pc, struct dh_cfi_row *ret_row);

/* Where the function begins that pc, a return address, is in; 0: no table says so. As fit for signal
 * handlers. */
uptr dh_cfi_function(uptr pc);

#endif
