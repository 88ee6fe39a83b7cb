/*
 * sys.c - see sys.h.
 */
#include "base/sys.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <time.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void *dh_sys_map(size_t n)
{
    long r = dh_sys6(SYS_mmap, 0, (long)n, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return dh_sys_failed(r) ? NULL : (void *)r;
}

void *dh_sys_map_own(size_t n)
{
    static u64 used; /* atomic; addresses are never reused, there are enough */
    u64 at = __atomic_fetch_add(&used, DH_ALIGN_UP(n, 4096), __ATOMIC_RELAXED);
    if (at + n <= DH_SYS_OWN_SIZE && dh_sys_map_at(DH_SYS_OWN + at, n) == 0)
        return (void *)(uptr)(DH_SYS_OWN + at);
    return dh_sys_map(n);
}

int dh_sys_map_at(uptr addr, size_t n)
{
    long r = dh_sys6(SYS_mmap, (long)addr, (long)n, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (dh_sys_failed(r))
        return (int)r;
    if ((uptr)r == addr)
        return 0;
    /* A kernel older than 4.17 takes the address as a mere hint. */
    dh_sys3(SYS_munmap, r, (long)n, 0);
    return -EEXIST;
}

bool dh_sys_peek(uptr addr, void *ret, size_t n)
{
    struct iovec here = {ret, n}, there = {(void *)addr, n};
    long pid = dh_sys3(SYS_getpid, 0, 0, 0);
    return dh_sys6(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0) == (long)n;
}

void dh_sys_unmap(void *p, size_t n)
{
    dh_sys3(SYS_munmap, (long)p, (long)n, 0);
}

bool dh_sys_discard(uptr addr, size_t n)
{
    const long dontneed_locked = 24; /* MADV_DONTNEED_LOCKED, since Linux 5.18; not in every header yet */
    return dh_sys3(SYS_madvise, (long)addr, (long)n, MADV_DONTNEED) == 0 ||
           dh_sys3(SYS_madvise, (long)addr, (long)n, dontneed_locked) == 0;
}

void dh_sys_huge(uptr addr, size_t n)
{
    const long collapse = 25; /* MADV_COLLAPSE, since Linux 6.1 */
    dh_sys3(SYS_madvise, (long)addr, (long)n, MADV_HUGEPAGE);
    dh_sys3(SYS_madvise, (long)addr, (long)n, collapse);
}

void dh_sys_populate(uptr addr, size_t n)
{
    const long populate_write = 23; /* MADV_POPULATE_WRITE, since Linux 5.14; not in every header yet */
    dh_sys3(SYS_madvise, (long)addr, (long)n, populate_write);
}

bool dh_sys_resident(uptr addr, size_t n, u8 *ret_pages)
{
    /* mincore does not distinguish a page that was swapped out from one that was never there. */
    struct sysinfo info;
    if (dh_sys3(SYS_sysinfo, (long)&info, 0, 0) < 0 || info.freeswap != info.totalswap)
        return false;
    return dh_sys3(SYS_mincore, (long)addr, (long)n, (long)ret_pages) == 0;
}

bool dh_sys_exists(uptr addr)
{
    u8 resident;
    long rc = dh_sys3(SYS_mincore, (long)DH_ALIGN_DOWN(addr, 4096), 4096, (long)&resident);
    return rc == 0 || rc == -EAGAIN;
}

/* write(2), but without the signal that the kernel sends for a write without a reader or beyond the file size
 * limit: it was not the program that wrote. All signals are blocked meanwhile, more briefly if the caller has
 * already waited for the descriptor: a handler that ran in between might change the mask. */
static long write_unseen(int fd, const char *buf, size_t n)
{
    const u64 ours = 1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1), all = ~0ull;
    const struct timespec at_once = {0, 0};
    struct pollfd ready = {fd, POLLOUT, 0};
    u64 old = 0, before = 0;
    dh_sys3(SYS_poll, (long)&ready, 1, -1);
    dh_sys6(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof(all), 0, 0);
    dh_sys3(SYS_rt_sigpending, (long)&before, sizeof(before), 0);
    long r = dh_sys3(SYS_write, fd, (long)buf, (long)n);
    u64 caused = ours & ~before;
    if (r == -EPIPE || r == -EFBIG)
        dh_sys6(SYS_rt_sigtimedwait, (long)&caused, 0, (long)&at_once, sizeof(caused), 0, 0);
    dh_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof(old), 0, 0);
    return r;
}

bool dh_sys_write_all(int fd, const char *buf, size_t n)
{
    while (n > 0) {
        long r = write_unseen(fd, buf, n);
        if (r == -EINTR || r == -EAGAIN)
            continue;
        if (r <= 0)
            return false;
        buf += r;
        n -= (size_t)r;
    }
    return true;
}

/* As util/text.h has it: of ASCII, or of Latin-1 in UTF-8. */
static bool is_control(char before, char c)
{
    return (u8)c < 0x20 || c == 0x7f || ((u8)before == 0xc2 && (u8)c >= 0x80 && (u8)c < 0xa0);
}

/* Messages quote options and names of files. */
void dh_sys_say(const char *text)
{
    static const char prefix[] = "deadheat: ";
    char line[1024];
    size_t n = sizeof(prefix) - 1;
    memcpy(line, prefix, n);
    for (char before = 0; *text && n < sizeof(line) - 1; before = *text++)
        line[n++] = is_control(before, *text) ? '?' : *text;
    line[n++] = '\n';
    dh_sys_write_all(2, line, n);
}

const char *dh_sys_reason(long error)
{
    switch (-error) {
    case ENOENT:
        return "no such file or directory";
    case EACCES:
    case EPERM:
        return "permission denied";
    case EISDIR:
        return "it is a directory";
    case ENOTDIR:
        return "a part of its path is no directory";
    case EROFS:
        return "the file system is read-only";
    case ETXTBSY:
        return "it is a running program";
    case ENXIO:
        return "it is a pipe without a reader";
    default:
        return "the system refuses it";
    }
}

_Noreturn void dh_sys_abort(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        u64 mask;
    } by_default = {0}; /* the kernel's own structure */
    u64 mask = 1ull << (SIGABRT - 1);
    dh_sys6(SYS_rt_sigaction, SIGABRT, (long)&by_default, 0, sizeof(mask), 0, 0);
    dh_sys6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof(mask), 0, 0);
    dh_sys3(SYS_tgkill, dh_sys3(SYS_getpid, 0, 0, 0), dh_sys_gettid(), SIGABRT);
    for (;;)
        dh_sys3(SYS_exit_group, 128 + SIGABRT, 0, 0);
}

u64 dh_sys_now_us(void)
{
    struct timespec now = {0};
    dh_sys3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000;
}

int dh_sys_gettid(void)
{
    return (int)dh_sys3(SYS_gettid, 0, 0, 0);
}

void dh_sys_yield(void)
{
    dh_sys3(SYS_sched_yield, 0, 0, 0);
}

bool dh_sys_membarrier_init(void)
{
    return dh_sys3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool dh_sys_membarrier(void)
{
    return dh_sys3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
