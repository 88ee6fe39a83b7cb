/*
 * start.c - how a Caper build starts: before all constructors it finds the run file in its environment,
 * checks that it is for this very build, enables its queries, and sets up a shadow. Without a run file, and
 * in a program with more privileges than whoever started it, it is dormant: nothing is tracked or queried.
 *
 * The environment is left unchanged: if the program starts itself again, that process is watched as well.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "base/patch.h"
#include "base/sys.h"
#include "field/escape/program.h"
#include "field/escape/shadow.h"

u64 __dh_esc_mask;
u8 *__dh_esc_marks;
struct dh_caper_run *dh_esc_run;
u64 dh_esc_own_variables;

/* Defined by the linker. */
extern DH_HIDDEN __attribute__((weak)) const struct dh_patch_point __start_dh_caper_questions[];
extern DH_HIDDEN __attribute__((weak)) const struct dh_patch_point __stop_dh_caper_questions[];
extern DH_HIDDEN __attribute__((weak)) const struct dh_caper_head __start_dh_caper_head[];

void dh_esc_trouble(u64 bits)
{
    if (dh_esc_run)
        __atomic_fetch_or(&dh_esc_run->trouble, bits, __ATOMIC_RELAXED);
}

/* ---- The queries ---- */

static bool switch_on(const u8 *wanted, u32 n_groups)
{
    const struct dh_patch p = {.points = __start_dh_caper_questions,
                               .end = __stop_dh_caper_questions,
                               .wanted = wanted,
                               .n_groups = n_groups};
    return dh_patch_program(&p);
}

/* ---- The run file ---- */

static void refuse(const char *path, const char *why)
{
    char line[512];
    struct dh_fmt f;
    dh_fmt_init(&f, line, sizeof(line));
    dh_fmt_str(&f, DH_CAPER_RUN "='");
    dh_fmt_str(&f, path);
    dh_fmt_str(&f, "' ");
    dh_fmt_str(&f, why);
    dh_fmt_str(&f, "; this run is not observed");
    dh_sys_say(line);
}

/* NULL: the reason has been printed. */
static struct dh_caper_run *map_run(const char *path)
{
    struct stat st;
    int fd = (int)dh_sys3(SYS_open, (long)path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0) {
        refuse(path, "cannot be opened for writing");
        return NULL;
    }
    bool known = dh_sys3(SYS_fstat, fd, (long)&st, 0) == 0 && S_ISREG(st.st_mode) &&
                 (u64)st.st_size >= sizeof(struct dh_caper_run);
    u64 size = known ? (u64)st.st_size : 0;
    long p = known ? dh_sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : -1;
    dh_sys3(SYS_close, fd, 0, 0);
    struct dh_caper_run *run = dh_sys_failed(p) ? NULL : (struct dh_caper_run *)p;
    if (!run || memcmp(run->magic, dh_caper_run_magic, sizeof(run->magic)) != 0) {
        refuse(path, known && !run ? "cannot be mapped" : "is not a file for a run of 'deadheat caper'");
    } else if (run->version != DH_CAPER_VERSION) {
        refuse(path, "is of another version of deadheat");
    } else if (!dh_program_is(run->build_id) || !__start_dh_caper_head ||
               run->n_groups != __start_dh_caper_head->n_groups) {
        __atomic_fetch_or(&run->trouble, DH_CAPER_OTHER_BUILD, __ATOMIC_RELAXED);
        refuse(path, "is for another build of the program");
    } else if (size < dh_caper_run_size(run->n_groups)) {
        refuse(path, "is shorter than it should be");
    } else {
        return run;
    }
    if (run)
        dh_sys_unmap(run, size);
    return NULL;
}

/* ---- Beginning and end ---- */

/* The program's are the first below the thread pointer, at a distance that its alignment decides. */
static u64 thread_local_bytes(void)
{
    u32 n;
    const Elf64_Phdr *h = dh_program_headers(&n);
    for (u32 i = 0; i < n; i++)
        if (h[i].p_type == PT_TLS)
            return h[i].p_memsz + h[i].p_align;
    return 0;
}

static void begin_run(struct dh_caper_run *run)
{
    const u8 *wanted = (const u8 *)(run + 1);
    dh_esc_run = run;
    __dh_esc_marks = (u8 *)(run + 1) + run->n_groups;
    dh_esc_own_variables = thread_local_bytes();
    __atomic_fetch_add(&run->started, 1, __ATOMIC_RELAXED);
    if (!switch_on(wanted, run->n_groups)) {
        dh_esc_trouble(DH_CAPER_NO_PATCH);
        dh_sys_say("the program's code cannot be changed, so 'deadheat caper' cannot ask all its questions");
    }
    if ((run->flags & DH_CAPER_TRACK) != 0 && !dh_esc_shadow_reserve()) {
        dh_esc_trouble(DH_CAPER_NO_SHADOW);
        dh_sys_say(
            "there is no room for the shadow of 'deadheat caper' (8 TB of addresses; see 'ulimit -v'): "
            "all memory counts as escaped");
    } else if ((run->flags & DH_CAPER_TRACK) != 0) {
        dh_esc_blocks_closed = dh_esc_program_has_glibc_heap();
        __dh_esc_mask = DH_CAPER_SHADOW_SIZE - 1;
    }
}

static void start(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    __dh_esc_outside = 0; /* main is ours, and returns no pointer */
    const char *path = dh_esc_program_setting(environment, DH_CAPER_RUN);
    struct dh_caper_run *run = path ? map_run(path) : NULL;
    if (run)
        begin_run(run);
    if (__dh_esc_mask == 0)
        dh_esc_shadow_reserve_least();
}

/* Before the constructors of all objects. */
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char **, char **) = start;

static void forked(void)
{
    __atomic_fetch_add(&dh_esc_run->started, 1, __ATOMIC_RELAXED);
    dh_esc_owner_forked();
}

/* libc is ready only now. Volatile: the compiler evaluates constructors at compile time if it takes them for
 * the first to run. */
__attribute__((constructor(101))) static void watch_forks(void)
{
    if (*(struct dh_caper_run *volatile *)&dh_esc_run)
        pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor(101))) static void end(void)
{
    if (!dh_esc_run)
        return;
    dh_esc_owner_tell_all();
    __atomic_fetch_add(&dh_esc_run->ended, 1, __ATOMIC_RELAXED);
}
