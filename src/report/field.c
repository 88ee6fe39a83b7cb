/*
 * field.c - see field.h.
 *
 * Nothing in a program states the type of a heap block, so it is inferred from all code involved. The
 * candidates are the types known around the allocation whose size fits and that have a member occupying
 * exactly the bytes accessed. For each candidate, the code of each access must know one of the structures
 * that contain the member. If one type with one member remains, that is the field.
 *
 * Code may know a type and yet access something else, through a cast or the result of a call. A wrong name
 * would be worse than none, so source lines are consulted if available: a line that names the member
 * distinguishes it from others, and a line that names only other members rules it out. If no line decides,
 * the field is named only if the allocation can be of just one type.
 */
#include "report/field.h"

#include <stdlib.h>
#include <string.h>

#include "report/member.h"

enum {
    MAX_CANDIDATES = 64,
    MAX_ALLOCATING_FRAMES = 16, /* containers allocate through a chain of small functions */
    MAX_FRAMES = 3,             /* a function may have received only the address of a member */
};

/* The innermost frames of the program. */
struct frames {
    const struct dh_symbol_frame *at[MAX_FRAMES];
    size_t n;
    bool direct; /* of an access: the first frame made it, with no library in between */
};

struct finder {
    struct dh_source *source;
    const struct dh_symbol_block *block;
    const struct dh_symbol_touch *named; /* the access that determines the member */
    struct frames accesses[2];
    struct dh_members found;
    /* From the allocation alone: */
    size_t types; /* that the block may have */
    bool direct;  /* one of them is what a variable points to */
    bool scalars; /* or it may be an array of numbers, which have no fields */
};

static void find_frames(const struct dh_symbol_trace *stack, struct frames *ret)
{
    *ret = (struct frames){0};
    for (size_t i = 0; i < stack->n && ret->n < MAX_FRAMES; i++) {
        if (dh_symbol_in_project(&stack->frames[i]))
            ret->at[ret->n++] = &stack->frames[i];
    }
    ret->direct = ret->n > 0 && ret->at[0] == stack->frames;
}

/* ---- The types that the block may have ----------------------------------------------------------------- */

/* Is one of the n types among those around the frame? globals: also those that only globals point to. */
static bool knows(const struct dh_symbol_frame *frame, bool globals, const struct dh_type *types, size_t n)
{
    for (const struct dh_types *set = dh_types_around(frame); set; set = globals ? set->more : NULL) {
        for (size_t i = 0; i < set->n; i++) {
            for (size_t k = 0; k < n; k++) {
                if (dh_types_same(&set->types[i], &types[k]))
                    return true;
            }
        }
    }
    return false;
}

static bool any_knows(const struct frames *frames, bool globals, const struct dh_type *types, size_t n)
{
    for (size_t i = 0; i < frames->n; i++) {
        if (knows(frames->at[i], globals, types, n))
            return true;
    }
    return false;
}

/* Does it have the block's size, is the block an array of it, or does it end with a flexible array? */
static bool fits(const struct finder *f, const struct dh_type *t)
{
    u64 size = f->block->size;
    if (!t->complete || t->size == 0 || t->size > size)
        return false;
    if (t->scalar)
        return t->size == f->named->size && size % t->size == 0;
    return t->name && (t->open_ended || size % t->size == 0);
}

static void add_structure(struct finder *f, const struct dh_types *set, const struct dh_type *t)
{
    struct dh_member whole = {.direct = t->steps == 0,
                              .is_element = t->size != f->block->size && !t->open_ended};
    for (size_t i = 0; i < f->found.n; i++) {
        if (dh_types_same(&f->found.list[i].along[0], t))
            return; /* already found around another frame */
    }
    if (!whole.direct && dh_types_is_system(set, t)) /* containers are full of small structures */
        return;
    whole.element = whole.is_element ? f->named->offset / t->size : 0;
    size_t before = f->found.n;
    dh_member_find(&f->found, t, f->named->offset - whole.element * t->size, &whole);
    f->types += f->found.n > before;
    f->direct |= f->found.n > before && whole.direct;
}

/* What the types around `asked` may mean for a block that is allocated by the code of `frame`. */
static void consider(struct finder *f, const struct dh_symbol_frame *frame, bool globals,
                     const struct dh_symbol_frame *asked)
{
    for (const struct dh_types *set = dh_types_around(asked); set; set = set->more) {
        for (size_t i = 0; i < set->n; i++) {
            const struct dh_type *t = &set->types[i];
            if (!fits(f, t) || !knows(frame, globals, t, 1))
                continue;
            f->scalars |= t->scalar;
            if (!t->scalar)
                add_structure(f, set, t);
        }
    }
}

/* ---- Do the accesses agree? ---------------------------------------------------------------------------- */

static void keep(struct finder *f, const bool *keeps)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->found.n; i++) {
        if (keeps[i])
            f->found.list[kept++] = f->found.list[i];
    }
    f->found.n = kept;
}

/* Pointers in the function itself take precedence over those in its callers or in globals. */
static void ask_access(struct finder *f, const struct frames *frames)
{
    bool known[MAX_CANDIDATES], any = false;
    struct frames first = {.at = {frames->at[0]}, .n = frames->n > 0};
    for (int all = 0; all < 2 && !any; all++) {
        for (size_t i = 0; i < f->found.n; i++) {
            const struct dh_member *m = &f->found.list[i];
            known[i] = any_knows(all ? frames : &first, all, m->along, m->n_along);
            any |= known[i];
        }
    }
    keep(f, known);
}

/* Considers one frame of the allocation, and the accesses. True if no further frame is needed. */
static bool ask(struct finder *f, const struct dh_symbol_frame *frame, bool globals)
{
    f->found.n = f->types = 0;
    f->scalars = f->direct = false;
    consider(f, frame, globals, frame);
    /* Its type may be only declared there, but defined where it is accessed. */
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < f->accesses[i].n; k++)
            consider(f, frame, globals, f->accesses[i].at[k]);
    }
    for (int i = 0; i < 2; i++) {
        if (!f->block->touches[i].free) /* code that frees need not know the type */
            ask_access(f, &f->accesses[i]);
    }
    return f->found.n || f->found.overflow || (f->direct && !globals);
}

/* The innermost function that knows a possible type of the block decides, unless it knows the type only by
 * chance: it has no pointer to one, and the accesses disagree. Library functions are considered too, since
 * templates know what they allocate; globals come last. */
static void ask_all(struct finder *f)
{
    const struct dh_symbol_trace *stack = f->block->allocated_at;
    for (size_t i = 0; i < stack->n && i < MAX_ALLOCATING_FRAMES; i++) {
        if (dh_types_returns_scalars(&stack->frames[i]) || ask(f, &stack->frames[i], false))
            return;
    }
    struct frames own;
    find_frames(stack, &own);
    for (size_t i = 0; i < own.n; i++) {
        if (ask(f, own.at[i], true))
            return;
    }
}

/* ---- What lines of source say -------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_word(const struct dh_source_line *line, const char *word, size_t len)
{
    for (size_t i = 0; i + len <= line->len; i++) {
        if (memcmp(line->text + i, word, len) == 0 && (i == 0 || !is_word(line->text[i - 1])) &&
            (i + len == line->len || !is_word(line->text[i + len])))
            return true;
    }
    return false;
}

/* Is a name of the path in the line: the last one, or any? */
static bool names(const struct dh_source_line *line, const struct dh_member *m, bool last)
{
    bool named = false;
    for (size_t i = 0; i < m->len;) {
        size_t n = 0;
        while (i + n < m->len && is_word(m->path[i + n]))
            n++;
        if (n && (i == 0 || m->path[i - 1] == '.'))
            named = (named && !last) || has_word(line, m->path + i, n);
        i += n + 1;
    }
    return named;
}

/* "->name" or ".name", of anything. */
static bool names_members(const struct dh_source_line *line)
{
    for (size_t i = 0; i + 1 < line->len; i++) {
        char next = line->text[i + 1];
        bool dot = line->text[i] == '.' || (i > 0 && line->text[i - 1] == '-' && line->text[i] == '>');
        if (dot && is_word(next) && !(next >= '0' && next <= '9'))
            return true;
    }
    return false;
}

static bool read_line(const struct finder *f, const struct dh_symbol_frame *frame, struct dh_source_line *ret)
{
    return f->source && frame->file && dh_source_line(f->source, frame->file, frame->line, ret);
}

/* Is the member named in the source line of the access? If that line names no members at all, the lines of
 * its callers are tried in turn. *ret_read: there is a line. */
static bool is_named(const struct finder *f, const struct frames *frames, const struct dh_member *m,
                     bool *ret_read)
{
    struct dh_source_line line;
    *ret_read = false;
    for (size_t i = 0; i < frames->n; i++) {
        if (!read_line(f, frames->at[i], &line))
            continue;
        *ret_read = true;
        if (names(&line, m, true) || names_members(&line))
            return names(&line, m, true);
    }
    return false;
}

/* An access to more than the member, or the release of the block, need not name it. */
static bool is_exact(const struct finder *f, const struct dh_symbol_touch *t)
{
    return !t->free && !t->range && t->size == f->named->size;
}

/* Every access to exactly these bytes names it, where there are lines, and there is at least one. */
static bool is_confirmed(const struct finder *f, const struct dh_member *m)
{
    bool any = false, read;
    for (int i = 0; i < 2; i++) {
        if (!is_exact(f, &f->block->touches[i]))
            continue;
        if (is_named(f, &f->accesses[i], m, &read))
            any = true;
        else if (read)
            return false;
    }
    return any;
}

/* An access to exactly these bytes in a line that names members, but not this one, is to something else. No
 * line ever names the vtable pointer. */
static bool is_denied(const struct finder *f, const struct dh_member *m)
{
    for (int i = 0; i < 2; i++) {
        struct dh_source_line line;
        if (!is_exact(f, &f->block->touches[i]) || !f->accesses[i].direct ||
            strncmp(m->path, "_vptr", 5) == 0 || !read_line(f, f->accesses[i].at[0], &line))
            continue;
        if (names_members(&line) && !names(&line, m, false))
            return true;
    }
    return false;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

/* For several members of one type: their common part, a union for example. */
static bool join(struct dh_members *found, struct dh_member *ret)
{
    *ret = found->list[0];
    for (size_t i = 1; i < found->n; i++) {
        const struct dh_member *other = &found->list[i];
        if (!dh_types_same(&ret->along[0], &other->along[0]))
            return false;
        size_t common = 0;
        while (common < ret->len && common < other->len && ret->path[common] == other->path[common])
            common++;
        while (common > 0 && ret->path[common] != '.' && ret->path[common] != '[' && common < ret->len)
            common--; /* whole names only */
        ret->len = common;
        ret->path[common] = 0;
    }
    return ret->len > 0;
}

static bool decide(struct finder *f, struct dh_member *ret)
{
    bool confirmed[MAX_CANDIDATES];
    size_t n = 0, last = 0;
    for (size_t i = 0; i < f->found.n; i++) {
        confirmed[i] = is_confirmed(f, &f->found.list[i]);
        n += confirmed[i];
        last = confirmed[i] ? i : last;
    }
    if (n == 1) {
        *ret = f->found.list[last];
        return true;
    }
    return n == 0 && f->types == 1 && !f->scalars && join(&f->found, ret) && !is_denied(f, ret);
}

/* The access that determines the member: the smaller one, if its size is known. */
static const struct dh_symbol_touch *naming(const struct dh_symbol_block *block)
{
    const struct dh_symbol_touch *a = &block->touches[0], *b = &block->touches[1];
    bool first = b->free || (b->range && !a->range) || (b->range == a->range && a->size <= b->size);
    const struct dh_symbol_touch *named = first && !a->free ? a : b, *other = named == a ? b : a;
    bool covered = other->free || other->range ||
                   (other->offset <= named->offset && named->size <= other->size &&
                    named->offset - other->offset <= other->size - named->size);
    bool inside = named->size && named->size <= block->size && named->offset <= block->size - named->size;
    return !named->free && covered && inside ? named : NULL;
}

bool dh_field_find(struct dh_arena *arena, struct dh_source *source, const struct dh_symbol_block *block,
                   struct dh_symbol_field *ret)
{
    struct finder f = {.source = source, .block = block, .named = naming(block)};
    struct dh_member m;
    if (!f.named)
        return false;
    f.found = (struct dh_members){
        .list = dh_util_alloc(MAX_CANDIDATES * sizeof(m)), .max = MAX_CANDIDATES, .size = f.named->size};
    for (int i = 0; i < 2; i++)
        find_frames(block->touches[i].stack, &f.accesses[i]);
    ask_all(&f);
    bool known = f.found.n && !f.found.overflow && decide(&f, &m);
    free(f.found.list);
    if (!known)
        return false;
    *ret = (struct dh_symbol_field){
        .type = dh_types_name(arena, &m.along[0]),
        .name = dh_arena_strdup(arena, m.path),
        .is_element = m.is_element,
        .element = m.element,
    };
    ret->member = dh_arena_printf(arena, "%s.%s", dh_types_plain_name(&m.along[0]), ret->name);
    return true;
}
