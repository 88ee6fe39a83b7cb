/*
 * json.c - a symbolised race for programs to read. docs/guide/report.md documents the members.
 */
#include "report/print.h"

static const char *const kinds[] = {"read", "write", "free"};

/* Addresses may pass 2^53, so they are strings. */
static json_t *hex(u64 value)
{
    return json_sprintf("0x%llx", (unsigned long long)value);
}

/* Names come from ELF files and may not be UTF-8: json_string refuses those. */
static json_t *text(const char *s)
{
    json_t *value = s ? json_string(s) : json_null();
    return value ? value : json_string("?");
}

static json_t *trace(const struct dh_symbol_trace *t)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->n; i++) {
        const struct dh_symbol_frame *f = &t->frames[i];
        json_array_append_new(list,
                              json_pack("{so so si si sb so so}", "function", text(f->function), "file",
                                        text(f->file), "line", f->line, "column", f->column, "inlined",
                                        f->inlined, "module", text(f->module), "offset", hex(f->offset)));
    }
    return list;
}

static json_t *thread(const struct dh_finding_thread *t)
{
    json_t *object = json_pack("{sI}", "uid", (json_int_t)t->uid);
    if (t->name) {
        json_object_set_new(object, "name", text(t->name));
        json_object_set_new(object, "tid", json_integer((json_int_t)t->tid));
        json_object_set_new(object, "parent", json_integer((json_int_t)t->parent));
        json_object_set_new(object, "created_at", trace(&t->created_at));
    }
    return object;
}

static json_t *access(const struct dh_finding_access *a)
{
    json_t *locks = json_array();
    for (size_t i = 0; i < a->n_locks; i++) {
        const struct dh_finding_lock *l = &a->locks[i];
        json_array_append_new(locks,
                              json_pack("{so so ss so}", "name", l->named ? text(l->name) : json_null(),
                                        "addr", hex(l->addr), "mode", l->shared ? "read" : "write",
                                        "acquired_at", trace(&l->acquired_at)));
    }
    return json_pack("{ss sb sb so sI so so so}", "kind", kinds[a->kind], "atomic", a->atomic, "range",
                     a->range, "addr", hex(a->addr), "size", (json_int_t)a->size, "thread",
                     thread(a->threads), "stack", trace(&a->stack), "locks", locks);
}

static json_t *location(const struct dh_finding_location *at)
{
    static const char *const places[] = {"unknown", "heap", "global", "stack", "tls"};
    json_t *object = json_pack("{ss}", "kind", places[at->place]);
    if (at->place == DH_MODEL_GLOBAL) {
        json_object_set_new(object, "module", text(at->module));
        json_object_set_new(object, "module_offset", hex(at->module_offset));
    }
    if (at->has_variable) {
        const struct dh_symbol_variable *var = &at->variable;
        json_object_set_new(object, "name", text(var->name));
        json_object_set_new(object, "display", text(var->display));
        json_object_set_new(object, "function", text(var->function));
        json_object_set_new(object, "size", json_integer((json_int_t)var->size));
        json_object_set_new(object, "offset", json_integer((json_int_t)var->offset));
        json_object_set_new(object, "file", text(var->file));
        json_object_set_new(object, "line", json_integer(var->line));
    }
    if (at->frame.n)
        json_object_set_new(object, "frame", trace(&at->frame));
    if (at->place == DH_MODEL_HEAP) {
        json_object_set_new(object, "start", hex(at->start));
        json_object_set_new(object, "size", json_integer((json_int_t)at->size));
        json_object_set_new(object, "offset", json_integer((json_int_t)at->offset));
        json_object_set_new(object, "freed", json_boolean(at->freed));
        json_object_set_new(object, "allocated_at", trace(&at->allocated_at));
    }
    if (at->thread)
        json_object_set_new(object, "thread", json_integer((json_int_t)at->thread));
    return object;
}

json_t *dh_print_json(const struct dh_group *group)
{
    const struct dh_finding *f = group->finding;
    struct dh_arena arena = {0};
    json_t *race =
        json_pack("{ss so sI sI so so}", "fingerprint", f->fingerprint, "identity", text(f->identity),
                  "count", (json_int_t)group->count, "processes", (json_int_t)group->processes, "summary",
                  text(dh_finding_subject(&arena, f)), "explanation", text(dh_finding_explain(&arena, f)));
    json_object_update_missing_new(race, json_pack("{ss sI so so so}", "process", f->process, "pid",
                                                   (json_int_t)f->pid, "exe", text(f->exe), "detector",
                                                   text(f->detector), "guarantee", text(f->guarantee)));
    json_object_set_new(race, "accesses",
                        json_pack("[oo]", access(&f->accesses[0]), access(&f->accesses[1])));
    const char *hint = dh_finding_hint(&arena, f);
    if (hint)
        json_object_set_new(race, "hint", text(hint));
    json_object_set_new(race, "location", location(&f->location));
    dh_arena_done(&arena);
    return race;
}
