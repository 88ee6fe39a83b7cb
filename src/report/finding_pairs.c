/*
 * finding_pairs.c - see finding_pairs.h.
 *
 * For unknown strings a table has "", a finding NULL.
 */
#include "report/finding_pairs.h"

#include <string.h>

#include "util/path.h"
#include "util/text.h"

static const char *known(const char *s)
{
    return s[0] ? s : NULL;
}

const char *dh_finding_readable(struct dh_finding_pairs *from, const char *linkage_name)
{
    if (linkage_name[0] != '_')
        return linkage_name;
    size_t len = strlen(linkage_name);
    char *readable = dh_map_get(&from->names, linkage_name, len);
    if (!readable) {
        readable = (char *)dh_symbol_demangle(from->arena, linkage_name);
        dh_map_put(&from->names, linkage_name, len, readable);
    }
    return readable;
}

static const char *shorten(struct dh_arena *arena, const char *name)
{
    return name ? dh_symbol_shorten(arena, name) : NULL;
}

static int number(u32 n)
{
    return n <= INT32_MAX ? (int)n : 0;
}

static struct dh_symbol_frame frame_of(struct dh_finding_pairs *from, struct dh_arena *arena,
                                       const char *function, const struct dh_pairs_place *at)
{
    struct dh_symbol_frame f = {.function = known(dh_finding_readable(from, function))};
    f.brief = shorten(arena, f.function);
    f.shown = from->full_names ? f.function : f.brief;
    if (!at->file[0])
        return f;
    f.file = f.unit_file = dh_path_join(arena, known(at->dir), at->file);
    if (at->dir[0])
        f.unit_file = dh_path_from(arena, dh_path_join(arena, at->dir, "."), f.file);
    f.line = number(at->line);
    f.column = number(at->column);
    f.origin = (struct dh_symbol_origin){
        .name = known(function),
        .home = at->internal ? dh_path_base(f.file) : NULL,
        .line = number(at->declared ? at->declared : at->line),
        .elsewhere = !at->declared,
        .unit = from->table, /* stands for the debug information */
    };
    return f;
}

static struct dh_symbol_trace trace_of(struct dh_arena *arena, struct dh_symbol_frame frame)
{
    struct dh_symbol_trace trace = {dh_arena_alloc(arena, sizeof(*trace.frames)), 1};
    trace.frames[0] = frame;
    return trace;
}

/* ---- Variables ----------------------------------------------------------------------------------------- */

/* A path without the numbers of its elements and bytes: "[3].n" is "[].n", ".n+2" is ".n". */
static const char *shape_of(struct dh_arena *arena, const char *path)
{
    char *shape = dh_arena_strdup(arena, path), *to = shape;
    for (const char *at = shape; *at && *at != '+';) {
        *to++ = *at;
        at += *at == '[' ? 1 + strspn(at + 1, "0123456789") : 1;
    }
    *to = '\0';
    return shape;
}

void dh_finding_of_variable(struct dh_finding_pairs *from, struct dh_arena *arena, u32 variable,
                            struct dh_finding_location *ret)
{
    static const enum dh_model_place places[DH_PAIRS_STORAGES] = {
        [DH_PAIRS_GLOBAL] = DH_MODEL_GLOBAL,   [DH_PAIRS_THREAD_LOCAL] = DH_MODEL_TLS,
        [DH_PAIRS_HEAP] = DH_MODEL_HEAP,       [DH_PAIRS_STACK] = DH_MODEL_STACK,
        [DH_PAIRS_UNKNOWN] = DH_MODEL_UNKNOWN,
    };
    *ret = (struct dh_finding_location){0};
    if (variable == DH_PAIRS_NONE)
        return;
    const struct dh_pairs_variable *v = &from->table->variables[variable];
    const char *name = dh_finding_readable(from, v->name), *whole = name;
    struct dh_symbol_frame at = frame_of(from, arena, v->function, &v->at);
    bool heap = v->storage == DH_PAIRS_HEAP;
    if (heap)
        whole = dh_arena_printf(arena, "(%s)", v->type[0] ? v->type : "heap block");
    else if (!name[0])
        whole = dh_arena_printf(arena, "%s memory", dh_pairs_storage_name(v->storage));
    ret->place = places[v->storage];
    ret->type = known(v->type);
    ret->path = known(v->path);
    ret->has_variable = true;
    ret->variable = (struct dh_symbol_variable){
        .name = whole,
        .display = dh_arena_printf(arena, "%s%s", whole, v->path),
        .shape = dh_arena_printf(arena, "%s%s", whole, shape_of(arena, v->path)),
        .function = at.function,
        .shown_function = at.shown,
        .file = at.file,
        .line = at.line,
    };
    struct dh_symbol_variable *named = &ret->variable;
    named->members = named->shape + strlen(whole);
    named->findable = true;
    if (!heap)
        named->origin = (struct dh_symbol_origin){.name = known(v->name),
                                                  .home = v->at.internal ? dh_path_base(v->at.file) : NULL};
    named->brief = shorten(arena, named->display);
    named->shown = from->full_names ? named->display : named->brief;
    named->shown_name = from->full_names ? named->name : shorten(arena, named->name);
    if (heap) {
        ret->allocator = known(name);
        ret->allocated_at = trace_of(arena, at);
    }
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* The function a thread starts in. For std::thread it is in libstdc++; what it runs is part of its type. */
static const char *entry_name(struct dh_finding_pairs *from, struct dh_arena *arena,
                              const struct dh_pairs_entry *e)
{
    static const char before[] = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<";
    static const char after[] = "> > >::_M_run()";
    if (!e->function[0])
        return "external callers of the program's functions";
    const char *name = dh_text_shown(arena, dh_finding_readable(from, e->function));
    size_t len = strlen(name), begin = sizeof(before) - 1, end = sizeof(after) - 1;
    if (len > begin + end && strncmp(name, before, begin) == 0 && strcmp(name + len - end, after) == 0)
        return dh_arena_printf(arena, "`std::thread(%.*s)`", (int)(len - begin - end), name + begin);
    return dh_arena_printf(arena, "`%s`", from->full_names ? name : shorten(arena, name));
}

void dh_finding_of_entry(struct dh_finding_pairs *from, struct dh_arena *arena, u32 entry,
                         struct dh_finding_thread *ret)
{
    static const char *const kinds[DH_PAIRS_ENTRY_KINDS] = {"main", "thread", "signal", "outside"};
    static const char *const sentences[DH_PAIRS_ENTRY_KINDS] = {
        [DH_PAIRS_MAIN] = ", the main thread",
        [DH_PAIRS_THREAD] = ", a thread created",
        [DH_PAIRS_SIGNAL] = ", a signal handler set",
        [DH_PAIRS_OUTSIDER] = ", called from outside the program",
    };
    const struct dh_pairs_entry *e = &from->table->entries[entry];
    bool library = strncmp(e->api, "_ZNSt6thread", strlen("_ZNSt6thread")) == 0;
    *ret = (struct dh_finding_thread){
        .label = entry_name(from, arena, e),
        .entry = kinds[e->kind],
        .sentence = e->kind == DH_PAIRS_MAIN && !e->function[0] ? "" : sentences[e->kind],
        .function = known(dh_finding_readable(from, e->function)),
        .api = e->kind != DH_PAIRS_THREAD ? NULL
               : library                  ? "std::thread"
                                          : known(e->api),
        .many = e->many,
    };
    if (e->kind != DH_PAIRS_MAIN && (e->creator[0] || e->at.file[0]))
        ret->created_at = trace_of(arena, frame_of(from, arena, e->creator, &e->at));
}

static bool begin_alike(const struct dh_pairs_entry *a, const struct dh_pairs_entry *b)
{
    return a->kind == b->kind && strcmp(a->function, b->function) == 0;
}

/* A function in which threads start, regardless of the number of places where they are created. */
static const char *one_runner(struct dh_finding_pairs *from, struct dh_arena *arena, const u32 *entries,
                              size_t n, size_t first)
{
    const struct dh_pairs_entry *all = from->table->entries, *e = &all[entries[first]];
    bool many = false;
    size_t places = 0;
    for (size_t i = first; i < n; i++)
        if (begin_alike(e, &all[entries[i]])) {
            many |= all[entries[i]].many;
            places++;
        }
    const char *where = places > 1 ? dh_arena_printf(arena, " (from %zu places)", places) : "";
    return dh_arena_printf(arena, "%s%s%s%s", entry_name(from, arena, e), where,
                           many ? " (several at once)" : "",
                           e->kind == DH_PAIRS_SIGNAL ? " (signal handler)" : "");
}

/* "`worker` (several at once), `main`" */
static const char *runners(struct dh_finding_pairs *from, struct dh_arena *arena, const u32 *entries,
                           size_t n)
{
    enum { MOST = 4 };
    const struct dh_pairs_entry *all = from->table->entries;
    size_t shown = 0, more = 0;
    const char *text = n ? "" : "code whose thread is not known";
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && !begin_alike(&all[entries[k]], &all[entries[i]]))
            k++;
        if (k < i)
            continue;
        if (shown == MOST)
            more++;
        else
            text = dh_arena_printf(arena, "%s%s%s", text, shown++ ? ", " : "",
                                   one_runner(from, arena, entries, n, i));
    }
    return more ? dh_arena_printf(arena, "%s and %zu more", text, more) : text;
}

/* ---- Accesses ------------------------------------------------------------------------------------------ */

/* A lock whose name contains a C++ name: `_ZL5queue.lock`, `(block from _Z4initv).lock`. */
static const char *lock_name(struct dh_finding_pairs *from, struct dh_arena *arena, const char *name)
{
    const char *mangled = strncmp(name, "_Z", 2) == 0 ? name : strstr(name, " _Z");
    if (!mangled)
        return name;
    mangled += mangled[0] == ' ';
    size_t len = strcspn(mangled, ".[+)");
    const char *plain = dh_finding_readable(from, dh_arena_dup(arena, mangled, len));
    return dh_arena_printf(arena, "%.*s%s%s", (int)(mangled - name), name, plain, mangled + len);
}

static void name_locks(struct dh_finding_pairs *from, struct dh_arena *arena, u32 list,
                       struct dh_finding_access *ret)
{
    static const char *const kinds[DH_PAIRS_LOCK_KINDS] = {"mutex", "rwlock", "spin", "other"};
    const u32 *held = dh_pairs_items(from->table, list, &ret->n_locks);
    ret->locks_known = true;
    ret->locks = dh_arena_array(arena, ret->n_locks, sizeof(*ret->locks));
    for (size_t i = 0; i < ret->n_locks; i++) {
        const struct dh_pairs_lock *l = &from->table->locks[dh_pairs_held_lock(held[i])];
        const char *name = dh_finding_lock_name(arena, lock_name(from, arena, l->name));
        ret->locks[i] = (struct dh_finding_lock){
            .name = name,
            .shown = from->full_names ? name : shorten(arena, name),
            .named = true,
            .shared = dh_pairs_held_shared(held[i]),
            .many = !l->single,
            .kind = kinds[l->kind],
            .declared_at = frame_of(from, arena, "", &l->at),
        };
    }
}

static enum dh_model_kind kind_of(u8 access, bool *ret_atomic)
{
    static const enum dh_model_kind kinds[DH_PAIRS_ACCESSES] = {
        [DH_PAIRS_READ] = DH_MODEL_READ,
        [DH_PAIRS_WRITE] = DH_MODEL_WRITE,
        [DH_PAIRS_ATOMIC_READ] = DH_MODEL_READ,
        [DH_PAIRS_ATOMIC_WRITE] = DH_MODEL_WRITE,
        [DH_PAIRS_ATOMIC_UPDATE] = DH_MODEL_UPDATE,
        [DH_PAIRS_FREE] = DH_MODEL_FREE,
    };
    *ret_atomic =
        access == DH_PAIRS_ATOMIC_READ || access == DH_PAIRS_ATOMIC_WRITE || access == DH_PAIRS_ATOMIC_UPDATE;
    return kinds[access];
}

static void name_stack(struct dh_finding_pairs *from, struct dh_arena *arena,
                       const struct dh_pairs_site *site, struct dh_symbol_trace *ret)
{
    ret->n = site->host[0] ? 2 : 1;
    ret->frames = dh_arena_array(arena, ret->n, sizeof(*ret->frames));
    ret->frames[0] = frame_of(from, arena, site->function, &site->at);
    if (site->host[0]) {
        ret->frames[0].inlined = true;
        ret->frames[1] = frame_of(from, arena, site->host, &(struct dh_pairs_place){.file = ""});
    }
}

/* How many of n are named. */
static size_t named_of(const struct dh_finding_pairs *from, size_t n)
{
    return from->most && from->most < n ? (size_t)from->most : n;
}

static void name_alike(struct dh_finding_pairs *from, struct dh_arena *arena, u32 list,
                       struct dh_finding_access *ret)
{
    const u32 *sites = dh_pairs_items(from->table, list, &ret->n_alike);
    if (!from->alike)
        return;
    ret->n_listed = named_of(from, ret->n_alike);
    ret->alike = dh_arena_array(arena, ret->n_listed, sizeof(*ret->alike));
    for (size_t i = 0; i < ret->n_listed; i++) {
        const struct dh_pairs_site *site = &from->table->sites[sites[i]];
        ret->alike[i].site = site->id;
        ret->alike[i].kind = kind_of(site->access, &ret->alike[i].atomic);
        ret->alike[i].at = frame_of(from, arena, site->function, &site->at);
    }
}

static void name_side(struct dh_finding_pairs *from, struct dh_arena *arena, const struct dh_pairs_side *side,
                      u32 index, struct dh_finding_access *ret)
{
    const struct dh_pairs_site *site = &from->table->sites[index];
    size_t n;
    const u32 *entries = dh_pairs_items(from->table, side->entries, &n);
    ret->known = true;
    ret->kind = kind_of(site->access, &ret->atomic);
    ret->size = site->size;
    ret->site = site->id;
    ret->site_index = index;
    ret->ordinal = site->ordinal;
    ret->unit = known(site->module);
    name_stack(from, arena, site, &ret->stack);
    name_locks(from, arena, side->locks, ret);
    ret->run_by = runners(from, arena, entries, n);
    ret->n_threads = named_of(from, n);
    ret->n_more_threads = n - ret->n_threads;
    ret->threads = dh_arena_array(arena, ret->n_threads, sizeof(*ret->threads));
    for (size_t i = 0; i < ret->n_threads; i++)
        dh_finding_of_entry(from, arena, entries[i], &ret->threads[i]);
}

/* ---- Pairs --------------------------------------------------------------------------------------------- */

/* The words for the bits that are set. */
static struct dh_finding_word *words(struct dh_arena *arena, u32 bits,
                                     const struct dh_pairs_word *(*word)(u32 bit), size_t *ret_n)
{
    size_t n = 0;
    struct dh_finding_word *list = dh_arena_array(arena, (size_t)__builtin_popcount(bits), sizeof(*list));
    for (; bits; bits &= bits - 1) {
        const struct dh_pairs_word *w = word(bits & -bits);
        list[n++] = (struct dh_finding_word){w->name, w->sentence};
    }
    *ret_n = n;
    return list;
}

struct dh_finding *dh_finding_of_sites(struct dh_finding_pairs *from, struct dh_arena *arena, u32 number,
                                       const u32 sites[2])
{
    const struct dh_pairs *t = from->table;
    const struct dh_pairs_pair *pair = &t->pairs[number];
    struct dh_finding *f = dh_arena_alloc(arena, sizeof(*f));
    struct dh_finding_possible *p = &f->possible;
    u32 flags = (pair->flags & ~((u32)DH_PAIRS_IFS | (u32)DH_PAIRS_IFS << DH_PAIRS_FOR_SOUND)) |
                dh_pairs_ifs(pair->flags, from->set);
    size_t n;
    const u32 *variables = dh_pairs_items(t, pair->variables, &n);
    f->provenance = DH_FINDING_POSSIBLE;
    f->detector = "static";
    f->guarantee = from->set == DH_PAIRS_SOUND ? "complete" : "heuristic";
    for (int i = 0; i < 2; i++) {
        name_side(from, arena, &pair->side[i], sites[i], &f->accesses[i]);
        name_alike(from, arena, pair->alike[i], &f->accesses[i]);
    }
    dh_finding_of_variable(from, arena, n ? variables[0] : DH_PAIRS_NONE, &f->location);
    p->number = number + 1;
    p->id = pair->id;
    p->stands_for = dh_pairs_stands_for(t, pair);
    p->ad_hoc = pair->flags & DH_PAIRS_AD_HOC;
    p->flags = words(arena, flags, dh_pairs_flag, &p->n_flags);
    p->reasons = words(arena, pair->reasons, dh_pairs_reason, &p->n_reasons);
    p->note = known(pair->note);
    p->n_others = n > 1 ? n - 1 : 0;
    p->others = dh_arena_array(arena, p->n_others, sizeof(*p->others));
    for (size_t i = 0; i < p->n_others; i++)
        dh_finding_of_variable(from, arena, variables[i + 1], &p->others[i]);
    dh_finding_identify(arena, f);
    return f;
}

struct dh_finding *dh_finding_of_pair(struct dh_finding_pairs *from, struct dh_arena *arena, u32 number)
{
    const struct dh_pairs_pair *pair = &from->table->pairs[number];
    const u32 sites[2] = {pair->side[0].site, pair->side[1].site};
    return dh_finding_of_sites(from, arena, number, sites);
}
