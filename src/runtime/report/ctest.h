/*
 * ctest.h - how CTest started this process, if it did.
 */
#ifndef DH_RUNTIME_REPORT_CTEST_H
#define DH_RUNTIME_REPORT_CTEST_H

#include "base/fmt.h"

/* The member `ctest` of a process line, after a comma; nothing if CTest is not among the ancestors of this
 * process. The first result is kept: later, an ancestor may have ended. Under the report lock. */
void dh_ctest_put(struct dh_fmt *line);

#endif
