/*
 * openmp.c - see openmp.h.
 */
#include "runtime/threads/openmp.h"

#include <string.h>

struct dh_openmp_range dh_openmp_ranges[DH_OPENMP_MAX];
u32 dh_openmp_n;

bool dh_openmp_is(const char *path, bool *ret_tool)
{
    static const char tool[] = "libarcher.so";
    static const char *const names[] = {"libomp.so", "libomp-", "libiomp5.so", "libgomp.so", tool};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0) {
            *ret_tool = names[i] == tool;
            return true;
        }
    return false;
}

/* While the list changes, because a library was opened or closed, a reader may see a mix of old and new. Then
 * a call is checked that should not be, or vice versa. */
void dh_openmp_set(const struct dh_openmp_range *ranges, u32 n)
{
    DH_ASSERT(n <= DH_OPENMP_MAX);
    if (n == dh_openmp_n && memcmp(ranges, dh_openmp_ranges, n * sizeof(*ranges)) == 0)
        return;
    memcpy(dh_openmp_ranges, ranges, n * sizeof(*ranges));
    __atomic_store_n(&dh_openmp_n, n, __ATOMIC_RELEASE);
}
