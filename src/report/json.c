/*
 * json.c - findings for programs to read. docs/schema/findings.schema.json has the members. What is not known
 * is left out.
 */
#include "report/json.h"

#include <inttypes.h>

/* Names come from ELF files and may not be UTF-8: json_string refuses those. */
json_t *dh_json_text(const char *s)
{
    json_t *value = json_string(s);
    return value ? value : json_string("?");
}

void dh_json_put(json_t *object, const char *key, const char *s)
{
    if (s)
        json_object_set_new(object, key, dh_json_text(s));
}

void dh_json_number(json_t *object, const char *key, u64 n)
{
    json_object_set_new(object, key, json_integer((json_int_t)n));
}

static void put_nonzero(json_t *object, const char *key, u64 n)
{
    if (n)
        dh_json_number(object, key, n);
}

static void put_flag(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

/* Addresses may pass 2^53, so they are strings. */
static void put_hex(json_t *object, const char *key, u64 value)
{
    json_object_set_new(object, key, json_sprintf("0x%" PRIx64, value));
}

static void put_id(json_t *object, u64 id)
{
    json_object_set_new(object, "id", json_sprintf("%016" PRIx64, id));
}

/* ---- Places -------------------------------------------------------------------------------------------- */

static void put_place(json_t *object, const struct dh_symbol_frame *f)
{
    dh_json_put(object, "file", f->file);
    put_nonzero(object, "line", (u64)f->line);
    put_nonzero(object, "column", (u64)f->column);
}

static json_t *frame(const struct dh_symbol_frame *f)
{
    json_t *object = json_object();
    dh_json_put(object, "function", f->function);
    if (f->brief != f->function)
        dh_json_put(object, "short", f->brief);
    put_place(object, f);
    if (f->inlined)
        put_flag(object, "inlined", true);
    dh_json_put(object, "module", f->module);
    if (f->module || f->offset)
        put_hex(object, "offset", f->offset);
    return object;
}

static void put_trace(json_t *object, const char *key, const struct dh_symbol_trace *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->n; i++)
        json_array_append_new(list, frame(&t->frames[i]));
    json_object_set_new(object, key, list);
}

/* ---- Accesses ------------------------------------------------------------------------------------------ */

static json_t *thread(const struct dh_finding_thread *t)
{
    json_t *object = json_object();
    put_nonzero(object, "uid", t->uid);
    dh_json_put(object, "name", t->name);
    put_nonzero(object, "tid", t->tid);
    put_nonzero(object, "parent", t->parent);
    dh_json_put(object, "kind", t->entry);
    dh_json_put(object, "function", t->function);
    dh_json_put(object, "api", t->api);
    if (t->entry)
        dh_json_put(object, "instances", t->many ? "many" : "one");
    if (t->created_at.n)
        put_trace(object, "created_at", &t->created_at);
    return object;
}

static json_t *lock(const struct dh_finding_lock *l)
{
    json_t *object = json_object();
    if (l->named)
        dh_json_put(object, "name", l->name);
    if (l->addr)
        put_hex(object, "addr", l->addr);
    dh_json_put(object, "mode", l->shared ? "read" : "write");
    dh_json_put(object, "kind", l->kind);
    if (l->kind)
        put_flag(object, "single", !l->many);
    put_place(object, &l->declared_at);
    if (l->acquired_at.n)
        put_trace(object, "acquired_at", &l->acquired_at);
    return object;
}

static void put_kind(json_t *object, enum dh_model_kind kind, bool atomic)
{
    dh_json_put(object, "kind", dh_finding_kinds[kind]);
    put_flag(object, "atomic", atomic);
}

/* Where else the same is true. */
static json_t *alike(const struct dh_finding_alike *a)
{
    json_t *object = json_object();
    put_id(object, a->site);
    put_kind(object, a->kind, a->atomic);
    dh_json_put(object, "function", a->at.function);
    put_place(object, &a->at);
    return object;
}

/* The line to look at. */
static void put_text(struct dh_print *p, json_t *object, const struct dh_finding_access *a)
{
    const struct dh_symbol_frame *top = dh_symbol_top(&a->stack);
    struct dh_source_line line;
    if (top && dh_words_source(p, top, top->line, &line))
        dh_json_put(object, "text", dh_words_trimmed(p, &line));
}

/* Of source code: which site, and which others are alike. */
static void put_site(json_t *object, const struct dh_finding_access *a)
{
    put_id(object, a->site);
    dh_json_number(object, "site", a->site_index);
    dh_json_number(object, "ordinal", a->ordinal);
    dh_json_put(object, "unit", a->unit);
    if (!a->n_alike)
        return;
    json_t *list = json_array();
    for (size_t i = 0; a->alike && i < a->n_alike; i++)
        json_array_append_new(list, alike(&a->alike[i]));
    json_object_set_new(object, "alike", list);
}

static json_t *access(struct dh_print *p, const struct dh_finding_access *a)
{
    if (!a->known)
        return json_null();
    json_t *object = json_object();
    put_kind(object, a->kind, a->atomic);
    if (a->range)
        put_flag(object, "range", true);
    if (a->addr)
        put_hex(object, "addr", a->addr);
    put_nonzero(object, "size", a->size);
    if (a->site) {
        json_t *threads = json_array();
        for (size_t i = 0; i < a->n_threads; i++)
            json_array_append_new(threads, thread(&a->threads[i]));
        json_object_set_new(object, "threads", threads);
        put_site(object, a);
    } else if (a->n_threads) {
        json_object_set_new(object, "thread", thread(a->threads));
    }
    put_trace(object, "stack", &a->stack);
    if (a->stack_folded)
        put_flag(object, "stack_folded", true);
    dh_json_put(object, "place", a->place);
    put_nonzero(object, "event", a->event);
    if (a->language_access)
        dh_json_number(object, "language_access", a->language_access - 1);
    put_text(p, object, a);
    if (!a->locks_known)
        return object;
    json_t *locks = json_array();
    for (size_t i = 0; i < a->n_locks; i++)
        json_array_append_new(locks, lock(&a->locks[i]));
    json_object_set_new(object, "locks", locks);
    return object;
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

static void put_variable(json_t *object, const struct dh_symbol_variable *v)
{
    dh_json_put(object, "name", v->name);
    dh_json_put(object, "display", v->display);
    if (v->brief != v->display)
        dh_json_put(object, "short", v->brief);
    dh_json_put(object, "function", v->function);
    put_nonzero(object, "size", v->size);
    put_nonzero(object, "offset", v->offset);
    dh_json_put(object, "file", v->file);
    put_nonzero(object, "line", (u64)v->line);
}

static void put_field(json_t *object, const struct dh_symbol_field *f)
{
    dh_json_put(object, "type", f->type);
    if (f->brief_type != f->type)
        dh_json_put(object, "short", f->brief_type);
    dh_json_put(object, "field", f->name);
    if (f->is_element)
        dh_json_number(object, "element", f->element);
}

json_t *dh_json_location(const struct dh_finding_location *at)
{
    json_t *object = json_object();
    dh_json_put(object, "kind", dh_finding_places[at->place]);
    if (at->has_variable)
        put_variable(object, &at->variable);
    dh_json_put(object, "type", at->type);
    dh_json_put(object, "path", at->path);
    dh_json_put(object, "allocator", at->allocator);
    if (at->module) {
        dh_json_put(object, "module", at->module);
        put_hex(object, "module_offset", at->module_offset);
    }
    if (at->start) {
        put_hex(object, "start", at->start);
        dh_json_number(object, "size", at->size);
        dh_json_number(object, "offset", at->offset);
        put_flag(object, "freed", at->freed);
    }
    if (at->has_field)
        put_field(object, &at->field);
    if (at->allocated_at.n)
        put_trace(object, "allocated_at", &at->allocated_at);
    if (at->frame.n)
        put_trace(object, "frame", &at->frame);
    put_nonzero(object, "thread", at->thread);
    return object;
}

/* ---- How it is known ----------------------------------------------------------------------------------- */

static void put_witness(json_t *object, const struct dh_finding_witness *w)
{
    put_flag(object, "witness_checked", w->checked);
    dh_json_put(object, "no_witness", w->length ? NULL : w->missing);
    put_nonzero(object, "witness_length", w->length);
    if (!w->events)
        return;
    json_t *events = json_array();
    for (u64 i = 0; i < w->length; i++)
        json_array_append_new(events, json_integer((json_int_t)w->events[i] + 1));
    json_object_set_new(object, "witness", events);
}

static json_t *words(const struct dh_finding_word *list, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, dh_json_text(list[i].name));
    return array;
}

static void put_possible(json_t *object, const struct dh_finding_possible *p)
{
    dh_json_number(object, "pair", p->number);
    put_id(object, p->id);
    dh_json_number(object, "stands_for", p->stands_for);
    json_object_set_new(object, "flags", words(p->flags, p->n_flags));
    json_object_set_new(object, "why", words(p->reasons, p->n_reasons));
    if (!p->n_others)
        return;
    json_t *others = json_array();
    for (size_t i = 0; i < p->n_others; i++)
        json_array_append_new(others, dh_json_location(&p->others[i]));
    json_object_set_new(object, "or_on", others);
}

static void put_confirmed(json_t *object, const struct dh_model_confirmed *c)
{
    static const char *const orders[] = {NULL, "shown", "reversed", "both"};
    dh_json_put(object, "order", orders[c->order]);
    dh_json_put(object, "consequence", c->consequence);
    dh_json_put(object, "detail", c->detail);
}

static json_t *finding(struct dh_print *p, const struct dh_finding *f)
{
    static const char *const provenances[] = {"observed", "predicted", "possible", "confirmed"};
    json_t *object = json_object();
    dh_json_put(object, "provenance", provenances[f->provenance]);
    dh_json_put(object, "fingerprint", f->fingerprint.hash);
    dh_json_put(object, "identity", f->fingerprint.identity);
    if (f->fingerprint.old_hash[0])
        json_object_set_new(object, "earlier_fingerprints", json_pack("[s]", f->fingerprint.old_hash));
    put_nonzero(object, "count", f->count);
    put_nonzero(object, "processes", f->processes);
    dh_json_put(object, "summary", dh_finding_subject(&p->scratch, f));
    dh_json_put(object, "explanation", dh_finding_explain(&p->scratch, f));
    dh_json_put(object, "hint", dh_finding_hint(&p->scratch, f));
    dh_json_put(object, "detector", f->detector);
    dh_json_put(object, "guarantee", f->guarantee);
    dh_json_put(object, "process", f->process);
    put_nonzero(object, "pid", f->pid);
    dh_json_put(object, "exe", f->exe);
    if (f->provenance == DH_FINDING_PREDICTED)
        put_witness(object, &f->witness);
    if (f->provenance == DH_FINDING_POSSIBLE)
        put_possible(object, &f->possible);
    if (f->provenance == DH_FINDING_CONFIRMED)
        put_confirmed(object, &f->confirmed);
    json_object_set_new(object, "accesses",
                        json_pack("[oo]", access(p, &f->accesses[0]), access(p, &f->accesses[1])));
    json_object_set_new(object, "location", dh_json_location(&f->location));
    if (!f->variants)
        return object;
    json_t *variants = json_array();
    for (const struct dh_finding *v = f->variants; v; v = v->next)
        json_array_append_new(variants, finding(p, v));
    json_object_set_new(object, "variants", variants);
    return object;
}

void dh_json_write(struct dh_print *p, json_t *value)
{
    json_dumpf(value, p->out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    json_decref(value);
}

void dh_json_finding(struct dh_print *p, const struct dh_finding *f)
{
    fputs(p->n ? ",\n" : "\n", p->out);
    dh_json_write(p, finding(p, f));
}
