/*
 * record.c - from one line of JSON to the model. See record.h and docs/design/race-record.md.
 *
 * Nothing in a line is trusted: every member is checked for type and range, and a reference to a module that
 * was not announced makes the line bad. Threads may be missing (a report does not need their names).
 */
#include "report/record.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/bundle.h"

enum { MAX_FRAMES = 1 << 16, MAX_LOCKS = 1 << 12 };

struct reader {
    struct dh_model *m;
    struct dh_model_process *process;
    struct dh_record_error *err;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->err->text, sizeof(r->err->text), format, args);
    va_end(args);
    return -EINVAL;
}

/* ---- Scalars ------------------------------------------------------------------------------------- */

/* A JSON integer, or a hex string "0x...". */
static int number(struct reader *r, const json_t *value, const char *what, u64 *ret)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *ret = (u64)json_integer_value(value);
        return 0;
    }
    const char *s = json_string_value(value);
    if (s && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && s[2] && strlen(s) <= 18 &&
        strspn(s + 2, "0123456789abcdefABCDEF") == strlen(s + 2)) {
        *ret = strtoull(s, NULL, 16);
        return 0;
    }
    return fail(r, "'%s' is not a number", what);
}

static int get_number(struct reader *r, const json_t *object, const char *key, u64 *ret)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return fail(r, "'%s' is missing", key);
    return number(r, value, key, ret);
}

static int get_number_or(struct reader *r, const json_t *object, const char *key, u64 otherwise, u64 *ret)
{
    const json_t *value = json_object_get(object, key);
    if (value)
        return number(r, value, key, ret);
    *ret = otherwise;
    return 0;
}

static const char *get_text(struct reader *r, const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return dh_arena_strdup(r->m->arena, s ? s : "");
}

static const char *const *get_texts(struct reader *r, const json_t *object, const char *key, size_t *ret_n)
{
    const json_t *list = json_object_get(object, key);
    size_t n = json_array_size(list);
    const char **texts = dh_arena_array(r->m->arena, n, sizeof(*texts));
    for (size_t i = 0; i < n; i++) {
        const char *s = json_string_value(json_array_get(list, i));
        texts[i] = dh_arena_strdup(r->m->arena, s ? s : "");
    }
    *ret_n = n;
    return texts;
}

static bool get_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* The index of a word in a list that ends with NULL, or -1. */
static int get_word(const json_t *object, const char *key, const char *const *words)
{
    const char *s = json_string_value(json_object_get(object, key));
    for (int i = 0; s && words[i]; i++) {
        if (strcmp(s, words[i]) == 0)
            return i;
    }
    return -1;
}

/* ---- Parts ------------------------------------------------------------------------------------------ */

/* A module by its id; -1 is the unknown module and gives NULL. */
static int module(struct reader *r, const json_t *id, const struct dh_model_module **ret)
{
    if (!json_is_integer(id))
        return fail(r, "a module id is not a number");
    json_int_t n = json_integer_value(id);
    int key = (int)n;
    if (n == -1) {
        *ret = NULL;
        return 0;
    }
    *ret = n < 0 || n != key ? NULL : dh_map_get(&r->process->modules, &key, sizeof(key));
    return *ret ? 0 : fail(r, "module %lld has not been announced", (long long)n);
}

static int place_in_module(struct reader *r, const json_t *object, const struct dh_model_module **ret_module,
                           u64 *ret_offset)
{
    int rc = module(r, json_object_get(object, "module"), ret_module);
    return rc ? rc : get_number(r, object, "offset", ret_offset);
}

static int frame(struct reader *r, const json_t *value, const char *key, size_t i, struct dh_model_frame *ret)
{
    if (!json_is_array(value) || json_array_size(value) < 2)
        return fail(r, "frame %zu of '%s' is not a pair", i, key);
    int rc = module(r, json_array_get(value, 0), &ret->module);
    return rc ? rc : number(r, json_array_get(value, 1), "offset", &ret->offset);
}

static int stack(struct reader *r, const json_t *object, const char *key, struct dh_model_stack *ret)
{
    const json_t *list = json_object_get(object, key);
    *ret = (struct dh_model_stack){0};
    if (!list)
        return 0;
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > MAX_FRAMES)
        return fail(r, "'%s' is not a stack", key);
    ret->frames = dh_arena_array(r->m->arena, n, sizeof(*ret->frames));
    ret->n = n;
    for (size_t i = 0; i < n; i++) {
        int rc = frame(r, json_array_get(list, i), key, i, &ret->frames[i]);
        if (rc)
            return rc;
    }
    return 0;
}

static int lock(struct reader *r, const json_t *object, struct dh_model_lock *ret)
{
    const char *mode = json_string_value(json_object_get(object, "mode"));
    int rc = get_number(r, object, "addr", &ret->addr);
    if (rc)
        return rc;
    ret->read_mode = mode && strcmp(mode, "read") == 0;
    if (json_object_get(object, "module")) {
        rc = place_in_module(r, object, &ret->module, &ret->offset);
        if (rc)
            return rc;
    }
    return stack(r, object, "acquired_at", &ret->acquired_at);
}

static int access(struct reader *r, const json_t *object, struct dh_model_access *ret)
{
    static const char *const kinds[] = {"read", "write", "free", NULL};
    int kind = get_word(object, "kind", kinds);
    if (kind < 0)
        return fail(r, "an access has no 'kind' of read, write or free");
    ret->kind = (enum dh_model_kind)kind;
    ret->atomic = get_flag(object, "atomic");
    ret->range = get_flag(object, "range");
    ret->stack_folded = get_flag(object, "stack_folded");
    int rc = get_number(r, object, "addr", &ret->addr);
    if (!rc)
        rc = get_number(r, object, "size", &ret->size);
    if (!rc)
        rc = get_number(r, object, "thread", &ret->thread);
    if (!rc)
        rc = stack(r, object, "stack", &ret->stack);
    if (rc)
        return rc;
    const json_t *locks = json_object_get(object, "locks");
    if (!locks)
        return 0;
    size_t n = json_array_size(locks);
    if (!json_is_array(locks) || n > MAX_LOCKS)
        return fail(r, "'locks' is not a list of locks");
    ret->locks = dh_arena_array(r->m->arena, n, sizeof(*ret->locks));
    ret->n_locks = n;
    for (size_t i = 0; !rc && i < n; i++)
        rc = lock(r, json_array_get(locks, i), &ret->locks[i]);
    return rc;
}

static int activation(struct reader *r, const json_t *object, struct dh_model_activation *ret)
{
    if (!object)
        return 0;
    const json_t *pc = json_object_get(object, "pc");
    if (!json_is_object(object) || !pc)
        return fail(r, "'frame' is not a frame with its registers");
    struct dh_model_activation found = {0};
    found.pc.n = 1;
    found.pc.frames = dh_arena_array(r->m->arena, 1, sizeof(*found.pc.frames));
    int rc = frame(r, pc, "frame", 0, found.pc.frames);
    if (!rc)
        rc = get_number(r, object, "sp", &found.sp);
    if (!rc)
        rc = get_number(r, object, "bp", &found.bp);
    if (!rc)
        rc = get_number(r, object, "cfa", &found.cfa);
    if (!rc)
        *ret = found;
    return rc;
}

static int location(struct reader *r, const json_t *object, struct dh_model_location *ret)
{
    static const char *const places[] = {"unknown", "heap", "global", "stack", "tls", NULL};
    int place = get_word(object, "kind", places);
    if (!object || place < 0)
        return 0; /* absent, or a kind from a later version */
    int rc = 0;
    switch ((enum dh_model_place)place) {
    case DH_MODEL_UNKNOWN:
    case DH_MODEL_VARIABLE:
        break;
    case DH_MODEL_HEAP:
        rc = get_number(r, object, "start", &ret->start);
        if (!rc)
            rc = get_number(r, object, "size", &ret->size);
        if (!rc)
            rc = get_number(r, object, "offset", &ret->offset);
        if (!rc)
            rc = get_number_or(r, object, "thread", 0, &ret->thread);
        if (!rc)
            rc = stack(r, object, "allocated_at", &ret->allocated_at);
        ret->freed = get_flag(object, "freed");
        break;
    case DH_MODEL_GLOBAL:
        rc = place_in_module(r, object, &ret->module, &ret->offset);
        break;
    case DH_MODEL_STACK:
        rc = get_number(r, object, "thread", &ret->thread);
        if (!rc)
            rc = get_number_or(r, object, "offset_from_top", 0, &ret->offset);
        if (!rc)
            rc = activation(r, json_object_get(object, "frame"), &ret->frame);
        break;
    case DH_MODEL_TLS:
        rc = get_number(r, object, "thread", &ret->thread);
        if (!rc && json_object_get(object, "module"))
            rc = place_in_module(r, object, &ret->module, &ret->offset);
        break;
    }
    ret->place = (enum dh_model_place)place;
    return rc;
}

/* ---- Lines ----------------------------------------------------------------------------------------------
 */

/* What identifies the process of a line: `id` in version 2, before that the pid. */
struct process_key {
    const char *id; /* NULL: version 1 */
    u64 pid;
    bool has_pid;
};

enum { ID_DIGITS = 32 };

static int process_key(struct reader *r, const json_t *line, int version, struct process_key *ret)
{
    const json_t *pid = json_object_get(line, "pid");
    struct process_key key = {.has_pid = pid != NULL};
    if (pid && number(r, pid, "pid", &key.pid) != 0)
        return -EINVAL;
    if (version > 1) {
        key.id = json_string_value(json_object_get(line, "process"));
        if (!key.id || strlen(key.id) != ID_DIGITS || strspn(key.id, "0123456789abcdef") != ID_DIGITS)
            return fail(r, "'process' is not a number of %d hex digits", ID_DIGITS);
    }
    *ret = key;
    return 0;
}

static struct dh_model_process *find_process(struct dh_model *m, const struct process_key *key)
{
    if (key->id)
        return dh_model_find_process(m, key->id, ID_DIGITS);
    return key->has_pid ? dh_model_find_process(m, &key->pid, sizeof(key->pid)) : dh_model_current(m);
}

static int read_process(struct reader *r, const json_t *line, const struct process_key *key,
                        struct dh_record *ret)
{
    if (!key->has_pid)
        return fail(r, "'pid' is missing");
    /* A second line for a process begins another stream of it; its numbering continues. */
    struct dh_model_process *p = key->id ? dh_model_find_process(r->m, key->id, ID_DIGITS) : NULL;
    if (!p)
        p = key->id ? dh_model_begin_process(r->m, key->id, ID_DIGITS)
                    : dh_model_begin_process(r->m, &key->pid, sizeof(key->pid));
    p->id = dh_arena_strdup(r->m->arena, key->id ? key->id : "");
    p->pid = key->pid;
    p->announced = true;
    p->ended = false;
    p->exe = get_text(r, line, "exe");
    p->detector = get_text(r, line, "detector");
    p->guarantee = get_text(r, line, "guarantee");
    p->cwd = get_text(r, line, "cwd");
    p->host = get_text(r, line, "host");
    p->test = get_text(r, line, "test");
    p->args = get_texts(r, line, "args", &p->n_args);
    const json_t *ctest = json_object_get(line, "ctest");
    p->ctest.command = get_texts(r, ctest, "command", &p->ctest.n_command);
    p->ctest.command_cwd = get_text(r, ctest, "command_cwd");
    p->ctest.cwd = get_text(r, ctest, "cwd");
    p->ctest.start = get_text(r, ctest, "start");
    *ret = (struct dh_record){.type = DH_RECORD_PROCESS, .process = p};
    return get_number_or(r, line, "started", 0, &p->started);
}

static int read_module(struct reader *r, const json_t *line, struct dh_record *ret)
{
    (void)ret;
    u64 id;
    int rc = get_number(r, line, "id", &id);
    if (rc)
        return rc;
    if (id > 1 << 24)
        return fail(r, "module id out of range");
    if (!json_is_string(json_object_get(line, "path")))
        return fail(r, "'path' is missing");
    struct dh_model_module *mod = dh_arena_alloc(r->m->arena, sizeof(*mod));
    mod->id = (int)id;
    mod->path = get_text(r, line, "path");
    mod->build_id = get_text(r, line, "build_id");
    dh_map_put(&r->process->modules, &mod->id, sizeof(mod->id), mod);
    return 0;
}

static int read_thread(struct reader *r, const json_t *line, struct dh_record *ret)
{
    (void)ret;
    struct dh_model_thread *t = dh_arena_alloc(r->m->arena, sizeof(*t));
    int rc = get_number(r, line, "uid", &t->uid);
    if (!rc)
        rc = get_number_or(r, line, "parent", 0, &t->parent);
    if (!rc)
        rc = get_number_or(r, line, "tid", 0, &t->tid);
    if (!rc)
        rc = stack(r, line, "created_at", &t->created_at);
    if (rc)
        return rc;
    t->name = get_text(r, line, "name");
    dh_map_put(&r->process->threads, &t->uid, sizeof(t->uid), t);
    return 0;
}

static int order(struct reader *r, const json_t *object, struct dh_model_discipline *ret)
{
    const json_t *by = json_object_get(object, "order");
    int rc = get_number_or(r, object, "observations", 0, &ret->observations);
    if (!rc)
        rc = get_number_or(r, object, "ordered", 0, &ret->ordered);
    if (!rc && ret->ordered)
        rc = get_number(r, by, "addr", &ret->order.addr);
    if (!rc && ret->ordered && json_object_get(by, "module"))
        rc = place_in_module(r, by, &ret->order.module, &ret->order.offset);
    if (!rc && ret->ordered > ret->observations)
        rc = fail(r, "more observations are ordered than there are");
    return rc;
}

/* Optional: older detectors, and those that keep no record of accesses, do not provide it. */
static int discipline(struct reader *r, const json_t *object, struct dh_model_discipline *ret)
{
    if (!object)
        return 0;
    int rc = get_number(r, object, "accesses", &ret->accesses);
    if (!rc)
        rc = get_number_or(r, object, "held", 0, &ret->held);
    if (!rc)
        rc = get_number_or(r, object, "held_from", 0, &ret->held_from);
    if (!rc && ret->held)
        rc = get_number(r, object, "lock", &ret->lock.addr);
    if (!rc && ret->held && json_object_get(object, "module"))
        rc = place_in_module(r, object, &ret->lock.module, &ret->lock.offset);
    if (!rc && ret->held_from)
        rc = frame(r, json_object_get(object, "taken_at"), "taken_at", 0, &ret->taken_at);
    if (!rc && (ret->held > ret->accesses || ret->held_from > ret->accesses))
        rc = fail(r, "a discipline of more accesses than there are");
    return rc ? rc : order(r, object, ret);
}

/* Most members are optional. */
static int confirmation(struct reader *r, const json_t *line, struct dh_model_race *ret)
{
    static const char *const provenances[] = {"observed", "confirmed", NULL};
    static const char *const orders[] = {"shown", "reversed", "both",
                                         NULL}; /* of enum dh_model_order, from 1 */
    int provenance = get_word(line, "provenance", provenances);
    if (json_object_get(line, "provenance") && provenance < 0)
        return fail(r, "'provenance' is neither observed nor confirmed");
    ret->confirmed = provenance == 1;
    if (!ret->confirmed)
        return 0;
    ret->how.order = (enum dh_model_order)(get_word(line, "order", orders) + 1);
    const char *consequence = get_text(r, line, "consequence"), *detail = get_text(r, line, "detail");
    const char *analysis = get_text(r, line, "analysis");
    ret->how.analysis = analysis[0] ? analysis : NULL;
    ret->how.consequence = consequence[0] ? consequence : NULL;
    ret->how.detail = detail[0] ? detail : NULL;
    ret->how.maybe_atomic = strcmp(get_text(r, line, "atomics"), "unknown") == 0;
    return 0;
}

static int read_race(struct reader *r, const json_t *line, struct dh_record *ret)
{
    const json_t *accesses = json_object_get(line, "accesses");
    if (json_array_size(accesses) != 2)
        return fail(r, "a race needs two accesses");
    struct dh_model_race *race = dh_arena_alloc(r->m->arena, sizeof(*race));
    race->process = r->process;
    int rc = get_number(r, line, "id", &race->id);
    for (size_t i = 0; !rc && i < 2; i++)
        rc = access(r, json_array_get(accesses, i), &race->accesses[i]);
    if (!rc)
        rc = location(r, json_object_get(line, "location"), &race->location);
    if (!rc)
        rc = discipline(r, json_object_get(line, "discipline"), &race->discipline);
    if (!rc)
        rc = get_number_or(r, line, "newest_thread", 0, &race->newest_thread);
    if (!rc)
        rc = confirmation(r, line, race);
    if (rc)
        return rc;
    dh_map_put(&r->process->races, &race->id, sizeof(race->id), race);
    ret->type = DH_RECORD_RACE;
    ret->race = race;
    return 0;
}

static int read_repeat(struct reader *r, const json_t *line, struct dh_record *ret)
{
    u64 id, count;
    int rc = get_number(r, line, "id", &id);
    if (!rc)
        rc = get_number(r, line, "count", &count);
    if (rc)
        return rc;
    struct dh_model_race *race = dh_map_get(&r->process->races, &id, sizeof(id));
    if (!race)
        return fail(r, "race %llu repeats but was not reported", (unsigned long long)id);
    *ret = (struct dh_record){.type = DH_RECORD_REPEAT, .race = race, .count = count};
    return 0;
}

static int read_counters(struct reader *r, const json_t *line, struct dh_record *ret)
{
    json_t *values = json_object_get(line, "values");
    if (!json_is_object(values))
        return fail(r, "'values' is missing");
    const char *name;
    json_t *value;
    u64 n;
    json_object_foreach(values, name, value)
    {
        int rc = number(r, value, name, &n);
        if (rc)
            return rc;
    }
    json_object_foreach(values, name, value)
    {
        if (number(r, value, name, &n) == 0)
            dh_model_count(r->m, name, n);
    }
    ret->type = DH_RECORD_COUNTERS;
    return 0;
}

static int read_end(struct reader *r, const json_t *line, struct dh_record *ret)
{
    (void)line;
    (void)ret;
    r->process->ended = true;
    return 0;
}

static int read_exit(struct reader *r, const json_t *line, struct dh_record *ret)
{
    (void)ret;
    u64 status;
    int rc = get_number(r, line, "status", &status);
    if (rc)
        return rc;
    if (status > 255)
        return fail(r, "exit status out of range");
    r->process->decided = true;
    r->process->status = status;
    return 0;
}

static int read_suppressions(struct reader *r, const json_t *line, struct dh_record *ret)
{
    *ret = (struct dh_record){.type = DH_RECORD_SUPPRESSIONS,
                              .process = r->process,
                              .file = get_text(r, line, "file"),
                              .text = get_text(r, line, "text")};
    return 0;
}

static int read_finding(struct reader *r, const json_t *line, struct dh_record *ret)
{
    struct dh_finding *f = dh_bundle_read(r->m, r->process, line);
    const json_t *also = json_object_get(line, "also");
    if (!f)
        return fail(r, "the finding is not complete");
    *ret = (struct dh_record){.type = DH_RECORD_FINDING, .process = r->process, .finding = f};
    ret->also = dh_arena_array(r->m->arena, json_array_size(also), sizeof(*ret->also));
    for (size_t i = 0; i < json_array_size(also); i++) {
        const char *id = json_string_value(json_array_get(also, i));
        struct dh_model_process *p = id ? dh_model_find_process(r->m, id, strlen(id)) : NULL;
        if (p)
            ret->also[ret->n_also++] = p;
    }
    return 0;
}

static int read_source(struct reader *r, const json_t *line, struct dh_record *ret)
{
    *ret = (struct dh_record){.type = DH_RECORD_SOURCE,
                              .process = r->process,
                              .file = get_text(r, line, "file"),
                              .text = get_text(r, line, "text")};
    int rc = get_number(r, line, "first", &ret->count);
    return rc || ret->count <= 1 << 24 ? rc : fail(r, "line number out of range");
}

static int read_object(struct reader *r, const json_t *line, struct dh_record *ret)
{
    static const struct {
        const char *type;
        int (*read)(struct reader *r, const json_t *line, struct dh_record *ret);
    } types[] = {
        {"module", read_module},     {"thread", read_thread}, {"race", read_race},
        {"finding", read_finding},   {"source", read_source}, {"repeat", read_repeat},
        {"counters", read_counters}, {"end", read_end},       {"suppressions", read_suppressions},
        {"exit", read_exit},
    };
    const char *type = json_string_value(json_object_get(line, "type"));
    const json_t *version = json_object_get(line, "v");
    if (!json_is_object(line) || !type || !json_is_integer(version))
        return fail(r, "not a race record");
    if (json_integer_value(version) != 1 && json_integer_value(version) != 2)
        return fail(r, "record version %lld; this deadheat reads versions 1 and 2",
                    (long long)json_integer_value(version));
    struct process_key key;
    int rc = process_key(r, line, (int)json_integer_value(version), &key);
    if (rc)
        return rc;
    if (strcmp(type, "process") == 0)
        return read_process(r, line, &key, ret);
    /* Perhaps from a forked child, which announces itself only if it races. */
    if (strcmp(type, "unsaved") == 0) {
        ret->type = DH_RECORD_UNSAVED;
        return 0;
    }
    r->process = find_process(r->m, &key);
    if (!r->process && key.id)
        return fail(r, "process %s has not been announced", key.id);
    if (!r->process)
        return fail(r, "process %llu has not been announced", (unsigned long long)key.pid);
    for (size_t i = 0; i < DH_ARRAY_LEN(types); i++) {
        if (strcmp(type, types[i].type) == 0)
            return types[i].read(r, line, ret);
    }
    return 0; /* what later versions may add */
}

int dh_record_read(struct dh_model *m, const char *line, size_t len, struct dh_record *ret,
                   struct dh_record_error *ret_err)
{
    struct reader r = {m, NULL, ret_err};
    struct dh_record record = {0};
    json_error_t error;
    size_t blank = 0;
    while (blank < len && (line[blank] == ' ' || line[blank] == '\t' || line[blank] == '\r'))
        blank++;
    if (blank == len) {
        *ret = record;
        return 0;
    }
    json_t *root = json_loadb(line, len, 0, &error);
    if (!root)
        return fail(&r, "not JSON: %.200s", error.text);
    int rc = read_object(&r, root, &record);
    json_decref(root);
    if (rc == 0)
        *ret = record;
    return rc;
}
