/*
 * ctest.h - which test of CTest a process runs for.
 */
#ifndef DH_RUNTIME_REPORT_CTEST_H
#define DH_RUNTIME_REPORT_CTEST_H

#include "base/base.h"

/* False, and ret untouched, if CTest is not among those that started this process, or if not exactly one of
 * its tests has this command. A name that does not fit is cut. Under the lock of reports. */
bool dh_ctest_name(char *ret, size_t cap);

#endif
