/*
 * watch.c - see watch.h.
 */
#include "chase/watch.h"

#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What all watchpoints of a window have in common. */
struct kind {
    bool reads; /* they matter, too */
    u32 generation;
    u32 hits; /* each traps this often, and the kernel disables it; 0: any number of times */
};

/* The kernel does not limit what new threads inherit. */
static int add(struct dh_chase_watch *w, pid_t tid, u64 address, u64 size, const struct kind *kind)
{
    struct perf_event_attr a = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(a),
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = kind->hits != 0,
        .inherit = !kind->hits,
        .inherit_thread = !kind->hits,
        .remove_on_exec = 1,
        .sigtrap = 1,
        .bp_type = kind->reads ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W,
        .bp_addr = address,
        .bp_len = size,
        .sig_data = DH_CONTROL_WATCH | kind->generation,
    };
    int fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        /* The thread has ended, or the processor has no watchpoint left: then only a part is watched. */
        return errno == ESRCH || errno == ENOSPC ? 0 : -errno;
    w->fds = dh_util_grow(w->fds, w->n, &w->cap, sizeof(*w->fds));
    w->fds[w->n++] = fd;
    return kind->hits && ioctl(fd, PERF_EVENT_IOC_REFRESH, kind->hits) != 0 && errno != ESRCH ? -errno : 0;
}

/* The processor watches 1, 2, 4 or 8 bytes, at a multiple of that. */
static int add_pieces(struct dh_chase_watch *w, pid_t tid, const struct kind *kind)
{
    int rc = 0;
    for (u64 at = w->address, end = w->address + w->size; !rc && at < end;) {
        u64 n = 8;
        while (at % n || n > end - at)
            n /= 2;
        rc = add(w, tid, at, n, kind);
        at += n;
    }
    return rc;
}

/* Tried on a variable of this process that nobody accesses. */
int dh_chase_watch_probe(void)
{
    static u64 nothing;
    struct dh_chase_watch w = {0};
    int rc = add(&w, 0, (u64)(uintptr_t)&nothing, sizeof(nothing), &(struct kind){.hits = 1});
    dh_chase_watch_done(&w);
    return rc;
}

/* The hits of one watchpoint, if there may be this many in all threads. */
static u32 hits_of_each(const char *tasks, u32 hits)
{
    enum { MOST = 64 }; /* one thread need not use up what others may need */
    struct stat st;
    const u64 threads = stat(tasks, &st) == 0 && st.st_nlink > 2 ? st.st_nlink - 2 : 1;
    const u64 each = hits / (threads * (DH_CHASE_WATCH_BYTES / 8));
    return !hits ? 0 : each < 1 ? 1 : each < MOST ? (u32)each : MOST;
}

int dh_chase_watch_set(struct dh_chase_watch *w, const struct dh_chase_target *t, bool hardware, u32 hits)
{
    const struct dh_control_access *first = &t->control->first;
    const struct dh_control_span *span = &first->spans[0];
    const u32 seen = dh_chase_target_state(t), generation = seen / (DH_CONTROL_PHASE + 1);
    char path[64];
    w->address = span->address;
    w->size = (u8)(span->size < DH_CHASE_WATCH_BYTES ? span->size : DH_CHASE_WATCH_BYTES);
    __atomic_store_n(&t->control->watching, generation, __ATOMIC_RELEASE);
    memset(w->before, 0, sizeof(w->before));
    if (pread(t->mem, w->before, w->size, (off_t)w->address) != w->size || !hardware)
        return 0; /* if this thread is about to fault, no other can access the bytes either */
    snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
    const struct kind kind = {span->kind & DH_CONTROL_WRITE, generation, hits_of_each(path, hits)};
    DIR *dir = opendir(path);
    int rc = 0;
    /* If the state changes, the first thread has resumed, or another has already come. */
    for (const struct dirent *e; dir && !rc && dh_chase_target_state(t) == seen && (e = readdir(dir));) {
        pid_t tid = atoi(e->d_name);
        if (tid > 0 && (u32)tid != first->tid)
            rc = add_pieces(w, tid, &kind);
    }
    if (dir)
        closedir(dir);
    return rc;
}

void dh_chase_watch_clear(struct dh_chase_watch *w)
{
    while (w->n > 0)
        close(w->fds[--w->n]);
    w->size = 0; /* a thread may not wait until the next are set */
}

bool dh_chase_watch_changed(const struct dh_chase_watch *w, const struct dh_chase_target *t)
{
    u8 now[DH_CHASE_WATCH_BYTES];
    return pread(t->mem, now, w->size, (off_t)w->address) == w->size && memcmp(now, w->before, w->size) != 0;
}

void dh_chase_watch_done(struct dh_chase_watch *w)
{
    dh_chase_watch_clear(w);
    free(w->fds);
}
