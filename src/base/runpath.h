/*
 * runpath.h - dlopen on behalf of another module.
 *
 * libc looks for a bare name along the run path of the module that calls dlopen. If a function of ours
 * intercepts dlopen, that would be the executable's.
 */
#ifndef DH_BASE_RUNPATH_H
#define DH_BASE_RUNPATH_H

#include "base/base.h"

/* Like open(file, mode) called from the code at `caller`; open is libc's dlopen. */
void *dh_runpath_open(void *(*open)(const char *, int), const char *file, int mode, const void *caller);

#endif
