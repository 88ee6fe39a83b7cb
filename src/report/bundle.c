/*
 * bundle.c - see bundle.h.
 *
 * A table for each structure lists the members of its line, so that writing and reading cannot disagree. Zero
 * values are omitted. Input is not trusted: missing mandatory names become "?", enumeration values are
 * checked, and the fingerprint is computed again.
 */
#include "report/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "util/path.h"

enum type { TEXT, NAME, FILE_NAME, NUMBER, INTEGER, FLAG, KIND, PART, LIST };

struct shape;
struct member {
    const char *name;
    size_t at;              /* in the structure */
    size_t count;           /* LIST: where its length is */
    const struct shape *of; /* PART, LIST */
    enum type type;
    int most; /* KIND */
};

struct shape {
    size_t size;
    const struct member *members;
    size_t n;
};

/* NAME: never NULL. FILE_NAME: a source, which may be elsewhere now. */
#define MEMBER(structure, type, member) {#member, offsetof(struct structure, member), 0, NULL, type, 0}
#define MEMBER_KIND(structure, member, most) \
    {#member, offsetof(struct structure, member), 0, NULL, KIND, most}
#define MEMBER_PART(structure, member, of) {#member, offsetof(struct structure, member), 0, of, PART, 0}
#define MEMBER_LIST(structure, member, n, of) \
    {#member, offsetof(struct structure, member), offsetof(struct structure, n), of, LIST, 0}
#define SHAPE(name, structure, ...)                              \
    static const struct member name##_members[] = {__VA_ARGS__}; \
    static const struct shape name = {sizeof(struct structure), name##_members, DH_ARRAY_LEN(name##_members)}

SHAPE(frame, dh_symbol_frame, MEMBER(dh_symbol_frame, TEXT, function), MEMBER(dh_symbol_frame, TEXT, brief),
      MEMBER(dh_symbol_frame, TEXT, shown), MEMBER(dh_symbol_frame, FILE_NAME, file),
      MEMBER(dh_symbol_frame, TEXT, unit_file), MEMBER(dh_symbol_frame, TEXT, module),
      MEMBER(dh_symbol_frame, NUMBER, offset), MEMBER(dh_symbol_frame, INTEGER, line),
      MEMBER(dh_symbol_frame, INTEGER, column), MEMBER(dh_symbol_frame, FLAG, inlined));
SHAPE(trace, dh_symbol_trace, MEMBER_LIST(dh_symbol_trace, frames, n, &frame));
SHAPE(thread, dh_finding_thread, MEMBER(dh_finding_thread, NAME, label),
      MEMBER(dh_finding_thread, TEXT, name), MEMBER(dh_finding_thread, NUMBER, uid),
      MEMBER(dh_finding_thread, NUMBER, tid), MEMBER(dh_finding_thread, NUMBER, parent),
      MEMBER(dh_finding_thread, TEXT, parent_label), MEMBER_PART(dh_finding_thread, created_at, &trace));
SHAPE(lock, dh_finding_lock, MEMBER(dh_finding_lock, NAME, name), MEMBER(dh_finding_lock, NAME, shown),
      MEMBER(dh_finding_lock, FLAG, named), MEMBER(dh_finding_lock, FLAG, shared),
      MEMBER(dh_finding_lock, NUMBER, addr), MEMBER_PART(dh_finding_lock, acquired_at, &trace));
SHAPE(access, dh_finding_access, MEMBER(dh_finding_access, FLAG, known),
      MEMBER_KIND(dh_finding_access, kind, DH_MODEL_UPDATE), MEMBER(dh_finding_access, FLAG, atomic),
      MEMBER(dh_finding_access, FLAG, range), MEMBER(dh_finding_access, FLAG, stack_folded),
      MEMBER(dh_finding_access, NUMBER, addr), MEMBER(dh_finding_access, NUMBER, size),
      MEMBER(dh_finding_access, FLAG, at_least), MEMBER_LIST(dh_finding_access, threads, n_threads, &thread),
      MEMBER(dh_finding_access, NAME, run_by), MEMBER_PART(dh_finding_access, stack, &trace),
      MEMBER(dh_finding_access, FLAG, newest_thread), MEMBER(dh_finding_access, FLAG, locks_known),
      MEMBER_LIST(dh_finding_access, locks, n_locks, &lock));
SHAPE(variable, dh_symbol_variable, MEMBER(dh_symbol_variable, NAME, name),
      MEMBER(dh_symbol_variable, NAME, display), MEMBER(dh_symbol_variable, NAME, shape),
      MEMBER(dh_symbol_variable, TEXT, function), MEMBER(dh_symbol_variable, NAME, brief),
      MEMBER(dh_symbol_variable, NAME, shown), MEMBER(dh_symbol_variable, NAME, shown_name),
      MEMBER(dh_symbol_variable, TEXT, shown_function), MEMBER(dh_symbol_variable, FILE_NAME, file),
      MEMBER(dh_symbol_variable, INTEGER, line), MEMBER(dh_symbol_variable, NUMBER, size),
      MEMBER(dh_symbol_variable, NUMBER, offset));
SHAPE(field, dh_symbol_field, MEMBER(dh_symbol_field, NAME, type), MEMBER(dh_symbol_field, NAME, name),
      MEMBER(dh_symbol_field, NAME, member), MEMBER(dh_symbol_field, NAME, brief_type),
      MEMBER(dh_symbol_field, NAME, brief_member), MEMBER(dh_symbol_field, NAME, shown_type),
      MEMBER(dh_symbol_field, FLAG, is_element), MEMBER(dh_symbol_field, NUMBER, element));
SHAPE(location, dh_finding_location, MEMBER_KIND(dh_finding_location, place, DH_MODEL_TLS),
      MEMBER(dh_finding_location, FLAG, has_variable), MEMBER_PART(dh_finding_location, variable, &variable),
      MEMBER(dh_finding_location, TEXT, type), MEMBER(dh_finding_location, TEXT, path),
      MEMBER(dh_finding_location, TEXT, module), MEMBER(dh_finding_location, NUMBER, module_offset),
      MEMBER(dh_finding_location, NUMBER, start), MEMBER(dh_finding_location, NUMBER, size),
      MEMBER(dh_finding_location, NUMBER, offset), MEMBER(dh_finding_location, FLAG, freed),
      MEMBER(dh_finding_location, TEXT, allocator), MEMBER_PART(dh_finding_location, allocated_at, &trace),
      MEMBER(dh_finding_location, FLAG, has_field), MEMBER_PART(dh_finding_location, field, &field),
      MEMBER_PART(dh_finding_location, frame, &trace), MEMBER(dh_finding_location, NUMBER, thread),
      MEMBER(dh_finding_location, TEXT, thread_label));
SHAPE(discipline, dh_finding_discipline, MEMBER(dh_finding_discipline, NUMBER, accesses),
      MEMBER(dh_finding_discipline, TEXT, lock), MEMBER(dh_finding_discipline, NUMBER, held),
      MEMBER_PART(dh_finding_discipline, taken_at, &trace), MEMBER(dh_finding_discipline, NUMBER, held_from),
      MEMBER(dh_finding_discipline, NUMBER, observations), MEMBER(dh_finding_discipline, TEXT, order),
      MEMBER(dh_finding_discipline, NUMBER, order_addr), MEMBER(dh_finding_discipline, NUMBER, ordered),
      MEMBER(dh_finding_discipline, FLAG, lacks[0]), MEMBER(dh_finding_discipline, FLAG, lacks[1]),
      MEMBER(dh_finding_discipline, FLAG, lacks_from[0]), MEMBER(dh_finding_discipline, FLAG, lacks_from[1]));
SHAPE(confirmed, dh_model_confirmed, MEMBER_KIND(dh_model_confirmed, order, DH_MODEL_BOTH),
      MEMBER(dh_model_confirmed, TEXT, consequence), MEMBER(dh_model_confirmed, TEXT, detail),
      MEMBER(dh_model_confirmed, TEXT, analysis), MEMBER(dh_model_confirmed, FLAG, maybe_atomic));
SHAPE(fingerprint, dh_fingerprint, MEMBER(dh_fingerprint, NAME, identity));
SHAPE(finding, dh_finding, MEMBER_KIND(dh_finding, provenance, DH_FINDING_CONFIRMED),
      MEMBER_PART(dh_finding, accesses[0], &access), MEMBER_PART(dh_finding, accesses[1], &access),
      MEMBER_PART(dh_finding, location, &location), MEMBER_PART(dh_finding, discipline, &discipline),
      MEMBER(dh_finding, NUMBER, newest_thread), MEMBER_PART(dh_finding, fingerprint, &fingerprint),
      MEMBER(dh_finding, TEXT, memory), MEMBER(dh_finding, NUMBER, count),
      MEMBER_PART(dh_finding, confirmed, &confirmed));

/* ---- Writing ------------------------------------------------------------------------------------------- */

static json_t *save(const struct shape *s, const char *structure);

static json_t *save_list(const struct shape *s, const char *items, size_t n)
{
    json_t *list = n ? json_array() : NULL;
    for (size_t i = 0; i < n; i++) {
        json_t *item = save(s, items + i * s->size);
        json_array_append_new(list, item ? item : json_object());
    }
    return list;
}

static json_t *save_member(const struct member *m, const char *at, const char *structure)
{
    int integer;
    switch (m->type) {
    case TEXT:
    case NAME:
    case FILE_NAME:
        return dh_json_text(*(const char *const *)at);
    case NUMBER: /* which may pass 2^63 */
        return *(const u64 *)at ? json_sprintf("%" PRIx64, *(const u64 *)at) : NULL;
    case FLAG:
        return *(const bool *)at ? json_true() : NULL;
    case INTEGER:
    case KIND:
        memcpy(&integer, at, sizeof(integer));
        return integer ? json_integer(integer) : NULL;
    case PART:
        return save(m->of, at);
    case LIST:
        return save_list(m->of, *(const char *const *)at, *(const size_t *)(structure + m->count));
    }
    return NULL;
}

/* NULL: all of it is zero. */
static json_t *save(const struct shape *s, const char *structure)
{
    json_t *object = json_object();
    for (size_t i = 0; i < s->n; i++) {
        json_t *value = save_member(&s->members[i], structure + s->members[i].at, structure);
        if (value)
            json_object_set_new(object, s->members[i].name, value);
    }
    if (json_object_size(object))
        return object;
    json_decref(object);
    return NULL;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

struct loader {
    struct dh_arena *arena;
    const struct dh_path_map *paths;
    struct dh_map texts; /* equal texts share a pointer, which shows whether a name was shortened */
};

static const char *intern(struct loader *l, const char *text)
{
    char *known = dh_map_get(&l->texts, text, strlen(text));
    if (!known) {
        known = dh_arena_strdup(l->arena, text);
        dh_map_put(&l->texts, text, strlen(text), known);
    }
    return known;
}

static void load(struct loader *l, const struct shape *s, const json_t *object, char *ret);

static void load_list(struct loader *l, const struct member *m, const json_t *list, char *at, char *structure)
{
    size_t n = json_array_size(list);
    char *items = dh_arena_array(l->arena, n, m->of->size);
    for (size_t i = 0; i < n; i++)
        load(l, m->of, json_array_get(list, i), items + i * m->of->size);
    *(char **)at = items;
    *(size_t *)(structure + m->count) = n;
}

static void load_member(struct loader *l, const struct member *m, const json_t *value, char *at,
                        char *structure)
{
    const char *text = json_string_value(value);
    json_int_t number = json_integer_value(value);
    int integer = number >= 0 && number <= (m->type == KIND ? m->most : INT32_MAX) ? (int)number : 0;
    switch (m->type) {
    case TEXT:
        *(const char **)at = text ? intern(l, text) : NULL;
        break;
    case NAME:
        *(const char **)at = intern(l, text ? text : "?");
        break;
    case FILE_NAME:
        *(const char **)at = text ? intern(l, dh_path_mapped(l->arena, l->paths, text)) : NULL;
        break;
    case NUMBER:
        *(u64 *)at = text ? strtoull(text, NULL, 16) : 0;
        break;
    case FLAG:
        *(bool *)at = json_is_true(value);
        break;
    case INTEGER:
    case KIND:
        memcpy(at, &integer, sizeof(integer));
        break;
    case PART:
        if (json_is_object(value))
            load(l, m->of, value, at);
        break;
    case LIST:
        load_list(l, m, value, at, structure);
        break;
    }
}

static void load(struct loader *l, const struct shape *s, const json_t *object, char *ret)
{
    for (size_t i = 0; i < s->n; i++)
        load_member(l, &s->members[i], json_object_get(object, s->members[i].name), ret + s->members[i].at,
                    ret);
    if (s == &frame) {
        struct dh_symbol_frame *f = (struct dh_symbol_frame *)ret;
        f->brief = f->function && f->brief ? f->brief : f->function;
        f->shown = f->function && f->shown ? f->shown : f->function;
    } else if (s == &variable) {
        struct dh_symbol_variable *v = (struct dh_symbol_variable *)ret;
        v->shown_function = v->function && v->shown_function ? v->shown_function : v->function;
    } else if (s == &thread) {
        struct dh_finding_thread *t = (struct dh_finding_thread *)ret;
        t->parent = t->parent_label ? t->parent : 0;
    } else if (s == &location) {
        struct dh_finding_location *at = (struct dh_finding_location *)ret;
        at->thread = at->thread_label ? at->thread : 0;
        at->has_variable &= at->variable.name != NULL;
        at->has_field &= at->field.name != NULL;
    }
}

struct dh_finding *dh_bundle_read(struct dh_model *m, const struct dh_model_process *process,
                                  const json_t *object)
{
    struct dh_finding *f = dh_arena_alloc(m->arena, sizeof(*f));
    struct loader l = {.arena = m->arena, .paths = m->paths};
    const json_t *old = json_object_get(object, "earlier");
    if (!json_is_string(json_object_get(json_object_get(object, "fingerprint"), "identity")))
        return NULL;
    dh_map_init(&l.texts, m->arena);
    load(&l, &finding, object, (char *)f);
    dh_map_done(&l.texts);
    for (int i = 0; i < 2; i++)
        if (!f->accesses[i].n_threads)
            return NULL;
    if (f->provenance != DH_FINDING_CONFIRMED)
        f->provenance = DH_FINDING_OBSERVED; /* the others are never in a record */
    dh_finding_name_process(f, process);
    dh_finding_name_test(m->arena, f);
    dh_fingerprint_hash(f->fingerprint.identity, f->fingerprint.hash);
    if (json_is_string(old) && dh_fingerprint_is_valid(json_string_value(old), json_string_length(old)))
        memcpy(f->fingerprint.old_hash, json_string_value(old), DH_FINGERPRINT_LENGTH);
    return f;
}

/* ---- The file ------------------------------------------------------------------------------------------ */

/* Records older than version 2 have no ids. */
static const char *id_of(struct dh_arena *a, const struct dh_model_process *p)
{
    return p->id[0] ? p->id : dh_arena_printf(a, "%032" PRIx64, p->pid);
}

static json_t *begin_line(struct dh_arena *a, const struct dh_model_process *p, const char *type)
{
    return json_pack("{si ss ss sI}", "v", 2, "type", type, "process", id_of(a, p), "pid",
                     (json_int_t)p->pid);
}

/* Merges in the second object, which is dropped. */
static void end_line(FILE *out, json_t *line, json_t *members)
{
    json_object_update_new(line, members);
    json_dumpf(line, out, JSON_COMPACT | JSON_ENSURE_ASCII);
    fputc('\n', out);
    json_decref(line);
}

static void write_process(FILE *out, struct dh_arena *a, const struct dh_model_process *p)
{
    json_t *args = json_array();
    for (size_t i = 0; i < p->n_args; i++)
        json_array_append_new(args, dh_json_text(p->args[i]));
    end_line(out, begin_line(a, p, "process"),
             dh_json_object("exe", dh_json_text(p->exe), "detector", dh_json_text(p->detector), "guarantee",
                            dh_json_text(p->guarantee), "cwd", dh_json_text(p->cwd), "args", args, "started",
                            dh_json_number(p->started), "host", dh_json_text(p->host), "test",
                            dh_json_text(p->test), NULL));
}

/* The lines that a report may show around a frame, once. */
static void write_source(FILE *out, struct dh_arena *a, const struct dh_model_process *p,
                         struct dh_source *source, struct dh_map *written, const struct dh_symbol_frame *f)
{
    enum { AROUND = 3 };
    struct dh_source_line line;
    const char *text = "", *key = f->file ? dh_arena_printf(a, "%s\n%d", f->file, f->line) : NULL;
    int first = 0;
    if (!key || dh_map_get(written, key, strlen(key)))
        return;
    dh_map_put(written, key, strlen(key), written);
    for (int n = f->line - AROUND; n <= f->line + AROUND; n++) {
        if (!dh_source_line(source, f->file, n, &line))
            continue;
        first = first ? first : n;
        text = dh_arena_printf(a, "%s%.*s\n", text, (int)line.len, line.text);
    }
    if (first)
        end_line(out, begin_line(a, p, "source"),
                 dh_json_object("file", dh_json_text(f->file), "first", json_integer(first), "text",
                                dh_json_text(text), NULL));
}

static void write_sources(FILE *out, struct dh_arena *a, const struct dh_model_process *p,
                          struct dh_source *source, struct dh_map *written, const struct dh_finding *f)
{
    const struct dh_symbol_frame declared = {.file = f->location.variable.file,
                                             .line = f->location.variable.line};
    write_source(out, a, p, source, written, &declared);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < f->accesses[i].stack.n; k++)
            write_source(out, a, p, source, written, &f->accesses[i].stack.frames[k]);
}

static void write_finding(FILE *out, struct dh_arena *a, const struct dh_group *g, const struct dh_map *seen,
                          const struct dh_model *model, const struct dh_model_process *first)
{
    const char *old = g->finding->fingerprint.old_hash;
    json_t *also = json_array(), *object = save(&finding, (const char *)g->finding);
    for (const struct dh_model_process *p = model->process; p; p = p->next) {
        const void *key[] = {g, p};
        if (p != first && dh_map_get(seen, key, sizeof(key)))
            json_array_append_new(also, json_string(id_of(a, p)));
    }
    json_object_set_new(object, "also", also);
    json_object_set_new(object, "earlier", old[0] ? json_string(old) : NULL);
    end_line(out, begin_line(a, first, "finding"), object);
}

static const struct dh_model_process *process_of(const struct dh_model *model, const struct dh_finding *f)
{
    const struct dh_model_process *p = model->process;
    while (p && !(p->pid == f->pid && strcmp(p->id, f->process) == 0))
        p = p->next;
    return p;
}

static void write_counters(FILE *out, struct dh_arena *a, const struct dh_model *model)
{
    json_t *values = json_object();
    size_t at = 0, len;
    const void *key;
    void *value;
    while (dh_map_next(&model->counters, &at, &key, &len, &value))
        json_object_set_new(values, dh_arena_dup(a, key, len), json_integer((json_int_t) * (u64 *)value));
    end_line(out, begin_line(a, model->process, "counters"), json_pack("{so}", "values", values));
}

void dh_bundle_write(FILE *out, const struct dh_model *model, const struct dh_groups *groups,
                     const struct dh_map *seen, struct dh_source *source)
{
    struct dh_arena arena = {0};
    struct dh_map written;
    dh_map_init(&written, &arena);
    /* The list begins with the last one. */
    size_t n = 0;
    for (const struct dh_model_process *p = model->process; p; p = p->next)
        n++;
    const struct dh_model_process **all = dh_arena_array(&arena, n, sizeof(*all));
    for (const struct dh_model_process *p = model->process; p; p = p->next)
        all[--n] = p;
    for (const struct dh_model_process *p = model->process; p; p = p->next, n++)
        write_process(out, &arena, all[n]);
    for (const struct dh_group *g = groups->first; g; g = g->next) {
        const struct dh_model_process *p = process_of(model, g->finding);
        if (!p || g->rule)
            continue;
        if (source)
            write_sources(out, &arena, p, source, &written, g->finding);
        write_finding(out, &arena, g, seen, model, p);
    }
    if (model->process)
        write_counters(out, &arena, model);
    for (size_t i = 0; i < n; i++)
        if (all[i]->ended)
            end_line(out, begin_line(&arena, all[i], "end"), json_pack("{si}", "races", 0));
    dh_map_done(&written);
    dh_arena_done(&arena);
}
