/*
 * keep.c - see keep.h.
 */
#include "runtime/report/keep.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/sys.h"

enum { HIGH_FD = 1000, MAX = 4 };

/* Written under DH_RANK_REPORT, the identity before the number; the number is read without it. */
static struct kept {
    int number; /* of the descriptor plus 1; 0: free */
    dev_t dev;
    ino_t ino;
} kept[MAX];

/* The kernel's struct stat is libc's on x86-64. */
static bool identify(int fd, struct stat *ret)
{
    return dh_sys3(SYS_fstat, fd, (long)ret, 0) == 0;
}

static struct kept *find(int fd)
{
    for (int i = 0; fd >= 0 && i < MAX; i++)
        if (__atomic_load_n(&kept[i].number, __ATOMIC_ACQUIRE) == fd + 1)
            return &kept[i];
    return NULL;
}

/* As high as the descriptor limit allows, but no higher than needed: the kernel's table grows with it. */
static long high_enough(void)
{
    struct rlimit lim;
    if (dh_sys6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&lim, 0, 0) < 0 || lim.rlim_cur > HIGH_FD + MAX)
        return HIGH_FD;
    return lim.rlim_cur > MAX ? (long)lim.rlim_cur - MAX : 0;
}

int dh_keep_fd(int fd)
{
    struct stat st;
    long high = dh_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high_enough());
    if (high >= 0) {
        dh_sys3(SYS_close, fd, 0, 0);
        fd = (int)high;
    }
    struct kept *k = find(fd);
    for (int i = 0; !k && i < MAX; i++)
        k = kept[i].number ? NULL : &kept[i];
    if (k && identify(fd, &st)) {
        k->dev = st.st_dev;
        k->ino = st.st_ino;
        __atomic_store_n(&k->number, fd + 1, __ATOMIC_RELEASE);
    }
    return fd;
}

bool dh_keep_intact(int fd)
{
    struct stat st;
    const struct kept *k = find(fd);
    return k && identify(fd, &st) && st.st_dev == k->dev && st.st_ino == k->ino;
}

void dh_keep_close(int fd)
{
    struct kept *k = find(fd);
    bool intact = dh_keep_intact(fd);
    if (k)
        __atomic_store_n(&k->number, 0, __ATOMIC_RELEASE);
    if (intact)
        dh_sys3(SYS_close, fd, 0, 0);
}

bool dh_keep_owns(int fd)
{
    return find(fd) != NULL && dh_keep_intact(fd);
}

int dh_keep_lowest(unsigned lo, unsigned hi)
{
    int lowest = -1;
    for (int i = 0; i < MAX; i++) {
        int fd = __atomic_load_n(&kept[i].number, __ATOMIC_ACQUIRE) - 1;
        if (fd >= 0 && (unsigned)fd >= lo && (unsigned)fd <= hi && (lowest < 0 || fd < lowest) &&
            dh_keep_owns(fd))
            lowest = fd;
    }
    return lowest;
}
