/*
 * html_page.c - the findings as one self-contained page that can be filtered, in light and dark.
 *
 * Nothing is loaded from elsewhere. The script only filters; without it the page shows everything.
 */
#include <inttypes.h>
#include <string.h>

#include "report/html.h"
#include "report/json.h"
#include "report/pairs.h"
#include "report/reporter.h"

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1d2329;--dim:#66717d;--line:#dfe3e8;--back:#f5f6f8;--card:#fff;--code:#f3f4f7;--link:#"
    "2b5f9e;"
    "--write:#a5302a;--read:#2b5f9e;--mark:#fff4c2}\n"
    "*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;margin:0;color:var(--ink);"
    "background:var(--back);overflow-wrap:anywhere}\n" /* names of C++ are longer than a telephone is wide */
    "main,header>div{max-width:78rem;margin:0 auto;padding:0 1.25rem}\n"
    "header{background:var(--card);border-bottom:1px solid var(--line);padding:1.1rem 0 1rem}\n"
    "h1{font-size:1.35rem;margin:0}header p{margin:.25rem 0 0;color:var(--dim)}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:.6rem;margin-top:.9rem}\n"
    ".tile{border:1px solid var(--line);border-radius:.5rem;padding:.35rem .85rem;min-width:7rem}\n"
    ".tile b{display:block;font-size:1.25rem;font-variant-numeric:tabular-nums}.tile{color:var(--dim);"
    "font-size:.85rem}.tile b{color:var(--ink)}\n"
    ".bar{display:flex;gap:.8rem;align-items:center;margin:1.1rem 0 .7rem}\n"
    "input{flex:1;min-width:0;font:inherit;color:inherit;background:var(--card);padding:.4rem "
    ".7rem;border:1px solid "
    "var(--line);border-radius:.5rem}\n"
    "details.v{background:var(--card);border:1px solid var(--line);border-radius:.6rem;margin:.6rem 0}\n"
    "details.v>summary{cursor:pointer;padding:.6rem .9rem;display:flex;gap:.8rem;align-items:baseline;"
    "list-style:none}@media(max-width:30rem){details.v>summary{flex-wrap:wrap;gap:.2rem .8rem}}\n"
    ".v>summary::-webkit-details-marker{display:none}.v>summary:before{content:'\\25b8';color:var(--dim);"
    "flex:none}"
    ".v[open]>summary:before{content:'\\25be'}\n"
    "summary>code{font-weight:600}summary .what{color:var(--dim);flex:1 1 10rem;"
    "font-size:.9rem}\n"
    ".n{background:var(--code);border-radius:1rem;padding:0 .65rem;font-variant-numeric:tabular-nums;"
    "font-size:.85rem;white-space:nowrap}@media(max-width:30rem){.n{white-space:normal}}\n"
    ".p{border-top:1px solid var(--line);padding:.8rem .9rem}\n"
    ".p h3{font-size:.95rem;margin:0 0 .5rem;display:flex;gap:.6rem;align-items:baseline}"
    ".p h3 small{color:var(--dim);font-weight:400;font-family:ui-monospace,monospace}\n"
    ".sides{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.8rem}@media(max-width:52rem){."
    "sides{"
    "grid-template-columns:minmax(0,1fr)}}\n"
    ".side{border:1px solid var(--line);border-radius:.5rem;padding:.55rem .7rem;min-width:0}\n"
    ".side p{margin:0}.kind{font-weight:600;color:var(--read)}.w .kind{color:var(--write)}\n"
    ".place{color:var(--dim);font-size:.9rem}\n"
    "pre{overflow-wrap:normal;margin:.45rem 0;padding:.35rem "
    ".6rem;background:var(--code);border-radius:.35rem;overflow-x:auto;"
    "font:13px/1.45 ui-monospace,monospace}pre i{color:var(--dim);font-style:normal;margin-right:.8em;"
    "user-select:none}\n"
    "dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.1rem .7rem;margin:0;font-size:.9rem}"
    "dt{color:var(--dim)}dd{margin:0}\n"
    ".why{margin:.6rem 0 0;font-size:.9rem}.why b{font-weight:600}\n"
    "ol,ul{margin:.45rem 0;padding-left:1.4rem;font-size:.9rem}pre b{font-weight:600}\n"
    ".more{margin:.6rem 0 0;font-size:.9rem}.more summary{cursor:pointer;color:var(--link)}\n"
    ".tag{background:var(--mark);color:#5b4700;border-radius:.3rem;padding:0 .45rem;font-size:.8rem;"
    "font-weight:600}\n"
    "h2{font-size:1.05rem;margin:2rem 0 .5rem}table{border-collapse:collapse;font-size:.9rem}"
    "td,th{padding:.2rem .9rem .2rem 0;text-align:left;border-bottom:1px solid "
    "var(--line);vertical-align:top}"
    "td.r,th.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".wide{overflow-x:auto;overflow-wrap:normal;margin-top:1rem}td>i{display:block;height:.25rem;background:"
    "var(--link);margin-"
    "left:auto}\n"
    "td small{color:var(--dim);display:block}.none{padding:2rem;text-align:center;color:var(--dim);"
    "font-size:1.1rem}main{padding-bottom:3rem!important}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#dfe3e8;--dim:#97a1ac;--line:#363c43;--back:#16191c;"
    "--card:#1f2327;--code:#292e34;--link:#7fb0e8;--write:#f0918b;--read:#86b4ea;--mark:#4a4015}"
    ".tag{color:#f0dc92}}\n";

static const char script[] =
    "const q=document.getElementById('q'),c=document.getElementById('c');\n"
    "const all=[...document.querySelectorAll('details.v')];\n"
    "const hay=all.map(v=>[...v.querySelectorAll('.p')].map(p=>[p,(v.firstElementChild.textContent+' '+"
    "p.textContent).toLowerCase()]));\n"
    "q.addEventListener('input',()=>{const t=q.value.toLowerCase().trim().split(/\\s+/);let n=0;\n"
    "all.forEach((v,i)=>{let k=0;for(const[p,s]of hay[i]){const hit=t.every(w=>s.includes(w));"
    "p.hidden=!hit;k+=hit}\n"
    "v.hidden=!k;n+=k});c.textContent=n+' '+c.dataset.unit+(n==1?'':'s')});\n";

/* ---- The head ------------------------------------------------------------------------------------------ */

static void tile(struct dh_print *p, u64 n, const char *one, const char *many)
{
    fprintf(p->out, "<div class=tile><b>%" PRIu64 "</b>%s</div>", n, n == 1 ? one : many);
}

static void tiles(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    if (about->records) {
        const struct dh_reporter_result *n = about->records->result;
        tile(p, n->races - n->known, "race", "races");
        tile(p, n->variants, "variant", "variants");
        tile(p, n->repetitions, "repetition", "repetitions");
        tile(p, n->suppressed, "suppressed", "suppressed");
        tile(p, n->processes, "process", "processes");
    }
    if (about->trace) {
        const struct dh_print_trace *t = about->trace;
        tile(p, t->findings - about->known, "race", "races");
        tile(p, t->events, "event", "events");
        tile(p, t->threads, "thread", "threads");
        tile(p, t->locks, "lock", "locks");
        tile(p, t->variables, "variable", "variables");
    }
    if (about->pairs) {
        const struct dh_print_static *s = about->pairs;
        const char *other = dh_arena_printf(&p->scratch, "pairs in style %s", s->other_style);
        tile(p, s->pairs, "pair", "pairs");
        tile(p, s->n_variables, "variable", "variables");
        tile(p, s->n_threads, "place where threads begin", "places where threads begin");
        if (!s->narrowed)
            tile(p, s->other, other, other);
        if (s->dropped)
            tile(p, s->dropped, "dropped by assumption", "dropped by assumption");
    }
    if (about->baseline)
        tile(p, about->known, "in the baseline", "in the baseline");
}

/* What the page is about, in a sentence or two. */
static const char *subtitle(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    if (about->trace)
        return dh_words_trace(p);
    if (!about->pairs)
        return "Pairs of accesses to the same memory that nothing ordered.";
    bool relay = strcmp(about->pairs->style, "relay") == 0;
    if (about->pairs->narrowed)
        return dh_arena_printf(&p->scratch, "%s These are %s.", dh_words_of(p), about->pairs->narrowed);
    return dh_arena_printf(
        &p->scratch, "%s %s", dh_words_of(p),
        relay ? "Style relay: pairs of accesses that may happen at the same time without a lock in common."
              : "Style sound: every pair of accesses that could race; nothing that could is left out.");
}

static u64 findings(const struct dh_print_about *about)
{
    if (about->records)
        return about->records->result->races;
    if (about->trace)
        return about->trace->findings;
    return about->pairs ? about->pairs->findings : 0;
}

void dh_html_begin(FILE *out, const char *title, const char *subject, const char *below)
{
    fprintf(out,
            "<!doctype html>\n<html lang=en><meta charset=utf-8>"
            "<meta name=viewport content=\"width=device-width,initial-scale=1\"><title>%s ",
            title);
    dh_html_put(out, subject);
    fprintf(out, "</title>\n<style>%s</style>\n<header><div><h1>%s ", style, title);
    dh_html_put(out, subject);
    fputs("</h1><p>", out);
    dh_html_put(out, below);
    fputs("</p>", out);
}

static void html_begin(struct dh_print *p)
{
    const char *unit = p->about->pairs ? "pair" : "race";
    u64 n = findings(p->about);
    dh_html_begin(p->out, p->about->pairs ? "Possible races in" : "Data races in", p->about->input,
                  subtitle(p));
    fputs("<div class=tiles>", p->out);
    tiles(p);
    fputs("</div></div></header>\n<main>\n", p->out);
    if (n)
        fprintf(p->out,
                "<div class=bar><input id=q type=search placeholder=\"filter: a variable, function, file, "
                "lock&hellip;\" aria-label=filter><span id=c class=n data-unit=%s>%" PRIu64
                " %s%s</span></div>\n",
                unit, n, unit, dh_words_plural(n));
    else
        fprintf(p->out, "<p class=none>%s</p>\n",
                !p->about->pairs                     ? "No data races."
                : p->about->pairs->table->no_threads ? "No thread is ever created."
                                                     : "No pair may race.");
}

/* ---- Sections ------------------------------------------------------------------------------------------ */

static void open_details(struct dh_print *p, bool open, const char *name, const char *what, const char *count)
{
    fprintf(p->out, "<details class=v%s><summary><code>", open ? " open" : "");
    dh_html_put(p->out, name);
    fputs("</code><span class=what>", p->out);
    dh_html_prose(p->out, what);
    fprintf(p->out, "</span><span class=n>%s</span></summary>\n", count);
}

static void html_open(struct dh_print *p, const struct dh_print_section *s)
{
    enum { FEW = 5 }; /* sections whose findings are shown at once */
    if (s->detector)
        open_details(p, s->n > 0, s->detector->name, s->detector->guarantee, dh_words_count(p, s));
    else
        open_details(p, p->about->pairs->n_variables <= FEW,
                     s->variable->has_variable ? s->variable->variable.display : "unknown memory",
                     dh_words_section(p, s), dh_words_count(p, s));
}

static void html_finding(struct dh_print *p, const struct dh_finding *f)
{
    bool alone = p->about->records; /* which have no sections */
    if (alone)
        open_details(
            p, true,
            f->location.has_variable ? f->location.variable.display : dh_finding_places[f->location.place],
            dh_words_memory(p, f),
            f->count ? dh_arena_printf(&p->scratch, "%" PRIu64 " time%s", f->count, dh_words_plural(f->count))
                     : "");
    dh_html_finding(p, f);
    if (alone)
        fputs("</details>\n", p->out);
}

static void html_close(struct dh_print *p, const struct dh_print_section *s)
{
    const struct dh_print_detector *d = s->detector;
    const char *more = dh_words_more(p, s);
    if (more[0])
        fprintf(p->out, "<p class=\"p none\">%s</p>", more);
    if (d && d->given_up)
        fprintf(p->out, "<p class=p>Incomplete: %" PRIu64 " possible race%s not decided.</p>", d->given_up,
                dh_words_plural(d->given_up));
    if (d && d->error)
        fprintf(p->out, "<p class=p>Incomplete: %s.</p>", d->error);
    fputs("</details>\n", p->out);
}

/* ---- The end ------------------------------------------------------------------------------------------- */

static void print_threads(struct dh_print *p)
{
    const struct dh_print_static *s = p->about->pairs;
    if (!s->n_threads)
        return;
    fputs("<h2>Threads</h2><table>", p->out);
    for (size_t i = 0; i < s->n_threads; i++) {
        fputs("<tr><td>", p->out);
        dh_html_prose(p->out, dh_words_thread(p, &s->threads[i]));
        fputs("</td></tr>\n", p->out);
    }
    fputs("</table>\n", p->out);
}

static void print_unseen(struct dh_print *p)
{
    const struct dh_baseline_entry *const *list;
    size_t n = p->about->baseline ? dh_baseline_unseen(p->about->baseline, &list) : 0;
    if (n)
        fputs("<h2>In the baseline, and not seen</h2><ul class=unseen>", p->out);
    for (size_t i = 0; i < n; i++) {
        fputs("<li>", p->out);
        dh_html_put(p->out, dh_words_identity(p, list[i]));
    }
    fputs(n ? "</ul>\n" : "", p->out);
}

static void html_end(struct dh_print *p)
{
    print_unseen(p);
    if (p->about->pairs) {
        print_threads(p);
        dh_json_tables(p, dh_print_table_html);
    }
    fputs("</main>\n", p->out);
    if (findings(p->about))
        fprintf(p->out, "<script>\n%s</script>\n", script);
    fputs("</html>\n", p->out);
}

const struct dh_print_ops dh_print_as_html = {html_begin, html_open, html_finding, html_close, html_end};
