/*
 * html.c - one finding on a page: both accesses side by side, then the memory, why, and how it is known.
 */
#include "report/html.h"

#include <inttypes.h>
#include <string.h>

#include "util/text.h"

enum { CONTEXT = 2 }; /* lines of source around one */

void dh_html_text(FILE *out, const char *s, size_t n)
{
    static const char special[] = "<>&\"\n";
    static const char *const as[] = {"&lt;", "&gt;", "&amp;", "&quot;", "\n"};
    for (size_t i = 0, plain; i < n; i += plain + 1) {
        const char *at = NULL;
        for (plain = 0; i + plain < n && !at; plain += !at)
            at = s[i + plain] ? strchr(special, s[i + plain]) : NULL;
        dh_text_put_line(out, s + i, plain);
        if (at)
            fputs(as[at - special], out);
    }
}

void dh_html_put(FILE *out, const char *s)
{
    dh_html_text(out, s, strlen(s));
}

void dh_html_prose(FILE *out, const char *s)
{
    bool name = false;
    for (size_t n; *s; s += n + (s[n] == '`')) {
        n = strcspn(s, "`");
        dh_html_text(out, s, n);
        if (s[n]) {
            name = !name;
            fputs(name ? "<code>" : "</code>", out);
        }
    }
    if (name)
        fputs("</code>", out);
}

/* ---- Stacks and source --------------------------------------------------------------------------------- */

static void print_excerpt(struct dh_print *p, const struct dh_symbol_frame *f, int context)
{
    struct dh_source_line line;
    if (!f || !dh_words_source(p, f, f->line, &line))
        return;
    fputs("<pre>", p->out);
    for (int n = f->line - context; n <= f->line + context; n++) {
        if (!dh_words_source(p, f, n, &line))
            continue;
        if (!context) { /* a single line needs no indentation */
            const char *text = dh_words_trimmed(p, &line);
            line = (struct dh_source_line){text, strlen(text)};
        }
        fprintf(p->out, "<i>%d</i>%s", n, context && n == f->line ? "<b>" : "");
        dh_html_text(p->out, line.text, line.len);
        fputs(context && n == f->line ? "</b>\n" : "\n", p->out);
    }
    fputs("</pre>", p->out);
}

static void print_trace(struct dh_print *p, const struct dh_symbol_trace *trace)
{
    size_t n = dh_words_visible(trace);
    fputs("<ol>", p->out);
    for (size_t i = 0; i < n; i++) {
        fputs("<li><code>", p->out);
        dh_html_put(p->out, dh_words_function(p, &trace->frames[i]));
        fputs("</code> <span class=place>", p->out);
        dh_html_put(p->out, dh_words_place(p, &trace->frames[i]));
        fputs(trace->frames[i].inlined ? "</span> inlined" : "</span>", p->out);
    }
    fputs("</ol>", p->out);
}

/* ---- Accesses ------------------------------------------------------------------------------------------ */

static void row(struct dh_print *p, const char *name, const char *value)
{
    fprintf(p->out, "<dt>%s</dt><dd>", name);
    dh_html_prose(p->out, value);
    fputs("</dd>", p->out);
}

static void print_access(struct dh_print *p, const struct dh_finding *f, int which)
{
    const struct dh_finding_access *a = &f->accesses[which];
    const struct dh_symbol_frame *top = dh_symbol_top(&a->stack);
    bool possible = f->provenance == DH_FINDING_POSSIBLE;
    fprintf(p->out, "<div class=\"side%s\"><p><span class=kind>%s%s</span>",
            a->kind == DH_MODEL_READ ? "" : " w", which && !possible ? "earlier " : "",
            dh_finding_did(&p->scratch, a));
    if (top) {
        fputs(" in <code>", p->out);
        dh_html_put(p->out, top->function ? dh_words_function(p, top) : "an unknown function");
        fputs("</code></p><p class=place>", p->out);
        dh_html_put(p->out, dh_words_place(p, top));
    } else {
        fputs("</p><p class=place>", p->out);
        dh_html_put(p->out, dh_words_at(p, a));
    }
    if (a->event)
        fprintf(p->out, " (event %" PRIu64 ")", a->event);
    fputs("</p>", p->out);
    print_excerpt(p, top, possible ? 0 : CONTEXT);
    if (!possible && dh_words_visible(&a->stack) > 1)
        print_trace(p, &a->stack);
    if (a->stack_folded)
        fputs("<p class=place>recursion was folded: some frames may be missing</p>", p->out);
    fputs("<dl>", p->out);
    if (a->locks_known)
        row(p, "holds", dh_finding_held(&p->scratch, a));
    row(p, possible ? "run by" : "thread", a->run_by);
    fputs("</dl></div>\n", p->out);
}

/* Where the memory was allocated, the locks were taken and the threads created: collapsed by default.
 */
static void print_stacks(struct dh_print *p, const struct dh_finding *f)
{
    struct dh_words_stack *all;
    size_t n = dh_words_stacks(p, f, &all), told = 0;
    for (size_t i = 0; i < n; i++) {
        if (!all[i].trace->n)
            continue;
        fputs(told++ ? "<dt>" : "<details class=more><summary>other stacks</summary><dl><dt>", p->out);
        dh_html_prose(p->out, all[i].title);
        fputs("</dt><dd>", p->out);
        print_trace(p, all[i].trace);
        fputs("</dd>", p->out);
    }
    fputs(told ? "</dl></details>\n" : "", p->out);
}

/* ---- The finding --------------------------------------------------------------------------------------- */

static void paragraph(struct dh_print *p, const char *title, const char *sentence)
{
    if (!sentence[0])
        return;
    fprintf(p->out, "<p class=why><b>%s:</b> ", title);
    dh_html_prose(p->out, sentence);
    fputs("</p>\n", p->out);
}

static void print_variants(struct dh_print *p, const struct dh_finding *f)
{
    if (!f->variants)
        return;
    fputs("<details class=more><summary>other places with the same cause</summary><ul>", p->out);
    for (const struct dh_finding *v = f->variants; v; v = v->next) {
        fputs("<li>", p->out);
        dh_html_prose(p->out, dh_words_line(p, v));
        fprintf(p->out, " <small>%s%s</small>", v->fingerprint.hash, dh_words_seen(p, v));
    }
    fputs("</ul></details>\n", p->out);
}

/* The object of an event, by the name that the finding has for it. */
static const char *object_of(struct dh_print *p, const struct dh_finding *f,
                             const struct dh_finding_moment *m)
{
    if (m->access && f->location.has_variable)
        return dh_text_shown(&p->scratch, f->location.variable.shown);
    for (int i = 0; i < 2 && m->lock; i++)
        for (size_t k = 0; k < f->accesses[i].n_locks; k++)
            if (f->accesses[i].locks[k].addr == m->lock)
                return dh_text_shown(&p->scratch, f->accesses[i].locks[k].shown);
    return m->what;
}

/* What the two threads did, side by side. */
static void print_timeline(struct dh_print *p, const struct dh_finding *f)
{
    if (f->n_moments < 2)
        return;
    fputs("<details class=more open><summary>timeline</summary><table class=when><tr><th>event", p->out);
    for (int i = 0; i < 2; i++) {
        fputs("<th>", p->out);
        dh_html_prose(p->out, f->accesses[i].run_by);
    }
    for (size_t i = 0; i < f->n_moments; i++) {
        const struct dh_finding_moment *m = &f->moments[i];
        if (i && m->event > f->moments[i - 1].event + 1)
            fputs("<tr class=gap><td>&vellip;<td><td>", p->out);
        fprintf(p->out, "<tr%s><td>%" PRIu64 "<td>%s", m->access ? " class=at" : "", m->event,
                m->side ? "<td>" : "");
        fprintf(p->out, "%s <code>", m->did);
        dh_html_put(p->out, object_of(p, f, m));
        fputs("</code>", p->out);
        fputs(m->side ? "" : "<td>", p->out);
    }
    fputs("</table></details>\n", p->out);
}

/* A finding begins with the attributes by which the page groups it. */
static void open_finding(struct dh_print *p, const struct dh_finding *f, const char *id)
{
    const struct dh_finding_location *at = &f->location;
    const struct dh_symbol_frame *top = dh_symbol_top(&f->accesses[0].stack);
    fprintf(p->out, "<div class=p id=%s tabindex=-1 data-file=\"", id);
    dh_html_put(p->out, top && top->file ? dh_words_path(p, top->file) : "");
    fputs("\" data-variable=\"", p->out);
    dh_html_put(p->out,
                dh_text_shown(&p->scratch, at->has_variable                 ? at->variable.shape
                                           : at->place == DH_MODEL_VARIABLE ? at->variable.display
                                                                            : dh_finding_places[at->place]));
    fputs("\"><h3>", p->out);
}

void dh_html_finding(struct dh_print *p, const struct dh_finding *f)
{
    bool possible = f->provenance == DH_FINDING_POSSIBLE;
    open_finding(p, f,
                 possible ? dh_arena_printf(&p->scratch, "P%u", f->possible.number) : f->fingerprint.hash);
    fputs(possible ? dh_arena_printf(&p->scratch, "P%u", f->possible.number) : dh_finding_title(f), p->out);
    fputs(" <span>on ", p->out);
    dh_html_prose(p->out, dh_finding_subject(&p->scratch, f));
    fputs("</span> <small>", p->out);
    if (possible)
        fprintf(p->out, "%016" PRIx64 " %s</small>", f->possible.id, f->fingerprint.hash);
    else
        fprintf(p->out, "%s%s</small>", f->fingerprint.hash, dh_words_seen(p, f));
    if (possible && f->possible.ad_hoc)
        fputs(" <span class=tag>flag of a waiting loop</span>", p->out);
    fputs("</h3><div class=sides>", p->out);
    print_access(p, f, 0);
    if (dh_words_same_place(f))
        fputs("<div class=side><p>the same place, in another thread</p></div>", p->out);
    else if (f->accesses[1].known)
        print_access(p, f, 1);
    fputs("</div>", p->out);
    if (!possible && !p->about->records) /* where it is the title */
        paragraph(p, "Location", dh_words_memory(p, f));
    paragraph(p, "Test", f->test ? dh_text_shown(&p->scratch, f->test) : "");
    paragraph(p, "Bundle", dh_words_bundle(p, f));
    paragraph(p, "Why", dh_finding_explain(&p->scratch, f));
    const char *hint = dh_finding_hint(&p->scratch, f);
    if (hint)
        paragraph(p, "Hint", hint);
    paragraph(p, "Prediction", dh_words_witness(p, f));
    if (f->provenance == DH_FINDING_CONFIRMED)
        paragraph(p, "In the field", dh_finding_confirmed(&p->scratch, f));
    print_timeline(p, f);
    if (!possible)
        print_stacks(p, f);
    print_variants(p, f);
    fputs("</div>\n", p->out);
}
