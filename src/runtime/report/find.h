/*
 * find.h - where the reporter is: what DEADHEAT_OPTIONS=reporter= names and nothing else; or deadheat as it
 * was installed when the program was compiled, beside the program or in ../bin from there, in PATH, or in
 * $DEADHEAT_HOME/bin, in this order.
 */
#ifndef DH_RUNTIME_REPORT_FIND_H
#define DH_RUNTIME_REPORT_FIND_H

#include "base/base.h"

/* The program to run, into buf. False: there is none, or it is not to be trusted. */
bool dh_find_reporter(char *buf, size_t cap);

#endif
