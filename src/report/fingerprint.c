/*
 * fingerprint.c - see fingerprint.h. There are two versions of the text; the first must never change.
 */
#include "report/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/path.h"

static const char *const kinds[] = {"read", "write", "free", "write"};

/* ---- Version 1 ----------------------------------------------------------------------------------------- */

static const char *old_place(struct dh_arena *arena, const struct dh_symbol_frame *f)
{
    if (!f)
        return "?";
    if (f->unit_file)
        return dh_arena_printf(arena, "%s %s:%d", f->function ? f->function : "?", f->unit_file, f->line);
    return dh_arena_printf(arena, "%s+0x%llx", f->module ? dh_path_base(f->module) : "?",
                           (unsigned long long)f->offset);
}

static const char *old_memory(struct dh_arena *arena, const struct dh_fingerprint_race *race)
{
    switch (race->place) {
    case DH_MODEL_GLOBAL:
        return race->variable ? dh_arena_printf(arena, "global %s", race->variable->shape) : "global";
    case DH_MODEL_HEAP:
        return dh_arena_printf(arena, "heap %s", old_place(arena, dh_symbol_top(race->allocated_at)));
    case DH_MODEL_STACK:
        return "stack";
    case DH_MODEL_TLS:
        return race->variable ? dh_arena_printf(arena, "tls %s", race->variable->shape) : "tls";
    case DH_MODEL_VARIABLE:
    case DH_MODEL_UNKNOWN:
        break;
    }
    return "unknown";
}

/* The version, the sides in the order of their texts, the memory. */
static const char *join(struct dh_arena *arena, char version, const char *side, const char *other,
                        const char *memory)
{
    bool ordered = strcmp(side, other) <= 0;
    return dh_arena_printf(arena, "%c|%s|%s|%s", version, ordered ? side : other, ordered ? other : side,
                           memory);
}

static const char *old_text(struct dh_arena *arena, const struct dh_fingerprint_race *race)
{
    const char *sides[2];
    for (int i = 0; i < 2; i++) {
        const struct dh_fingerprint_access *a = &race->accesses[i];
        sides[i] = dh_arena_printf(arena, "%s %s", kinds[a->kind], old_place(arena, dh_symbol_top(a->stack)));
    }
    return join(arena, '1', sides[0], sides[1], old_memory(arena, race));
}

/* ---- Version 2 ----------------------------------------------------------------------------------------- */

/* "name", or "name@file.c" if other files may have one of this name too. */
static const char *name_of(struct dh_arena *arena, const char *name, const char *home)
{
    return home ? dh_arena_printf(arena, "%s@%s", name, home) : name;
}

static const char *site_text(struct dh_arena *arena, const struct dh_fingerprint_site *s)
{
    const char *name = name_of(arena, s->function ? s->function : "?", s->home);
    if (s->module)
        return dh_arena_printf(arena, "%s!%s+0x%" PRIx64, s->module, name, s->offset);
    if (!s->placed)
        return name;
    if (s->file)
        return dh_arena_printf(arena, "%s %s:%d:%d", name, s->file, s->line, s->column);
    return dh_arena_printf(arena, "%s%+d:%d", name, s->line, s->column);
}

static const char *memory_text(struct dh_arena *arena, const struct dh_fingerprint_memory *m)
{
    static const char *const places[] = {"unknown", "heap", "global", "stack", "tls", "variable"};
    const char *place = places[m->place];
    if (m->place == DH_MODEL_HEAP)
        return dh_arena_printf(arena, "%s %s", place, site_text(arena, &m->allocated_at));
    if (m->place != DH_MODEL_STACK && m->place != DH_MODEL_UNKNOWN && m->name)
        return dh_arena_printf(arena, "%s %s%s", place, name_of(arena, m->name, m->home),
                               m->members ? m->members : "");
    return place;
}

const char *dh_fingerprint_text(struct dh_arena *arena, const struct dh_fingerprint_side sides[2],
                                const struct dh_fingerprint_memory *memory)
{
    const char *texts[2];
    for (int i = 0; i < 2; i++)
        texts[i] = dh_arena_printf(arena, "%s%s %s", sides[i].atomic ? "atomic " : "", kinds[sides[i].kind],
                                   site_text(arena, &sides[i].at));
    return join(arena, '2', texts[0], texts[1], memory_text(arena, memory));
}

static struct dh_fingerprint_site site_of(const struct dh_symbol_frame *f)
{
    struct dh_fingerprint_site s = {0};
    if (!f)
        return s;
    s.function = f->origin.name;
    s.home = f->origin.home;
    if (!f->file && !f->origin.unit) {
        s.module = f->module ? dh_path_base(f->module) : "?";
        s.offset = s.function ? f->origin.offset : f->offset;
        return s;
    }
    s.placed = f->file && f->line > 0 && !f->origin.artificial; /* which has arbitrary lines */
    if (!s.placed)
        return s;
    s.column = f->column;
    if (f->origin.line && !f->origin.elsewhere) {
        s.line = f->line - f->origin.line;
    } else { /* text included into a function, or for which only the line is known */
        s.file = dh_path_base(f->file);
        s.line = f->line;
    }
    return s;
}

/* The innermost frame of the program that requested memory for its own use. */
static const struct dh_symbol_frame *allocator(const struct dh_symbol_trace *trace)
{
    const struct dh_symbol_frame *outermost = NULL;
    for (size_t i = 0; i < trace->n; i++) {
        const struct dh_symbol_frame *f = &trace->frames[i];
        if (!dh_symbol_in_project(f))
            continue;
        if (!f->origin.allocates)
            return f;
        outermost = f;
    }
    return outermost ? outermost : dh_symbol_top(trace);
}

/* A variable's file and members are known only if the debug information that describes it was found. Whether
 * it is may depend on what other races there are, unless it is where this race leads anyway. */
static bool is_found_always(const struct dh_fingerprint_race *race)
{
    if (race->variable->findable)
        return true;
    for (int i = 0; i < 2; i++) {
        const struct dh_symbol_frame *top = dh_symbol_top(race->accesses[i].stack);
        if (top && top->origin.unit && top->origin.unit == race->variable->origin.unit)
            return true;
    }
    return false;
}

static const char *new_text(struct dh_arena *arena, const struct dh_fingerprint_race *race)
{
    struct dh_fingerprint_side sides[2];
    struct dh_fingerprint_memory memory = {.place = race->place};
    for (int i = 0; i < 2; i++) {
        const struct dh_fingerprint_access *a = &race->accesses[i];
        sides[i] = (struct dh_fingerprint_side){a->kind, a->atomic, site_of(dh_symbol_top(a->stack))};
    }
    /* The name of a variable on a stack is known only if its thread came second or waits: no part of it. */
    if (race->variable && (is_found_always(race) || !race->variable->symbol)) {
        memory.name = race->variable->origin.name;
        memory.home = race->variable->origin.home;
        memory.members = race->variable->members;
    } else if (race->variable) {
        memory.name = race->variable->symbol;
        memory.members = "";
    }
    if (race->place == DH_MODEL_HEAP)
        memory.allocated_at = site_of(allocator(race->allocated_at));
    return dh_fingerprint_text(arena, sides, &memory);
}

/* ---- Both ---------------------------------------------------------------------------------------------- */

void dh_fingerprint_hash(const char *text, char ret[DH_FINGERPRINT_LENGTH + 1])
{
    snprintf(ret, DH_FINGERPRINT_LENGTH + 1, "dh%c-%012" PRIx64, text[0],
             dh_util_hash(text, strlen(text)) >> 16);
}

void dh_fingerprint_of(struct dh_arena *arena, const struct dh_fingerprint_race *race,
                       struct dh_fingerprint *ret)
{
    ret->identity = new_text(arena, race);
    dh_fingerprint_hash(ret->identity, ret->hash);
    dh_fingerprint_hash(old_text(arena, race), ret->old_hash);
}

bool dh_fingerprint_is_valid(const char *text, size_t len)
{
    if (len != DH_FINGERPRINT_LENGTH || (memcmp(text, "dh1-", 4) != 0 && memcmp(text, "dh2-", 4) != 0))
        return false;
    for (size_t i = 4; i < len; i++) {
        if (!memchr("0123456789abcdef", text[i], 16))
            return false;
    }
    return true;
}

bool dh_fingerprint_is_listed(const struct dh_fingerprint *f, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i], f->hash) == 0 || strcmp(list[i], f->old_hash) == 0)
            return true;
    }
    return false;
}
