/*
 * text.c - a race for a person to read.
 *
 * Order: what, why, the access that found the race, the earlier one, the memory, the locks, the threads.
 * Each stack's source excerpt stands right under it, at the frame to look at. Names and lines of source are
 * not ours, and are printed as util/text.h says.
 */
#include <string.h>

#include "report/print.h"
#include "util/path.h"
#include "util/text.h"

enum { CONTEXT = 2, MAX_EXCERPT = 160 };

/* Escape sequences, all "" without colour. */
struct palette {
    const char *title, *strong, *place, *dim, *mark, *off;
};

static const struct palette plain = {"", "", "", "", "", ""};
static const struct palette coloured = {"\033[1;31m", "\033[1m",    "\033[36m",
                                        "\033[2m",    "\033[1;33m", "\033[0m"};

static const struct palette *palette_of(const struct dh_print *p)
{
    return p->color ? &coloured : &plain;
}

static const char *shown(const struct dh_print *p, const char *s)
{
    return dh_text_shown(p->arena, s);
}

/* ---- Frames and source -------------------------------------------------------------------------------- */

static const char *frame_place(const struct dh_print *p, const struct dh_symbol_frame *f)
{
    if (f->file) {
        const char *file = shown(p, dh_path_beneath(p->cwd, f->file));
        if (f->line && f->column)
            return dh_arena_printf(p->arena, "%s:%d:%d", file, f->line, f->column);
        return f->line ? dh_arena_printf(p->arena, "%s:%d", file, f->line) : file;
    }
    if (f->module)
        return dh_arena_printf(p->arena, "(%s+0x%llx)", shown(p, dh_path_beneath(p->cwd, f->module)),
                               (unsigned long long)f->offset);
    return dh_arena_printf(p->arena, "(0x%llx)", (unsigned long long)f->offset);
}

const char *dh_print_place(const struct dh_print *p, const struct dh_symbol_trace *trace)
{
    const struct dh_symbol_frame *f = dh_finding_top(trace);
    if (!f)
        return "?";
    if (f->file)
        return dh_arena_printf(p->arena, "%s:%d", shown(p, dh_path_beneath(p->cwd, f->file)), f->line);
    return frame_place(p, f);
}

/* What starts a program or a thread: nobody looks for a race there. */
static bool is_start_code(const struct dh_symbol_frame *f)
{
    static const char *const names[] = {"_start", "__libc_start_main", "__libc_start_call_main",
                                        "start_thread"};
    if (!f->function)
        return false;
    if (strncmp(f->function, "dh_", 3) == 0 || strncmp(f->function, "__dh_", 5) == 0)
        return true;
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++) {
        size_t len = strlen(names[i]);
        if (strncmp(f->function, names[i], len) == 0 && (!f->function[len] || f->function[len] == '@'))
            return true;
    }
    return false;
}

/* How many frames to show: not those below main, nor the libraries' at the outer end (std::thread's, say). A
 * stack that lies in libraries altogether is shown whole. */
static size_t visible_frames(const struct dh_symbol_trace *trace)
{
    size_t n = trace->n;
    for (size_t i = 0; i < n; i++) {
        if (trace->frames[i].function && strcmp(trace->frames[i].function, "main") == 0)
            n = i + 1;
    }
    while (n > 1 && is_start_code(&trace->frames[n - 1]))
        n--;
    size_t shown = n;
    while (shown > 0 && !dh_finding_in_project(&trace->frames[shown - 1]))
        shown--;
    return shown ? shown : n;
}

static void print_excerpt(const struct dh_print *p, const struct dh_symbol_frame *f)
{
    const struct palette *c = palette_of(p);
    struct dh_source_line line;
    if (!p->source || !f || !f->file || !dh_source_line(p->source, f->file, f->line, &line))
        return;
    for (int n = f->line - CONTEXT; n <= f->line + CONTEXT; n++) {
        if (!dh_source_line(p->source, f->file, n, &line))
            continue;
        bool here = n == f->line;
        int len = (int)(line.len < MAX_EXCERPT ? line.len : MAX_EXCERPT);
        fprintf(p->out, "      %s%s %5d |%s%s", here ? c->mark : c->dim, here ? ">" : " ", n, c->off,
                len ? " " : "");
        dh_text_put_line(p->out, line.text, (size_t)len);
        fputc('\n', p->out);
        if (!here || f->column < 1 || f->column > len)
            continue;
        fprintf(p->out, "      %s        | ", c->dim);
        for (int i = 0; i + 1 < f->column; i++) /* tabs stay tabs, so that the caret stands right */
            fputc(line.text[i] == '\t' ? '\t' : ' ', p->out);
        fprintf(p->out, "%s%s^%s\n", c->off, c->mark, c->off);
    }
}

static void print_trace(const struct dh_print *p, const struct dh_symbol_trace *trace, bool folded,
                        bool excerpt)
{
    const struct palette *c = palette_of(p);
    size_t n = visible_frames(trace);
    const struct dh_symbol_frame *top = dh_finding_top(trace);
    if (n == 0)
        fprintf(p->out, "    (the stack is not known)\n");
    for (size_t i = 0; i < n; i++) {
        const struct dh_symbol_frame *f = &trace->frames[i];
        fprintf(p->out, "    #%zu %s%s%s %s%s%s%s\n", i, c->strong,
                f->function ? shown(p, f->function) : "??", c->off, c->place, frame_place(p, f), c->off,
                f->inlined ? " [inlined]" : "");
        if (excerpt && f == top)
            print_excerpt(p, f);
    }
    if (folded)
        fprintf(p->out, "    (recursion was folded: some frames may be missing)\n");
}

/* ---- The parts of a report ----------------------------------------------------------------------------- */

static void print_access(const struct dh_print *p, const struct dh_finding_access *a, bool earlier)
{
    static const char *const kinds[2][3] = {{"Read", "Write", "Free"},
                                            {"Earlier read", "Earlier write", "Earlier free"}};
    static const char *const atomic_kinds[2][3] = {
        {"Atomic read", "Atomic write", "Free"},
        {"Earlier atomic read", "Earlier atomic write", "Earlier free"}};
    const struct palette *c = palette_of(p);
    fprintf(p->out, "\n  %s%s%s of %s%llu byte%s at 0x%llx by thread %s, holding %s:\n", c->strong,
            (a->atomic ? atomic_kinds : kinds)[earlier][a->kind], c->off,
            earlier && a->range ? "at least " : "", /* its shadow knows no more */
            (unsigned long long)a->size, a->size == 1 ? "" : "s", (unsigned long long)a->addr,
            a->threads->label, dh_finding_held(p->arena, a));
    print_trace(p, &a->stack, a->stack_folded, true);
}

/* "8 bytes into " */
static void print_offset(const struct dh_print *p, u64 offset)
{
    if (offset == 0)
        fputs("at the start of ", p->out);
    else
        fprintf(p->out, "%llu byte%s into ", (unsigned long long)offset, offset == 1 ? "" : "s");
}

/* Which part of the variable it is, its size and its declaration. */
static void print_variable(const struct dh_print *p, const struct dh_symbol_variable *v)
{
    if (strcmp(v->name, v->display) != 0) {
        fputs(", ", p->out);
        print_offset(p, v->offset);
        fprintf(p->out, "`%s`", shown(p, v->name));
    }
    if (v->size)
        fprintf(p->out, " (%llu byte%s)", (unsigned long long)v->size, v->size == 1 ? "" : "s");
    if (v->file)
        fprintf(p->out, ", declared at %s:%d", shown(p, dh_path_beneath(p->cwd, v->file)), v->line);
}

static void print_global(const struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_finding_location *at = &f->location;
    const char *module = at->module ? shown(p, dh_path_beneath(p->cwd, at->module)) : "?";
    if (!at->has_variable) {
        fprintf(p->out, "\n  Location: global memory (%s+0x%llx)\n", module,
                (unsigned long long)at->module_offset);
        return;
    }
    fprintf(p->out, "\n  Location: %s", dh_finding_subject(p->arena, f));
    print_variable(p, &at->variable);
    fprintf(p->out, ", in %s\n", module);
}

/* A stack, or thread-local storage. */
static void print_threads_own(const struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_finding_location *at = &f->location;
    fprintf(p->out, "\n  Location: %s", dh_finding_subject(p->arena, f));
    if (at->has_variable) {
        print_variable(p, &at->variable);
        if (at->place == DH_MODEL_STACK && at->thread_label)
            fprintf(p->out, ", on the stack of thread %s", at->thread_label);
    } else if (at->frame.n && at->frame.frames[at->frame.n - 1].function) {
        fprintf(p->out, ", in the frame of `%s`", shown(p, at->frame.frames[at->frame.n - 1].function));
    }
    fputc('\n', p->out);
}

static void print_heap(const struct dh_print *p, const struct dh_finding_location *at)
{
    fputs("\n  Location: ", p->out);
    print_offset(p, at->offset);
    fprintf(p->out, "a %sheap block of %llu byte%s at 0x%llx", at->freed ? "freed " : "",
            (unsigned long long)at->size, at->size == 1 ? "" : "s", (unsigned long long)at->start);
    if (at->thread_label)
        fprintf(p->out, ", allocated by thread %s", at->thread_label);
    fputs(at->allocated_at.n ? ":\n" : "\n", p->out);
    if (at->allocated_at.n)
        print_trace(p, &at->allocated_at, false, false);
}

static void print_location(const struct dh_print *p, const struct dh_finding *f)
{
    switch (f->location.place) {
    case DH_MODEL_GLOBAL:
        print_global(p, f);
        break;
    case DH_MODEL_HEAP:
        print_heap(p, &f->location);
        break;
    case DH_MODEL_STACK:
    case DH_MODEL_TLS:
        print_threads_own(p, f);
        break;
    case DH_MODEL_UNKNOWN:
        fprintf(p->out, "\n  Location: memory that is neither heap, global nor a stack (perhaps mapped)\n");
        break;
    }
}

static void print_locks(const struct dh_print *p, const struct dh_finding *f)
{
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_access *a = &f->accesses[i];
        for (size_t j = 0; j < a->n_locks; j++) {
            const struct dh_finding_lock *l = &a->locks[j];
            if (l->named && l->acquired_at.n == 0)
                continue;
            fprintf(p->out, "\n  Lock `%s` at 0x%llx", shown(p, l->name), (unsigned long long)l->addr);
            fprintf(p->out, l->acquired_at.n ? ", taken by thread %s:\n" : ", held by thread %s\n",
                    a->threads->label);
            if (l->acquired_at.n)
                print_trace(p, &l->acquired_at, false, false);
        }
    }
}

static void print_threads(const struct dh_print *p, const struct dh_finding *f)
{
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_thread *t = f->accesses[i].threads;
        if (!t->name || (!t->parent && t->created_at.n == 0)) /* the main thread */
            continue;
        if (i == 1 && t->uid == f->accesses[0].threads->uid)
            continue;
        fprintf(p->out, "\n  Thread %s", t->label);
        if (t->tid)
            fprintf(p->out, " (tid %llu)", (unsigned long long)t->tid);
        fprintf(p->out, " was created");
        if (t->parent)
            fprintf(p->out, " by thread %s", t->parent_label);
        fputs(":\n", p->out);
        print_trace(p, &t->created_at, false, false);
    }
}

void dh_print_text(const struct dh_print *p, const struct dh_group *group, bool with_count)
{
    const struct dh_finding *f = group->finding;
    const struct palette *c = palette_of(p);
    fprintf(p->out, "%sWARNING: deadheat: %s on %s%s", c->title,
            dh_finding_is_free(f) ? "use-after-free race" : "data race", dh_finding_subject(p->arena, f),
            c->off);
    if (f->pid)
        fprintf(p->out, " (pid %llu)", (unsigned long long)f->pid);
    fprintf(p->out, "\n  %s\n", dh_finding_explain(p->arena, f));
    const char *hint = dh_finding_hint(p->arena, f);
    if (hint)
        fprintf(p->out, "  %s\n", hint);
    print_access(p, &f->accesses[0], false);
    print_access(p, &f->accesses[1], true);
    print_location(p, f);
    print_locks(p, f);
    print_threads(p, f);
    fprintf(p->out, "\n  Fingerprint %s", f->fingerprint);
    if (with_count)
        fprintf(p->out, ", seen %llu time%s", (unsigned long long)group->count, group->count == 1 ? "" : "s");
    if (with_count && group->processes > 1)
        fprintf(p->out, " in %llu processes", (unsigned long long)group->processes);
    fputs("\n\n", p->out);
}
