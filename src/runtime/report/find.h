/*
 * find.h - where the reporter is: what DEADHEAT_OPTIONS=reporter= names and nothing else; or, in this order,
 * deadheat next to the program or in ../bin from there, in PATH, in $DEADHEAT_HOME/bin, or where it was
 * installed when the program was compiled. In a setuid program it is nowhere.
 */
#ifndef DH_RUNTIME_REPORT_FIND_H
#define DH_RUNTIME_REPORT_FIND_H

#include "base/base.h"

/* Stores the program to run in buf. False: there is none. */
bool dh_find_reporter(char *buf, size_t cap);

#endif
