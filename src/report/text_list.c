/*
 * text_list.c - a document as text: its sections, findings in few lines, and the text before and after them.
 */
#include <inttypes.h>
#include <string.h>

#include "report/json.h"
#include "report/pairs.h"
#include "report/text.h"
#include "util/text.h"

/* ---- Findings in few lines ----------------------------------------------------------------------------- */

static void print_side(struct dh_print *p, const struct dh_finding_access *a)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    const struct dh_symbol_frame *f = a->stack.n ? &a->stack.frames[0] : NULL;
    const char *place = f ? dh_words_place(p, f) : "";
    struct dh_source_line line;
    fprintf(p->out, "    %s%s%s in %s", c->strong, dh_finding_did(&p->scratch, a), c->off,
            f && f->function ? dh_words_function(p, f) : "an unknown function");
    fprintf(p->out, place[0] ? " at %s%s%s" : "%s%s%s", c->place, place, c->off);
    fprintf(p->out, ", holding %s\n", dh_finding_held(&p->scratch, a));
    if (f && dh_words_source(p, f, f->line, &line)) {
        const char *text = dh_words_trimmed(p, &line);
        fprintf(p->out, "      %s%5d |%s ", c->dim, f->line, c->off);
        dh_text_put_line(p->out, text, strlen(text));
        fputc('\n', p->out);
    }
    fprintf(p->out, "      run by %s\n", a->run_by);
}

static void print_sides(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    const char *why = dh_finding_explain(&p->scratch, f), *bundle = dh_words_bundle(p, f);
    fprintf(p->out, "\n  %sP%u%s %s%016" PRIx64 "%s%s\n", c->strong, f->possible.number, c->off, c->dim,
            f->possible.id, c->off, f->possible.ad_hoc ? "  the flag of a spin loop" : "");
    print_side(p, &f->accesses[0]);
    if (dh_words_same_place(f))
        fputs("    and the same, in another thread\n", p->out);
    else
        print_side(p, &f->accesses[1]);
    if (bundle[0])
        fprintf(p->out, "    %s (--format=json has them)\n", bundle);
    if (why[0])
        fprintf(p->out, "    why: %s\n", why);
}

static void print_line(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_symbol_variable *v = &f->location.variable;
    const char *witness = dh_words_witness(p, f);
    const char *name = f->location.place == DH_MODEL_VARIABLE ? dh_text_shown(&p->scratch, v->name)
                                                              : dh_finding_subject(&p->scratch, f);
    if (f->location.place == DH_MODEL_VARIABLE && v->display != v->name)
        name = dh_arena_printf(&p->scratch, "%s %s", dh_text_shown(&p->scratch, v->display), name);
    fprintf(p->out, "  %s: %s%s\n", name, dh_words_line(p, f), f->count > 1 ? dh_words_seen(p, f) : "");
    const char *hint = f->location.place == DH_MODEL_VARIABLE ? dh_finding_hint(&p->scratch, f) : NULL;
    if (hint)
        fprintf(p->out, "    %s\n", hint);
    if (witness[0])
        fprintf(p->out, "    %s\n", witness);
    dh_text_variants(p, f);
}

void dh_print_variant(struct dh_print *p, const struct dh_finding *f, const struct dh_finding *first)
{
    fprintf(p->out, "deadheat: the same cause as %s: %s, %s\n", first->fingerprint.hash, dh_words_line(p, f),
            f->fingerprint.hash);
    dh_print_done(p);
}

void dh_print_repeated(struct dh_print *p, FILE *out, const struct dh_finding *f)
{
    const struct dh_finding_access *a = f->accesses;
    fprintf(out, "  %s: %s at %s, %s at %s: %" PRIu64 " times", f->fingerprint.hash,
            dh_finding_kinds[a[0].kind], dh_words_at(p, &a[0]), dh_finding_kinds[a[1].kind],
            dh_words_at(p, &a[1]), f->count);
    if (f->processes > 1)
        fprintf(out, " in %" PRIu64 " processes", f->processes);
    fputc('\n', out);
    dh_print_done(p);
}

/* ---- Documents ----------------------------------------------------------------------------------------- */

static void text_begin(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    const char *input = dh_text_shown(&p->scratch, about->input);
    if (about->trace)
        fprintf(p->out, "%s: %s\n", input, dh_words_trace(p));
    else if (about->pairs && about->pairs->table->no_threads)
        fprintf(p->out, "%s: no thread is ever created\n%s\n", input, dh_words_of(p));
}

static void text_open(struct dh_print *p, const struct dh_print_section *s)
{
    const struct dh_text_palette *c = dh_text_palette(p);
    fprintf(p->out, "%s%s%s%s: %s\n", s->detector ? "\n" : "", c->title, dh_words_section(p, s), c->off,
            dh_words_count(p, s));
}

static void text_finding(struct dh_print *p, const struct dh_finding *f)
{
    switch (p->detail) {
    case DH_PRINT_FULL:
        dh_text_full(p, f);
        break;
    case DH_PRINT_SIDES:
        print_sides(p, f);
        break;
    case DH_PRINT_LINE:
        print_line(p, f);
        break;
    }
}

static void text_close(struct dh_print *p, const struct dh_print_section *s)
{
    const struct dh_print_detector *d = s->detector;
    const char *more = s->shown ? dh_words_more(p, s) : "";
    if (more[0])
        fprintf(p->out, "%s  %s\n", d ? "" : "\n", more);
    if (d && d->suppressed)
        fprintf(p->out, "  %" PRIu64 " pair%s of locations suppressed\n", d->suppressed,
                dh_words_plural(d->suppressed));
    if (d && d->given_up)
        fprintf(p->out, "  incomplete: %" PRIu64 " possible race%s not decided, at the bound of the search\n",
                d->given_up, dh_words_plural(d->given_up));
    if (d && d->error)
        fprintf(p->out, "  incomplete: %s\n", d->error);
    if (!d && s->shown)
        fputc('\n', p->out);
}

static void text_end(struct dh_print *p)
{
    const struct dh_print_static *s = p->about->pairs;
    if (p->about->trace && p->about->known)
        fprintf(p->out, "\n%s\n", dh_words_known(p, p->about->known));
    if (p->about->trace)
        dh_words_put_unseen(p, p->out, p->about->baseline, "");
    if (!s || s->explained)
        return;
    if (!s->table->no_threads) {
        u64 cases = 0;
        for (size_t i = 0; i < s->table->n_assumptions; i++)
            cases += s->table->assumptions[i].count;
        fprintf(p->out, "%s: %s\n%s\n", dh_text_shown(&p->scratch, p->about->input), dh_words_pairs(p),
                dh_words_of(p));
        if (cases)
            fprintf(p->out,
                    "It depends on assumptions that apply to %" PRIu64 " place%s; --stats lists them.\n",
                    cases, dh_words_plural(cases));
    }
    if (p->about->known)
        fprintf(p->out, "%s\n", dh_words_known(p, p->about->known));
    dh_words_put_unseen(p, p->out, p->about->baseline, "");
    if (s->stats)
        dh_json_tables(p, true, dh_print_table_text);
}

const struct dh_print_ops dh_print_as_text = {text_begin, text_open, text_finding, text_close, text_end};
