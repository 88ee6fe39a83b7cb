/*
 * runfile.c - see runfile.h. The program may be anything: what it wrote is copied before it is checked and
 * used.
 */
#include "caper/runfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caper/alias.h"
#include "util/path.h"

static const char infix[] = ".run-";

/* ---- Making one ---- */

/* Which queries to enable: a byte for each group. Returns how many. */
static u32 choose(const struct dh_caper_build *b, const struct dh_caper_sets *sets, enum dh_caper_ask ask,
                  u8 *wanted)
{
    const u32 *at = b->groups;
    u32 asked = 0;
    for (u32 g = 0; g < b->n_groups; g++, at += 1 + at[0]) {
        wanted[g] = ask == DH_CAPER_ASK_ALL;
        for (u32 i = 1; ask == DH_CAPER_ASK_NEW && i <= at[0]; i++)
            wanted[g] |= dh_caper_has(sets->in_pair, at[i]) && !dh_caper_has(sets->escaped, at[i]);
        asked += wanted[g];
    }
    return asked;
}

static u32 fill_caper(struct dh_caper_run *run, const struct dh_caper_build *b,
                      const struct dh_caper_sets *sets, enum dh_caper_ask ask)
{
    memcpy(run->magic, dh_caper_run_magic, sizeof(run->magic));
    run->version = DH_CAPER_VERSION;
    run->n_groups = b->n_groups;
    run->flags = DH_CAPER_TRACK;
    return choose(b, sets, ask, (u8 *)(run + 1));
}

/* All of its space is allocated on disk now: the program must not run out of it. */
static bool fill(int fd, const void *bytes, size_t size)
{
    int rc = posix_fallocate(fd, 0, (off_t)size);
    if (rc) {
        errno = rc;
        return false;
    }
    ssize_t n = pwrite(fd, bytes, size, 0);
    if (n >= 0 && (size_t)n < size)
        errno = ENOSPC;
    return n == (ssize_t)size;
}

int dh_caper_runfile_new(const struct dh_caper_state *s, const struct dh_caper_build *b,
                         const struct dh_caper_sets *sets, enum dh_caper_ask ask,
                         struct dh_caper_runfile *ret, u32 *ret_asked, const char **ret_why)
{
    size_t size = b->alias ? dh_caper_alias_size(b) : dh_caper_run_size(b->n_groups);
    char *path = dh_arena_printf(s->arena, "%s%sXXXXXX", s->path, infix);
    int fd = mkostemp(path, O_CLOEXEC), locked = -1;
    if (fd < 0) {
        *ret_why = strerror(errno);
        return -1;
    }
    struct dh_caper_run *run = calloc(1, size);
    if (!run)
        dh_util_no_memory();
    memcpy(run->build_id, b->id, sizeof(run->build_id));
    u32 asked =
        b->alias ? dh_caper_alias_fill((struct dh_alias_run *)run, b, sets) : fill_caper(run, b, sets, ask);
    void (*too_large)(int) = signal(SIGXFSZ, SIG_IGN); /* reported as an error instead */
    bool good = fill(fd, run, size);
    int error = errno;
    signal(SIGXFSZ, too_large);
    free(run);
    close(fd);
    if (good) { /* read-only, so that any writer is another process */
        locked = open(path, O_RDONLY | O_CLOEXEC);
        good = locked >= 0 && flock(locked, LOCK_EX | LOCK_NB) == 0;
        error = errno;
    }
    if (!good) {
        unlink(path);
        if (locked >= 0)
            close(locked);
        *ret_why = strerror(error);
        return -1;
    }
    *ret = (struct dh_caper_runfile){.path = path, .fd = locked};
    *ret_asked = asked;
    return 0;
}

/* ---- Finding those left behind ---- */

size_t dh_caper_runfile_list(const struct dh_caper_state *s, const char ***ret)
{
    enum { RANDOM = 6 };
    const char *base = dh_path_base(s->path);
    const char *dir = dh_arena_dup(s->arena, s->path, (size_t)(base - s->path));
    const char *begin = dh_arena_printf(s->arena, "%s%s", base, infix);
    const char **all = NULL;
    size_t n = 0, cap = 0, len = strlen(begin);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, begin, len) != 0 || strlen(e->d_name) != len + RANDOM)
            continue;
        all = dh_util_grow(all, n, &cap, sizeof(*all));
        all[n++] = dh_arena_printf(s->arena, "%s%s", dir, e->d_name);
    }
    if (d)
        closedir(d);
    *ret = dh_arena_array(s->arena, n, sizeof(**ret));
    if (n)
        memcpy(*ret, all, n * sizeof(*all));
    free(all);
    return n;
}

/* The kernel grants a read lease only if no process has the file open, or mapped, for writing. Where there
 * are no leases, the lock of the command has to do. */
static bool is_written(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
        return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

bool dh_caper_runfile_open(const char *path, struct dh_caper_runfile *ret)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return false;
    }
    *ret = (struct dh_caper_runfile){.path = path, .fd = fd};
    return true;
}

static bool is_whole(const struct dh_caper_run *run, u64 size)
{
    if (memcmp(run->magic, dh_caper_run_magic, sizeof(run->magic)) == 0)
        return run->version == DH_CAPER_VERSION && size == dh_caper_run_size(run->n_groups);
    return dh_caper_alias_is_whole(run, size);
}

bool dh_caper_runfile_read(struct dh_caper_runfile *r)
{
    struct stat st;
    r->in_use = is_written(r->fd); /* checked first: a file that nobody writes any more is read completely */
    if (fstat(r->fd, &st) != 0 || (size_t)st.st_size < sizeof(*r->run))
        return false;
    struct dh_caper_run *run = dh_util_alloc((size_t)st.st_size);
    if (pread(r->fd, run, (size_t)st.st_size, 0) != st.st_size || !is_whole(run, (u64)st.st_size)) {
        free(run);
        return false;
    }
    r->run = run;
    r->size = (size_t)st.st_size;
    return true;
}

bool dh_caper_runfile_fits(const struct dh_caper_runfile *r, const struct dh_caper_build *b)
{
    bool alias = memcmp(r->run->magic, dh_alias_run_magic, sizeof(r->run->magic)) == 0;
    return alias == b->alias && r->run->n_groups == b->n_groups &&
           memcmp(r->run->build_id, b->id, sizeof(b->id)) == 0 &&
           (!alias || ((const struct dh_alias_run *)r->run)->n_sites == b->table->n_sites);
}

u64 dh_caper_runfile_merge(const struct dh_caper_runfile *r, const struct dh_caper_build *b,
                           struct dh_caper_sets *sets, struct dh_caper_state *state)
{
    const u8 *escaped = (const u8 *)(r->run + 1) + r->run->n_groups;
    const u32 *at = b->groups;
    u64 new_sites = 0;
    DH_ASSERT(dh_caper_runfile_fits(r, b));
    if (b->alias)
        return dh_caper_alias_merge((const struct dh_alias_run *)r->run, r->size, sets, state);
    for (u32 g = 0; g < b->n_groups; g++, at += 1 + at[0])
        for (u32 i = 1; escaped[g] && i <= at[0]; i++)
            if (dh_caper_sets_add(sets, at[i])) {
                dh_caper_state_add_site(state, b->table->sites[at[i]].id);
                new_sites++;
            }
    return new_sites;
}

void dh_caper_runfile_close(struct dh_caper_runfile *r)
{
    free(r->run);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct dh_caper_runfile){.fd = -1};
}
