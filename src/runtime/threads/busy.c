/*
 * busy.c - see busy.h.
 *
 * The thread registry says which threads exist, and the kernel which are blocked: the field "state" of
 * /proc/self/task/TID/stat (proc(5)). A thread in a blocking interceptor need not be blocked, and one that
 * has made a system call directly may be. If /proc cannot be read, no thread is assumed to be running.
 */
#include "runtime/threads/busy.h"

#include <fcntl.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/threads/thread.h"

enum { ASKED = 256 }; /* threads, at most */

/* The kernel's numbers of the others that have not ended; 0 for one that has yet to begin. */
static u32 list_others(int *ret)
{
    int self = dh_sys_gettid();
    u32 n = 0;
    dh_lock_take(&dh_threads_lock);
    for (const struct dh_thread *t = dh_threads; t && n < ASKED; t = t->next) {
        const struct dh_thread_info *info = dh_thread_info(t->uid);
        if (t->state != DH_THREAD_FINISHED && !t->carried && info && info->tid != self)
            ret[n++] = info->tid;
    }
    dh_lock_drop(&dh_threads_lock);
    return n;
}

/* A letter; 0: the thread is gone, or its state cannot be read. */
static char state_of(int tid)
{
    char buf[128];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, "/proc/self/task/");
    dh_fmt_u64(&f, (u64)tid);
    dh_fmt_str(&f, "/stat");
    long fd = dh_sys3(SYS_open, (long)buf, O_RDONLY | O_CLOEXEC, 0);
    if (dh_sys_failed(fd))
        return 0;
    long n = dh_sys3(SYS_read, fd, (long)buf, sizeof(buf));
    dh_sys3(SYS_close, fd, 0, 0);
    /* The name precedes it in parentheses, and may contain any character; nothing after it contains a
     * parenthesis. */
    while (n > 0 && buf[n - 1] != ')')
        n--;
    return n > 0 && n + 1 < (long)sizeof(buf) ? buf[n + 1] : 0;
}

enum dh_busy dh_busy_others(void)
{
    int tids[ASKED];
    enum dh_busy found = DH_BUSY_NONE;
    struct dh_thread *t = __dh_hot.self;
    if (!t || t->alone || !dh_thread_enter_any(t))
        return DH_BUSY_NONE;
    u32 n = list_others(tids);
    dh_thread_leave(t);
    for (u32 i = 0; i < n && found != DH_BUSY_RUNNING; i++) {
        char state = tids[i] ? state_of(tids[i]) : 'R';
        if (state == 'R' || state == 'D') /* D is a wait that ends by itself, for a page or a disk */
            found = DH_BUSY_RUNNING;
        else if (state)
            found = DH_BUSY_BLOCKED;
    }
    return found;
}
