/*
 * static_words.c - sites, variables, locks and threads in words.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/static.h"
#include "report/symbol.h"
#include "util/path.h"

const char *dh_static_function(struct dh_static *s, const char *linkage_name)
{
    return linkage_name[0] ? dh_static_name(s, linkage_name) : "an unknown function";
}

const char *dh_static_name(struct dh_static *s, const char *linkage_name)
{
    if (linkage_name[0] != '_')
        return linkage_name;
    size_t len = strlen(linkage_name);
    char *known = dh_map_get(&s->names, linkage_name, len);
    if (!known) {
        known = (char *)dh_symbol_demangle(&s->arena, linkage_name);
        dh_map_put(&s->names, linkage_name, len, known);
    }
    return known;
}

/* A lock, with a name of C++ in it: `_ZL5queue.lock`, `(block from _Z4initv).lock`. */
const char *dh_static_lock(struct dh_static *s, const struct dh_pairs_lock *lock)
{
    const char *name = lock->name;
    const char *from = strncmp(name, "_Z", 2) == 0 ? name : strstr(name, " _Z");
    if (!from)
        return name;
    from += from[0] == ' ';
    size_t len = strcspn(from, ".[+)");
    const char *plain = dh_static_name(s, dh_arena_dup(&s->scratch, from, len));
    return dh_arena_printf(&s->scratch, "%.*s%s%s", (int)(from - name), name, plain, from + len);
}

/* ---- Places -------------------------------------------------------------------------------------------- */

static const char *whole_path(struct dh_static *s, const struct dh_pairs_place *at)
{
    return dh_path_join(&s->scratch, at->dir[0] ? at->dir : NULL, at->file);
}

const char *dh_static_path(struct dh_static *s, const struct dh_pairs_place *at)
{
    return at->file[0] ? dh_path_beneath(s->cwd, whole_path(s, at)) : "";
}

const char *dh_static_place(struct dh_static *s, const struct dh_pairs_place *at)
{
    const char *file = dh_static_path(s, at);
    if (!file[0] || !at->line)
        return file;
    if (!at->column)
        return dh_arena_printf(&s->scratch, "%s:%u", file, at->line);
    return dh_arena_printf(&s->scratch, "%s:%u:%u", file, at->line, at->column);
}

const char *dh_static_line(struct dh_static *s, const struct dh_pairs_place *at, size_t *ret_len)
{
    enum { LONGEST = 160 };
    struct dh_source_line line;
    *ret_len = 0;
    if (!at->file[0] || at->line > INT32_MAX ||
        !dh_source_line(&s->source, whole_path(s, at), (int)at->line, &line))
        return "";
    while (line.len && (line.text[0] == ' ' || line.text[0] == '\t')) {
        line.text++;
        line.len--;
    }
    *ret_len = line.len < LONGEST ? line.len : LONGEST;
    return line.text;
}

/* ---- Variables ----------------------------------------------------------------------------------------- */

const char *dh_static_variable(struct dh_static *s, u32 variable)
{
    if (variable == DH_PAIRS_NONE)
        return "unknown memory";
    const struct dh_pairs_variable *v = &s->pairs->variables[variable];
    if (v->storage == DH_PAIRS_HEAP)
        return dh_arena_printf(&s->scratch, "(%s)%s", v->type[0] ? v->type : "heap block", v->path);
    if (!v->name[0])
        return dh_arena_printf(&s->scratch, "%s memory%s", dh_pairs_storage_name(v->storage), v->path);
    return dh_arena_printf(&s->scratch, "%s%s", dh_static_name(s, v->name), v->path);
}

const char *dh_static_subject(struct dh_static *s, u32 variable)
{
    struct dh_arena *a = &s->scratch;
    if (variable == DH_PAIRS_NONE)
        return "memory that the analysis does not know";
    const struct dh_pairs_variable *v = &s->pairs->variables[variable];
    struct dh_pairs_place line = v->at;
    line.column = 0;
    const char *name = dh_static_variable(s, variable), *place = dh_static_place(s, &line);
    const char *in = v->function[0] ? dh_arena_printf(a, " in %s", dh_static_name(s, v->function)) : "";
    const char *at = place[0] ? dh_arena_printf(a, " at %s", place) : "";
    const char *type = v->type[0] ? dh_arena_printf(a, " (%s)", v->type) : "";
    switch (v->storage) {
    case DH_PAIRS_HEAP:
        return dh_arena_printf(a, "heap `%s` from %s%s%s", name,
                               v->name[0] ? dh_static_name(s, v->name) : "the heap", in, at);
    case DH_PAIRS_STACK:
        return dh_arena_printf(a, "local `%s`%s%s%s", name, type, in, at);
    case DH_PAIRS_UNKNOWN:
        return dh_arena_printf(a, "%s, which the analysis does not know", name);
    default:
        return dh_arena_printf(a, "%s `%s`%s%s%s", dh_pairs_storage_name(v->storage), name, type, in, at);
    }
}

/* ---- Sides of a pair ----------------------------------------------------------------------------------- */

const char *dh_static_access(struct dh_static *s, const struct dh_pairs_site *site)
{
    const char *name = dh_pairs_access_name(site->access);
    if (!site->size)
        return name;
    return dh_arena_printf(&s->scratch, "%s of %u byte%s", name, site->size, site->size == 1 ? "" : "s");
}

const char *dh_static_held(struct dh_static *s, u32 locks)
{
    size_t n;
    const u32 *held = dh_pairs_items(s->pairs, locks, &n);
    const char *text = n ? "" : "no lock";
    for (size_t i = 0; i < n; i++)
        text = dh_arena_printf(&s->scratch, "%s%s`%s`%s", text, i ? ", " : "",
                               dh_static_lock(s, &s->pairs->locks[dh_pairs_held_lock(held[i])]),
                               dh_pairs_held_shared(held[i]) ? " (for reading)" : "");
    return text;
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* What a thread begins with. That of std::thread is a function of libstdc++; what it runs is in its type. */
static const char *entry_name(struct dh_static *s, const struct dh_pairs_entry *e)
{
    static const char before[] = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<";
    static const char after[] = "> > >::_M_run()";
    if (!e->function[0])
        return "whoever calls the functions of the program";
    const char *name = dh_static_name(s, e->function);
    size_t len = strlen(name), begin = sizeof(before) - 1, end = sizeof(after) - 1;
    if (len > begin + end && strncmp(name, before, begin) == 0 && strcmp(name + len - end, after) == 0)
        return dh_arena_printf(&s->scratch, "`std::thread(%.*s)`", (int)(len - begin - end), name + begin);
    return dh_arena_printf(&s->scratch, "`%s`", name);
}

static bool begin_alike(const struct dh_pairs_entry *a, const struct dh_pairs_entry *b)
{
    return a->kind == b->kind && strcmp(a->function, b->function) == 0;
}

/* One function that threads begin with, at however many places they are created. */
static const char *reached_by(struct dh_static *s, const u32 *entries, size_t n, size_t first)
{
    const struct dh_pairs_entry *e = &s->pairs->entries[entries[first]];
    bool many = false;
    size_t places = 0;
    for (size_t i = first; i < n; i++)
        if (begin_alike(e, &s->pairs->entries[entries[i]])) {
            many |= s->pairs->entries[entries[i]].many;
            places++;
        }
    const char *from = places > 1 ? dh_arena_printf(&s->scratch, " (from %zu places)", places) : "";
    return dh_arena_printf(&s->scratch, "%s%s%s%s", entry_name(s, e), from, many ? " (several at once)" : "",
                           e->kind == DH_PAIRS_SIGNAL ? " (signal handler)" : "");
}

const char *dh_static_reached(struct dh_static *s, u32 entries)
{
    enum { MOST = 4 };
    size_t n, shown = 0, more = 0;
    const u32 *at = dh_pairs_items(s->pairs, entries, &n);
    const char *text = n ? "" : "code whose thread is not known";
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && !begin_alike(&s->pairs->entries[at[k]], &s->pairs->entries[at[i]]))
            k++;
        if (k < i)
            continue;
        if (shown == MOST)
            more++;
        else
            text = dh_arena_printf(&s->scratch, "%s%s%s", text, shown++ ? ", " : "", reached_by(s, at, n, i));
    }
    return more ? dh_arena_printf(&s->scratch, "%s and %zu more", text, more) : text;
}

static const char *api_name(const struct dh_pairs_entry *e)
{
    if (strncmp(e->api, "_ZNSt6thread", strlen("_ZNSt6thread")) == 0)
        return "std::thread";
    return e->api[0] ? e->api : "a call";
}

const char *dh_static_entry(struct dh_static *s, u32 entry)
{
    struct dh_arena *a = &s->scratch;
    const struct dh_pairs_entry *e = &s->pairs->entries[entry];
    const char *name = entry_name(s, e), *place = dh_static_place(s, &e->at);
    const char *many = e->many ? ", several at once" : "";
    const char *at = place[0] ? dh_arena_printf(a, " at %s", place) : "";
    const char *creator = e->creator[0] ? dh_arena_printf(a, " in %s", dh_static_name(s, e->creator)) : "";
    switch (e->kind) {
    case DH_PAIRS_MAIN:
        return e->function[0] ? dh_arena_printf(a, "%s, the main thread", name) : name;
    case DH_PAIRS_SIGNAL:
        return dh_arena_printf(a, "%s, a signal handler set%s%s", name, creator, at);
    case DH_PAIRS_OUTSIDER:
        return dh_arena_printf(a, "%s, called from outside the program%s%s", name, creator, at);
    default:
        return dh_arena_printf(a, "%s, a thread created by %s%s%s%s", name, api_name(e), creator, at, many);
    }
}

const char *dh_static_why(struct dh_static *s, const struct dh_pairs_pair *pair)
{
    const char *text = "";
    for (u32 bit = 1; bit <= DH_PAIRS_REASONS; bit <<= 1)
        if (pair->reasons & bit)
            text = dh_arena_printf(&s->scratch, "%s%s%s", text, text[0] ? "; " : "", dh_pairs_reason(bit));
    if (pair->note[0])
        text = dh_arena_printf(&s->scratch, "%s%s%s", text, text[0] ? "; " : "", pair->note);
    return text;
}

const char *dh_static_pair_id(struct dh_static *s, const struct dh_pairs_pair *pair)
{
    return dh_arena_printf(&s->scratch, "%016" PRIx64, pair->id);
}

/* "owned, exit" */
static const char *assumed(struct dh_static *s)
{
    static const struct {
        u32 flag;
        const char *name;
    } all[] = {{DH_PAIRS_IF_BARRIERS, "barriers"},   {DH_PAIRS_IF_PARTITION, "partition"},
               {DH_PAIRS_IF_PUBLISHED, "published"}, {DH_PAIRS_IF_OWNED, "owned"},
               {DH_PAIRS_IF_EXIT, "exit"},           {DH_PAIRS_IF_CALLBACKS, "callbacks"},
               {DH_PAIRS_IF_MEMBERS, "members"}};
    const char *text = "";
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++)
        if (s->assumed & all[i].flag)
            text = dh_arena_printf(&s->scratch, "%s%s%s", text, text[0] ? ", " : "", all[i].name);
    return text;
}

const char *dh_static_total(struct dh_static *s)
{
    bool relay = s->set == DH_PAIRS_RELAY;
    const char *dropped = "";
    if (s->n_dropped)
        dropped = dh_arena_printf(&s->scratch, "; assuming %s dropped %s%" PRIu64 " more", assumed(s),
                                  s->bundled ? "at most " : "", s->n_dropped);
    bool most;
    u64 n = dh_static_pairs(s, NULL, &most);
    const char *bundles =
        s->bundled ? dh_arena_printf(&s->scratch, " in %zu bundle%s", s->n_shown, s->n_shown == 1 ? "" : "s")
                   : "";
    return dh_arena_printf(
        &s->scratch,
        "%s%" PRIu64 " pair%s that may race%s, on %zu variable%s (%s%s; %s%" PRIu64 " with --style=%s)",
        most ? "at most " : "", n, n == 1 ? "" : "s", bundles, s->n_groups, s->n_groups == 1 ? "" : "s",
        relay ? "relay: no lock in common" : "sound: nothing dropped that could race", dropped,
        s->other_most ? "at most " : "", s->n_other, relay ? "sound" : "relay");
}

const char *dh_static_of_word(const struct dh_static *s)
{
    static const char *const words[] = {
        [DH_STATIC_SOURCE] = "source", [DH_STATIC_BINARY] = "binary", [DH_STATIC_BITCODE] = "bitcode"};
    return words[s->of];
}

const char *dh_static_of_sentence(const struct dh_static *s)
{
    static const char *const sentences[] = {
        [DH_STATIC_SOURCE] =
            "This is about the source: every access that is written counts, whatever an optimiser "
            "makes of it.",
        [DH_STATIC_BINARY] = "This is about the binary: an access that the optimiser removed is in no pair.",
        [DH_STATIC_BITCODE] =
            "This is about the bitcode as it is: an access that was optimised away before is in no "
            "pair."};
    return sentences[s->of];
}

void dh_static_forget(struct dh_static *s)
{
    dh_arena_done(&s->scratch);
    s->scratch = (struct dh_arena){0};
}
