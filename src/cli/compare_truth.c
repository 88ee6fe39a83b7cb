/*
 * compare_truth.c - which races are real, and how each detector compares with that.
 *
 * There are two kinds of files. A list: lines `variable NAME` and `race PLACE PLACE`, where a place is a
 * location of a text trace or file:line; `#` begins a comment. Or a source with marks: `// RACE a` on the two
 * lines of race a (one line alone races with itself), `// RACE a:write b` where two races meet, `// HIDDEN
 * RACE` likewise, for races that are real though the order of this run hides them from happens-before.
 *
 * A real race is found if a warning names its variable or its two places, one of which may be unknown: not
 * remembered by the detector, or without a line. A variable is a false alarm if no detector shows a real race
 * on it: a second pair of lines on a variable that does race is not a false report.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/compare.h"
#include "util/lines.h"
#include "util/path.h"

struct side {
    const char *place; /* "file:line", or a location */
    int write;         /* -1: either */
};

struct real {
    const char *name;     /* for people */
    const char *variable; /* NULL: by its places */
    struct side *sides;
    size_t n, cap;
};

struct dh_truth {
    struct dh_arena *arena;
    const char *file;
    struct real *races;
    size_t n, cap;
    bool marks;
};

static struct real *add_race(struct dh_truth *t, const char *name)
{
    t->races = dh_util_grow(t->races, t->n, &t->cap, sizeof(*t->races));
    t->races[t->n] = (struct real){.name = name};
    return &t->races[t->n++];
}

static void add_side(struct real *r, const char *place, int write)
{
    r->sides = dh_util_grow(r->sides, r->n, &r->cap, sizeof(*r->sides));
    r->sides[r->n++] = (struct side){place, write};
}

/* "a:write" on a line. */
static void add_mark(struct dh_truth *t, const char *word, u64 line)
{
    size_t len = strcspn(word, ":");
    const char *name = dh_arena_dup(t->arena, word, len), *kind = word[len] ? word + len + 1 : "";
    int write = strcmp(kind, "read") == 0 ? 0 : *kind ? 1 : -1;
    struct real *r = NULL;
    for (size_t i = 0; i < t->n && !r; i++)
        if (strcmp(t->races[i].name, name) == 0)
            r = &t->races[i];
    if (!r)
        r = add_race(t, name);
    add_side(r, dh_arena_printf(t->arena, "%s:%llu", dh_path_base(t->file), (unsigned long long)line), write);
}

/* True: the line has marks. */
static bool read_marks(struct dh_truth *t, char *line, u64 number)
{
    static const char *const heads[] = {"// RACE ", "// HIDDEN RACE "};
    char *save = NULL;
    if (strcmp(line, "// NO RACE") == 0)
        return true;
    for (size_t i = 0; i < DH_ARRAY_LEN(heads); i++) {
        char *at = strstr(line, heads[i]);
        if (!at)
            continue;
        for (char *w = strtok_r(at + strlen(heads[i]), " ", &save); w; w = strtok_r(NULL, " ", &save))
            add_mark(t, w, number);
        return true;
    }
    return false;
}

static int read_item(struct dh_truth *t, char *line, u64 number)
{
    char *save = NULL;
    line[strcspn(line, "#")] = 0;
    char *word = strtok_r(line, " \t", &save), *a = strtok_r(NULL, " \t", &save),
         *b = strtok_r(NULL, " \t", &save);
    if (!word)
        return 0;
    if (strcmp(word, "variable") == 0 && a && !b) {
        struct real *r = add_race(t, dh_arena_strdup(t->arena, a));
        r->variable = r->name;
        return 0;
    }
    if (strcmp(word, "race") == 0 && a && b && !strtok_r(NULL, " \t", &save)) {
        struct real *r = add_race(t, dh_arena_printf(t->arena, "%s - %s", a, b));
        add_side(r, dh_arena_strdup(t->arena, a), -1);
        if (strcmp(a, b) != 0)
            add_side(r, dh_arena_strdup(t->arena, b), -1);
        return 0;
    }
    return dh_cli_fail("compare", "%s:%llu: a line must be 'variable NAME' or 'race PLACE PLACE'", t->file,
                       (unsigned long long)number);
}

/* A file counts as source if it has a mark. */
static bool has_marks(const char *text)
{
    return strstr(text, "// RACE ") || strstr(text, "// HIDDEN RACE ") ||
           strncmp(text, "// NO RACE", 10) == 0 || strstr(text, "\n// NO RACE");
}

struct dh_truth *dh_truth_read(struct dh_arena *arena, const char *file)
{
    enum { MAX_BYTES = 16 << 20 };
    struct dh_truth *t = dh_arena_alloc(arena, sizeof(*t));
    char *text;
    size_t n;
    int rc = dh_lines_load(file, MAX_BYTES, &text, &n);
    if (rc) {
        dh_cli_fail("compare", "cannot read %s: %s", file, strerror(-rc));
        return NULL;
    }
    *t = (struct dh_truth){.arena = arena, .file = file, .marks = has_marks(text)};
    u64 number = 1;
    for (char *line = text, *end = text + n; !rc && line < end; number++) {
        size_t len = strcspn(line, "\n");
        char *next = line + len + 1;
        line[len] = 0;
        while (len > 0 && isspace((unsigned char)line[len - 1]))
            line[--len] = 0;
        if (t->marks)
            read_marks(t, line, number);
        else
            rc = read_item(t, line, number);
        line = next;
    }
    free(text);
    return rc ? NULL : t;
}

/* ---- The judgement ------------------------------------------------------------------------------------ */

/* A place is identified by its last word: "function file:line". */
static const char *last_word(const char *site)
{
    const char *space = strrchr(site, ' ');
    return space ? space + 1 : site;
}

/* The compiler gives no line to code merged from several: file:0. */
static bool is_vague(const char *site)
{
    size_t len = strlen(site);
    return strcmp(site, "?") == 0 || (len > 2 && strcmp(site + len - 2, ":0") == 0);
}

static bool same_place(const struct side *s, const char *site, bool write)
{
    const char *place = last_word(site);
    if (strcmp(site, "?") == 0)
        return true;
    if (s->write >= 0 && s->write != write)
        return false;
    if (is_vague(site))
        return strncmp(s->place, place, strlen(place) - 1) == 0;
    return strcmp(s->place, place) == 0;
}

static bool matches(const struct real *r, const struct dh_compare_warning *w)
{
    if (r->variable)
        return strcmp(r->variable, w->variable) == 0;
    if (is_vague(w->site[0]) && is_vague(w->site[1]))
        return false;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->n; k++)
            if ((i != k || r->n == 1) && same_place(&r->sides[i], w->site[0], w->write[0]) &&
                same_place(&r->sides[k], w->site[1], w->write[1]))
                return true;
    return false;
}

static bool finds(const struct dh_compare_row *row, const struct real *r)
{
    for (size_t i = 0; i < row->n_warnings; i++)
        if (matches(r, &row->warnings[i]))
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The variables that some detector shows a real race on, sorted. */
static const char **racy_variables(struct dh_compare *c, size_t *ret_n)
{
    const char **list = NULL;
    size_t n = 0, cap = 0;
    for (u32 i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->rows[i].n_warnings; k++)
            for (size_t r = 0; r < c->truth->n; r++)
                if (matches(&c->truth->races[r], &c->rows[i].warnings[k])) {
                    list = dh_util_grow(list, n, &cap, sizeof(*list));
                    list[n++] = c->rows[i].warnings[k].variable;
                    break;
                }
    if (n)
        qsort(list, n, sizeof(*list), by_text);
    *ret_n = n;
    return list;
}

void dh_truth_judge(struct dh_compare *c)
{
    struct dh_truth *t = c->truth;
    size_t n = 0;
    const char **racy = racy_variables(c, &n);
    for (u32 i = 0; i < c->n; i++) {
        struct dh_compare_row *row = &c->rows[i];
        row->found = dh_arena_array(&c->arena, t->n + 1, sizeof(*row->found));
        row->missed = dh_arena_array(&c->arena, t->n + 1, sizeof(*row->missed));
        row->wrong = dh_arena_array(&c->arena, row->n_variables + 1, sizeof(*row->wrong));
        for (size_t k = 0; k < t->n; k++) {
            if (finds(row, &t->races[k]))
                row->found[row->n_found++] = t->races[k].name;
            else
                row->missed[row->n_missed++] = t->races[k].name;
        }
        for (size_t k = 0; k < row->n_variables; k++)
            if (!dh_compare_has(racy, n, row->variables[k]))
                row->wrong[row->n_wrong++] = row->variables[k];
    }
    free(racy);
}
