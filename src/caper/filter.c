/*
 * filter.c - see filter.h.
 *
 * Sites of two builds are the same if they have the same ids, which include source positions, and if the
 * files are identical byte for byte. A check is skipped if everything it stands for is known to be in no
 * pair, or is a site that the Caper build could query and that has not escaped. Anything unknown keeps its
 * check.
 */
#include "caper/filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/filter.h"
#include "caper/image.h"

/* A program whose checks can be switched off. All of it is in the arena. */
struct full {
    u8 id[DH_PROGRAM_BUILD_ID];
    u32 n_groups, n_sites;
    const u32 *groups; /* checked */
    const u64 *sites;
    const char *sources;
};

/* ---- The program ---- */

static bool are_groups(const struct full *f, u32 n_words)
{
    u32 at = 0;
    for (u32 g = 0; g < f->n_groups; g++) {
        u32 n = at < n_words ? f->groups[at] & ~DH_FILTER_STAYS : 0;
        if (at >= n_words || n > n_words - at - 1)
            return false;
        for (u32 i = 1; i <= n; i++)
            if (f->groups[at + i] >= f->n_sites)
                return false;
        at += 1 + n;
    }
    return at == n_words;
}

/* A copy of the first n items of a section, or NULL. */
static void *copy_of(struct dh_arena *arena, Elf *elf, const char *section, u64 n, size_t size)
{
    const Elf_Data *data = n ? dh_caper_image_section(elf, section) : NULL;
    if (n && (!data || data->d_size / size < n))
        return NULL;
    void *copy = dh_arena_array(arena, n + 1, size);
    if (n)
        memcpy(copy, data->d_buf, n * size);
    return copy;
}

static const char *read_full(struct dh_arena *arena, Elf *elf, void *arg)
{
    struct full *f = arg;
    struct dh_filter_head head;
    if (elf_kind(elf) != ELF_K_ELF)
        return "is no program: a filter is for one that 'deadheat cc --dh-filterable' has linked (if this "
               "starts it, give --filter-program=FILE)";
    const Elf_Data *data = dh_caper_image_section(elf, DH_FILTER_HEAD);
    const Elf_Data *sources = dh_caper_image_section(elf, DH_SOURCES);
    if (!data || data->d_size < sizeof(head))
        return "has no checks that can be switched off: build it with 'deadheat cc --dh-filterable'";
    memcpy(&head, data->d_buf, sizeof(head));
    if (head.version != DH_FILTER_VERSION)
        return "was built by another version of deadheat: build it again";
    if (!dh_caper_image_id(arena, elf, f->id))
        return "has no build id, by which it would know its filter: link it with -Wl,--build-id";
    f->n_groups = head.n_groups;
    f->n_sites = head.n_sites;
    f->groups = copy_of(arena, elf, DH_FILTER_GROUPS, head.n_group_words, sizeof(u32));
    f->sites = copy_of(arena, elf, DH_FILTER_SITES, head.n_sites, sizeof(u64));
    f->sources = sources ? dh_arena_dup(arena, sources->d_buf, sources->d_size) : "";
    if (!f->groups || !f->sites || !are_groups(f, head.n_group_words))
        return "is damaged: the table of its checks makes no sense";
    return NULL;
}

/* ---- The sources ---- */

struct source {
    const char *name, *checksum;
};

struct sources {
    struct source *at; /* by name */
    size_t n;
};

static int compare_sources(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->checksum, y->checksum);
}

static struct sources read_sources(struct dh_arena *arena, const char *text)
{
    enum { CHECKSUM = 32 };
    struct source *all = NULL;
    struct sources ret = {0};
    size_t cap = 0;
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        if (end - text <= CHECKSUM + 1 || text[CHECKSUM] != ' ')
            continue;
        all = dh_util_grow(all, ret.n, &cap, sizeof(*all));
        all[ret.n++] = (struct source){
            .checksum = dh_arena_dup(arena, text, CHECKSUM),
            .name = dh_arena_dup(arena, text + CHECKSUM + 1, (size_t)(end - text) - CHECKSUM - 1)};
    }
    ret.at = dh_arena_array(arena, ret.n + 1, sizeof(*ret.at));
    if (ret.n) {
        memcpy(ret.at, all, ret.n * sizeof(*all));
        qsort(ret.at, ret.n, sizeof(*ret.at), compare_sources);
    }
    free(all);
    return ret;
}

/* The end of the entries with the same name as the one at i. */
static size_t end_of_name(const struct sources *s, size_t i)
{
    size_t end = i;
    while (end < s->n && strcmp(s->at[end].name, s->at[i].name) == 0)
        end++;
    return end;
}

static bool are_same(const struct source *a, size_t n, const struct source *b, size_t m)
{
    for (size_t i = 0; i < n && n == m; i++)
        if (strcmp(a[i].checksum, b[i].checksum) != 0)
            return false;
    return n == m;
}

/* Files that both have; *ret_other: one that differs between them, or NULL. */
static struct sources common(struct dh_arena *arena, const struct sources *a, const struct sources *b,
                             const char **ret_other)
{
    struct sources ret = {.at = dh_arena_array(arena, a->n + 1, sizeof(*ret.at))};
    size_t i = 0, k = 0;
    *ret_other = NULL;
    while (i < a->n && k < b->n) {
        int names = strcmp(a->at[i].name, b->at[k].name);
        size_t i_end = end_of_name(a, i), k_end = end_of_name(b, k);
        if (names == 0 && are_same(&a->at[i], i_end - i, &b->at[k], k_end - k))
            ret.at[ret.n++] = a->at[i];
        else if (names == 0)
            *ret_other = a->at[i].name;
        i = names <= 0 ? i_end : i;
        k = names >= 0 ? k_end : k;
    }
    return ret;
}

static int compare_names(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static const char *compare_builds(struct dh_arena *arena, const struct full *f,
                                  const struct dh_caper_build *caper, struct sources *ret)
{
    struct sources ours = read_sources(arena, f->sources), theirs = read_sources(arena, caper->sources);
    const char *other;
    if (!ours.n)
        return "does not say which files it was compiled from: it needs the debug information of -g, of "
               "DWARF 5 or later";
    if (!theirs.n)
        return dh_arena_printf(arena,
                               "cannot be compared with '%s', which the state is of, and which does not say "
                               "which files it was compiled from: build that again, with -g",
                               caper->path);
    *ret = common(arena, &ours, &theirs, &other);
    if (other)
        return dh_arena_printf(arena,
                               "and '%s', which the state is of, were compiled from different versions of "
                               "'%s': build both from the same sources",
                               caper->path, other);
    if (!ret->n)
        return dh_arena_printf(arena, "has no source file in common with '%s', which the state is of",
                               caper->path);
    return NULL;
}

/* ---- The checks ---- */

/* Does the Caper build have a site of that id, in a file that both have, and in a pair? Its index, or
 * DH_PAIRS_NONE. */
static u32 find_site(const struct dh_caper_build *caper, const struct dh_caper_sets *sets,
                     const struct sources *files, u64 id)
{
    u32 site = dh_pairs_find_site(caper->table, id);
    if (site == DH_PAIRS_NONE || !dh_caper_has(sets->in_pair, site))
        return DH_PAIRS_NONE;
    const struct source key = {.name = caper->table->sites[site].at.file};
    bool known = files->n > 0 && bsearch(&key, files->at, files->n, sizeof(key), compare_names);
    return known ? site : DH_PAIRS_NONE;
}

/* One letter for every six groups. */
static const char *choose(struct dh_arena *arena, const struct full *f, const bool *unescaped,
                          struct dh_caper_filter *ret)
{
    static const char letters[] = DH_FILTER_LETTERS;
    char *text = dh_arena_array(arena, f->n_groups / DH_FILTER_BITS + 2, 1);
    const u32 *at = f->groups;
    u32 bits = 0;
    for (u32 g = 0; g < f->n_groups; g++) {
        u32 n = at[0] & ~DH_FILTER_STAYS;
        bool skip = !(at[0] & DH_FILTER_STAYS);
        for (u32 i = 1; i <= n && skip; i++)
            skip = unescaped[at[i]];
        at += 1 + n;
        ret->safe += skip && n == 0;
        ret->unescaped += skip && n > 0;
        bits |= (u32)skip << g % DH_FILTER_BITS;
        if (g % DH_FILTER_BITS == DH_FILTER_BITS - 1 || g == f->n_groups - 1) {
            text[g / DH_FILTER_BITS] = letters[bits];
            bits = 0;
        }
    }
    return text;
}

static const char *id_text(struct dh_arena *arena, const u8 id[DH_PROGRAM_BUILD_ID])
{
    static const char digits[] = "0123456789abcdef";
    char *text = dh_arena_array(arena, 2 * DH_PROGRAM_BUILD_ID + 1, 1);
    for (size_t i = 0; i < DH_PROGRAM_BUILD_ID; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    return text;
}

int dh_caper_filter_make(struct dh_arena *arena, const char *path, const struct dh_caper_build *caper,
                         const struct dh_caper_sets *sets, struct dh_caper_filter *ret, const char **ret_why)
{
    enum { LONGEST = 128 << 10 }; /* of an environment string (execve(2)), including its name */
    struct full f = {.n_groups = 0};
    struct sources files = {0};
    const char *why = dh_caper_image_read(arena, path, read_full, &f);
    if (!why)
        why = compare_builds(arena, &f, caper, &files);
    if (!why && f.n_groups / DH_FILTER_BITS > LONGEST - 256)
        why = "has more checks than a filter can name";
    if (why) {
        *ret_why = why;
        return -1;
    }
    *ret = (struct dh_caper_filter){.checks = f.n_groups};
    bool *unescaped = dh_arena_array(arena, f.n_sites + 1, sizeof(*unescaped));
    for (u32 i = 0; i < f.n_sites; i++) {
        u32 site = find_site(caper, sets, &files, f.sites[i]);
        unescaped[i] = site != DH_PAIRS_NONE && !dh_caper_has(sets->escaped, site);
        ret->known_sites += site != DH_PAIRS_NONE;
    }
    ret->sites = f.n_sites;
    if (f.n_sites && !ret->known_sites) {
        *ret_why =
            dh_arena_printf(arena, "has no access in common with '%s', which the state is of", caper->path);
        return -1;
    }
    const char *bits = choose(arena, &f, unescaped, ret);
    ret->text = dh_arena_printf(arena, "%d:%s:%u:%u:%u:%s", DH_FILTER_VERSION, id_text(arena, f.id),
                                f.n_groups, ret->safe, ret->unescaped, bits);
    return 0;
}
