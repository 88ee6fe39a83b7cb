/*
 * html_page.c - the findings as one self-contained page with filters, in light and dark mode.
 *
 * Nothing is loaded from other sites. The script only filters; without it the page shows everything.
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
    "background:var(--back);overflow-wrap:anywhere}\n" /* C++ names are wider than a phone screen */
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
    ".p h3{font-size:.95rem;margin:0 0 .5rem;display:flex;flex-wrap:wrap;gap:0 .6rem;align-items:baseline}.p "
    "h3 span{font-weight:400}"
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
    ".when{border-collapse:collapse;font-size:.85rem;margin:.45rem 0;width:100%;table-layout:fixed}"
    ".when td,.when th{padding:.1rem .5rem;border:0;border-left:2px solid var(--line)}.when "
    "td:first-child,.when "
    "th:first-child{width:6rem;border:0;color:var(--dim);text-align:right;font-variant-numeric:tabular-nums}"
    ".when .at td{background:var(--mark);color:var(--ink);font-weight:600}\n"
    "select,kbd{font:inherit;color:inherit;background:var(--card);border:1px solid "
    "var(--line);border-radius:.4rem;"
    "padding:.3rem .5rem}kbd{padding:0 .35rem;font-family:ui-monospace,monospace;font-size:.85rem}"
    "label{white-space:nowrap;color:var(--dim)}.p:focus{outline:2px solid var(--link);outline-offset:-2px}"
    "@media(max-width:40rem){.bar{flex-wrap:wrap}.bar input{flex-basis:100%}}\n"
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

/* The script groups the findings on the page by their data-file or data-variable attributes. */
static const char script[] =
    "const $=i=>document.getElementById(i),q=$('q'),c=$('c'),g=$('g'),list=$('list');\n"
    "const found=[...list.querySelectorAll('.p[id]')],before=[...list.children];\n"
    "const home=new Map(found.map(p=>[p,[p.parentNode,p.nextSibling]]));\n"
    "const hay=new Map(found.map(p=>[p,(p.parentNode.firstElementChild.textContent+' '+p.textContent)"
    ".toLowerCase()]));\n"
    "const order=new Intl.Collator(undefined,{numeric:true}).compare;\n"
    "const filter=()=>{const t=q.value.toLowerCase().trim().split(/\\s+/);let n=0;\n"
    "for(const p of found)n+=!(p.hidden=!t.every(w=>hay.get(p).includes(w)));\n"
    "for(const v of list.querySelectorAll('details.v')){const all=[...v.querySelectorAll('.p[id]')];"
    "v.hidden=q.value.trim()!==''&&!all.some(p=>!p.hidden)}\n"
    "c.textContent=n+' '+c.dataset.unit+(n==1?'':'s')};\n"
    "const group=()=>{const by=g.value,keys=new Map();\n"
    "for(const[p,[v,next]]of[...home].reverse())v.insertBefore(p,next);\n"
    "if(!by){list.replaceChildren(...before);return filter()}\n"
    "for(const p of found){const "
    "k=p.dataset[by]||'unknown';if(!keys.has(k))keys.set(k,[]);keys.get(k).push(p)}\n"
    "list.replaceChildren(...[...keys].sort((a,b)=>order(a[0],b[0])).map(([k,all])=>{"
    "const "
    "v=document.createElement('details'),s=v.appendChild(document.createElement('summary'));v.className='v';"
    "v.open=keys.size<=5;s.appendChild(document.createElement('code')).textContent=k;"
    "s.append(Object.assign(document.createElement('span'),{className:'what'}),Object.assign(document."
    "createElement("
    "'span'),{className:'n',textContent:all.length+' "
    "'+c.dataset.unit+(all.length==1?'':'s')}));v.append(...all);"
    "return v}));filter()};\n"
    "q.addEventListener('input',filter);g.addEventListener('change',group);\n"
    "const go=d=>{const all=found.filter(p=>!p.hidden).sort((a,b)=>a.compareDocumentPosition(b)&2?1:-1);"
    "if(!all.length)return;const at=all.indexOf(document.activeElement.closest('.p'));"
    "const p=all[at<0?(d>0?0:all.length-1):Math.min(Math.max(at+d,0),all.length-1)];"
    "p.closest('details.v').open=true;p.focus();p.scrollIntoView({block:'nearest'})};\n"
    "addEventListener('keydown',e=>{if(e.ctrlKey||e.metaKey||e.altKey)return;\n"
    "if(e.key==='Escape'&&q.value){q.value='';filter();return}\n"
    "if(e.target.matches('input,select'))return;\n"
    "const "
    "act={'/':()=>q.focus(),j:()=>go(1),k:()=>go(-1),g:()=>{g.selectedIndex=(g.selectedIndex+1)%3;group()},"
    "o:()=>{const v=e.target.closest('details.v');if(v){v.open=!v.open;v.firstElementChild.focus()}},"
    "'?':()=>{$('keys').hidden=!$('keys').hidden}}[e.key];\n"
    "if(act){e.preventDefault();act()}});\n"
    "$('keys').hidden=false;\n";

/* ---- The head ------------------------------------------------------------------------------------------ */

static void tile(struct dh_print *p, u64 n, const char *one, const char *many)
{
    if (n)
        fprintf(p->out, "<div class=tile><b>%" PRIu64 "</b>%s</div>", n, n == 1 ? one : many);
}

static void tiles(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    if (about->records) {
        const struct dh_reporter_result *n = about->records->result;
        tile(p, n->races - n->known, "race", "races");
        tile(p, n->runs, "run", "runs");
        if (n->variants > n->races)
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
              : "Style sound: every pair of accesses that could race.");
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
    const char *gap = dh_words_gap(p->about);
    u64 n = findings(p->about);
    dh_html_begin(p->out, p->about->pairs ? "Possible races in" : "Data races in", p->about->input,
                  subtitle(p));
    fputs("<div class=tiles>", p->out);
    tiles(p);
    fputs("</div></div></header>\n<main>\n", p->out);
    if (gap)
        fprintf(p->out, "<p class=place role=alert>Incomplete: %s.</p>\n", gap);
    if (n)
        fprintf(p->out,
                "<div class=bar><input id=q type=search placeholder=\"filter: a variable, function, file, "
                "lock&hellip;\" aria-label=filter><label>by <select id=g><option value=''>%s<option "
                "value=file>file"
                "<option value=variable>variable</select></label><span id=c class=n data-unit=%s "
                "role=status>%" PRIu64
                " %s%s</span></div>\n<p id=keys class=place hidden><kbd>/</kbd> filter, <kbd>j</kbd> and "
                "<kbd>k</kbd> next and previous, <kbd>o</kbd> fold, <kbd>g</kbd> group, <kbd>Esc</kbd> all "
                "again</p>\n<div id=list>\n",
                p->about->trace   ? "detector"
                : p->about->pairs ? "order of the analysis"
                                  : "order of appearance",
                unit, n, unit, dh_words_plural(n));
    else
        fprintf(p->out, "<div id=list><p class=none>%s</p>\n",
                gap                                  ? "No data races in what was recorded."
                : !p->about->pairs                   ? "No data races."
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
    bool alone = p->about->records; /* records have no sections */
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
    fputs("</div>\n", p->out);
    print_unseen(p);
    if (p->about->pairs) {
        print_threads(p);
        dh_json_tables(p, false, dh_print_table_html);
    }
    fputs("</main>\n", p->out);
    if (findings(p->about))
        fprintf(p->out, "<script>\n%s</script>\n", script);
    fputs("</html>\n", p->out);
}

const struct dh_print_ops dh_print_as_html = {html_begin, html_open, html_finding, html_close, html_end};
