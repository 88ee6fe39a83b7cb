/*
 * keep.h - the few descriptors the runtime keeps open in the program.
 *
 * They have high numbers, out of the way of programs that expect low ones, and close on exec. The
 * interceptors hide them: to the program these numbers are not open. If a program closes them anyway (by a
 * direct system call) and reuses the number, we must not write to its file; so every use first verifies that
 * the descriptor is still what was kept.
 */
#ifndef DH_RUNTIME_REPORT_KEEP_H
#define DH_RUNTIME_REPORT_KEEP_H

#include "base/base.h"

/* Take over descriptor fd; returns its new number. Under DH_RANK_REPORT, like dh_keep_close. */
int dh_keep_fd(int fd);
/* Close it, if it is still ours. */
void dh_keep_close(int fd);
bool dh_keep_intact(int fd);
/* Is this number one of ours? Lock-free, for interceptors. */
bool dh_keep_owns(int fd);
/* The lowest of ours in [lo, hi], or -1. */
int dh_keep_lowest(unsigned lo, unsigned hi);

#endif
