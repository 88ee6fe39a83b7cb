/*
 * format.h - the walks over formats, for narrow and wide functions: intercept/format.c reads what printf
 * reads, intercept/scan.c writes what scanf stored.
 */
#ifndef DH_RUNTIME_INTERCEPT_FORMAT_H
#define DH_RUNTIME_INTERCEPT_FORMAT_H

#include <stdarg.h>

#include "runtime/runtime.h"

/* Before the real call: the strings among the arguments. */
void dh_format_read(struct dh_thread *t, const char *format, va_list args);

enum { DH_SCAN_MAX = 64 };

/* The arguments of scanf, which are all pointers. */
struct dh_scan {
    void *at[DH_SCAN_MAX];
    int n;
};

/* Before the real call, and after it. assigned: its result. old: %as allocates, as it did before C99. */
void dh_scan_fetch(const char *format, va_list args, bool old, struct dh_scan *ret);
void dh_scan_store(struct dh_thread *t, const char *format, bool old, const struct dh_scan *args,
                   int assigned);

#endif
