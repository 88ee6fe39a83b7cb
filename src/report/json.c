/*
 * json.c - findings for programs to read. docs/schema/findings.schema.json defines the members. Unknown
 * values are omitted: a value that is NULL here produces no member.
 */
#include "report/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/reporter.h"

/* Names come from ELF files and may not be UTF-8: json_string refuses those. Of them what is ASCII is kept.
 */
json_t *dh_json_text(const char *s)
{
    json_t *value = s ? json_string(s) : NULL;
    if (!s || value)
        return value;
    struct dh_arena arena = {0};
    char *ascii = dh_arena_strdup(&arena, s);
    for (char *at = ascii; *at; at++)
        *at = *at & 0x80 ? '?' : *at;
    value = json_string(ascii);
    dh_arena_done(&arena);
    return value;
}

json_t *dh_json_number(u64 n)
{
    return n ? json_integer((json_int_t)n) : NULL;
}

json_t *dh_json_object(const char *key, ...)
{
    json_t *object = json_object();
    va_list args;
    va_start(args, key);
    for (; key; key = va_arg(args, const char *)) {
        json_t *value = va_arg(args, json_t *);
        if (value)
            json_object_set_new(object, key, value);
    }
    va_end(args);
    return object;
}

/* Addresses may exceed 2^53, so they are strings. */
static json_t *hex(u64 n)
{
    return n ? json_sprintf("0x%" PRIx64, n) : NULL;
}

static json_t *id(u64 n)
{
    return n ? json_sprintf("%016" PRIx64, n) : NULL;
}

static json_t *yes(bool value)
{
    return value ? json_true() : NULL;
}

static json_t *list(const void *items, size_t n, size_t size, json_t *(*make)(const void *item))
{
    json_t *all = json_array();
    for (size_t i = 0; items && i < n; i++)
        json_array_append_new(all, make((const char *)items + i * size));
    return all;
}

/* The same, or NULL if there are none. */
static json_t *some(const void *items, size_t n, size_t size, json_t *(*make)(const void *item))
{
    return n ? list(items, n, size, make) : NULL;
}

/* ---- Accesses ------------------------------------------------------------------------------------------ */

static json_t *frame(const void *item)
{
    const struct dh_symbol_frame *f = item;
    return dh_json_object("function", dh_json_text(f->function), "short",
                          f->brief != f->function ? dh_json_text(f->brief) : NULL, "file",
                          dh_json_text(f->file), "line", dh_json_number((u64)f->line), "column",
                          dh_json_number((u64)f->column), "inlined", yes(f->inlined), "module",
                          dh_json_text(f->module), "offset", hex(f->offset), NULL);
}

static json_t *trace(const struct dh_symbol_trace *t)
{
    return some(t->frames, t->n, sizeof(*t->frames), frame);
}

static json_t *thread(const void *item)
{
    const struct dh_finding_thread *t = item;
    return dh_json_object("uid", dh_json_number(t->uid), "name", dh_json_text(t->name), "tid",
                          dh_json_number(t->tid), "parent", dh_json_number(t->parent), "kind",
                          dh_json_text(t->entry), "function", dh_json_text(t->function), "api",
                          dh_json_text(t->api), "instances",
                          dh_json_text(!t->entry ? NULL
                                       : t->many ? "many"
                                                 : "one"),
                          "created_at", trace(&t->created_at), NULL);
}

static json_t *lock(const void *item)
{
    const struct dh_finding_lock *l = item;
    const struct dh_symbol_frame *at = &l->declared_at;
    return dh_json_object("name", l->named ? dh_json_text(l->name) : NULL, "addr", hex(l->addr), "mode",
                          dh_json_text(l->shared ? "read" : "write"), "kind", dh_json_text(l->kind), "single",
                          l->kind ? json_boolean(!l->many) : NULL, "file", dh_json_text(at->file), "line",
                          dh_json_number((u64)at->line), "column", dh_json_number((u64)at->column),
                          "acquired_at", trace(&l->acquired_at), NULL);
}

/* Other places for which the same holds. */
static json_t *alike(const void *item)
{
    const struct dh_finding_alike *a = item;
    json_t *object = dh_json_object("id", id(a->site), "kind", dh_json_text(dh_finding_kinds[a->kind]),
                                    "atomic", json_boolean(a->atomic), NULL);
    json_object_update_new(object, frame(&a->at));
    return object;
}

/* The line to look at. */
static const char *line_of(struct dh_print *p, const struct dh_finding_access *a)
{
    const struct dh_symbol_frame *top = dh_symbol_top(&a->stack);
    struct dh_source_line line;
    return top && dh_words_source(p, top, top->line, &line) ? dh_words_trimmed(p, &line) : NULL;
}

static json_t *access(struct dh_print *p, const struct dh_finding_access *a)
{
    if (!a->known)
        return json_null();
    bool one = !a->site && a->n_threads; /* the static analysis may have any number */
    return dh_json_object(
        "kind", dh_json_text(dh_finding_kinds[a->kind]), "atomic", json_boolean(a->atomic), "range",
        yes(a->range), "addr", hex(a->addr), "size", dh_json_number(a->size), "thread",
        one ? thread(a->threads) : NULL, "threads",
        a->site ? list(a->threads, a->n_threads, sizeof(*a->threads), thread) : NULL, "threads_in_all",
        a->n_more_threads ? dh_json_number(a->n_threads + a->n_more_threads) : NULL, "id", id(a->site),
        "site", a->site ? json_integer(a->site_index) : NULL, "ordinal",
        a->site ? json_integer(a->ordinal) : NULL, "unit", dh_json_text(a->unit), "alike",
        some(a->alike, a->n_listed, sizeof(*a->alike), alike), "alike_in_all",
        a->n_listed < a->n_alike ? json_integer((json_int_t)a->n_alike) : NULL, "stack",
        list(a->stack.frames, a->stack.n, sizeof(*a->stack.frames), frame), "stack_folded",
        yes(a->stack_folded), "place", dh_json_text(a->place), "event", dh_json_number(a->event),
        "language_access", a->language_access ? json_integer((json_int_t)a->language_access - 1) : NULL,
        "text", dh_json_text(line_of(p, a)), "locks",
        a->locks_known ? list(a->locks, a->n_locks, sizeof(*a->locks), lock) : NULL, NULL);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

json_t *dh_json_location(const void *item)
{
    const struct dh_finding_location *at = item;
    const struct dh_symbol_variable no_variable = {0}, *v = at->has_variable ? &at->variable : &no_variable;
    const struct dh_symbol_field no_field = {0}, *f = at->has_field ? &at->field : &no_field;
    const char *type = at->type ? at->type : f->type, *brief = v->brief ? v->brief : f->brief_type;
    bool block = at->start != 0;
    return dh_json_object("kind", dh_json_text(dh_finding_places[at->place]), "name", dh_json_text(v->name),
                          "display", dh_json_text(v->display), "short",
                          brief != v->display && brief != f->type ? dh_json_text(brief) : NULL, "type",
                          dh_json_text(type), "path", dh_json_text(at->path), "field", dh_json_text(f->name),
                          "element", f->is_element ? json_integer((json_int_t)f->element) : NULL, "function",
                          dh_json_text(v->function), "file", dh_json_text(v->file), "line",
                          dh_json_number((u64)v->line), "size", dh_json_number(block ? at->size : v->size),
                          "offset", block ? json_integer((json_int_t)at->offset) : dh_json_number(v->offset),
                          "module", dh_json_text(at->module), "module_offset",
                          at->module ? hex(at->module_offset) : NULL, "start", hex(at->start), "freed",
                          block ? json_boolean(at->freed) : NULL, "allocator", dh_json_text(at->allocator),
                          "allocated_at", trace(&at->allocated_at), "frame", trace(&at->frame), "thread",
                          dh_json_number(at->thread), NULL);
}

/* ---- How it is known ----------------------------------------------------------------------------------- */

static json_t *event(const void *item)
{
    return json_integer((json_int_t) * (const u32 *)item + 1);
}

static json_t *word(const void *item)
{
    return dh_json_text(((const struct dh_finding_word *)item)->name);
}

/* Members specific to its provenance. */
static json_t *proof(const struct dh_finding *f)
{
    static const char *const orders[] = {NULL, "shown", "reversed", "both"};
    const struct dh_finding_witness *w = &f->witness;
    const struct dh_finding_possible *p = &f->possible;
    const struct dh_model_confirmed *c = &f->confirmed;
    switch (f->provenance) {
    case DH_FINDING_PREDICTED:
        return dh_json_object("witness_checked", json_boolean(w->checked), "no_witness",
                              w->length ? NULL : dh_json_text(w->missing), "witness_length",
                              dh_json_number(w->length), "witness",
                              w->events ? list(w->events, w->length, sizeof(*w->events), event) : NULL, NULL);
    case DH_FINDING_POSSIBLE:
        return dh_json_object("pair", json_integer(p->number), "id", id(p->id), "stands_for",
                              dh_json_number(p->stands_for), "flags",
                              list(p->flags, p->n_flags, sizeof(*p->flags), word), "why",
                              list(p->reasons, p->n_reasons, sizeof(*p->reasons), word), "or_on",
                              some(p->others, p->n_others, sizeof(*p->others), dh_json_location), NULL);
    case DH_FINDING_CONFIRMED:
        return dh_json_object("order", dh_json_text(orders[c->order]), "consequence",
                              dh_json_text(c->consequence), "detail", dh_json_text(c->detail), "atomics",
                              dh_json_text(c->maybe_atomic ? "unknown" : NULL), "analysis",
                              dh_json_text(c->analysis), NULL);
    case DH_FINDING_OBSERVED:
        break;
    }
    return json_object();
}

/* The data behind the hint. */
static json_t *discipline(const struct dh_finding *f)
{
    const struct dh_finding_discipline *d = &f->discipline;
    const struct dh_symbol_frame *call = dh_symbol_top(&d->taken_at);
    bool newest = f->accesses[0].newest_thread || f->accesses[1].newest_thread;
    return dh_json_object("accesses", dh_json_number(d->accesses), "held", dh_json_number(d->held), "lock",
                          dh_json_text(d->lock), "held_from", dh_json_number(d->held_from), "taken_at",
                          call ? frame(call) : NULL, "observations", dh_json_number(d->observations),
                          "ordered", dh_json_number(d->ordered), "ordered_by", dh_json_text(d->order),
                          "newest_thread", newest ? dh_json_number(f->newest_thread) : NULL, NULL);
}

/* In how many runs of how many, where they are counted. */
static json_t *runs(const struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_print_records *r = p->about->records;
    double low, high;
    if (!r || !r->result->runs || !f->runs)
        return NULL;
    dh_words_interval(f->runs, r->result->runs, &low, &high);
    return json_pack("{sI sI sf sf sf}", "seen", (json_int_t)f->runs, "of", (json_int_t)r->result->runs,
                     "rate", (double)f->runs / (double)r->result->runs, "low", low, "high", high);
}

json_t *dh_json_of_finding(struct dh_print *p, const struct dh_finding *f)
{
    static const char *const provenances[] = {"observed", "predicted", "possible", "confirmed"};
    const struct dh_fingerprint *print = &f->fingerprint;
    static const char *const baselines[] = {
        [DH_FINDING_UNCOMPARED] = NULL, [DH_FINDING_NEW] = "new", [DH_FINDING_KNOWN] = "known"};
    const char *hint = dh_finding_hint(&p->scratch, f);
    json_t *variants = f->variants ? json_array() : NULL;
    for (const struct dh_finding *v = f->variants; v; v = v->next)
        json_array_append_new(variants, dh_json_of_finding(p, v));
    json_t *object = dh_json_object(
        "provenance", dh_json_text(provenances[f->provenance]), "fingerprint", dh_json_text(print->hash),
        "identity", dh_json_text(print->identity), "earlier_fingerprints",
        print->old_hash[0] ? json_pack("[s]", print->old_hash) : NULL, "baseline",
        dh_json_text(baselines[f->baseline]), "count", dh_json_number(f->count), "processes",
        dh_json_number(f->processes), "runs", runs(p, f), "summary",
        dh_json_text(dh_finding_subject(&p->scratch, f)), "explanation",
        dh_json_text(dh_finding_explain(&p->scratch, f)), "hint", dh_json_text(hint), "discipline",
        hint ? discipline(f) : NULL, "detector", dh_json_text(f->detector), "guarantee",
        dh_json_text(f->guarantee), "process", dh_json_text(f->process), "pid", dh_json_number(f->pid), "exe",
        dh_json_text(f->exe), "test", f->test && f->test[0] ? dh_json_text(f->test) : NULL, "accesses",
        json_pack("[oo]", access(p, &f->accesses[0]), access(p, &f->accesses[1])), "location",
        dh_json_location(&f->location), "variants", variants, NULL);
    json_object_update_new(object, proof(f));
    return object;
}

/* DEL is the one control character that jansson leaves as it is. */
static int put_escaped(const char *s, size_t n, void *out)
{
    for (size_t i = 0, plain; i < n; i += plain + 1) {
        const char *at = memchr(s + i, '\x7f', n - i);
        plain = at ? (size_t)(at - s) - i : n - i;
        fwrite(s + i, 1, plain, out);
        if (at)
            fputs("\\u007F", out);
    }
    return 0;
}

void dh_json_put(FILE *out, const json_t *value, size_t flags)
{
    json_dump_callback(value, put_escaped, out, flags | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
}

void dh_json_write(struct dh_print *p, json_t *value)
{
    dh_json_put(p->out, value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
}

void dh_json_finding(struct dh_print *p, const struct dh_finding *f)
{
    fputs(p->n ? ",\n" : "\n", p->out);
    dh_json_write(p, dh_json_of_finding(p, f));
}
