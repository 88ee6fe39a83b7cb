/*
 * library.c - how the library is activated: it is preloaded or linked into the program, finds the command's
 * socket in the environment, and hands over a descriptor of the process's own memory. Without a command it
 * stays dormant; so it does in a program with more privileges than whoever started it.
 *
 * The program sees none of this: no descriptor stays open, and its environment is as the user set it, so that
 * its child programs are not chased. A forked copy of the process clears the breakpoints it inherits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/sys.h"
#include "field/agent.h"
#include "field/field.h"
#include "field/redirect.h"
#include "field/track.h"

struct dh_control *dh_field_control;

#ifdef DH_FIELD_LINKED
static bool redirected; /* libc functions are, as far as they have to be (redirect.h) */
static int agent = -1;  /* the socket of an agent found without instructions from a command */
#else
static const bool redirected = true; /* they are, by their names */
#endif

/* On a page that is all zero in a forked child. */
static const u8 *original;

bool dh_field_is_original(void)
{
    return *original == 1;
}

/* ---- The environment ---- */

const char *dh_field_value_in(const char *setting, const char *name)
{
    while (*name && *setting == *name)
        setting++, name++;
    return *name == 0 && *setting == '=' ? setting + 1 : NULL;
}

static void drop_setting(char **at)
{
    do
        at[0] = at[1];
    while (*at++);
}

/* Removes the first name from a colon-separated list. True if nothing is left. */
static bool drop_first(char *list)
{
    char *rest = list;
    while (*rest && *rest != ':')
        rest++;
    if (!*rest)
        return true;
    do
        *list++ = *++rest;
    while (*rest);
    return false;
}

/* This library is the first in LD_PRELOAD. */
static void drop_preload(void)
{
    for (char **at = environ; at && *at;) {
        const char *list = dh_field_value_in(*at, "LD_PRELOAD");
        if (list && drop_first((char *)list))
            drop_setting(at);
        else
            at++;
    }
}

#ifdef DH_FIELD_LINKED
static const bool preloaded = false;
#else
static const bool preloaded = true;
#endif

/* The descriptor in a value of DEADHEAT_FIELD. */
static int read_value(const char *value, bool *ret_follows)
{
    int fd = 0;
    for (; *value >= '0' && *value <= '9' && fd < 1 << 20; value++)
        fd = fd * 10 + (*value - '0');
    *ret_follows = *value == DH_CONTROL_FOLLOWS || *value == DH_CONTROL_AGENT;
    return fd;
}

#ifdef DH_FIELD_LINKED
static bool is_agent_value(const char *value)
{
    while (*value >= '0' && *value <= '9')
        value++;
    return *value == DH_CONTROL_AGENT;
}
#endif

/* The descriptor in DEADHEAT_FIELD, or -1. Removes that variable, and this library from LD_PRELOAD. Tracking
 * is left to the library that is linked into the program: this one could not do it. */
static int take_socket(void)
{
    int fd = -1;
    for (char **at = environ; at && *at;) {
        const char *value = dh_field_value_in(*at, DH_CONTROL_ENV);
        bool follows = false;
        int number = value ? read_value(value, &follows) : -1;
        if (!value || (follows && preloaded)) {
            at++;
            continue;
        }
        fd = number;
        drop_setting(at);
    }
    if (fd >= 0 && preloaded)
        drop_preload();
    return fd;
}

/* ---- Space for instructions that run out of line ---- */

static u64 map_code(u64 at)
{
    long p = dh_sys6(SYS_mmap, (long)at, DH_CONTROL_REGION_SIZE, PROT_READ | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    return dh_sys_failed(p) ? 0 : (u64)p;
}

/* Below the program: the heap grows above it. */
static u64 map_near_program(void)
{
    enum { STEP = 1 << 16, STEPS = 4096 };
    u64 at = DH_ALIGN_DOWN((u64)getauxval(AT_PHDR), STEP);
    for (int i = 0; i < STEPS && at > 2 * STEP; i++) {
        at -= STEP;
        u64 got = map_code(at);
        if (got)
            return got;
    }
    return 0;
}

/* ---- Connecting to the command ---- */

/* mem: -1 if there is none. */
static bool send_hello(int fd, const struct dh_control_hello *hello, int mem)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } beside = {0};
    struct iovec text = {(void *)hello, sizeof(*hello)};
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = beside.bytes,
                       .msg_controllen = sizeof(beside.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    *(int *)(void *)CMSG_DATA(c) = mem;
    if (mem < 0)
        m.msg_controllen = 0;
    return dh_sys3(SYS_sendmsg, fd, (long)&m, MSG_NOSIGNAL) == (long)sizeof(*hello);
}

/* The descriptor that comes with the answer, or -1. */
static int receive_answer(int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } beside = {0};
    char byte;
    struct iovec text = {&byte, 1};
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = beside.bytes,
                       .msg_controllen = sizeof(beside.bytes)};
    if (dh_sys3(SYS_recvmsg, fd, (long)&m, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN(sizeof(int)))
        return -1;
    return *(int *)(void *)CMSG_DATA(c);
}

static struct dh_control *map_control(int fd)
{
    long p = dh_sys6(SYS_mmap, 0, sizeof(struct dh_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct dh_control *c = dh_sys_failed(p) ? NULL : (void *)p;
    return c && c->magic == DH_CONTROL_MAGIC ? c : NULL;
}

static bool has_socket_type(int fd)
{
    int type = 0;
    socklen_t n = sizeof(type);
    return dh_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&n, 0) == 0 &&
           type == SOCK_SEQPACKET;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        dh_sys3(SYS_close, fd, 0, 0);
}

/* ---- Code that cannot be written through /proc/self/mem ---- */

enum { ALL_RIGHTS = PROT_READ | PROT_WRITE | PROT_EXEC };

static bool direct; /* that is so here: code to be changed is made writable */

static bool can_write_code(int mem, const u64 regions[DH_CONTROL_REGIONS])
{
    const u8 byte = 0;
    u64 at = regions[0] ? regions[0] : regions[1];
    return mem >= 0 && at && dh_sys6(SYS_pwrite64, mem, (long)&byte, 1, (long)at, 0, 0) == 1;
}

static bool make_writable(const struct dh_control *c)
{
    bool done = true;
    for (u32 i = 0; i < c->n_code && i < DH_CONTROL_MODULES; i++)
        done &= dh_sys3(SYS_mprotect, (long)c->code[i].at, (long)c->code[i].size, ALL_RIGHTS) == 0;
    return done;
}

static void wait_to_begin(int fd, const struct dh_control *c)
{
    char byte = 0;
    if (dh_field_agent_rules()) {
        u64 us =
            c->begin_us < DH_CONTROL_BEGIN_S * 1000000ull ? c->begin_us : DH_CONTROL_BEGIN_S * 1000000ull;
        const struct timeval most = {(time_t)(us / 1000000), (long)(us % 1000000) | 1}; /* 0: for ever */
        dh_sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&most, sizeof(most), 0);
    }
    while (dh_sys6(SYS_recvfrom, fd, (long)&byte, 1, 0, 0, 0) == 1 && byte != 0) {
        byte = make_writable(c) ? 0 : 1;
        dh_sys6(SYS_sendto, fd, (long)&byte, 1, MSG_NOSIGNAL, 0, 0);
    }
}

/* ---- Copies of the process ---- */

/* Bytes of this process's own memory, which may not be mapped. */
static bool transfer(long number, u64 at, u8 *bytes, size_t n)
{
    struct iovec own = {bytes, n}, there = {(void *)(uptr)at, n};
    return dh_sys6(number, dh_sys3(SYS_getpid, 0, 0, 0), (long)&own, 1, (long)&there, 1, 0) == (long)n;
}

void dh_field_restore(void)
{
    const struct dh_control *c = dh_field_control;
    long mem = c && !direct ? dh_sys3(SYS_open, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0) : -1;
    for (u32 i = 0; c && (mem >= 0 || direct) && i < c->n_sites; i++) {
        const struct dh_control_site *site = &c->sites[i];
        u8 bytes[DH_CONTROL_CODE], original = site->bytes[0];
        const size_t n = site->length < sizeof(bytes) ? site->length : sizeof(bytes);
        bool there = direct
                         ? transfer(SYS_process_vm_readv, site->pc, bytes, n)
                         : dh_sys6(SYS_pread64, mem, (long)bytes, (long)n, (long)site->pc, 0, 0) == (long)n;
        if (!there || !dh_control_is_there(site, bytes, DH_CONTROL_BREAKPOINT))
            continue;
        if (direct)
            transfer(SYS_process_vm_writev, site->pc, &original, 1);
        else
            dh_sys6(SYS_pwrite64, mem, (long)&original, 1, (long)site->pc, 0, 0);
    }
    if (mem >= 0)
        close_fd((int)mem);
}

/* In a copy of the process, which nobody else writes to. */
static void clean_child(void)
{
    dh_field_restore();
    dh_field_signals_forked();
}

static bool mark_original(void)
{
    u8 *page = dh_sys_map(4096);
    if (!page || dh_sys3(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK) != 0)
        return false;
    *page = 1;
    original = page;
    return true;
}

/* The constructor runs before the program, in its first thread. */
static void meet(int fd)
{
    struct dh_control_hello hello = {.magic = DH_CONTROL_MAGIC, .size = sizeof(struct dh_control)};
    char byte = 0;
    hello.regions[0] = map_near_program();
    hello.regions[1] = map_code(0);
    int mem = (int)dh_sys3(SYS_open, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    direct = !can_write_code(mem, hello.regions);
    hello.direct = direct;
    for (int i = 0; i < DH_CONTROL_REGIONS && direct; i++)
        dh_sys3(SYS_mprotect, (long)hello.regions[i], DH_CONTROL_REGION_SIZE, ALL_RIGHTS);
    bool said = mark_original() && send_hello(fd, &hello, mem);
    close_fd(mem);
    int shared = said ? receive_answer(fd) : -1;
    struct dh_control *c = shared >= 0 ? map_control(shared) : NULL;
    close_fd(shared);
    if (!c || (c->full && !dh_field_clocks_init()))
        return;
    __atomic_store_n(&dh_field_control, c, __ATOMIC_RELEASE);
    dh_field_signals_take(c->watches);
    pthread_atfork(NULL, NULL, clean_child);
    if (dh_sys6(SYS_sendto, fd, (long)&byte, 1, MSG_NOSIGNAL, 0, 0) == 1)
        wait_to_begin(fd, c);
}

__attribute__((constructor(101))) static void wake_up(void)
{
    int fd = getauxval(AT_SECURE) ? -1 : take_socket();
#ifdef DH_FIELD_LINKED
    if (fd < 0)
        fd = agent;
#endif
    if (fd < 0)
        return;
    if (has_socket_type(fd)) {
        if (redirected)
            meet(fd);
        close_fd(fd);
    }
}

#ifdef DH_FIELD_LINKED

/* Called before the constructors of all modules: these may start threads, and store addresses of functions.
 * libc's environment is not set up yet. */
static void look_ahead(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    bool follows = false, is_agent = false, found = false;
    int fd = -1, asked;
    if (getauxval(AT_SECURE))
        return;
    for (char **at = environment; *at; at++) {
        const char *value = dh_field_value_in(*at, DH_CONTROL_ENV);
        if (!value)
            continue;
        fd = read_value(value, &follows);
        is_agent = is_agent_value(value);
    }
    if (fd < 0) {
        agent = fd = dh_field_agent_find(environment);
        is_agent = found = true;
    }
    if (fd < 0 || !has_socket_type(fd))
        return;
    asked = is_agent ? dh_field_agent_follows(fd, found) : follows;
    redirected = asked >= 0 && (!is_agent || dh_field_agent_begin()) && dh_field_redirect_begin(asked);
    if (redirected && asked)
        dh_field_track_init();
}

__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = look_ahead;

#endif
