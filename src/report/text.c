/*
 * text.c - a finding in full, for people to read.
 *
 * Order: what, why, the access that found the race, the earlier one, the memory, the locks, the threads, how
 * it is known, races with the same cause. The source excerpt of each stack is printed directly below it,
 * at the relevant frame. Names and source lines are untrusted and are sanitised (util/text.h).
 */
#include "report/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "util/text.h"

enum { CONTEXT = 2 };

const struct dh_text_palette *dh_text_palette(const struct dh_print *p)
{
    static const struct dh_text_palette plain = {"", "", "", "", "", ""};
    static const struct dh_text_palette coloured = {"\033[1;31m", "\033[1m",    "\033[36m",
                                                    "\033[2m",    "\033[1;33m", "\033[0m"};
    return p->color ? &coloured : &plain;
}

/* ---- Stacks and source --------------------------------------------------------------------------------- */

static void print_excerpt(struct dh_print *p, const struct dh_symbol_frame *f)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    struct dh_source_line line;
    if (!dh_words_source(p, f, f->line, &line))
        return;
    for (int n = f->line - CONTEXT; n <= f->line + CONTEXT; n++) {
        if (!dh_words_source(p, f, n, &line))
            continue;
        bool here = n == f->line;
        fprintf(p->out, "      %s%s %5d |%s%s", here ? c->mark : c->dim, here ? ">" : " ", n, c->off,
                line.len ? " " : "");
        dh_text_put_line(p->out, line.text, line.len);
        fputc('\n', p->out);
        if (!here || f->column < 1 || (size_t)f->column > line.len)
            continue;
        fprintf(p->out, "      %s        | ", c->dim);
        for (int i = 0; i + 1 < f->column; i++) /* tabs stay tabs, so that the caret stands right */
            fputc(line.text[i] == '\t' ? '\t' : ' ', p->out);
        fprintf(p->out, "%s%s^%s\n", c->off, c->mark, c->off);
    }
}

static void print_trace(struct dh_print *p, const struct dh_symbol_trace *trace, bool folded, bool excerpt)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    size_t n = dh_words_visible(trace);
    const struct dh_symbol_frame *top = dh_symbol_top(trace);
    if (n == 0)
        fputs("    (the stack is not known)\n", p->out);
    for (size_t i = 0; i < n; i++) {
        const struct dh_symbol_frame *f = &trace->frames[i];
        fprintf(p->out, "    #%zu %s%s%s %s%s%s%s\n", i, c->strong, dh_words_function(p, f), c->off, c->place,
                dh_words_place(p, f), c->off, f->inlined ? " [inlined]" : "");
        if (excerpt && f == top)
            print_excerpt(p, f);
    }
    if (folded)
        fputs("    (recursion was folded: some frames may be missing)\n", p->out);
}

/* ---- The parts of a report ----------------------------------------------------------------------------- */

/* Of source code: what is certain of the locks, and who may run it. */
static void print_side(struct dh_print *p, const struct dh_finding_access *a)
{
    for (size_t i = 0; i < a->n_locks; i++) {
        const struct dh_finding_lock *l = &a->locks[i];
        const char *place = dh_words_place(p, &l->declared_at);
        fprintf(p->out, "    It always holds `%s`%s%s%s%s.\n", dh_text_shown(&p->scratch, l->shown),
                l->shared ? " for reading" : "", place[0] ? ", from " : "", place,
                l->many ? ", one of many such locks" : "");
    }
    for (size_t i = 0; i < a->n_threads; i++)
        fprintf(p->out, "    It is run by %s.\n", dh_words_thread(p, &a->threads[i]));
    if (!a->n_threads)
        fputs("    It is not known which threads run it.\n", p->out);
}

static void print_access(struct dh_print *p, const struct dh_finding *f, int which)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    const struct dh_finding_access *a = &f->accesses[which];
    bool possible = f->provenance == DH_FINDING_POSSIBLE, earlier = which == 1 && !possible;
    char *did = dh_arena_strdup(&p->scratch, dh_finding_did(&p->scratch, a));
    if (!earlier)
        did[0] = (char)toupper((unsigned char)did[0]);
    fprintf(p->out, "\n  %s%s%s%s", c->strong, earlier ? "Earlier " : "", did, c->off);
    if (a->site)
        fprintf(p->out, " (site %016" PRIx64 ")", a->site);
    if (a->addr)
        fprintf(p->out, " at 0x%" PRIx64, a->addr);
    if (!possible)
        fprintf(p->out, " by thread %s", a->run_by);
    if (a->event)
        fprintf(p->out, " (event %" PRIu64 ")", a->event);
    if (a->locks_known)
        fprintf(p->out, ", holding %s", dh_finding_held(&p->scratch, a));
    fputs(":\n", p->out);
    print_trace(p, &a->stack, a->stack_folded, true);
    if (possible)
        print_side(p, a);
}

static void print_stacks(struct dh_print *p, const struct dh_finding *f)
{
    struct dh_words_stack *all;
    size_t n = dh_words_stacks(p, f, &all);
    for (size_t i = 0; i < n; i++) {
        fprintf(p->out, "\n  %s%s\n", all[i].title, all[i].trace->n ? ":" : "");
        if (all[i].trace->n)
            print_trace(p, all[i].trace, false, false);
    }
}

static void print_possible(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    const struct dh_finding_possible *possible = &f->possible;
    for (size_t i = 0; i < possible->n_others; i++)
        fprintf(p->out, "    or %s\n", dh_words_possible(p, &possible->others[i]));
    if (possible->stands_for > 1)
        fprintf(p->out,
                "\n  The same is true of %" PRIu64 " pairs of places: %zu like the first, each with %zu.\n",
                possible->stands_for, f->accesses[0].n_alike + 1, f->accesses[1].n_alike + 1);
    fprintf(p->out, "\n  %sWhy it is considered possible%s\n", c->strong, c->off);
    for (size_t i = 0; i < possible->n_reasons; i++)
        fprintf(p->out, "    - %s\n", possible->reasons[i].sentence);
    if (possible->note)
        fprintf(p->out, "    - %s\n", dh_text_shown(&p->scratch, possible->note));
    fprintf(p->out, "\n  %sWhere it stands%s\n", c->strong, c->off);
    bool relay = false;
    for (size_t i = 0; i < possible->n_flags; i++) {
        relay |= strcmp(possible->flags[i].name, "relay") == 0;
        fprintf(p->out, "    %s\n", possible->flags[i].sentence);
    }
    if (!relay)
        fputs(
            "    It is not in the style relay, which trusts more: locks of the same name, joins in loops.\n",
            p->out);
    fprintf(p->out, "    %s\n", dh_words_of(p));
}

void dh_text_variants(struct dh_print *p, const struct dh_finding *f)
{
    enum { SHOWN = 10 };
    size_t n = 0;
    for (const struct dh_finding *v = f->variants; v; v = v->next)
        n++;
    if (!n)
        return;
    fprintf(p->out, p->detail == DH_PRINT_FULL ? "\n  " : "    ");
    fprintf(p->out, "%zu more pair%s of places with the same cause (--all shows %s):\n", n,
            dh_words_plural(n), n == 1 ? "it" : "them");
    const char *indent = p->detail == DH_PRINT_FULL ? "    " : "      ";
    size_t i = 0;
    for (const struct dh_finding *v = f->variants; v && i < SHOWN; v = v->next, i++)
        fprintf(p->out, "%s%s, %s%s\n", indent, dh_words_line(p, v), v->fingerprint.hash,
                dh_words_seen(p, v));
    if (n > SHOWN)
        fprintf(p->out, "%sand %zu more (--format=json has them)\n", indent, n - SHOWN);
}

static void print_title(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    const char *title = dh_finding_title(f), *subject = dh_finding_subject(&p->scratch, f);
    if (f->provenance == DH_FINDING_POSSIBLE)
        fprintf(p->out, "%sP%u%s, pair %016" PRIx64 " of %s: %s on %s", c->title, f->possible.number, c->off,
                f->possible.id, dh_text_shown(&p->scratch, p->about->input), title, subject);
    else
        fprintf(p->out, "%sWARNING: deadheat: %s on %s%s", c->title, title, subject, c->off);
    if (f->pid)
        fprintf(p->out, " (pid %" PRIu64 "%s%s)", f->pid, f->test && f->test[0] ? ", test " : "",
                f->test ? dh_text_shown(&p->scratch, f->test) : "");
    fputc('\n', p->out);
}

void dh_text_full(struct dh_print *p, const struct dh_finding *f)
{
    const char *witness = dh_words_witness(p, f);
    bool possible = f->provenance == DH_FINDING_POSSIBLE;
    print_title(p, f);
    if (!possible)
        fprintf(p->out, "  %s\n", dh_finding_explain(&p->scratch, f));
    const char *hint = dh_finding_hint(&p->scratch, f);
    if (hint)
        fprintf(p->out, "  %s\n", hint);
    print_access(p, f, 0);
    if (dh_words_same_place(f))
        fputs("\n  The other side is the same place, in another thread.\n", p->out);
    else
        print_access(p, f, 1);
    print_stacks(p, f);
    if (possible)
        print_possible(p, f);
    if (witness[0])
        fprintf(p->out, "\n  Prediction: %s\n", witness);
    if (f->provenance == DH_FINDING_CONFIRMED)
        fprintf(p->out, "\n  %s.\n", dh_finding_confirmed(&p->scratch, f));
    dh_text_variants(p, f);
    fprintf(p->out, "\n  Fingerprint %s%s\n\n", f->fingerprint.hash, dh_words_seen(p, f));
}
