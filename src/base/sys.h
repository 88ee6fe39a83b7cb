/*
 * sys.h - system calls without libc.
 *
 * The runtime interposes libc's mmap, write and friends, and must preserve errno; so it calls the kernel
 * directly. Results are the kernel's: negative errno on failure.
 */
#ifndef DH_BASE_SYS_H
#define DH_BASE_SYS_H

#include <sys/syscall.h>

#include "base/base.h"

DH_INLINE long dh_sys6(long n, long a, long b, long c, long d, long e, long f)
{
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

DH_INLINE long dh_sys3(long n, long a, long b, long c)
{
    return dh_sys6(n, a, b, c, 0, 0, 0);
}

/* Kernel results from -4095 to -1 are errors. */
DH_INLINE bool dh_sys_failed(long ret)
{
    return (unsigned long)ret > -4096ul;
}

/* Anonymous private memory, not charged in advance. NULL on failure. */
void *dh_sys_map(size_t n);
/* The same, out of the program's way: not in a hole that it made and may want to fill again with MAP_FIXED,
 * nor in one that it would have been given. In [DH_SYS_OWN, DH_SYS_OWN + DH_SYS_OWN_SIZE) as long as there is
 * room. */
#define DH_SYS_OWN 0x3D0000000000ull
#define DH_SYS_OWN_SIZE (1ull << 41)
void *dh_sys_map_own(size_t n);
/* The same at a fixed address that must be free. 0 or a negative errno. */
int dh_sys_map_at(uptr addr, size_t n);
void dh_sys_unmap(void *p, size_t n);
/* Return the pages to the kernel; they read as zero afterwards. False if the kernel refuses, as it may for
 * locked memory. */
bool dh_sys_discard(uptr addr, size_t n);

/* Populate the pages before they are touched. If the kernel cannot, they are faulted in as usual. */
void dh_sys_populate(uptr addr, size_t n);
/* Use huge pages for memory aligned to 2 MB, including what is already populated, if the kernel can. */
void dh_sys_huge(uptr addr, size_t n);

/* One byte per page of [addr, addr + n): bit 0 is set if the page holds data. False if that cannot be
 * determined. */
bool dh_sys_resident(uptr addr, size_t n, u8 *ret_pages);

/* Copies memory that may vanish meanwhile. False if not all of it could be read. */
bool dh_sys_peek(uptr addr, void *ret, size_t n);

/* Is anything mapped at addr? */
bool dh_sys_exists(uptr addr);

/* False if not everything could be written. Causes no signal: the program did not write. */
bool dh_sys_write_all(int fd, const char *buf, size_t n);
/* One sentence to standard error, prefixed "deadheat: ". */
void dh_sys_say(const char *text);
/* Why a system call failed, by its negative result: there is no strerror here. */
const char *dh_sys_reason(long error);
/* Ends the process by SIGABRT at this very place, whatever the program does with that signal. */
_Noreturn void dh_sys_abort(void);
int dh_sys_gettid(void);
u64 dh_sys_now_us(void); /* from a monotonic clock */
void dh_sys_yield(void);

/*
 * A barrier on every running thread of the process: what lets their hot paths use plain stores where the rare
 * side needs a fence. Return false if the kernel refuses (then nothing was ordered), which may start at any
 * time, if the program installs a seccomp filter.
 */
bool dh_sys_membarrier_init(void);
bool dh_sys_membarrier(void);

#endif
