/*
 * ctest.h - the names of CTest's tests, looked up by their commands. The files from which CTest itself learns
 * its tests, CTestTestfile.cmake, are each read once.
 */
#ifndef DH_REPORT_CTEST_H
#define DH_REPORT_CTEST_H

#include "report/model.h"
#include "util/path.h"

struct dh_ctest {
    struct dh_arena *arena;
    const struct dh_path_map *paths; /* where directories are now */
    struct dh_map directories;       /* path -> struct directory */
    u64 searches;
};

void dh_ctest_init(struct dh_ctest *c, struct dh_arena *arena, const struct dh_path_map *paths);
void dh_ctest_done(struct dh_ctest *c);
/* The test for which such a process was started, in the arena; "" if no test or more than one has its
 * command, or if the files are not (or no longer) on this machine. */
const char *dh_ctest_name(struct dh_ctest *c, const struct dh_model_ctest *started);

#endif
