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
    const struct dh_symbol_frame *f = dh_view_top(trace);
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
    while (shown > 0 && !dh_view_in_project(&trace->frames[shown - 1]))
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
    const struct dh_symbol_frame *top = dh_view_top(trace);
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

static void print_access(const struct dh_print *p, const struct dh_view_access *a, bool earlier)
{
    static const char *const kinds[2][3] = {{"Read", "Write", "Free"},
                                            {"Earlier read", "Earlier write", "Earlier free"}};
    static const char *const atomic_kinds[2][3] = {
        {"Atomic read", "Atomic write", "Free"},
        {"Earlier atomic read", "Earlier atomic write", "Earlier free"}};
    const struct palette *c = palette_of(p);
    const struct dh_model_access *access = a->access;
    fprintf(p->out, "\n  %s%s%s of %s%llu byte%s at 0x%llx by thread %s, holding ", c->strong,
            (access->atomic ? atomic_kinds : kinds)[earlier][access->kind], c->off,
            earlier && access->range ? "at least " : "", /* its shadow knows no more */
            (unsigned long long)access->size, access->size == 1 ? "" : "s", (unsigned long long)access->addr,
            a->thread.label);
    if (a->n_locks == 0)
        fputs("no lock", p->out);
    for (size_t i = 0; i < a->n_locks; i++)
        fprintf(p->out, "%s`%s`%s", i ? ", " : "", shown(p, a->locks[i].name),
                a->locks[i].lock->read_mode ? " (for reading)" : "");
    fputs(":\n", p->out);
    print_trace(p, &a->stack, access->stack_folded, true);
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
static void print_variable(const struct dh_print *p, const struct dh_view *v)
{
    if (strcmp(v->variable.name, v->variable.display) != 0) {
        fputs(", ", p->out);
        print_offset(p, v->variable.offset);
        fprintf(p->out, "`%s`", shown(p, v->variable.name));
    }
    if (v->variable.size)
        fprintf(p->out, " (%llu byte%s)", (unsigned long long)v->variable.size,
                v->variable.size == 1 ? "" : "s");
    if (v->variable.file)
        fprintf(p->out, ", declared at %s:%d", shown(p, dh_path_beneath(p->cwd, v->variable.file)),
                v->variable.line);
}

static void print_global(const struct dh_print *p, const struct dh_view *v)
{
    const struct dh_model_location *at = &v->race->location;
    const char *module = at->module ? shown(p, dh_path_beneath(p->cwd, at->module->path)) : "?";
    if (!v->has_variable) {
        fprintf(p->out, "\n  Location: global memory (%s+0x%llx)\n", module, (unsigned long long)at->offset);
        return;
    }
    fprintf(p->out, "\n  Location: %s", dh_view_subject(p->arena, v));
    print_variable(p, v);
    fprintf(p->out, ", in %s\n", module);
}

/* A stack, or thread-local storage. */
static void print_threads_own(const struct dh_print *p, const struct dh_view *v)
{
    fprintf(p->out, "\n  Location: %s", dh_view_subject(p->arena, v));
    if (v->has_variable) {
        print_variable(p, v);
        if (v->race->location.place == DH_MODEL_STACK && v->location_thread)
            fprintf(p->out, ", on the stack of thread %s", v->location_thread);
    } else if (v->frame.n && v->frame.frames[v->frame.n - 1].function) {
        fprintf(p->out, ", in the frame of `%s`", shown(p, v->frame.frames[v->frame.n - 1].function));
    }
    fputc('\n', p->out);
}

static void print_heap(const struct dh_print *p, const struct dh_view *v)
{
    const struct dh_model_location *at = &v->race->location;
    fputs("\n  Location: ", p->out);
    print_offset(p, at->offset);
    fprintf(p->out, "a %sheap block of %llu byte%s at 0x%llx", at->freed ? "freed " : "",
            (unsigned long long)at->size, at->size == 1 ? "" : "s", (unsigned long long)at->start);
    if (v->location_thread)
        fprintf(p->out, ", allocated by thread %s", v->location_thread);
    fputs(v->allocated_at.n ? ":\n" : "\n", p->out);
    if (v->allocated_at.n)
        print_trace(p, &v->allocated_at, false, false);
}

static void print_location(const struct dh_print *p, const struct dh_view *v)
{
    switch (v->race->location.place) {
    case DH_MODEL_GLOBAL:
        print_global(p, v);
        break;
    case DH_MODEL_HEAP:
        print_heap(p, v);
        break;
    case DH_MODEL_STACK:
    case DH_MODEL_TLS:
        print_threads_own(p, v);
        break;
    case DH_MODEL_UNKNOWN:
        fprintf(p->out, "\n  Location: memory that is neither heap, global nor a stack (perhaps mapped)\n");
        break;
    }
}

static void print_locks(const struct dh_print *p, const struct dh_view *v)
{
    for (int i = 0; i < 2; i++) {
        const struct dh_view_access *a = &v->accesses[i];
        for (size_t j = 0; j < a->n_locks; j++) {
            const struct dh_view_lock *l = &a->locks[j];
            if (l->named && l->acquired_at.n == 0)
                continue;
            fprintf(p->out, "\n  Lock `%s` at 0x%llx", shown(p, l->name), (unsigned long long)l->lock->addr);
            fprintf(p->out, l->acquired_at.n ? ", taken by thread %s:\n" : ", held by thread %s\n",
                    a->thread.label);
            if (l->acquired_at.n)
                print_trace(p, &l->acquired_at, false, false);
        }
    }
}

static void print_threads(const struct dh_print *p, const struct dh_view *v)
{
    for (int i = 0; i < 2; i++) {
        const struct dh_view_thread *t = &v->accesses[i].thread;
        if (!t->info || (!t->info->parent && t->created_at.n == 0)) /* the main thread */
            continue;
        if (i == 1 && t->uid == v->accesses[0].thread.uid)
            continue;
        fprintf(p->out, "\n  Thread %s", t->label);
        if (t->info->tid)
            fprintf(p->out, " (tid %llu)", (unsigned long long)t->info->tid);
        fprintf(p->out, " was created");
        if (t->info->parent)
            fprintf(p->out, " by thread %s",
                    dh_view_thread_label(p->arena, v->race->process, t->info->parent));
        fputs(":\n", p->out);
        print_trace(p, &t->created_at, false, false);
    }
}

void dh_print_text(const struct dh_print *p, const struct dh_group *group, bool with_count)
{
    const struct dh_view *v = group->view;
    const struct palette *c = palette_of(p);
    fprintf(p->out, "%sWARNING: deadheat: %s on %s%s", c->title,
            dh_view_is_free(v) ? "use-after-free race" : "data race", dh_view_subject(p->arena, v), c->off);
    if (v->race->process->pid)
        fprintf(p->out, " (pid %llu)", (unsigned long long)v->race->process->pid);
    fprintf(p->out, "\n  %s\n", dh_view_explain(p->arena, v));
    print_access(p, &v->accesses[0], false);
    print_access(p, &v->accesses[1], true);
    print_location(p, v);
    print_locks(p, v);
    print_threads(p, v);
    fprintf(p->out, "\n  Fingerprint %s", group->hash);
    if (with_count)
        fprintf(p->out, ", seen %llu time%s", (unsigned long long)group->count, group->count == 1 ? "" : "s");
    if (with_count && group->processes > 1)
        fprintf(p->out, " in %llu processes", (unsigned long long)group->processes);
    fputs("\n\n", p->out);
}
