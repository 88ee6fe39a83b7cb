/*
 * compat/benign.c - memory on which races are not reported: AnnotateBenignRaceSized, AnnotateExpectRace,
 * VALGRIND_HG_DISABLE_CHECKING.
 *
 * A list under a lock, consulted only when a race was found: races are rare, and known ones are not found
 * again in the same place and epoch. Ranges outlive the objects in them, as in other tools; dh_benign_remove
 * removes them. Its size is fixed, since nobody marks thousands of places by hand; when it is full, further
 * ones are ignored, and their races reported. The lock is never held together with the report lock, so they
 * share a rank.
 */
#include "base/lock.h"
#include "runtime/compat/compat.h"

enum { MAX = 4096 };

static struct {
    uptr lo, hi;
} ranges[MAX];       /* the first `n`, in no order; under `lock` */
static u32 ranges_n; /* read without the lock: 0 means none */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_REPORT);

void dh_benign_add(const volatile void *p, size_t n)
{
    uptr lo = (uptr)p, hi = lo + n;
    bool known = n == 0;
    dh_lock_take(&lock);
    for (u32 i = 0; i < ranges_n && !known; i++)
        known = ranges[i].lo <= lo && hi <= ranges[i].hi;
    if (!known && ranges_n < MAX) {
        ranges[ranges_n].lo = lo;
        ranges[ranges_n].hi = hi;
        __atomic_store_n(&ranges_n, ranges_n + 1, __ATOMIC_RELEASE);
    }
    dh_lock_drop(&lock);
}

/* The parts of a range outside [p, p + n) stay; if it extends on both sides, the lower part is kept in place,
 * and the upper one is added. */
void dh_benign_remove(const volatile void *p, size_t n)
{
    uptr lo = (uptr)p, hi = lo + n;
    dh_lock_take(&lock);
    for (u32 i = ranges_n; i-- > 0;) {
        uptr from = ranges[i].lo, to = ranges[i].hi;
        if (from >= hi || to <= lo)
            continue;
        ranges[i] = ranges[ranges_n - 1];
        __atomic_store_n(&ranges_n, ranges_n - 1, __ATOMIC_RELEASE);
        for (int part = 0; part < 2; part++) {
            uptr a = part ? hi : from, b = part ? to : lo;
            if (a < b && ranges_n < MAX) {
                ranges[ranges_n].lo = a;
                ranges[ranges_n].hi = b;
                __atomic_store_n(&ranges_n, ranges_n + 1, __ATOMIC_RELEASE);
            }
        }
    }
    dh_lock_drop(&lock);
}

bool dh_benign_has(uptr addr, size_t n)
{
    if (__atomic_load_n(&ranges_n, __ATOMIC_ACQUIRE) == 0)
        return false;
    bool found = false;
    dh_lock_take(&lock);
    for (u32 i = 0; i < ranges_n && !found; i++)
        found = ranges[i].lo < addr + n && addr < ranges[i].hi;
    dh_lock_drop(&lock);
    return found;
}

void dh_benign_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
