/*
 * target.c - see target.h.
 */
#include "chase/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MEET_MS = 10000, PATIENCE_US = 1000000 };

u64 dh_chase_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

int dh_chase_target_init(struct dh_chase_target *t, struct dh_arena *arena, u64 delay_us)
{
    *t = (struct dh_chase_target){.arena = arena, .mem = -1, .shared = -1};
    t->shared = memfd_create("deadheat", MFD_CLOEXEC);
    if (t->shared < 0)
        return -errno;
    void *p = MAP_FAILED;
    void (*too_large)(int) = signal(SIGXFSZ, SIG_IGN); /* exceeding a file size limit is an error to report */
    if (ftruncate(t->shared, sizeof(struct dh_control)) == 0)
        p = mmap(NULL, sizeof(struct dh_control), PROT_READ | PROT_WRITE, MAP_SHARED, t->shared, 0);
    signal(SIGXFSZ, too_large);
    if (p == MAP_FAILED) {
        int error = errno;
        close(t->shared);
        return -error;
    }
    t->control = p;
    t->control->magic = DH_CONTROL_MAGIC;
    t->control->delay_us = delay_us;
    t->control->patience_us = PATIENCE_US;
    return 0;
}

void dh_chase_target_done(struct dh_chase_target *t)
{
    munmap(t->control, sizeof(*t->control));
    close(t->shared);
    if (t->mem >= 0)
        close(t->mem);
    free(t->maps);
}

/* ---- Meeting ---- */

union beside {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

/* The length of the message, and the descriptor that came with it, or -1. */
static ssize_t receive(int socket, void *buf, size_t n, int *ret_fd)
{
    union beside beside = {0};
    struct iovec text = {buf, n};
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = beside.bytes,
                       .msg_controllen = sizeof(beside.bytes)};
    struct pollfd ready = {socket, POLLIN, 0};
    int rc;
    *ret_fd = -1;
    do
        rc = poll(&ready, 1, MEET_MS);
    while (rc < 0 && errno == EINTR);
    ssize_t got = rc == 1 ? recvmsg(socket, &m, MSG_CMSG_CLOEXEC) : -1;
    struct cmsghdr *c = got >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
    return got;
}

static bool send_shared(int socket, int fd)
{
    union beside beside = {0};
    struct iovec text = {"", 1};
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = beside.bytes,
                       .msg_controllen = sizeof(beside.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return sendmsg(socket, &m, MSG_NOSIGNAL) == 1;
}

int dh_chase_target_meet(struct dh_chase_target *t, int socket, pid_t pid, const char **ret_why)
{
    struct dh_control_hello hello = {0};
    int none;
    char byte;
    t->pid = pid;
    ssize_t n = receive(socket, &hello, sizeof(hello), &t->mem);
    if (n <= 0) {
        *ret_why =
            "the program has not loaded deadheat's library: it ended before that, or it cannot have "
            "preloaded libraries (a set-user-ID program, for example)";
        return -ESRCH;
    }
    if (n != sizeof(hello) || hello.magic != DH_CONTROL_MAGIC || hello.size != sizeof(struct dh_control)) {
        *ret_why = "the library in the program is of another version of deadheat";
        return -EPROTO;
    }
    t->direct = hello.direct;
    if (t->mem < 0) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
        t->mem = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (t->mem < 0) {
        *ret_why = "the program's memory cannot be read: neither it nor this command may open /proc/PID/mem";
        return -EACCES;
    }
    memcpy(t->regions, hello.regions, sizeof(t->regions));
    memcpy(t->control->regions, hello.regions, sizeof(t->control->regions));
    if (!send_shared(socket, t->shared) || receive(socket, &byte, 1, &none) != 1) {
        *ret_why = "the library in the program does not answer; the program may have ended";
        return -EPROTO;
    }
    return 0;
}

void dh_chase_target_announce(int socket, bool follows)
{
    const char byte = follows;
    send(socket, &byte, 1, MSG_NOSIGNAL);
}

void dh_chase_target_let_go(int socket)
{
    send(socket, "", 1, MSG_NOSIGNAL); /* a program that is gone does not wait */
}

/* ---- Writing code ---- */

static bool write_code(const struct dh_chase_target *t, const void *bytes, size_t n, u64 at)
{
    struct iovec own = {(void *)bytes, n}, there = {(void *)(uptr)at, n};
    return (t->direct ? process_vm_writev(t->pid, &own, 1, &there, 1, 0)
                      : pwrite(t->mem, bytes, n, (off_t)at)) == (ssize_t)n;
}

void dh_chase_target_name_code(struct dh_chase_target *t, const struct dh_chase_module *module, u64 lo,
                               u64 hi)
{
    struct dh_control *c = t->control;
    u32 i = 0;
    lo = DH_ALIGN_DOWN(lo, 4096);
    hi = DH_ALIGN_UP(hi, 4096);
    while (i < c->n_code && t->code[i] != module)
        i++;
    if (i == DH_CONTROL_MODULES)
        return; /* arming will fail there, and say so */
    if (i == c->n_code) {
        t->code[c->n_code++] = module;
        c->code[i].at = lo;
        c->code[i].size = hi - lo;
        return;
    }
    u64 end = c->code[i].at + c->code[i].size;
    c->code[i].at = lo < c->code[i].at ? lo : c->code[i].at;
    c->code[i].size = (hi > end ? hi : end) - c->code[i].at;
}

int dh_chase_target_make_writable(int socket)
{
    char byte = 1;
    int none;
    if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1 || receive(socket, &byte, 1, &none) != 1)
        return -EPIPE;
    return byte ? -EACCES : 0;
}

/* ---- Where the sites are ---- */

/* Does this line of /proc/PID/maps map the beginning of the file? */
static bool maps_beginning(const char *line, const char *path, const struct stat *st, u64 *ret_start)
{
    unsigned long long start, end, offset, inode;
    unsigned major, minor;
    char rights[8], name[4096] = "";
    if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %4095[^\n]", &start, &end, rights, &offset, &major,
               &minor, &inode, name) < 7 ||
        offset != 0)
        return false;
    /* Stacked file systems show different numbers here than stat does. */
    if (strcmp(name, path) != 0 && (inode != st->st_ino || (dev_t)makedev(major, minor) != st->st_dev))
        return false;
    *ret_start = start;
    return true;
}

int dh_chase_target_bias(const struct dh_chase_target *t, const struct dh_chase_module *module, u64 *ret_bias)
{
    struct stat st;
    char *line = NULL;
    size_t cap = 0;
    u64 start;
    int rc = -EAGAIN;
    char name[64];
    snprintf(name, sizeof(name), "/proc/%d/maps", (int)t->pid);
    FILE *maps = fopen(name, "re");
    if (!maps)
        rc = -errno;
    else if (stat(module->path, &st) == 0)
        while (rc && getline(&line, &cap, maps) > 0) {
            if (!maps_beginning(line, module->path, &st, &start))
                continue;
            *ret_bias = start - dh_chase_lines_base(module->file);
            rc = 0;
        }
    free(line);
    if (maps)
        fclose(maps);
    return rc;
}

/* The code of a site, in a slot where it can run. */
static int fill_slot(struct dh_chase_target *t, size_t i, const struct dh_chase_code *code, u64 pc, bool stop,
                     u64 *ret)
{
    u8 slot[DH_CONTROL_SLOT];
    for (int r = 0; r < DH_CONTROL_REGIONS; r++) {
        u64 to = t->regions[r] ? t->regions[r] + i * DH_CONTROL_SLOT : 0;
        if (!to || dh_chase_code_move(code, pc, to, stop, slot) < 0)
            continue;
        if (!write_code(t, slot, sizeof(slot), to))
            return -errno;
        *ret = to;
        return 0;
    }
    return -ERANGE;
}

/* Only from here on can a thread find it. */
static u32 publish(struct dh_control *c, const struct dh_control_site *site)
{
    u32 number = c->n_sites, at = (u32)dh_hash64(site->pc);
    c->sites[number] = *site;
    __atomic_store_n(&c->n_sites, number + 1, __ATOMIC_RELEASE);
    while (c->index[at % DH_CONTROL_INDEX])
        at++;
    __atomic_store_n(&c->index[at % DH_CONTROL_INDEX], number + 1, __ATOMIC_RELEASE);
    return number;
}

int dh_chase_target_add(struct dh_chase_target *t, const struct dh_chase_site *site, u64 bias,
                        u32 *ret_number, const char **ret_why)
{
    const struct dh_chase_code *code = &site->access->code;
    const u64 pc = site->access->address + bias;
    const u32 known = dh_control_find(t->control, pc);
    u8 there[DH_CHASE_CODE_MAX];
    bool steered = t->control->hold_us && site->sides & DH_CONTROL_SECOND;
    bool stop = (steered || t->many || site->order & DH_CONTROL_ACQUIRE) && dh_chase_code_can_stop(code);
    if (known != DH_CONTROL_NOWHERE) {
        if (t->many) {
            __atomic_store_n(&t->control->sites[known].sides, site->sides, __ATOMIC_RELEASE);
            t->sites[known] = site;
        }
        *ret_number = known;
        return 0;
    }
    if (t->control->n_sites == DH_CONTROL_SITES) {
        *ret_why = "there are too many instructions";
        return -ENOSPC;
    }
    if (pread(t->mem, there, code->length, (off_t)pc) != code->length ||
        memcmp(there, code->bytes, code->length) != 0) {
        *ret_why =
            dh_arena_printf(t->arena,
                            "the code that runs is not that of '%s': the file has changed, or the program "
                            "changes its own code or is unloading this",
                            site->module->path);
        return -ESTALE;
    }
    struct dh_control_site s = {.pc = pc,
                                .length = code->length,
                                .n_operands = code->n_operands,
                                .sides = site->sides,
                                .atomic = code->atomic || site->order, /* tracked accesses may be atomic */
                                .plain = code->plain && !site->order,
                                .order = site->order};
    memcpy(s.operands, code->operands, sizeof(s.operands));
    memcpy(s.bytes, code->bytes, code->length);
    int rc = fill_slot(t, t->control->n_sites, code, pc, stop, &s.out_of_line);
    if (rc) {
        *ret_why = rc == -ERANGE ? "there is no room near the code to run instructions out of line"
                                 : "the program's code can be written neither through /proc/self/mem nor by "
                                   "process_vm_writev here";
        return rc;
    }
    s.behind = stop ? s.out_of_line + dh_chase_code_behind(code) : 0;
    *ret_number = publish(t->control, &s);
    t->sites[*ret_number] = site;
    return 0;
}

void dh_chase_target_forget(struct dh_chase_target *t)
{
    struct dh_control *c = t->control;
    for (u32 i = 0; i < c->n_sites; i++)
        __atomic_store_n(&c->sites[i].sides, c->sites[i].order ? DH_CONTROL_ATOMIC : 0, __ATOMIC_RELEASE);
    dh_chase_target_unsee(t);
    __atomic_store_n(&c->second.tid, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&c->made, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&c->waived, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&c->held_us, 0, __ATOMIC_RELEASE);
}

void dh_chase_target_unsee(struct dh_chase_target *t)
{
    for (u32 i = 0; i < t->control->n_sites; i++)
        __atomic_store_n(&t->control->seen[i], 0, __ATOMIC_RELAXED);
}

/* What /proc says about a process, however much (a user may be in many groups), with a zero after it; to be
 * freed. NULL: nothing. */
static char *read_proc(pid_t pid, const char *what, size_t *ret_n)
{
    char path[64], *text = NULL;
    size_t n = 0, cap = 0;
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    FILE *f = fopen(path, "re");
    for (size_t got = 1; f && got;) {
        text = dh_util_grow(text, n + 1, &cap, 1);
        got = fread(text + n, 1, cap - n - 1, f);
        n += got;
    }
    if (f)
        fclose(f);
    if (!n) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    *ret_n = n;
    return text;
}

char *dh_chase_target_maps(pid_t pid, size_t *ret_n)
{
    return read_proc(pid, "maps", ret_n);
}

int dh_chase_target_place(struct dh_chase_target *t, const struct dh_chase_sites *sites, const char **ret_why)
{
    u64 biases[DH_CONTROL_SITES];
    for (size_t i = 0; i < sites->n; i++) {
        bool same = i > 0 && sites->at[i].module == sites->at[i - 1].module;
        int rc = same ? 0 : dh_chase_target_bias(t, sites->at[i].module, &biases[i]);
        if (same)
            biases[i] = biases[i - 1];
        if (rc && rc != -EAGAIN)
            *ret_why =
                dh_arena_printf(t->arena, "cannot find out what the program has loaded: %s", strerror(-rc));
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < sites->n; i++) {
        u32 number;
        int rc = dh_chase_target_add(t, &sites->at[i], biases[i], &number, ret_why);
        if (rc)
            return rc;
    }
    free(t->maps);
    t->maps = dh_chase_target_maps(t->pid, &t->n_maps);
    return 0;
}

/* ---- Breakpoints ---- */

enum { PAGE = 4096 };

/* A page of code as last read, and the rest of an instruction that begins in it. */
struct page {
    u64 at;
    size_t n; /* 0: none */
    u8 bytes[PAGE + DH_CONTROL_CODE];
};

/* What is at an address, or NULL. Sites are close together, and reading a page takes no longer than reading a
 * byte. */
static const u8 *read_code(const struct dh_chase_target *t, struct page *page, u64 pc, size_t n)
{
    const u64 at = DH_ALIGN_DOWN(pc, PAGE);
    if (page->at != at || !page->n) {
        ssize_t got = pread(t->mem, page->bytes, sizeof(page->bytes), (off_t)at); /* the next may be none */
        page->at = at;
        page->n = got > 0 ? (size_t)got : 0;
    }
    return pc - at + n <= page->n ? page->bytes + (pc - at) : NULL;
}

/* If the program has removed breakpoints by itself, the byte may be there already. */
static int change(struct dh_chase_target *t, u32 i, struct page *page, u8 from, u8 to)
{
    const struct dh_control_site *site = &t->control->sites[i];
    const u8 *there = read_code(t, page, site->pc, site->length);
    if (there && there[0] == to && t->control->cleared)
        return 0;
    if (!there || !dh_control_is_there(site, there, from) || !write_code(t, &to, 1, site->pc))
        return -ENOENT;
    return 0;
}

bool dh_chase_target_is_cleared(const struct dh_chase_target *t)
{
    return __atomic_load_n(&t->control->cleared, __ATOMIC_ACQUIRE) != t->cleared;
}

void dh_chase_target_allow(struct dh_chase_target *t, u64 due_us, u32 spare)
{
    struct dh_control *c = t->control;
    __atomic_store_n(&c->due_us, due_us, __ATOMIC_RELEASE);
    __atomic_store_n(&c->overdue, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&c->spare, spare, __ATOMIC_RELEASE);
}

int dh_chase_target_arm(struct dh_chase_target *t, const bool wanted[DH_CONTROL_SITES])
{
    int result = 0;
    struct page page;
    page.n = 0;
    const bool unknown = dh_chase_target_is_cleared(t);
    t->cleared =
        __atomic_load_n(&t->control->cleared, __ATOMIC_ACQUIRE) & ~1u; /* not what is still going on */
    for (u32 i = 0; i < t->control->n_sites; i++) {
        const u8 original = t->control->sites[i].bytes[0];
        if (t->armed[i] == wanted[i] && !(unknown && wanted[i]))
            continue;
        int rc = wanted[i] ? change(t, i, &page, original, DH_CONTROL_BREAKPOINT)
                           : change(t, i, &page, DH_CONTROL_BREAKPOINT, original);
        if (rc == 0)
            t->armed[i] = wanted[i];
        else
            result = rc;
    }
    return result;
}

/* ---- The state ---- */

static void wake(struct dh_chase_target *t)
{
    syscall(SYS_futex, &t->control->state, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

u32 dh_chase_target_state(const struct dh_chase_target *t)
{
    return __atomic_load_n(&t->control->state, __ATOMIC_ACQUIRE);
}

bool dh_chase_target_move(struct dh_chase_target *t, u32 from, u32 phase)
{
    u32 to = (from & ~(u32)DH_CONTROL_PHASE) | phase;
    if (!__atomic_compare_exchange_n(&t->control->state, &from, to, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    wake(t);
    return true;
}

void dh_chase_target_restart(struct dh_chase_target *t, u32 phase)
{
    u32 now = dh_chase_target_state(t);
    __atomic_store_n(&t->control->state, ((now | DH_CONTROL_PHASE) + 1) | phase, __ATOMIC_RELEASE);
    wake(t);
}

void dh_chase_target_keep(struct dh_chase_target *t)
{
    u32 next = (dh_chase_target_state(t) | DH_CONTROL_PHASE) + 1;
    u64 now = dh_chase_now_us();
    if (t->control->until_us < now) /* being examined took longer than what was left */
        t->control->until_us = now;
    __atomic_store_n(&t->control->kept, next, __ATOMIC_RELEASE);
    dh_chase_target_restart(t, DH_CONTROL_WATCHED);
}

u32 dh_chase_target_gone(const struct dh_chase_target *t)
{
    u32 gone = __atomic_load_n(&t->control->gone, __ATOMIC_ACQUIRE);
    bool now = (gone | DH_CONTROL_PHASE) == (dh_chase_target_state(t) | DH_CONTROL_PHASE);
    return now ? gone & DH_CONTROL_PHASE : 0;
}

bool dh_chase_target_pass(struct dh_chase_target *t, u64 pc)
{
    struct dh_control *c = t->control;
    if (c->n_passed == DH_CONTROL_PASSED)
        return false;
    c->passed[c->n_passed] = pc;
    __atomic_store_n(&c->n_passed, c->n_passed + 1, __ATOMIC_RELEASE);
    return true;
}

void dh_chase_target_pass_none(struct dh_chase_target *t)
{
    __atomic_store_n(&t->control->n_passed, 0, __ATOMIC_RELEASE);
}

void dh_chase_target_sleep(struct dh_chase_target *t, u32 seen, u64 us)
{
    struct timespec limit = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    syscall(SYS_futex, &t->control->state, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/* ---- Obstacles ---- */

/* The number after NAME: in a process's status, or 0; NULL: there is none. */
static u64 status_number(const char *status, const char *name, int base)
{
    const char *at = status ? strstr(status, name) : NULL;
    return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

struct dh_chase_obstacle dh_chase_target_obstacle(const struct dh_chase_target *t)
{
    static const char handlers[] = "\nSigCgt:";
    size_t n;
    char *its = read_proc(t->pid, "status", &n), *own = read_proc(getpid(), "status", &n);
    const struct dh_chase_obstacle o = {
        .traced = status_number(its, "\nTracerPid:", 10) != 0,
        .filtered =
            status_number(its, "\nSeccomp_filters:", 10) > status_number(own, "\nSeccomp_filters:", 10) ||
            status_number(its, "\nSeccomp:", 10) > status_number(own, "\nSeccomp:", 10),
        .unhandled = its && strstr(its, handlers) && !(status_number(its, handlers, 16) >> (SIGILL - 1) & 1),
        .code_kb = status_number(its, "\nVmExe:", 10) + status_number(its, "\nVmLib:", 10),
    };
    free(its);
    free(own);
    return o;
}
