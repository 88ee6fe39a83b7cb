/*
 * static_json.c - the pairs for a program to read; docs/guide/static.md has the form.
 *
 * The document is written variable by variable, so that a large table is never in memory twice.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/static.h"

static json_t *text(const char *s)
{
    json_t *j = json_string(s);
    return j ? j : json_string("?"); /* a name that is no UTF-8 */
}

static void put(json_t *object, const char *key, const char *s)
{
    if (s[0])
        json_object_set_new(object, key, text(s));
}

static void put_id(struct dh_static *s, json_t *object, u64 id)
{
    json_object_set_new(object, "id", text(dh_arena_printf(&s->scratch, "%016" PRIx64, id)));
}

static void put_place(struct dh_static *s, json_t *object, const struct dh_pairs_place *at)
{
    put(object, "file", dh_static_path(s, at));
    if (at->line)
        json_object_set_new(object, "line", json_integer(at->line));
    if (at->column)
        json_object_set_new(object, "column", json_integer(at->column));
}

static json_t *variable_json(struct dh_static *s, u32 variable)
{
    json_t *j = json_object();
    json_object_set_new(j, "name", text(dh_static_variable(s, variable)));
    if (variable == DH_PAIRS_NONE)
        return j;
    const struct dh_pairs_variable *v = &s->pairs->variables[variable];
    put(j, "storage", dh_pairs_storage_name(v->storage));
    put(j, "base", dh_static_name(s, v->name));
    put(j, "path", v->path);
    put(j, "type", v->type);
    put(j, "function", dh_static_name(s, v->function));
    put_place(s, j, &v->at);
    return j;
}

static json_t *lock_json(struct dh_static *s, u32 held)
{
    static const char *const kinds[DH_PAIRS_LOCK_KINDS] = {"mutex", "rwlock", "spin", "other"};
    const struct dh_pairs_lock *l = &s->pairs->locks[dh_pairs_held_lock(held)];
    json_t *j = json_object();
    put(j, "name", dh_static_lock(s, l));
    put(j, "kind", kinds[l->kind]);
    json_object_set_new(j, "single", json_boolean(l->single));
    json_object_set_new(j, "shared", json_boolean(dh_pairs_held_shared(held)));
    put_place(s, j, &l->at);
    return j;
}

static json_t *entry_json(struct dh_static *s, u32 entry)
{
    static const char *const kinds[DH_PAIRS_ENTRY_KINDS] = {"main", "thread", "signal", "outside"};
    const struct dh_pairs_entry *e = &s->pairs->entries[entry];
    json_t *j = json_object();
    put(j, "function", dh_static_name(s, e->function));
    put(j, "kind", kinds[e->kind]);
    put(j, "instances", e->many ? "many" : "one");
    put(j, "creator", dh_static_name(s, e->creator));
    put(j, "api", e->api);
    put_place(s, j, &e->at);
    return j;
}

static json_t *list_json(struct dh_static *s, u32 list, json_t *(*make)(struct dh_static *, u32))
{
    size_t n;
    const u32 *items = dh_pairs_items(s->pairs, list, &n);
    json_t *j = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(j, make(s, items[i]));
    return j;
}

static json_t *side_json(struct dh_static *s, const struct dh_pairs_side *side)
{
    const struct dh_pairs_site *site = &s->pairs->sites[side->site];
    json_t *j = json_object();
    put_id(s, j, site->id);
    json_object_set_new(j, "site", json_integer(side->site));
    put(j, "access", dh_pairs_access_name(site->access));
    if (site->size)
        json_object_set_new(j, "size", json_integer(site->size));
    put(j, "module", site->module);
    put(j, "function", dh_static_name(s, site->function));
    put(j, "inlined_into", dh_static_name(s, site->host));
    put_place(s, j, &site->at);
    json_object_set_new(j, "ordinal", json_integer(site->ordinal));
    size_t len;
    const char *line = dh_static_line(s, &site->at, &len);
    if (len)
        put(j, "text", dh_arena_dup(&s->scratch, line, len));
    json_object_set_new(j, "locks", list_json(s, side->locks, lock_json));
    json_object_set_new(j, "threads", list_json(s, side->entries, entry_json));
    return j;
}

/* Where else the same is true. */
static json_t *alike_json(struct dh_static *s, u32 site)
{
    const struct dh_pairs_site *at = &s->pairs->sites[site];
    json_t *j = json_object();
    put_id(s, j, at->id);
    put(j, "access", dh_pairs_access_name(at->access));
    put(j, "function", dh_static_name(s, at->function));
    put_place(s, j, &at->at);
    return j;
}

static json_t *pair_json(struct dh_static *s, u32 number)
{
    static const char *const flags[] = {"relay",        "sound",    "ad-hoc",  "if-barriers",  "if-partition",
                                        "if-published", "if-owned", "if-exit", "if-callbacks", "if-members"};
    const struct dh_pairs_pair *pair = &s->pairs->pairs[number];
    json_t *j = json_object(), *sides = json_array(), *in = json_array(), *why = json_array();
    json_object_set_new(j, "pair", json_integer((json_int_t)number + 1));
    put_id(s, j, pair->id);
    for (int i = 0; i < 2; i++)
        json_array_append_new(sides, side_json(s, &pair->side[i]));
    for (size_t i = 0; i < DH_ARRAY_LEN(flags); i++)
        if (((pair->flags & ~(u32)DH_PAIRS_IFS) | dh_pairs_ifs(pair->flags, s->set)) & 1u << i)
            json_array_append_new(in, text(flags[i]));
    for (u32 bit = 1; bit <= DH_PAIRS_REASONS; bit <<= 1)
        if (pair->reasons & bit)
            json_array_append_new(why, text(dh_pairs_reason_name(bit)));
    json_object_set_new(j, "flags", in);
    json_object_set_new(j, "sides", sides);
    json_object_set_new(j, "why", why);
    if (dh_pairs_stands_for(s->pairs, pair) > 1) {
        json_t *alike = json_array();
        for (int i = 0; i < 2; i++)
            json_array_append_new(alike, list_json(s, pair->alike[i], alike_json));
        json_object_set_new(j, "alike", alike);
    }
    put(j, "because", dh_static_why(s, pair));
    if (s->pairs->lists[pair->variables].n > 1)
        json_object_set_new(j, "variables", list_json(s, pair->variables, variable_json));
    return j;
}

static json_t *assumptions_json(const struct dh_pairs *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->n_assumptions; i++) {
        const struct dh_pairs_assumption *a = &p->assumptions[i];
        json_t *j = json_object(), *examples = json_array();
        put(j, "name", a->name);
        put(j, "assumed", a->sentence);
        json_object_set_new(j, "count", json_integer((json_int_t)a->count));
        size_t n;
        const u32 *items = dh_pairs_items(p, a->examples, &n);
        for (size_t k = 0; k < n; k++)
            json_array_append_new(examples, text(dh_pairs_string(p, items[k])));
        json_object_set_new(j, "examples", examples);
        json_array_append_new(all, j);
    }
    return all;
}

static json_t *phases_json(const struct dh_pairs *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->n_phases; i++) {
        json_t *j = json_object();
        put(j, "name", p->phases[i].name);
        json_object_set_new(j, "seconds", json_real((double)p->phases[i].microseconds * 1e-6));
        json_object_set_new(j, "peak_kib", json_integer((json_int_t)p->phases[i].peak_kib));
        json_array_append_new(all, j);
    }
    return all;
}

/* One member of the document, with its value, which is dropped. */
static void write_member(struct dh_static *s, const char *key, json_t *value)
{
    fprintf(s->out, ",\n\"%s\":", key);
    json_dumpf(value, s->out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
    json_decref(value);
}

void dh_static_print_json(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    fputs("{\"v\":1", s->out);
    write_member(s, "type", text("static-pairs"));
    write_member(s, "input", text(s->input));
    write_member(s, "program", text(p->program));
    write_member(s, "producer", text(p->producer));
    write_member(s, "of", text(dh_static_of_word(s)));
    write_member(s, "style", text(s->style));
    write_member(s, "no_threads", json_boolean(p->no_threads));
    bool most;
    write_member(s, "pairs", json_integer((json_int_t)dh_static_pairs(s, NULL, &most)));
    if (s->bundled)
        write_member(s, "bundles", json_integer((json_int_t)s->n_shown));
    write_member(s, "dropped", json_integer((json_int_t)s->n_dropped));
    fputs(",\n\"variables\":[", s->out);
    for (size_t g = 0; g < s->n_groups; g++) {
        const struct dh_static_group *group = &s->groups[g];
        json_t *j = variable_json(s, group->variable), *pairs = json_array();
        for (size_t i = 0; i < dh_static_shown(s, group); i++, dh_static_forget(s))
            json_array_append_new(pairs, pair_json(s, group->pairs[i]));
        json_object_set_new(j, "pairs", pairs);
        fputs(g ? ",\n" : "\n", s->out);
        json_dumpf(j, s->out, JSON_COMPACT | JSON_ENSURE_ASCII);
        json_decref(j);
    }
    fputs("]", s->out);
    write_member(s, "assumptions", assumptions_json(p));
    write_member(s, "phases", phases_json(p));
    json_t *counters = json_object();
    for (size_t i = 0; i < p->n_counters; i++)
        json_object_set_new(counters, p->counters[i].name, json_integer((json_int_t)p->counters[i].value));
    write_member(s, "counters", counters);
    fputs("}\n", s->out);
}
