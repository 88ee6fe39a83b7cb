/*
 * symbol.c - the symboliser's front end: finds the file of a module, and caches the answers.
 */
#include "report/symbol.h"

#include <string.h>

#include "report/field.h"
#include "report/object.h"
#include "util/path.h"

/* Opened files, chained for closing: a map does not list its values. */
struct opened {
    struct dh_object *object;
    struct opened *next;
};

struct dh_symbol {
    struct dh_arena *arena;
    struct dh_map objects; /* path, newline, build id -> struct dh_object */
    struct dh_map frames;  /* struct frame_key -> struct dh_symbol_trace */
    struct opened *opened;
    bool full_names;
    const struct dh_path_map *paths; /* NULL: files are where they were */
    struct dh_source *source;        /* NULL: not to be looked at */
    dh_symbol_warn *warn;
    void *ctx;
};

struct frame_key {
    const struct dh_model_module *module;
    u64 offset;
};

struct dh_symbol *dh_symbol_new(struct dh_arena *arena, dh_symbol_warn *warn, void *ctx)
{
    struct dh_symbol *s = dh_arena_alloc(arena, sizeof(*s));
    s->arena = arena;
    s->warn = warn;
    s->ctx = ctx;
    dh_map_init(&s->objects, arena);
    dh_map_init(&s->frames, arena);
    return s;
}

void dh_symbol_free(struct dh_symbol *s)
{
    if (!s)
        return;
    for (struct opened *o = s->opened; o; o = o->next)
        dh_object_close(o->object);
    dh_map_done(&s->objects);
    dh_map_done(&s->frames);
}

void dh_symbol_full_names(struct dh_symbol *s)
{
    s->full_names = true;
}

void dh_symbol_use_source(struct dh_symbol *s, struct dh_source *source)
{
    s->source = source;
}

static const char *brief(struct dh_symbol *s, const char *name)
{
    return name ? dh_symbol_shorten(s->arena, name) : NULL;
}

static const char *shown(struct dh_symbol *s, const char *name)
{
    return s->full_names ? name : brief(s, name);
}

static struct dh_object *find_object(struct dh_symbol *s, const struct dh_model_module *module)
{
    const char *key = dh_arena_printf(s->arena, "%s\n%s", module->path, module->build_id);
    struct dh_object *object = dh_map_get(&s->objects, key, strlen(key));
    if (object)
        return object;
    const char *why;
    object = dh_object_open(s->arena, module->path, module->build_id, &why);
    if (why && s->warn)
        s->warn(s->ctx, why);
    dh_map_put(&s->objects, key, strlen(key), object);
    struct opened *opened = dh_arena_alloc(s->arena, sizeof(*opened));
    *opened = (struct opened){object, s->opened};
    s->opened = opened;
    return object;
}

bool dh_symbol_is_readable(struct dh_symbol *s, const struct dh_model_module *module)
{
    return find_object(s, module)->dwfl != NULL;
}

/* One recorded frame: several when calls were inlined. */
static const struct dh_symbol_trace *expand(struct dh_symbol *s, const struct dh_model_frame *frame)
{
    struct frame_key key = {frame->module, frame->offset};
    struct dh_symbol_trace *known = dh_map_get(&s->frames, &key, sizeof(key));
    if (known)
        return known;
    struct dh_symbol_trace *trace = dh_arena_alloc(s->arena, sizeof(*trace));
    struct dh_object *object = frame->module ? find_object(s, frame->module) : NULL;
    /* A return address points behind the call, maybe into the next line or function. */
    u64 addr = frame->offset ? frame->offset - 1 : 0;
    if (object)
        trace->n = dh_object_frames(object, addr, &trace->frames);
    if (trace->n == 0) {
        trace->n = 1;
        trace->frames = dh_arena_alloc(s->arena, sizeof(*trace->frames));
    }
    struct dh_symbol_frame *outermost = &trace->frames[trace->n - 1];
    if (object && !outermost->function) {
        const struct dh_object_symbol *symbol = dh_object_find_symbol(object, DH_OBJECT_FUNCTIONS, addr);
        if (symbol)
            outermost->function = dh_symbol_demangle(s->arena, symbol->name);
        if (symbol && dh_object_is_sole_symbol(object, DH_OBJECT_FUNCTIONS, symbol)) {
            outermost->origin.name = symbol->name;
            outermost->origin.offset = frame->offset - symbol->lo;
        }
    }
    for (size_t i = 0; i < trace->n; i++) {
        struct dh_symbol_frame *f = &trace->frames[i];
        f->file = dh_path_mapped(s->arena, s->paths, f->file);
        f->module = frame->module ? frame->module->path : NULL;
        f->offset = frame->offset;
        f->brief = brief(s, f->function);
        f->shown = s->full_names ? f->function : f->brief;
    }
    dh_map_put(&s->frames, &key, sizeof(key), trace);
    return trace;
}

void dh_symbol_map_paths(struct dh_symbol *s, const struct dh_path_map *paths)
{
    s->paths = paths;
}

void dh_symbol_trace_stack(struct dh_symbol *s, const struct dh_model_stack *stack,
                           struct dh_symbol_trace *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < stack->n; i++)
        n += expand(s, &stack->frames[i])->n;
    ret->frames = dh_arena_array(s->arena, n, sizeof(*ret->frames));
    ret->n = 0;
    for (size_t i = 0; i < stack->n; i++) {
        const struct dh_symbol_trace *part = expand(s, &stack->frames[i]);
        memcpy(&ret->frames[ret->n], part->frames, part->n * sizeof(*part->frames));
        ret->n += part->n;
    }
}

static void choose_names(struct dh_symbol *s, struct dh_symbol_variable *v)
{
    v->file = dh_path_mapped(s->arena, s->paths, v->file);
    v->brief = brief(s, v->display);
    v->shown = s->full_names ? v->display : v->brief;
    v->shown_name = shown(s, v->name);
    v->shown_function = shown(s, v->function);
}

static bool find_fixed(struct dh_symbol *s, int which, const struct dh_model_module *module, u64 offset,
                       u64 size, struct dh_symbol_variable *ret)
{
    if (!module || !dh_object_find_variable(find_object(s, module), which, offset, size, ret))
        return false;
    choose_names(s, ret);
    return true;
}

bool dh_symbol_find_variable(struct dh_symbol *s, const struct dh_model_module *module, u64 offset, u64 size,
                             struct dh_symbol_variable *ret)
{
    return find_fixed(s, DH_OBJECT_DATA, module, offset, size, ret);
}

bool dh_symbol_find_tls(struct dh_symbol *s, const struct dh_model_module *module, u64 offset, u64 size,
                        struct dh_symbol_variable *ret)
{
    return find_fixed(s, DH_OBJECT_TLS, module, offset, size, ret);
}

bool dh_symbol_check_frame(struct dh_symbol *s, const struct dh_model_activation *frame)
{
    const struct dh_model_frame *f = frame->pc.frames;
    return frame->pc.n > 0 && f->module && f->offset &&
           dh_object_check_frame(find_object(s, f->module), f->offset - 1, frame);
}

bool dh_symbol_find_local(struct dh_symbol *s, const struct dh_model_activation *frame, u64 at, u64 size,
                          struct dh_symbol_variable *ret)
{
    const struct dh_model_frame *f = frame->pc.frames;
    if (frame->pc.n == 0 || !f->module || !f->offset ||
        !dh_object_find_local(find_object(s, f->module), f->offset - 1, frame, at, size, ret))
        return false;
    choose_names(s, ret);
    return true;
}

bool dh_symbol_find_field(struct dh_symbol *s, const struct dh_symbol_block *block,
                          struct dh_symbol_field *ret)
{
    if (!dh_field_find(s->arena, s->source, block, ret))
        return false;
    ret->brief_type = brief(s, ret->type);
    ret->brief_member = brief(s, ret->member);
    ret->shown_type = s->full_names ? ret->type : ret->brief_type;
    return true;
}

bool dh_symbol_in_project(const struct dh_symbol_frame *f)
{
    return (f->file || f->module) && !dh_path_is_system(f->file) && !dh_path_is_system(f->module);
}

const struct dh_symbol_frame *dh_symbol_top(const struct dh_symbol_trace *trace)
{
    for (size_t i = 0; i < trace->n; i++) {
        if (dh_symbol_in_project(&trace->frames[i]))
            return &trace->frames[i];
    }
    return trace->n ? &trace->frames[0] : NULL;
}
