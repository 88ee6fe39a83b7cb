/*
 * agent.c - see agent.h.
 *
 * The agent is another process of the same user and could write this one's memory anyway, as a debugger
 * could. So the rules do not defend against the agent itself, but against its mistakes, and against what
 * others may have talked it into.
 */
#include "field/agent.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/built.h"
#include "base/fmt.h"
#include "base/program.h"
#include "base/sys.h"

/* ---- Finding it ---- */

/* The value of a variable, or NULL. */
static const char *value_of(char **environment, const char *name)
{
    const char *value = NULL;
    for (; *environment && !value; environment++)
        value = dh_field_value_in(*environment, name);
    return value;
}

static bool is_unwanted(char **environment)
{
    const char *value = value_of(environment, DH_CONTROL_OPTOUT);
    return value && *value && !(value[0] == '0' && !value[1]);
}

/* The directory of this user's agents, which nobody else may write to; or -1. */
static int open_directory(char **environment)
{
    char path[4096];
    struct dh_fmt f;
    struct stat st;
    const char *runtime = value_of(environment, "XDG_RUNTIME_DIR");
    dh_fmt_init(&f, path, sizeof(path));
    if (runtime && runtime[0] == '/') {
        dh_fmt_str(&f, runtime);
    } else {
        dh_fmt_str(&f, "/run/user/");
        dh_fmt_u64(&f, (u64)dh_sys3(SYS_getuid, 0, 0, 0));
    }
    dh_fmt_str(&f, "/" DH_CONTROL_AGENT_DIR);
    if (f.overflow)
        return -1;
    long fd = dh_sys3(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dh_sys_failed(fd))
        return -1;
    if (dh_sys3(SYS_fstat, fd, (long)&st, 0) != 0 || st.st_uid != (uid_t)dh_sys3(SYS_getuid, 0, 0, 0) ||
        st.st_mode & (S_IWGRP | S_IWOTH)) {
        dh_sys3(SYS_close, fd, 0, 0);
        return -1;
    }
    return (int)fd;
}

static void add_build_id(struct dh_fmt *f)
{
    static const char digits[] = "0123456789abcdef";
    u8 id[DH_PROGRAM_BUILD_ID];
    u32 n = dh_program_build_id(id);
    for (u32 i = 0; i < n; i++) {
        dh_fmt_char(f, digits[id[i] >> 4]);
        dh_fmt_char(f, digits[id[i] & 15]);
    }
    f->overflow |= n == 0;
}

/* The process listening there must belong to this user. */
static bool is_own(int fd)
{
    struct ucred peer = {0};
    socklen_t n = sizeof(peer);
    return dh_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&n, 0) == 0 &&
           peer.uid == (uid_t)dh_sys3(SYS_getuid, 0, 0, 0);
}

/* An agent that is stopped, or too busy to answer, must not hold up the program. */
static void limit_waits(int fd, u32 seconds)
{
    const struct timeval most = {seconds, 0};
    dh_sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&most, sizeof(most), 0);
    dh_sys6(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&most, sizeof(most), 0);
}

static int connect_in(int directory)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct dh_fmt f;
    dh_fmt_init(&f, to.sun_path, sizeof(to.sun_path));
    dh_fmt_str(&f, "/proc/self/fd/"); /* the directory that was checked, whatever its name refers to by now */
    dh_fmt_u64(&f, (u64)directory);
    dh_fmt_char(&f, '/');
    add_build_id(&f);
    if (f.overflow)
        return -1;
    long fd = dh_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (dh_sys_failed(fd))
        return -1;
    if (dh_sys3(SYS_connect, fd, (long)&to, sizeof(to)) != 0 || !is_own((int)fd)) {
        dh_sys3(SYS_close, fd, 0, 0);
        return -1;
    }
    dh_sys3(SYS_fcntl, fd, F_SETFL, 0);
    return (int)fd;
}

int dh_field_agent_follows(int fd, bool found)
{
    u8 byte = 0;
    limit_waits(fd, found ? DH_CONTROL_ANSWER_S : DH_CONTROL_BEGIN_S);
    return dh_sys6(SYS_recvfrom, fd, (long)&byte, 1, 0, 0, 0) == 1 ? byte != 0 : -1;
}

int dh_field_agent_find(char **environment)
{
    if (is_unwanted(environment))
        return -1;
    int directory = open_directory(environment);
    if (directory < 0)
        return -1;
    int fd = connect_in(directory);
    dh_sys3(SYS_close, directory, 0, 0);
    return fd;
}

/* ---- The table of the program ---- */

static bool rules;
static const u32 *code; /* DH_BUILT_CODE: two words for each function */
static u64 n_code;
static u64 known[DH_CONTROL_SITES]; /* by their number: twice the pc that was looked up, and 1 if it is
                                      allowed; atomic; 0: none was */

static bool read_file(int fd, void *to, u64 n, u64 at)
{
    return dh_sys6(SYS_pread64, fd, (long)to, (long)n, (long)at, 0, 0) == (long)n;
}

/* Is this the name at that offset in the file? */
static bool is_named(int fd, u64 at, const char *name)
{
    char there[32] = "";
    u32 i = 0;
    if (dh_sys_failed(dh_sys6(SYS_pread64, fd, (long)there, sizeof(there) - 1, (long)at, 0, 0)))
        return false;
    while (name[i] && there[i] == name[i])
        i++;
    return !name[i] && !there[i];
}

/* Section headers are not loaded, so they are read from the file. */
static void find_code(int fd)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    if (!read_file(fd, &head, sizeof(head), 0) || head.e_shentsize != sizeof(s) ||
        !read_file(fd, &names, sizeof(names), head.e_shoff + (u64)head.e_shstrndx * sizeof(s)))
        return;
    for (u32 i = 0; i < head.e_shnum && !code; i++) {
        if (!read_file(fd, &s, sizeof(s), head.e_shoff + (u64)i * sizeof(s)) || !(s.sh_flags & SHF_ALLOC) ||
            !is_named(fd, names.sh_offset + s.sh_name, DH_BUILT_CODE))
            continue;
        code = (const u32 *)(uptr)(s.sh_addr + dh_program_bias());
        n_code = s.sh_size / (2 * sizeof(u32));
    }
}

bool dh_field_agent_begin(void)
{
    long fd = dh_sys3(SYS_open, (long)"/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    if (dh_sys_failed(fd))
        return false;
    find_code((int)fd);
    dh_sys3(SYS_close, fd, 0, 0);
    rules = code != NULL;
    return rules;
}

bool dh_field_agent_rules(void)
{
    return rules;
}

u64 dh_field_agent_bound(u64 us)
{
    return rules && us > DH_CONTROL_MOST_US ? DH_CONTROL_MOST_US : us;
}

static bool is_in_table(u64 pc)
{
    for (u64 i = 0; i < n_code; i++) {
        u64 from = (u64)(uptr)&code[2 * i] + (u64)(int64_t)(int32_t)code[2 * i];
        if (pc - from < code[2 * i + 1])
            return true;
    }
    return false;
}

bool dh_field_agent_allows(struct dh_control *c, const struct dh_control_site *site)
{
    u64 i = (u64)(site - c->sites);
    if (!rules)
        return true;
    u64 pc = site->pc, is = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
    if (is >> 1 != pc) {
        is = pc << 1 | is_in_table(pc);
        __atomic_store_n(&known[i], is, __ATOMIC_RELAXED);
    }
    bool allowed = is & 1 && site->n_operands <= DH_CONTROL_OPERANDS;
    if (!allowed)
        __atomic_fetch_add(&c->refused, 1, __ATOMIC_RELAXED);
    return allowed;
}

/* ---- An agent that is gone ---- */

bool dh_field_agent_is_gone(struct dh_control *c)
{
    u32 none = 0;
    if (!rules)
        return false;
    u64 beat = __atomic_load_n(&c->beat_us, __ATOMIC_ACQUIRE), now = dh_sys_now_us();
    if (now < beat || now - beat < DH_CONTROL_GONE_US)
        return __atomic_load_n(&c->left, __ATOMIC_ACQUIRE);
    if (__atomic_compare_exchange_n(&c->left, &none, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        dh_field_restore();
    return true;
}
