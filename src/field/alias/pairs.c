/*
 * pairs.c - the pairs found go into the run file, which is mapped shared and grows with them. A table of
 * those already reported by this process keeps them distinct.
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "base/sys.h"
#include "field/alias/alias.h"

enum { TABLE = 1 << 24, MAX_TOLD = TABLE / 4 * 3, STEP = 4096 /* pairs */, MAX_PATH = 4096 };

static struct dh_alias_run *run; /* with address space for its maximum size */
static u64 *told;                /* atomic */
static u64 n_told;               /* atomic */
static char file[MAX_PATH];

bool dh_alias_pairs_init(struct dh_alias_run *mapped, const char *path)
{
    u64 n = 0;
    while (path[n] && n + 1 < sizeof(file)) {
        file[n] = path[n];
        n++;
    }
    run = mapped;
    told = dh_alias_map(TABLE * sizeof(*told));
    return told && path[n] == 0;
}

/* The space must be allocated on disk, or the program would die of SIGBUS; and must be within the file size
 * limit, or it would die of SIGXFSZ. */
static bool lengthen(u64 bytes)
{
    struct rlimit limit;
    if (dh_sys3(SYS_getrlimit, RLIMIT_FSIZE, (long)&limit, 0) != 0 || limit.rlim_cur < bytes)
        return false;
    int fd = (int)dh_sys3(SYS_open, (long)file, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return false;
    long rc = dh_sys6(SYS_fallocate, fd, 0, 0, (long)bytes, 0, 0);
    dh_sys3(SYS_close, fd, 0, 0);
    return rc == 0;
}

static bool has_room(u64 index)
{
    u64 known = __atomic_load_n(&run->has_room, __ATOMIC_ACQUIRE);
    while (index >= known) {
        u64 wanted = DH_ALIGN_UP(index + 1, STEP);
        if (wanted > MAX_TOLD || !lengthen(dh_alias_run_pairs(run->n_sites) + wanted * sizeof(u64)))
            return false;
        if (__atomic_compare_exchange_n(&run->has_room, &known, wanted, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
            break;
    }
    return true;
}

static void add(u64 pair)
{
    u64 index = __atomic_fetch_add(&run->n_pairs, 1, __ATOMIC_RELAXED);
    if (!has_room(index)) {
        dh_alias_full();
        return;
    }
    u64 *pairs = (u64 *)((char *)run + dh_alias_run_pairs(run->n_sites));
    __atomic_store_n(&pairs[index], pair, __ATOMIC_RELAXED);
}

void dh_alias_pairs_tell(u32 a, u32 b)
{
    u64 pair = dh_alias_pair(a, b);
    for (u64 slot = pair * 0x9e3779b97f4a7c15ull >> 32;; slot++) {
        u64 *place = &told[slot % TABLE], known = __atomic_load_n(place, __ATOMIC_RELAXED);
        if (known == pair)
            return;
        if (known != 0)
            continue;
        if (__atomic_load_n(&n_told, __ATOMIC_RELAXED) >= MAX_TOLD) {
            dh_alias_full();
            return;
        }
        if (__atomic_compare_exchange_n(place, &known, pair, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&n_told, 1, __ATOMIC_RELAXED);
            add(pair);
            return;
        }
        if (known == pair)
            return;
    }
}
