/*
 * position.c - see position.h. A file name may contain anything but a colon: a pair has colons inside and
 * between its halves, and a word of digits ends a name.
 */
#include "chase/position.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/control.h"
#include "util/path.h"

struct words {
    char **at;
    size_t n;
};

static struct words split(struct dh_arena *arena, const char *text)
{
    struct words w = {dh_arena_array(arena, strlen(text) + 1, sizeof(char *)), 0};
    for (;;) {
        size_t len = strcspn(text, ":");
        w.at[w.n++] = dh_arena_dup(arena, text, len);
        if (!text[len])
            return w;
        text += len + 1;
    }
}

/* A word of up to seven digits, or 0. */
static int number_in(const struct words *w)
{
    const char *s = w->n ? w->at[0] : "";
    size_t len = strlen(s);
    return len > 0 && len < 8 && strspn(s, "0123456789") == len ? atoi(s) : 0;
}

static void skip(struct words *w)
{
    w->at++;
    w->n--;
}

/* Takes one position off the front of the words. */
static int take(struct dh_arena *arena, struct words *w, struct dh_chase_position *ret, const char **ret_why)
{
    static const struct {
        const char *word;
        u8 kinds;
    } kinds[] = {{"read", DH_CONTROL_READ}, {"write", DH_CONTROL_WRITE}};
    const char *file = w->n ? w->at[0] : "";
    if (!file[0]) {
        *ret_why = "a position begins with the name of a source file";
        return -EINVAL;
    }
    skip(w);
    struct dh_chase_position p = {
        .file = file, .line = number_in(w), .kinds = DH_CONTROL_READ | DH_CONTROL_WRITE};
    if (!p.line) {
        *ret_why = dh_arena_printf(arena, "the name '%s' must be followed by the number of a line", file);
        return -EINVAL;
    }
    skip(w);
    p.column = number_in(w);
    p.all = w->n && strcmp(w->at[0], "*") == 0;
    if (p.column || p.all)
        skip(w);
    for (size_t i = 0; i < DH_ARRAY_LEN(kinds); i++) {
        if (w->n && strcmp(w->at[0], kinds[i].word) == 0) {
            p.kinds = kinds[i].kinds;
            skip(w);
            break;
        }
    }
    *ret = p;
    return 0;
}

/* Exactly this many positions, and nothing else. */
static int take_all(struct dh_arena *arena, const char *text, size_t n, struct dh_chase_position *ret,
                    const char **ret_why)
{
    struct dh_chase_position found[2];
    struct words w = split(arena, text);
    DH_ASSERT(n <= DH_ARRAY_LEN(found));
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && w.n == 0) {
            *ret_why = "one position is no pair";
            return -EINVAL;
        }
        int rc = take(arena, &w, &found[i], ret_why);
        if (rc)
            return rc;
    }
    if (w.n > 0) {
        *ret_why = dh_arena_printf(arena, "'%s' is left over", w.at[0]);
        return -EINVAL;
    }
    memcpy(ret, found, n * sizeof(*ret));
    return 0;
}

int dh_chase_position_one(struct dh_arena *arena, const char *text, struct dh_chase_position *ret,
                          const char **ret_why)
{
    return take_all(arena, text, 1, ret, ret_why);
}

int dh_chase_position_pair(struct dh_arena *arena, const char *text, struct dh_chase_position ret_pair[2],
                           const char **ret_why)
{
    return take_all(arena, text, 2, ret_pair, ret_why);
}

const char *dh_chase_position_text(struct dh_arena *arena, const struct dh_chase_position *p)
{
    const char *kind = p->kinds == DH_CONTROL_READ ? ":read" : p->kinds == DH_CONTROL_WRITE ? ":write" : "";
    if (p->all)
        return dh_arena_printf(arena, "%s:%d:*%s", p->file, p->line, kind);
    return p->column ? dh_arena_printf(arena, "%s:%d:%d%s", p->file, p->line, p->column, kind)
                     : dh_arena_printf(arena, "%s:%d%s", p->file, p->line, kind);
}

bool dh_chase_position_of_site(struct dh_arena *arena, const struct dh_pairs_site *site,
                               struct dh_chase_position *ret)
{
    static const u8 kinds[DH_PAIRS_ACCESSES] = {
        [DH_PAIRS_READ] = DH_CONTROL_READ,
        [DH_PAIRS_WRITE] = DH_CONTROL_WRITE,
        [DH_PAIRS_ATOMIC_READ] = DH_CONTROL_READ,
        [DH_PAIRS_ATOMIC_WRITE] = DH_CONTROL_WRITE,
        [DH_PAIRS_ATOMIC_UPDATE] = DH_CONTROL_READ | DH_CONTROL_WRITE,
    };
    *ret = (struct dh_chase_position){.file = dh_path_join(arena, site->at.dir, site->at.file),
                                      .line = (int)site->at.line,
                                      .column = (int)site->at.column,
                                      .all = site->at.column == 0,
                                      .kinds = kinds[site->access]};
    return ret->kinds && ret->line > 0 && site->at.file[0] && !strchr(ret->file, ':');
}
