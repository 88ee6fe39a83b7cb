/*
 * pairs.c - builds the table of sites and pairs, and finds things in it.
 *
 * The arrays only grow. What is interned (strings, lists, variables, locks, entries) is found again by an
 * index of array positions (pairs_index.c); so two strings are equal if and only if their
 * addresses are, and structures are compared field by field.
 */
#include "report/pairs.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "report/pairs_impl.h"

enum { EXAMPLES = 5 };

#define PUSH(p, what, ...)                                                                        \
    do {                                                                                          \
        (p)->what = dh_util_grow((p)->what, (p)->n_##what, &(p)->cap_##what, sizeof(*(p)->what)); \
        (p)->what[(p)->n_##what] = __VA_ARGS__;                                                   \
        (p)->n_##what++;                                                                          \
    } while (0)

/* ---- Hashes ---- */

static u64 mix(u64 h, u64 x)
{
    return dh_hash64(h ^ x) + x;
}

/* Of an interned string: the hash of its address. */
static u64 mix_string(u64 h, const char *s)
{
    return mix(h, (u64)(uptr)s);
}

static u64 hash_bytes(const void *data, size_t n)
{
    return XXH3_64bits(data, n);
}

/* ---- Strings and lists ---- */

static bool string_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    return strcmp(p->strings[at], key) == 0;
}

static u64 string_hash(const struct dh_pairs *p, u32 at)
{
    return hash_bytes(p->strings[at], strlen(p->strings[at]));
}

u32 dh_pairs_string_index(const struct dh_pairs *p, const char *s)
{
    return dh_pairs_index_find(p, &p->by_string, hash_bytes(s, strlen(s)), string_equal, s);
}

bool dh_pairs_is_control(char c)
{
    return (c >= 0 && c < ' ') || c == 0x7f;
}

/* Control characters, which only odd file names have, would reach terminals from here. */
static char *printable(struct dh_arena *arena, const char *s)
{
    char *copy = dh_arena_strdup(arena, s);
    for (char *c = copy; *c; c++)
        if (dh_pairs_is_control(*c))
            *c = '?';
    return copy;
}

static u32 intern(struct dh_pairs *p, const char *s)
{
    u32 at = dh_pairs_string_index(p, s ? s : "");
    if (at != DH_PAIRS_NONE)
        return at;
    const char *copy = printable(&p->arena, s);
    at = dh_pairs_string_index(p, copy);
    if (at != DH_PAIRS_NONE)
        return at;
    at = (u32)p->n_strings;
    PUSH(p, strings, copy);
    dh_pairs_index_enter(p, &p->by_string, at, string_hash);
    return at;
}

const char *dh_pairs_intern(struct dh_pairs *p, const char *s)
{
    u32 at = intern(p, s); /* which may move the array */
    return p->strings[at];
}

struct list_key {
    const u32 *items;
    size_t n;
};

static bool list_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    const struct list_key *k = key;
    const struct dh_pairs_list *l = &p->lists[at];
    return l->n == k->n && (k->n == 0 || memcmp(p->items + l->begin, k->items, k->n * sizeof(u32)) == 0);
}

static u64 list_hash(const struct dh_pairs *p, u32 at)
{
    const struct dh_pairs_list *l = &p->lists[at];
    return hash_bytes(l->n ? p->items + l->begin : NULL, l->n * sizeof(u32));
}

u32 dh_pairs_add_list(struct dh_pairs *p, const u32 *items, size_t n)
{
    struct list_key key = {items, n};
    u32 at =
        dh_pairs_index_find(p, &p->by_list, hash_bytes(n ? items : NULL, n * sizeof(u32)), list_equal, &key);
    if (at != DH_PAIRS_NONE)
        return at;
    struct dh_pairs_list list = {.begin = (u32)p->n_items, .n = (u32)n};
    for (size_t i = 0; i < n; i++) {
        u32 item = items[i]; /* items may lie in the array that grows */
        if (item > list.max)
            list.max = item;
    }
    while (p->n_items + n > p->cap_items) {
        DH_CHECK(!p->items || items + n <= p->items || items >= p->items + p->cap_items);
        p->items = dh_util_grow(p->items, p->cap_items, &p->cap_items, sizeof(*p->items));
    }
    if (n)
        memcpy(p->items + p->n_items, items, n * sizeof(u32));
    p->n_items += n;
    at = (u32)p->n_lists;
    PUSH(p, lists, list);
    dh_pairs_index_enter(p, &p->by_list, at, list_hash);
    return at;
}

const u32 *dh_pairs_items(const struct dh_pairs *p, u32 list, size_t *ret_n)
{
    DH_CHECK(list < p->n_lists);
    *ret_n = p->lists[list].n;
    return p->lists[list].n ? p->items + p->lists[list].begin : NULL;
}

const char *dh_pairs_string(const struct dh_pairs *p, u32 string)
{
    DH_CHECK(string < p->n_strings);
    return p->strings[string];
}

static struct dh_pairs_place intern_place(struct dh_pairs *p, struct dh_pairs_place at)
{
    at.file = dh_pairs_intern(p, at.file);
    at.dir = dh_pairs_intern(p, at.dir);
    return at;
}

static u64 mix_place(u64 h, const struct dh_pairs_place *at)
{
    h = mix(mix_string(mix_string(h, at->file), at->dir), (u64)at->line << 32 | at->column);
    return mix(h, (u64)at->declared << 1 | at->internal);
}

static bool place_equal(const struct dh_pairs_place *a, const struct dh_pairs_place *b)
{
    return a->file == b->file && a->dir == b->dir && a->line == b->line && a->column == b->column &&
           a->declared == b->declared && a->internal == b->internal;
}

/* ---- Sites ---- */

/* Where in its function, so that nothing above the function matters. */
static u64 place_within(const struct dh_pairs_place *at)
{
    const bool known = at->declared != 0 && at->line >= at->declared;
    const u32 line = known ? at->line - at->declared : at->line;
    return (u64)known << 63 | (u64)line << 32 | at->column;
}

/* The same on every machine and in every build: computed from the texts, not the addresses. */
static u64 site_id(const struct dh_pairs_site *s)
{
    const char *texts[] = {s->module, s->function, s->at.file};
    u64 h = DH_PAIRS_ID_VERSION;
    for (size_t i = 0; i < DH_ARRAY_LEN(texts); i++)
        h = XXH64(texts[i], strlen(texts[i]) + 1, h);
    h = mix(h, place_within(&s->at));
    h = mix(h, (u64)s->access << 32 | s->size);
    h = mix(h, s->ordinal);
    return h ? h : 1;
}

static u64 site_id_hash(const struct dh_pairs *p, u32 at)
{
    return dh_hash64(p->sites[at].id);
}

static bool site_id_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    return p->sites[at].id == *(const u64 *)key;
}

/* Of everything in the id except the ordinal. */
static u64 site_key(const struct dh_pairs_site *s)
{
    u64 h = mix_string(mix_string(mix_string(0, s->module), s->function), s->at.file);
    return mix(mix(h, place_within(&s->at)), (u64)s->access << 32 | s->size);
}

static bool site_alike(const struct dh_pairs_site *a, const struct dh_pairs_site *b)
{
    return a->module == b->module && a->function == b->function && a->at.file == b->at.file &&
           place_within(&a->at) == place_within(&b->at) && a->access == b->access && a->size == b->size;
}

static u64 site_key_hash(const struct dh_pairs *p, u32 at)
{
    return mix(site_key(&p->sites[at]), p->sites[at].ordinal);
}

static bool site_key_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    const struct dh_pairs_site *s = key;
    return site_alike(&p->sites[at], s) && p->sites[at].ordinal == s->ordinal;
}

static bool site_taken(const struct dh_pairs *p, const struct dh_pairs_site *s)
{
    return dh_pairs_index_find(p, &p->by_site_key, mix(site_key(s), s->ordinal), site_key_equal, s) !=
           DH_PAIRS_NONE;
}

/* The first free ordinal, found by doubling and then by bisection, so that a macro that makes thousands of
 * accesses on one line does not take quadratic time. All below it are in use. */
static u32 free_ordinal(const struct dh_pairs *p, struct dh_pairs_site *s)
{
    u32 step = 1, low = 0;
    for (s->ordinal = 0; site_taken(p, s); step *= 2) {
        low = s->ordinal + 1;
        s->ordinal += step;
    }
    u32 high = s->ordinal;
    while (low < high) {
        s->ordinal = low + (high - low) / 2;
        if (site_taken(p, s))
            low = s->ordinal + 1;
        else
            high = s->ordinal;
    }
    return low;
}

bool dh_pairs_put_site(struct dh_pairs *p, const struct dh_pairs_site *site)
{
    struct dh_pairs_site s = *site;
    s.id = site_id(&s);
    u32 at = (u32)p->n_sites;
    if (site_taken(p, &s) || dh_pairs_find_site(p, s.id) != DH_PAIRS_NONE)
        return false;
    PUSH(p, sites, s);
    dh_pairs_index_enter(p, &p->by_site_key, at, site_key_hash);
    dh_pairs_index_enter(p, &p->by_site_id, at, site_id_hash);
    return true;
}

u32 dh_pairs_add_site(struct dh_pairs *p, const struct dh_pairs_site *site)
{
    struct dh_pairs_site s = *site;
    s.module = dh_pairs_intern(p, s.module);
    s.function = dh_pairs_intern(p, s.function);
    s.host = dh_pairs_intern(p, s.host);
    s.at = intern_place(p, s.at);
    u32 at = (u32)p->n_sites;
    s.ordinal = free_ordinal(p, &s);
    while (!dh_pairs_put_site(p, &s)) /* a collision of two 64-bit ids */
        s.ordinal++;
    return at;
}

u32 dh_pairs_find_site(const struct dh_pairs *p, u64 id)
{
    return dh_pairs_index_find(p, &p->by_site_id, dh_hash64(id), site_id_equal, &id);
}

/* ---- Variables, locks, entries ---- */

static u64 variable_hash_of(const struct dh_pairs_variable *v)
{
    u64 h = mix_string(mix_string(mix_string(v->storage, v->name), v->path), v->type);
    return mix_place(mix_string(h, v->function), &v->at);
}

static u64 variable_hash(const struct dh_pairs *p, u32 at)
{
    return variable_hash_of(&p->variables[at]);
}

static bool variable_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    const struct dh_pairs_variable *a = &p->variables[at], *b = key;
    return a->storage == b->storage && a->name == b->name && a->path == b->path && a->type == b->type &&
           a->function == b->function && place_equal(&a->at, &b->at);
}

u32 dh_pairs_add_variable(struct dh_pairs *p, const struct dh_pairs_variable *variable)
{
    struct dh_pairs_variable v = *variable;
    v.name = dh_pairs_intern(p, v.name);
    v.path = dh_pairs_intern(p, v.path);
    v.type = dh_pairs_intern(p, v.type);
    v.function = dh_pairs_intern(p, v.function);
    v.at = intern_place(p, v.at);
    u32 at = dh_pairs_index_find(p, &p->by_variable, variable_hash_of(&v), variable_equal, &v);
    if (at != DH_PAIRS_NONE)
        return at;
    at = (u32)p->n_variables;
    PUSH(p, variables, v);
    dh_pairs_index_enter(p, &p->by_variable, at, variable_hash);
    return at;
}

static u64 lock_hash_of(const struct dh_pairs_lock *l)
{
    return mix_place(mix_string((u64)l->kind << 1 | l->single, l->name), &l->at);
}

static u64 lock_hash(const struct dh_pairs *p, u32 at)
{
    return lock_hash_of(&p->locks[at]);
}

static bool lock_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    const struct dh_pairs_lock *a = &p->locks[at], *b = key;
    return a->kind == b->kind && a->single == b->single && a->name == b->name && place_equal(&a->at, &b->at);
}

u32 dh_pairs_add_lock(struct dh_pairs *p, const struct dh_pairs_lock *lock)
{
    struct dh_pairs_lock l = *lock;
    l.name = dh_pairs_intern(p, l.name);
    l.at = intern_place(p, l.at);
    u32 at = dh_pairs_index_find(p, &p->by_lock, lock_hash_of(&l), lock_equal, &l);
    if (at != DH_PAIRS_NONE)
        return at;
    at = (u32)p->n_locks;
    PUSH(p, locks, l);
    dh_pairs_index_enter(p, &p->by_lock, at, lock_hash);
    return at;
}

static u64 entry_hash_of(const struct dh_pairs_entry *e)
{
    u64 h = mix_string((u64)e->kind << 1 | e->many, e->function);
    return mix_place(mix_string(mix_string(h, e->creator), e->api), &e->at);
}

static u64 entry_hash(const struct dh_pairs *p, u32 at)
{
    return entry_hash_of(&p->entries[at]);
}

static bool entry_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    const struct dh_pairs_entry *a = &p->entries[at], *b = key;
    return a->kind == b->kind && a->many == b->many && a->function == b->function &&
           a->creator == b->creator && a->api == b->api && place_equal(&a->at, &b->at);
}

u32 dh_pairs_add_entry(struct dh_pairs *p, const struct dh_pairs_entry *entry)
{
    struct dh_pairs_entry e = *entry;
    e.function = dh_pairs_intern(p, e.function);
    e.creator = dh_pairs_intern(p, e.creator);
    e.api = dh_pairs_intern(p, e.api);
    e.at = intern_place(p, e.at);
    u32 at = dh_pairs_index_find(p, &p->by_entry, entry_hash_of(&e), entry_equal, &e);
    if (at != DH_PAIRS_NONE)
        return at;
    at = (u32)p->n_entries;
    PUSH(p, entries, e);
    dh_pairs_index_enter(p, &p->by_entry, at, entry_hash);
    return at;
}

/* ---- Pairs ---- */

u64 dh_pairs_stands_for(const struct dh_pairs *p, const struct dh_pairs_pair *pair)
{
    return (u64)(p->lists[pair->alike[0]].n + 1) * (p->lists[pair->alike[1]].n + 1);
}

/* For each list: does it contain a (1), b (2)? Bundles share their lists, so each is searched only once. */
static u8 *search_lists(const struct dh_pairs *p, u32 a, u32 b)
{
    u8 *has = dh_util_alloc(p->n_lists);
    for (u32 l = 0; l < p->n_lists; l++) {
        size_t n;
        const u32 *items = dh_pairs_items(p, l, &n);
        has[l] = 0;
        for (size_t i = 0; i < n; i++)
            has[l] |= (u8)((items[i] == a) | (items[i] == b) << 1);
    }
    return has;
}

u32 dh_pairs_find_containing(const struct dh_pairs *p, u32 a, u32 b,
                             bool (*wanted)(void *ctx, const struct dh_pairs_pair *pair), void *ctx)
{
    u8 *has = search_lists(p, a, b);
    u32 found = DH_PAIRS_NONE;
    for (u32 i = 0; i < p->n_pairs && found == DH_PAIRS_NONE; i++) {
        const struct dh_pairs_pair *pair = &p->pairs[i];
        u8 in[2];
        for (int side = 0; side < 2; side++)
            in[side] = (u8)(has[pair->alike[side]] | (pair->side[side].site == a) |
                            (pair->side[side].site == b) << 1);
        bool contains = (in[0] & 1 && in[1] & 2) || (in[0] & 2 && in[1] & 1);
        if (contains && (!wanted || wanted(ctx, pair)))
            found = i;
    }
    free(has);
    return found;
}

static u64 side_id(const struct dh_pairs *p, const struct dh_pairs_pair *pair, int side)
{
    size_t n;
    const u32 *more = dh_pairs_items(p, pair->alike[side], &n);
    u64 h = p->sites[pair->side[side].site].id;
    for (size_t i = 0; i < n; i++)
        h = mix(h, p->sites[more[i]].id);
    return h;
}

u64 dh_pairs_id_of(u64 a, u64 b)
{
    u64 h = a < b ? mix(dh_hash64(a), b) : mix(dh_hash64(b), a);
    return h ? h : 1;
}

static u64 pair_id(const struct dh_pairs *p, const struct dh_pairs_pair *pair)
{
    return dh_pairs_id_of(side_id(p, pair, 0), side_id(p, pair, 1));
}

static u64 pair_hash(const struct dh_pairs *p, u32 at)
{
    return dh_hash64(p->pairs[at].id);
}

static bool pair_equal(const struct dh_pairs *p, u32 at, const void *key)
{
    return p->pairs[at].id == *(const u64 *)key;
}

u32 dh_pairs_find_pair(const struct dh_pairs *p, u64 id)
{
    return dh_pairs_index_find(p, &p->by_pair_id, dh_hash64(id), pair_equal, &id);
}

bool dh_pairs_put_pair(struct dh_pairs *p, const struct dh_pairs_pair *pair)
{
    struct dh_pairs_pair new = *pair;
    new.id = pair_id(p, &new);
    if (dh_pairs_find_pair(p, new.id) != DH_PAIRS_NONE)
        return false;
    u32 at = (u32)p->n_pairs;
    PUSH(p, pairs, new);
    dh_pairs_index_enter(p, &p->by_pair_id, at, pair_hash);
    return true;
}

u32 dh_pairs_add_pair(struct dh_pairs *p, const struct dh_pairs_pair *pair)
{
    struct dh_pairs_pair new = *pair;
    DH_CHECK(new.side[0].site < p->n_sites &&new.side[1].site < p->n_sites &&new.variables < p->n_lists);
    for (int i = 0; i < 2; i++)
        DH_CHECK(new.side[i].locks < p->n_lists &&new.side[i].entries < p->n_lists &&new.alike[i] <
                 p->n_lists);
    if (new.side[0].site > new.side[1].site) {
        new.side[0] = pair->side[1];
        new.side[1] = pair->side[0];
        new.alike[0] = pair->alike[1];
        new.alike[1] = pair->alike[0];
    }
    new.note = dh_pairs_intern(p, new.note);
    if (dh_pairs_put_pair(p, &new))
        return (u32)p->n_pairs - 1;
    u32 at = dh_pairs_find_pair(p, pair_id(p, &new));
    dh_pairs_merge(p, at, &new);
    return at;
}

struct dh_pairs_pair *dh_pairs_take_pairs(struct dh_pairs *p, size_t *ret_n)
{
    struct dh_pairs_pair *all = p->pairs;
    *ret_n = p->n_pairs;
    free(p->by_pair_id.slots);
    p->by_pair_id = (struct dh_pairs_index){0};
    p->pairs = NULL;
    p->n_pairs = p->cap_pairs = 0;
    return all;
}

/* ---- What else is known ---- */

static struct dh_pairs_assumption *assumption(struct dh_pairs *p, const char *name)
{
    for (size_t i = 0; i < p->n_assumptions; i++)
        if (strcmp(p->assumptions[i].name, name) == 0)
            return &p->assumptions[i];
    PUSH(p, assumptions,
         (struct dh_pairs_assumption){.name = dh_pairs_intern(p, name), .sentence = p->strings[0]});
    return &p->assumptions[p->n_assumptions - 1];
}

void dh_pairs_assumed(struct dh_pairs *p, const char *name, const char *sentence, u64 count,
                      const char *example)
{
    struct dh_pairs_assumption *a = assumption(p, name);
    if (!a->sentence[0])
        a->sentence = dh_pairs_intern(p, sentence);
    a->count += count;
    size_t n;
    const u32 *old = dh_pairs_items(p, a->examples, &n);
    if (!example || !example[0] || n >= EXAMPLES)
        return;
    u32 items[EXAMPLES];
    if (n)
        memcpy(items, old, n * sizeof(u32));
    items[n] = intern(p, example);
    for (size_t i = 0; i < n; i++)
        if (items[i] == items[n])
            return;
    a->examples = dh_pairs_add_list(p, items, n + 1);
}

void dh_pairs_add_phase(struct dh_pairs *p, const char *name, u64 microseconds, u64 peak_kib)
{
    PUSH(p, phases, (struct dh_pairs_phase){dh_pairs_intern(p, name), microseconds, peak_kib});
}

void dh_pairs_add_counter(struct dh_pairs *p, const char *name, u64 value)
{
    for (size_t i = 0; i < p->n_counters; i++)
        if (strcmp(p->counters[i].name, name) == 0) {
            p->counters[i].value += value;
            return;
        }
    PUSH(p, counters, (struct dh_pairs_counter){dh_pairs_intern(p, name), value});
}

u64 dh_pairs_counter(const struct dh_pairs *p, const char *name)
{
    for (size_t i = 0; i < p->n_counters; i++)
        if (strcmp(p->counters[i].name, name) == 0)
            return p->counters[i].value;
    return 0;
}

void dh_pairs_set_program(struct dh_pairs *p, const char *program, const char *producer, const char *options)
{
    p->program = dh_pairs_intern(p, program);
    p->producer = dh_pairs_intern(p, producer);
    p->options = dh_pairs_intern(p, options);
}

struct dh_pairs *dh_pairs_new(void)
{
    struct dh_pairs *p = dh_util_alloc(sizeof(*p));
    *p = (struct dh_pairs){0};
    PUSH(p, strings, "");
    dh_pairs_index_enter(p, &p->by_string, 0, string_hash);
    dh_pairs_add_list(p, NULL, 0);
    p->program = p->producer = p->options = p->strings[0];
    return p;
}

void dh_pairs_free(struct dh_pairs *p)
{
    if (!p)
        return;
    void *const arrays[] = {p->sites,
                            p->variables,
                            p->locks,
                            p->entries,
                            p->pairs,
                            p->assumptions,
                            p->phases,
                            p->counters,
                            p->lists,
                            p->items,
                            p->strings,
                            p->by_string.slots,
                            p->by_list.slots,
                            p->by_variable.slots,
                            p->by_lock.slots,
                            p->by_entry.slots,
                            p->by_site_key.slots,
                            p->by_site_id.slots,
                            p->by_pair_id.slots};
    for (size_t i = 0; i < DH_ARRAY_LEN(arrays); i++)
        free(arrays[i]);
    dh_arena_done(&p->arena);
    free(p);
}
