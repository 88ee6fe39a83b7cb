/*
 * modules.h - the loaded modules, for reports: which file an address belongs to.
 *
 * Our own copy of the dynamic linker's list, so that a report never waits for its lock.
 */
#ifndef DH_RUNTIME_REPORT_MODULES_H
#define DH_RUNTIME_REPORT_MODULES_H

#include "base/lock.h"

struct dh_module {
    int id;
    bool loaded;
    bool instrumented; /* its constructor announced itself */
    bool reported;     /* report.c has written its line */
    uptr lo, hi, bias;
    uptr tls_below; /* its thread-local segment begins this far below every thread pointer; 0: not there */
    uptr tls_size;
    size_t tls_index; /* the linker's number for the segment; 0: it has none */
    char build_id[41];
    char path[512];
};

/* Under the modules' lock, which the caller holds through dh_modules_take/drop. */
void dh_modules_take(void);
void dh_modules_drop(void);
struct dh_module *dh_modules_find(uptr addr); /* NULL: none */
/* The module whose thread-local segment holds the byte this far below the thread pointer; NULL: none. */
struct dh_module *dh_modules_find_tls(uptr below, u64 *ret_offset);
uptr dh_modules_tls_depth(void); /* how far below the thread pointer such segments reach */
/* The same for a module that was loaded later and has its segments on the heap: only the vector of the thread
 * with thread pointer tp tells where. */
struct dh_module *dh_modules_find_dynamic_tls(uptr tp, uptr addr, u64 *ret_offset);
void dh_modules_unreport(void); /* a new stream begins */

/* Is the code at pc, in the middle of a library, known to be plain? Takes the lock. */
bool dh_modules_is_plain(uptr pc);

void dh_modules_each(void (*fn)(const struct dh_module *m, void *ctx), void *ctx);

u32 dh_modules_blind(void); /* modules without instrumentation, ever loaded; libc and ours not counted */
void dh_modules_each_lock(dh_lock_fn *fn);

#endif
