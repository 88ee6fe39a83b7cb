/*
 * start.c - how an alias build starts: before all constructors it finds the run file in its environment,
 * checks that it is for this very build, and sets up its tables. Without a run file it is dormant: calls
 * return at once.
 */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "field/alias/alias.h"
#include "field/escape/program.h"

/* The maximum size of the file, for which addresses are reserved now. */
#define MOST_BYTES (1ull << 28)

const u8 *dh_alias_sites;
u32 dh_alias_n_sites;
u64 dh_alias_tls_size;
bool dh_alias_knows_heap;
static struct dh_alias_run *run; /* NULL: the program is dormant */

/* Defined by the linker. */
extern DH_HIDDEN __attribute__((weak)) const struct dh_alias_head __start_dh_alias_head[];

void dh_alias_full(void)
{
    if (!(__atomic_load_n(&run->run.trouble, __ATOMIC_RELAXED) & DH_CAPER_FULL))
        __atomic_fetch_or(&run->run.trouble, DH_CAPER_FULL, __ATOMIC_RELAXED);
}

void *dh_alias_map(u64 n)
{
    return dh_sys_map_own(n);
}

/* ---- The run file ---- */

static void refuse(const char *path, const char *why)
{
    char line[512];
    struct dh_fmt f;
    dh_fmt_init(&f, line, sizeof(line));
    dh_fmt_str(&f, DH_ALIAS_RUN "='");
    dh_fmt_str(&f, path);
    dh_fmt_str(&f, "' ");
    dh_fmt_str(&f, why);
    dh_fmt_str(&f, "; this run is not observed");
    dh_sys_say(line);
}

static const char *check(struct dh_alias_run *r, u64 size)
{
    if (size < sizeof(*r) || memcmp(r->run.magic, dh_alias_run_magic, sizeof(r->run.magic)) != 0)
        return "is not a file for a run of 'deadheat caper --analysis=alias'";
    if (r->run.version != DH_ALIAS_VERSION)
        return "is of another version of deadheat";
    if (!dh_program_is(r->run.build_id) || !__start_dh_alias_head) {
        __atomic_fetch_or(&r->run.trouble, DH_CAPER_OTHER_BUILD, __ATOMIC_RELAXED);
        return "is for another build of the program";
    }
    return size < dh_alias_run_pairs(r->n_sites) ? "is shorter than it should be" : NULL;
}

/* NULL: the reason has been printed. */
static struct dh_alias_run *map_run(const char *path)
{
    struct stat st;
    int fd = (int)dh_sys3(SYS_open, (long)path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0) {
        refuse(path, "cannot be opened for writing");
        return NULL;
    }
    bool known = dh_sys3(SYS_fstat, fd, (long)&st, 0) == 0 && S_ISREG(st.st_mode);
    long p = known ? dh_sys6(SYS_mmap, 0, MOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : -1;
    dh_sys3(SYS_close, fd, 0, 0);
    const char *why =
        dh_sys_failed(p) ? "cannot be mapped" : check((struct dh_alias_run *)p, (u64)st.st_size);
    if (!why)
        return (struct dh_alias_run *)p;
    refuse(path, why);
    if (!dh_sys_failed(p))
        dh_sys_unmap((void *)p, MOST_BYTES);
    return NULL;
}

/* ---- Beginning and end ---- */

static u64 tls_size(void)
{
    u32 n;
    const Elf64_Phdr *h = dh_program_headers(&n);
    for (u32 i = 0; i < n; i++)
        if (h[i].p_type == PT_TLS)
            return DH_ALIGN_UP(h[i].p_memsz, h[i].p_align ? h[i].p_align : 1);
    return 0;
}

static void start(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    const char *path = dh_esc_program_setting(environment, DH_ALIAS_RUN);
    run = path ? map_run(path) : NULL;
    if (!run)
        return;
    __atomic_fetch_add(&run->run.started, 1, __ATOMIC_RELAXED);
    if (!dh_alias_words_init() || !dh_alias_histories_init() || !dh_alias_pairs_init(run, path)) {
        dh_alias_full();
        dh_sys_say(
            "there is no room for the tables of 'deadheat caper --analysis=alias' (5 GB of addresses; "
            "see 'ulimit -v'): this run is not observed");
        return;
    }
    dh_alias_tls_size = tls_size();
    dh_alias_knows_heap = dh_esc_program_has_glibc_heap();
    dh_alias_n_sites = run->n_sites;
    dh_alias_sites = (const u8 *)(run + 1);
}

/* Before the constructors of all objects. */
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = start;

static void forked(void)
{
    __atomic_fetch_add(&run->run.started, 1, __ATOMIC_RELAXED);
}

/* libc is ready only now. Volatile: the compiler evaluates constructors at compile time if it takes them for
 * the first to run. */
__attribute__((constructor(101))) static void watch_forks(void)
{
    if (*(struct dh_alias_run *volatile *)&run)
        pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor(101))) static void end(void)
{
    if (run)
        __atomic_fetch_add(&run->run.ended, 1, __ATOMIC_RELAXED);
}
