/*
 * words.c - see words.h.
 */
#include "report/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/reporter.h"
#include "util/path.h"
#include "util/text.h"

const char *dh_words_plural(u64 n)
{
    return n == 1 ? "" : "s";
}

static const char *shown(struct dh_print *p, const char *s)
{
    return dh_text_shown(&p->scratch, s);
}

/* ---- Places -------------------------------------------------------------------------------------------- */

const char *dh_words_path(struct dh_print *p, const char *path)
{
    return shown(p, dh_path_beneath(p->cwd, path));
}

const char *dh_words_place(struct dh_print *p, const struct dh_symbol_frame *f)
{
    struct dh_arena *a = &p->scratch;
    if (f->file) {
        const char *file = dh_words_path(p, f->file);
        if (f->line && f->column)
            return dh_arena_printf(a, "%s:%d:%d", file, f->line, f->column);
        return f->line ? dh_arena_printf(a, "%s:%d", file, f->line) : file;
    }
    if (f->module)
        return dh_arena_printf(a, "(%s+0x%" PRIx64 ")", dh_words_path(p, f->module), f->offset);
    return f->offset ? dh_arena_printf(a, "(0x%" PRIx64 ")", f->offset) : "";
}

const char *dh_words_at(struct dh_print *p, const struct dh_finding_access *a)
{
    const struct dh_symbol_frame *f = dh_symbol_top(&a->stack);
    if (!f)
        return a->place ? shown(p, a->place) : "?";
    if (f->file)
        return dh_arena_printf(&p->scratch, "%s:%d", dh_words_path(p, f->file), f->line);
    return dh_words_place(p, f);
}

const char *dh_words_function(struct dh_print *p, const struct dh_symbol_frame *f)
{
    return f->shown ? shown(p, f->shown) : "??";
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

/* In a library, or nowhere. A function whose place alone is not known is that of source code. */
static bool is_foreign(const struct dh_symbol_frame *f)
{
    return !dh_symbol_in_project(f) && (f->file || f->module || !f->function);
}

/* Not those below main, nor the libraries' at the outer end (std::thread's, say). A stack that lies in
 * libraries altogether is shown whole. */
size_t dh_words_visible(const struct dh_symbol_trace *trace)
{
    size_t n = trace->n;
    for (size_t i = 0; i < n; i++) {
        if (trace->frames[i].function && strcmp(trace->frames[i].function, "main") == 0)
            n = i + 1;
    }
    while (n > 1 && is_start_code(&trace->frames[n - 1]))
        n--;
    size_t visible = n;
    while (visible > 0 && is_foreign(&trace->frames[visible - 1]))
        visible--;
    return visible ? visible : n;
}

bool dh_words_source(struct dh_print *p, const struct dh_symbol_frame *f, int number,
                     struct dh_source_line *ret)
{
    enum { LONGEST = 160 };
    if (!p->source || !f || !f->file || number < 1 || !dh_source_line(p->source, f->file, number, ret))
        return false;
    ret->len = ret->len < LONGEST ? ret->len : LONGEST;
    return true;
}

const char *dh_words_trimmed(struct dh_print *p, const struct dh_source_line *line)
{
    size_t blank = 0;
    while (blank < line->len && (line->text[blank] == ' ' || line->text[blank] == '\t'))
        blank++;
    return dh_arena_dup(&p->scratch, line->text + blank, line->len - blank);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* "8 bytes into " */
static const char *offset_in(struct dh_print *p, u64 offset)
{
    return offset ? dh_arena_printf(&p->scratch, "%" PRIu64 " byte%s into ", offset, dh_words_plural(offset))
                  : "at the start of ";
}

/* Which part of the variable it is, its size or type, and its declaration. */
static const char *variable_part(struct dh_print *p, const struct dh_finding_location *at)
{
    struct dh_arena *a = &p->scratch;
    const struct dh_symbol_variable *v = &at->variable;
    const char *part = "", *size = "", *declared = "";
    if (v->size && strcmp(v->name, v->display) != 0)
        part = dh_arena_printf(a, ", %s`%s`", offset_in(p, v->offset), shown(p, v->shown_name));
    if (v->size)
        size = dh_arena_printf(a, " (%" PRIu64 " byte%s)", v->size, dh_words_plural(v->size));
    else if (at->type)
        size = dh_arena_printf(a, " (%s)", shown(p, at->type));
    if (v->file)
        declared = dh_arena_printf(a, ", declared at %s:%d", dh_words_path(p, v->file), v->line);
    return dh_arena_printf(a, "%s%s%s", part, size, declared);
}

static const char *heap_memory(struct dh_print *p, const struct dh_finding_location *at)
{
    struct dh_arena *a = &p->scratch;
    const char *by = at->thread_label ? dh_arena_printf(a, ", allocated by thread %s", at->thread_label) : "";
    const char *field = "";
    if (at->has_field)
        field = dh_arena_printf(a, "field `%s` of `%s`, ", shown(p, at->field.name),
                                shown(p, at->field.shown_type));
    if (at->has_field && at->field.is_element)
        field = dh_arena_printf(a, "%selement %" PRIu64 ", ", field, at->field.element);
    return dh_arena_printf(a, "%s%sa %sheap block of %" PRIu64 " byte%s at 0x%" PRIx64 "%s", field,
                           offset_in(p, at->offset), at->freed ? "freed " : "", at->size,
                           dh_words_plural(at->size), at->start, by);
}

/* Of source code, blocks have the name of their type, and of the call that allocates them. */
static const char *heap_type(struct dh_print *p, const struct dh_finding_location *at, const char *subject)
{
    struct dh_arena *a = &p->scratch;
    const struct dh_symbol_variable *v = &at->variable;
    const char *in = v->function ? dh_arena_printf(a, " in %s", shown(p, v->shown_function)) : "";
    const char *where = v->file ? dh_arena_printf(a, " at %s:%d", dh_words_path(p, v->file), v->line) : "";
    return dh_arena_printf(a, "%s, allocated by %s%s%s", subject,
                           at->allocator ? shown(p, at->allocator) : "the heap", in, where);
}

/* What is neither heap, global, stack nor thread-local. */
static const char *unknown_memory(struct dh_print *p, const struct dh_finding *f)
{
    if (f->provenance == DH_FINDING_CONFIRMED)
        return "memory that is not a global variable; heap blocks were not tracked";
    if (f->provenance != DH_FINDING_POSSIBLE)
        return "memory that is neither heap, global nor a stack (perhaps mapped)";
    return f->location.has_variable ? dh_arena_printf(&p->scratch, "%s, which the analysis does not know",
                                                      shown(p, f->location.variable.shown))
                                    : "memory unknown to the analysis";
}

const char *dh_words_memory(struct dh_print *p, const struct dh_finding *f)
{
    struct dh_arena *a = &p->scratch;
    const struct dh_finding_location *at = &f->location;
    const struct dh_symbol_trace *frame = &at->frame;
    const char *subject = dh_finding_subject(a, f), *where = "";
    const char *module = at->module ? dh_words_path(p, at->module) : "?";
    if (at->place == DH_MODEL_UNKNOWN)
        return unknown_memory(p, f);
    if (at->place == DH_MODEL_HEAP)
        return at->has_variable ? heap_type(p, at, subject) : heap_memory(p, at);
    if (at->place == DH_MODEL_GLOBAL && !at->has_variable)
        return dh_arena_printf(a, "global memory (%s+0x%" PRIx64 ")", module, at->module_offset);
    if (!at->has_variable && frame->n && frame->frames[frame->n - 1].function)
        return dh_arena_printf(a, "%s, in the frame of `%s`", subject,
                               shown(p, frame->frames[frame->n - 1].shown));
    if (!at->has_variable || at->place == DH_MODEL_VARIABLE)
        return subject;
    if (at->place == DH_MODEL_STACK && at->thread_label)
        where = dh_arena_printf(a, ", on the stack of thread %s", at->thread_label);
    else if (at->module)
        where = dh_arena_printf(a, ", in %s", module);
    return dh_arena_printf(a, "%s%s%s", subject, variable_part(p, at), where);
}

const char *dh_words_possible(struct dh_print *p, const struct dh_finding_location *at)
{
    const struct dh_finding f = {.provenance = DH_FINDING_POSSIBLE, .location = *at};
    return dh_words_memory(p, &f);
}

/* ---- Parts of a finding -------------------------------------------------------------------------------- */

const char *dh_words_thread(struct dh_print *p, const struct dh_finding_thread *t)
{
    struct dh_arena *a = &p->scratch;
    const struct dh_symbol_frame *f = t->created_at.n ? t->created_at.frames : NULL;
    const char *by = t->api ? dh_arena_printf(a, " by %s", shown(p, t->api)) : "";
    const char *in = f && f->function ? dh_arena_printf(a, " in %s", shown(p, f->shown)) : "";
    const char *place = f ? dh_words_place(p, f) : "";
    return dh_arena_printf(a, "%s%s%s%s%s%s%s", t->label, t->sentence ? t->sentence : "", by, in,
                           place[0] ? " at " : "", place, t->many ? ", several at once" : "");
}

static struct dh_words_stack of_lock(struct dh_print *p, const struct dh_finding_access *a,
                                     const struct dh_finding_lock *l)
{
    return (struct dh_words_stack){dh_arena_printf(&p->scratch, "Lock `%s` at 0x%" PRIx64 ", %s by thread %s",
                                                   shown(p, l->shown), l->addr,
                                                   l->acquired_at.n ? "taken" : "held", a->run_by),
                                   &l->acquired_at};
}

static struct dh_words_stack of_thread(struct dh_print *p, const struct dh_finding_thread *t)
{
    const char *tid = t->tid ? dh_arena_printf(&p->scratch, " (tid %" PRIu64 ")", t->tid) : "";
    return (struct dh_words_stack){dh_arena_printf(&p->scratch, "Thread %s%s was created%s%s", t->label, tid,
                                                   t->parent ? " by thread " : "",
                                                   t->parent ? t->parent_label : ""),
                                   &t->created_at};
}

size_t dh_words_stacks(struct dh_print *p, const struct dh_finding *f, struct dh_words_stack **ret)
{
    static const struct dh_symbol_trace none;
    bool possible = f->provenance == DH_FINDING_POSSIBLE;
    struct dh_words_stack *all =
        dh_arena_array(&p->scratch, f->accesses[0].n_locks + f->accesses[1].n_locks + 3, sizeof(*all));
    size_t n = 0;
    all[n++] = (struct dh_words_stack){dh_arena_printf(&p->scratch, "Location: %s", dh_words_memory(p, f)),
                                       possible ? &none : &f->location.allocated_at};
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < f->accesses[i].n_locks; k++)
            if (!f->accesses[i].locks[k].named || f->accesses[i].locks[k].acquired_at.n)
                all[n++] = of_lock(p, &f->accesses[i], &f->accesses[i].locks[k]);
    for (int i = 0; i < 2; i++) {
        const struct dh_finding_thread *t = f->accesses[i].threads, *other = f->accesses[0].threads;
        bool told = i == 1 && other && t && t->uid == other->uid;
        if (t && t->name && !told && (t->parent || t->created_at.n)) /* not the main thread */
            all[n++] = of_thread(p, t);
    }
    *ret = all;
    return n;
}

/* "write by T1 at 7 (event 7)" */
static const char *access_line(struct dh_print *p, const struct dh_finding_access *x)
{
    struct dh_arena *a = &p->scratch;
    const char *event = x->event ? dh_arena_printf(a, " (event %" PRIu64 ")", x->event) : "";
    return dh_arena_printf(a, "%s%s by %s at %s%s", x->atomic ? "atomic " : "", dh_finding_kinds[x->kind],
                           x->run_by, dh_words_at(p, x), event);
}

const char *dh_words_line(struct dh_print *p, const struct dh_finding *f)
{
    const char *now = access_line(p, &f->accesses[0]);
    if (!f->accesses[1].known)
        return now;
    return dh_arena_printf(&p->scratch, "%s, earlier %s", now, access_line(p, &f->accesses[1]));
}

/* What is proved is an error; what a detector without that guarantee observed is not proved. */
const char *dh_words_level(const struct dh_finding *f)
{
    switch (f->provenance) {
    case DH_FINDING_PREDICTED:
        return f->witness.checked ? "error" : "warning";
    case DH_FINDING_POSSIBLE:
        return f->possible.ad_hoc ? "warning" : "note";
    case DH_FINDING_OBSERVED:
        if (f->guarantee && (strcmp(f->guarantee, "unsound") == 0 || strcmp(f->guarantee, "hybrid") == 0))
            return "warning";
        break;
    case DH_FINDING_CONFIRMED:
        break;
    }
    return "error";
}

/* "write of 4 bytes in f at a.c:3" */
static const char *side(struct dh_print *p, const struct dh_finding_access *a)
{
    const struct dh_symbol_frame *top = dh_symbol_top(&a->stack);
    const char *in =
        top && top->function ? dh_arena_printf(&p->scratch, " in %s", dh_words_function(p, top)) : "";
    return dh_arena_printf(&p->scratch, "%s%s at %s", dh_finding_did(&p->scratch, a), in, dh_words_at(p, a));
}

const char *dh_words_sentence(struct dh_print *p, const struct dh_finding *f)
{
    struct dh_arena *arena = &p->scratch;
    const struct dh_finding_access *b = &f->accesses[1];
    const char *other = b->known ? dh_arena_printf(arena, " and %s", side(p, b)) : "";
    const char *witness = dh_words_witness(p, f), *why = dh_finding_explain(arena, f);
    char *title = dh_arena_strdup(arena, dh_finding_title(f));
    title[0] = (char)toupper((unsigned char)title[0]);
    if (f->provenance == DH_FINDING_POSSIBLE)
        why = dh_arena_printf(arena, "Why: %s.", why);
    else if (f->provenance == DH_FINDING_CONFIRMED)
        why = dh_arena_printf(arena, "%s %s.", why, dh_finding_confirmed(arena, f));
    else if (witness[0])
        why = dh_arena_printf(arena, "%s There is %s.", why, witness);
    const char *hint = dh_finding_hint(arena, f);
    if (hint)
        why = dh_arena_printf(arena, "%s %s", why, hint);
    return dh_arena_printf(arena, "%s on %s: %s%s. %s", title, dh_words_memory(p, f),
                           side(p, &f->accesses[0]), other, why);
}

const char *dh_words_witness(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_finding_witness *w = &f->witness;
    if (f->provenance != DH_FINDING_PREDICTED)
        return "";
    if (w->length == 0)
        return dh_arena_printf(&p->scratch, "no witness %s", w->missing ? w->missing : "is known");
    const char *checked = w->checked ? ", checked" : "";
    if (!w->events)
        return dh_arena_printf(&p->scratch, "a witness of %" PRIu64 " event%s%s (--witness shows it)",
                               w->length, dh_words_plural(w->length), checked);
    enum { DIGITS = 12 }; /* of a number of 32 bits, and a blank */
    char *list = dh_arena_alloc(&p->scratch, w->length * DIGITS + 1), *at = list;
    for (u64 i = 0; i < w->length; i++)
        at += sprintf(at, " %" PRIu64, (u64)w->events[i] + 1);
    return dh_arena_printf(&p->scratch, "a witness of %" PRIu64 " event%s%s:%s", w->length,
                           dh_words_plural(w->length), checked, list);
}

void dh_words_interval(u64 seen, u64 runs, double *ret_low, double *ret_high)
{
    const double z = 1.959964;
    double n = (double)runs, p = (double)seen / n, scale = 1 + z * z / n;
    double middle = (p + z * z / (2 * n)) / scale;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
    *ret_low = seen ? middle - half : 0;
    *ret_high = seen < runs ? middle + half : 1;
}

static const char *seen_in_runs(struct dh_print *p, u64 seen, u64 runs)
{
    double low, high;
    dh_words_interval(seen, runs, &low, &high);
    return dh_arena_printf(
        &p->scratch,
        ", seen in %" PRIu64 " of %" PRIu64 " run%s (%.0f %%; with 95 %% confidence %.0f %% to %.0f %%)",
        seen, runs, dh_words_plural(runs), 100 * (double)seen / (double)runs, 100 * low, 100 * high);
}

const char *dh_words_seen(struct dh_print *p, const struct dh_finding *f)
{
    u64 runs = p->about && p->about->records ? p->about->records->result->runs : 0;
    if (runs && f->runs)
        return seen_in_runs(p, f->runs, runs);
    if (p->running || !f->count)
        return "";
    const char *in =
        f->processes > 1 ? dh_arena_printf(&p->scratch, " in %" PRIu64 " processes", f->processes) : "";
    return dh_arena_printf(&p->scratch, ", seen %" PRIu64 " time%s%s", f->count, dh_words_plural(f->count),
                           in);
}

bool dh_words_same_place(const struct dh_finding *f)
{
    return f->provenance == DH_FINDING_POSSIBLE && f->accesses[0].site == f->accesses[1].site;
}

const char *dh_words_bundle(struct dh_print *p, const struct dh_finding *f)
{
    if (f->provenance != DH_FINDING_POSSIBLE || f->possible.stands_for <= 1)
        return "";
    return dh_arena_printf(&p->scratch, "a bundle: %zu places like the first, each with %zu like the second",
                           f->accesses[0].n_alike + 1, f->accesses[1].n_alike + 1);
}

/* ---- Documents ----------------------------------------------------------------------------------------- */

const char *dh_words_section(struct dh_print *p, const struct dh_print_section *s)
{
    if (s->detector)
        return dh_arena_printf(&p->scratch, "%s (%s)", s->detector->name, s->detector->guarantee);
    return dh_words_possible(p, s->variable);
}

const char *dh_words_gap(const struct dh_print_about *about)
{
    const struct dh_reporter_result *n = about->records ? about->records->result : NULL;
    if (n && n->processes == 0)
        return "no process is recorded";
    if (n && n->incomplete)
        return "a process did not run to its end";
    if (n && n->bad_lines)
        return "some of the lines are no race records";
    if (about->trace && about->trace->events == 0)
        return "there is no event";
    return about->trace && !about->trace->complete ? "the end of the recording is missing" : NULL;
}

const char *dh_words_count(struct dh_print *p, const struct dh_print_section *s)
{
    const struct dh_print_detector *d = s->detector;
    if (!d)
        return dh_arena_printf(&p->scratch, "%s%" PRIu64 " pair%s", s->most ? "at most " : "", s->pairs,
                               dh_words_plural(s->pairs));
    if (d->reports == 0)
        return d->error                       ? "no races before it stopped"
               : p->about->trace->complete    ? "no races"
               : p->about->trace->events == 0 ? "nothing to analyse"
                                              : "no races in what is there";
    return dh_arena_printf(&p->scratch,
                           "%" PRIu64 " racy variable%s, %" PRIu64 " racy event%s at %" PRIu64
                           " location%s, %" PRIu64 " pair%s of locations",
                           d->variables, dh_words_plural(d->variables), d->events, dh_words_plural(d->events),
                           d->places, dh_words_plural(d->places), d->pairs, dh_words_plural(d->pairs));
}

const char *dh_words_more(struct dh_print *p, const struct dh_print_section *s)
{
    return s->shown < s->n
               ? dh_arena_printf(&p->scratch, "and %zu more (--limit=0 shows all)", s->n - s->shown)
               : "";
}

const char *dh_words_known(struct dh_print *p, u64 n)
{
    return dh_arena_printf(&p->scratch, "%" PRIu64 " finding%s in the baseline", n, n == 1 ? " is" : "s are");
}

static bool is_in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.';
}

/* With names of C++ as people write them: identities have them mangled. */
static const char *demangled(struct dh_print *p, const char *text)
{
    struct dh_arena *a = &p->scratch;
    const char *out = "";
    while (*text) {
        size_t n = 0;
        while (is_in_name(text[n]))
            n++;
        const char *name = dh_symbol_demangle(a, dh_arena_dup(a, text, n));
        out = dh_arena_printf(a, "%s%s", out, dh_symbol_shorten(a, name));
        text += n;
        for (n = 0; text[n] && !is_in_name(text[n]);)
            n++;
        out = dh_arena_printf(a, "%s%.*s", out, (int)n, text);
        text += n;
    }
    return out;
}

const char *dh_words_identity(struct dh_print *p, const struct dh_baseline_entry *e)
{
    if (!e->identity)
        return e->hash;
    /* "2|read f@a.c+3:9|write g@a.c+4:5|global x" */
    const char *text = e->hash, *separator = ": ";
    for (const char *bar = strchr(e->identity, '|'); bar; separator = "; ") {
        size_t n = strcspn(++bar, "|");
        text = dh_arena_printf(&p->scratch, "%s%s%.*s", text, separator, (int)n, bar);
        bar = bar[n] ? bar + n : NULL;
    }
    return shown(p, demangled(p, text));
}

void dh_words_put_unseen(struct dh_print *p, FILE *out, struct dh_baseline *b, const char *before)
{
    const struct dh_baseline_entry *const *list;
    size_t n = b ? dh_baseline_unseen(b, &list) : 0;
    if (!n)
        return;
    fprintf(out, "%s%zu finding%s of the baseline %s not seen, and may be fixed:\n", before, n,
            dh_words_plural(n), n == 1 ? "was" : "were");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  %s\n", dh_words_identity(p, list[i]));
}

const char *dh_words_trace(struct dh_print *p)
{
    const struct dh_print_trace *t = p->about->trace;
    const char *recorded = t->recorded != t->events
                               ? dh_arena_printf(&p->scratch, " (%" PRIu64 " as recorded)", t->recorded)
                               : "";
    return dh_arena_printf(&p->scratch, "%" PRIu64 " events%s, %u threads, %u locks, %u variables", t->events,
                           recorded, t->threads, t->locks, t->variables);
}

const char *dh_words_pairs(struct dh_print *p)
{
    const struct dh_print_static *s = p->about->pairs;
    struct dh_arena *a = &p->scratch;
    bool relay = strcmp(s->style, "relay") == 0;
    const char *dropped = "", *bundles = "", *suppressed = "";
    if (s->suppressed)
        suppressed = dh_arena_printf(a, "; %" PRIu64 " suppressed", s->suppressed);
    if (s->dropped)
        dropped = dh_arena_printf(a, "; assuming %s dropped %s%" PRIu64 " more", s->assumed,
                                  s->bundled ? "at most " : "", s->dropped);
    if (s->bundled)
        bundles = dh_arena_printf(a, " in %" PRIu64 " bundle%s", s->findings, dh_words_plural(s->findings));
    if (s->narrowed)
        return dh_arena_printf(a, "%s%" PRIu64 " pair%s that may race%s, on %zu variable%s (%s)",
                               s->most ? "at most " : "", s->pairs, dh_words_plural(s->pairs), bundles,
                               s->n_variables, dh_words_plural(s->n_variables), s->narrowed);
    return dh_arena_printf(
        a, "%s%" PRIu64 " pair%s that may race%s, on %zu variable%s (%s%s%s; %s%" PRIu64 " with --style=%s)",
        s->most ? "at most " : "", s->pairs, dh_words_plural(s->pairs), bundles, s->n_variables,
        dh_words_plural(s->n_variables),
        relay ? "relay: no lock in common" : "sound: every pair that could race", dropped, suppressed,
        s->other_most ? "at most " : "", s->other, s->other_style);
}

const char *dh_words_of(const struct dh_print *p)
{
    const char *of = p->about->pairs->of;
    if (strcmp(of, "source") == 0)
        return "This is about the source: every access in it counts, even if an optimiser would remove it.";
    if (strcmp(of, "binary") == 0)
        return "This is about the binary: an access that the optimiser removed is in no pair.";
    return "This is about the bitcode as it is: an access that was optimised away before is in no pair.";
}
