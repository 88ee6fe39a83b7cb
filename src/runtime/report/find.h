/*
 * find.h - where the reporter is: what DEADHEAT_OPTIONS=reporter= names and nothing else; or, in this order,
 * deadheat where it was installed when the program was compiled, next to the program or in ../bin from there,
 * in PATH, or in $DEADHEAT_HOME/bin.
 */
#ifndef DH_RUNTIME_REPORT_FIND_H
#define DH_RUNTIME_REPORT_FIND_H

#include "base/base.h"

/* Stores the program to run in buf. False: there is none, or it is not trusted. */
bool dh_find_reporter(char *buf, size_t cap);

#endif
