/*
 * state.c - see state.h.
 *
 * A new state is written to FILE.new, synced, and renamed; then the directory is synced. Only the holder of
 * the lock writes FILE.new, so an existing one was left by a killed command. It may be a link to the state
 * itself (dh_caper_state_keep), so it is removed and not overwritten.
 */
#include "caper/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/lines.h"
#include "util/path.h"

enum {
    MAX_FILE = 1 << 30,
    KEPT = 4096 /* merged runs; beyond that, those in which nothing was new share an entry */
};

static int fail(const struct dh_caper_state *s, const char *what, const char **ret_why)
{
    int error = errno;
    *ret_why = what ? dh_arena_printf(s->arena, "%s: %s", what, strerror(error)) : strerror(error);
    return -1;
}

static const char *beside(const struct dh_caper_state *s, const char *suffix)
{
    return dh_arena_printf(s->arena, "%s%s", s->path, suffix);
}

static const char *directory(const struct dh_caper_state *s)
{
    size_t len = (size_t)(dh_path_base(s->path) - s->path);
    return dh_arena_dup(s->arena, s->path, len > 1 ? len - 1 : 1);
}

int dh_caper_state_init(struct dh_caper_state *s, struct dh_arena *arena, const char *path,
                        const char **ret_why)
{
    struct stat st;
    *s = (struct dh_caper_state){.arena = arena, .mode = 0666};
    const char *base = dh_path_base(path);
    char *whole = realpath(path, NULL);
    if (!whole && errno == ENOENT && base[0]) {
        const char *dir = base > path ? dh_arena_dup(arena, path, (size_t)(base - path)) : ".";
        char *there = realpath(dir, NULL);
        if (!there)
            return fail(s, dir, ret_why);
        s->path = dh_path_join(arena, there, base);
        free(there);
        return 0;
    }
    if (!whole)
        return fail(s, NULL, ret_why);
    s->path = dh_arena_strdup(arena, whole);
    free(whole);
    if (stat(s->path, &st) == 0 && !S_ISREG(st.st_mode)) {
        *ret_why = "it is no regular file"; /* a pipe may never end */
        return -1;
    }
    return 0;
}

int dh_caper_state_lock(const struct dh_caper_state *s, int *ret_lock, const char **ret_why)
{
    const char *name = beside(s, ".lock");
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666), rc;
    if (fd < 0)
        return fail(s, name, ret_why);
    do
        rc = flock(fd, LOCK_EX);
    while (rc != 0 && errno == EINTR);
    if (rc != 0) {
        fail(s, name, ret_why);
        close(fd);
        return -1;
    }
    *ret_lock = fd;
    return 0;
}

/* Discards what was read before, except what the arena holds. */
static void forget(struct dh_caper_state *s)
{
    s->n_sites = s->n_pairs = s->n_merged = 0;
    s->exists = s->alias = false;
    s->build_id = s->program = "";
}

int dh_caper_state_read(struct dh_caper_state *s, const char **ret_why)
{
    char *text;
    size_t len;
    struct stat st;
    forget(s);
    int rc = dh_lines_load(s->path, MAX_FILE, &text, &len);
    if (rc == -ENOENT)
        return 0;
    if (rc) {
        errno = -rc;
        return fail(s, NULL, ret_why);
    }
    rc = dh_caper_state_parse(s, text, len, ret_why);
    free(text);
    if (rc == 0 && stat(s->path, &st) == 0)
        s->mode = st.st_mode & 0777;
    s->exists = rc == 0;
    return rc;
}

/* ---- Writing ---- */

static bool write_all(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

static int sync_directory(const struct dh_caper_state *s)
{
    int fd = open(directory(s), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return rc == 0 || error == EINVAL ? 0 : -1; /* some file systems have nothing to sync */
}

static int replace(const struct dh_caper_state *s, const char *text, size_t len)
{
    const char *new = beside(s, ".new");
    unlink(new);
    int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    errno = 0;
    bool good = write_all(fd, text, len) && fsync(fd) == 0;
    if (good && s->exists)
        fchmod(fd, s->mode); /* at worst it has the mode of a new file */
    int error = errno;
    good = close(fd) == 0 && good && rename(new, s->path) == 0;
    if (!good) {
        error = error ? error : errno;
        unlink(new);
        errno = error;
        return -1;
    }
    return sync_directory(s);
}

/* A run in which nothing new escaped carries no information except that it happened: adjacent runs of this
 * kind share one entry. */
static void fold(struct dh_caper_state *s)
{
    size_t n = 0;
    if (s->n_merged <= KEPT)
        return;
    for (size_t i = 0; i < s->n_merged; i++) {
        struct dh_caper_merged *m = &s->merged[i], *last = n ? &s->merged[n - 1] : NULL;
        if (last && !m->new_sites && !last->new_sites && m->silent == last->silent &&
            strcmp(m->end, last->end) == 0 && strcmp(m->build_id, last->build_id) == 0) {
            u64 runs = last->runs + m->runs;
            *last = *m;
            last->runs = runs;
        } else {
            s->merged[n++] = *m;
        }
    }
    s->n_merged = n;
}

int dh_caper_state_write(struct dh_caper_state *s, const char **ret_why)
{
    size_t len;
    fold(s);
    char *text = dh_caper_state_print(s, &len);
    void (*too_large)(int) = signal(SIGXFSZ, SIG_IGN); /* reported as an error instead */
    errno = 0;
    int rc = replace(s, text, len);
    int error = errno;
    signal(SIGXFSZ, too_large);
    errno = error;
    free(text);
    if (rc != 0)
        return fail(s, NULL, ret_why);
    s->exists = true;
    return 0;
}

int dh_caper_state_keep(const struct dh_caper_state *s, const char **ret_why)
{
    const char *part = beside(s, ".new"), *old = beside(s, ".old");
    unlink(part);
    if (link(s->path, part) != 0 || rename(part, old) != 0)
        return fail(s, old, ret_why);
    unlink(part); /* still there if both were already the same file */
    return 0;
}

void dh_caper_state_done(struct dh_caper_state *s)
{
    free(s->sites);
    free(s->pairs);
    free(s->merged);
    *s = (struct dh_caper_state){0};
}

/* ---- Contents ---- */

void dh_caper_state_add_site(struct dh_caper_state *s, u64 id)
{
    s->sites = dh_util_grow(s->sites, s->n_sites, &s->cap_sites, sizeof(*s->sites));
    s->sites[s->n_sites++] = id;
}

void dh_caper_state_add_pair(struct dh_caper_state *s, u64 a, u64 b)
{
    s->pairs = dh_util_grow(s->pairs, s->n_pairs, &s->cap_pairs, sizeof(*s->pairs));
    s->pairs[s->n_pairs++] = (struct dh_caper_pair){{a, b}};
}

void dh_caper_state_add_merged(struct dh_caper_state *s, const struct dh_caper_merged *m)
{
    s->merged = dh_util_grow(s->merged, s->n_merged, &s->cap_merged, sizeof(*s->merged));
    s->merged[s->n_merged++] = *m;
}

u64 dh_caper_state_runs(const struct dh_caper_state *s)
{
    u64 n = 0;
    for (size_t i = 0; i < s->n_merged; i++)
        n += s->merged[i].runs;
    return n;
}

u64 dh_caper_state_steady(const struct dh_caper_state *s)
{
    u64 n = 0;
    for (size_t i = s->n_merged; i > 0 && !s->merged[i - 1].new_sites; i--)
        n += s->merged[i - 1].silent ? 0 : s->merged[i - 1].runs;
    return n;
}

bool dh_caper_state_has_run(const struct dh_caper_state *s, const char *file)
{
    for (size_t i = 0; i < s->n_merged; i++)
        if (strcmp(s->merged[i].file, file) == 0)
            return true;
    return false;
}
