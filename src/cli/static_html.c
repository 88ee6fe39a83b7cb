/*
 * static_html.c - the pairs as one self-contained page: a table of contents by variable that can be filtered,
 * and for each pair both sides next to each other.
 *
 * Nothing is loaded from elsewhere. The script only filters; without it the page shows everything.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/static.h"

static const char style[] =
    ":root{--ink:#1d2329;--dim:#66717d;--line:#dfe3e8;--back:#f5f6f8;--card:#fff;--code:#f3f4f7;--link:#"
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
    "summary::-webkit-details-marker{display:none}summary:before{content:'\\25b8';color:var(--dim);flex:none}"
    "details[open]>summary:before{content:'\\25be'}\n"
    "summary>code{font-weight:600}summary .what{color:var(--dim);flex:1 1 10rem;"
    "font-size:.9rem}\n"
    ".n{background:var(--code);border-radius:1rem;padding:0 .65rem;font-variant-numeric:tabular-nums;"
    "font-size:.85rem;white-space:nowrap}\n"
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
    ".tag{background:var(--mark);color:#5b4700;border-radius:.3rem;padding:0 .45rem;font-size:.8rem;"
    "font-weight:600}\n"
    "h2{font-size:1.05rem;margin:2rem 0 .5rem}table{border-collapse:collapse;font-size:.9rem}"
    "td,th{padding:.2rem .9rem .2rem 0;text-align:left;border-bottom:1px solid "
    "var(--line);vertical-align:top}"
    "td.r{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
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
    "v.hidden=!k;n+=k});c.textContent=n+(n==1?' pair':' pairs')});\n";

static void escaped(FILE *out, const char *s)
{
    dh_cli_html(out, s, strlen(s));
}

/* A sentence, in which names stand between backquotes. */
static void prose(FILE *out, const char *s)
{
    bool name = false;
    for (size_t n; *s; s += n + (s[n] == '`')) {
        n = strcspn(s, "`");
        dh_cli_html(out, s, n);
        if (s[n]) {
            name = !name;
            fputs(name ? "<code>" : "</code>", out);
        }
    }
    if (name)
        fputs("</code>", out);
}

static void row(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
    prose(out, value);
    fputs("</dd>", out);
}

static void print_side(struct dh_static *s, const struct dh_pairs_side *side)
{
    const struct dh_pairs_site *site = &s->pairs->sites[side->site];
    fprintf(s->out, "<div class=\"side%s\"><p><span class=kind>%s</span> in <code>",
            dh_pairs_access_writes(site->access) ? " w" : "", dh_static_access(s, site));
    escaped(s->out, dh_static_function(s, site->function));
    fputs("</code></p><p class=place>", s->out);
    escaped(s->out, dh_static_place(s, &site->at));
    fputs("</p>", s->out);
    size_t len;
    const char *line = dh_static_line(s, &site->at, &len);
    if (len) {
        fprintf(s->out, "<pre><i>%u</i>", site->at.line);
        dh_cli_html(s->out, line, len);
        fputs("</pre>", s->out);
    }
    fputs("<dl>", s->out);
    row(s->out, "holds", dh_static_held(s, side->locks));
    row(s->out, "run by", dh_static_reached(s, side->entries));
    fputs("</dl></div>\n", s->out);
}

static void print_pair(struct dh_static *s, u32 number)
{
    const struct dh_pairs_pair *pair = &s->pairs->pairs[number];
    fprintf(s->out, "<div class=p id=P%u><h3>P%u <small>%s</small>", number + 1, number + 1,
            dh_static_pair_id(s, pair));
    if (pair->flags & DH_PAIRS_AD_HOC)
        fputs(" <span class=tag>flag of a waiting loop</span>", s->out);
    fputs("</h3><div class=sides>", s->out);
    print_side(s, &pair->side[0]);
    if (pair->side[0].site == pair->side[1].site)
        fputs("<div class=side><p>the same place, in another thread</p></div>", s->out);
    else
        print_side(s, &pair->side[1]);
    fputs("</div><p class=why><b>Why:</b> ", s->out);
    prose(s->out, dh_static_why(s, pair));
    fputs("</p></div>\n", s->out);
}

static void print_group(struct dh_static *s, const struct dh_static_group *g, bool open)
{
    fprintf(s->out, "<details class=v%s><summary><code>", open ? " open" : "");
    escaped(s->out, dh_static_variable(s, g->variable));
    fputs("</code><span class=what>", s->out);
    prose(s->out, dh_static_subject(s, g->variable));
    fprintf(s->out, "</span><span class=n>%zu pair%s</span></summary>\n", g->n, g->n == 1 ? "" : "s");
    size_t shown = dh_static_shown(s, g);
    for (size_t i = 0; i < shown; i++, dh_static_forget(s))
        print_pair(s, g->pairs[i]);
    if (shown < g->n)
        fprintf(s->out, "<p class=\"p none\">and %zu more (--limit=%zu)</p>", g->n - shown, shown);
    fputs("</details>\n", s->out);
}

static void tile(FILE *out, size_t n, const char *what)
{
    fprintf(out, "<div class=tile><b>%zu</b>%s</div>", n, what);
}

static void print_head(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    fputs(
        "<!doctype html>\n<html lang=en><meta charset=utf-8>"
        "<meta name=viewport content=\"width=device-width,initial-scale=1\"><title>",
        s->out);
    escaped(s->out, s->input);
    fprintf(s->out, ": possible races</title>\n<style>%s</style>\n<header><div><h1>Possible races in ",
            style);
    escaped(s->out, s->input);
    fprintf(s->out, "</h1><p>%s %s</p>", dh_static_of_sentence(s),
            s->set == DH_PAIRS_RELAY
                ? "Style relay: pairs of accesses that may happen at the same time without a lock in common."
                : "Style sound: every pair of accesses that could race; nothing that could is left out.");
    fputs("<div class=tiles>", s->out);
    bool most;
    u64 pairs = dh_static_pairs(s, NULL, &most);
    tile(s->out, pairs, pairs == 1 ? "pair" : "pairs");
    tile(s->out, s->n_groups, s->n_groups == 1 ? "variable" : "variables");
    tile(s->out, p->n_entries, "places where threads begin");
    tile(s->out, s->n_other, s->set == DH_PAIRS_RELAY ? "pairs in style sound" : "pairs in style relay");
    if (s->n_dropped)
        tile(s->out, s->n_dropped, "dropped by assumption");
    fputs("</div></div></header>\n<main>\n", s->out);
}

static void print_threads(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    if (!p->n_entries)
        return;
    fputs("<h2>Threads</h2><table>", s->out);
    for (u32 i = 0; i < p->n_entries; i++, dh_static_forget(s)) {
        fputs("<tr><td>", s->out);
        prose(s->out, dh_static_entry(s, i));
        fputs("</td></tr>\n", s->out);
    }
    fputs("</table>\n", s->out);
}

static void print_figures(struct dh_static *s)
{
    const struct dh_pairs *p = s->pairs;
    if (p->n_assumptions)
        fputs("<h2>Assumed, and how many places fall under it</h2><table>", s->out);
    for (size_t i = 0; i < p->n_assumptions; i++) {
        const struct dh_pairs_assumption *a = &p->assumptions[i];
        fprintf(s->out, "<tr><td class=r>%" PRIu64 "</td><td>", a->count);
        escaped(s->out, a->sentence);
        size_t n;
        const u32 *examples = dh_pairs_items(p, a->examples, &n);
        for (size_t k = 0; k < n; k++) {
            fputs("<small>", s->out);
            escaped(s->out, dh_pairs_string(p, examples[k]));
            fputs("</small>", s->out);
        }
        fputs("</td></tr>\n", s->out);
    }
    if (p->n_assumptions)
        fputs("</table>\n", s->out);
    if (p->n_phases)
        fputs("<h2>The analysis</h2><table><tr><th>phase</th><th>seconds</th><th>MiB</th></tr>", s->out);
    for (size_t i = 0; i < p->n_phases; i++) {
        fputs("<tr><td>", s->out);
        escaped(s->out, p->phases[i].name);
        fprintf(s->out, "</td><td class=r>%.3f</td><td class=r>%.1f</td></tr>\n",
                (double)p->phases[i].microseconds * 1e-6, (double)p->phases[i].peak_kib / 1024);
    }
    if (p->n_phases)
        fputs("</table>\n", s->out);
}

void dh_static_print_html(struct dh_static *s)
{
    enum { FEW = 5 }; /* variables whose pairs are shown at once */
    print_head(s);
    if (s->pairs->no_threads || !s->n_groups)
        fprintf(s->out, "<p class=none>%s</p>\n",
                s->pairs->no_threads ? "No thread is ever created." : "No pair may race.");
    else
        fprintf(s->out,
                "<div class=bar><input id=q type=search placeholder=\"filter: a variable, function, file, "
                "lock&hellip;\" aria-label=filter><span id=c class=n>%zu pair%s</span></div>\n",
                s->n_shown, s->n_shown == 1 ? "" : "s");
    for (size_t g = 0; g < s->n_groups; g++)
        print_group(s, &s->groups[g], s->n_groups <= FEW);
    print_threads(s);
    print_figures(s);
    fputs("</main>\n", s->out);
    if (s->n_groups)
        fprintf(s->out, "<script>\n%s</script>\n", script);
    fputs("</html>\n", s->out);
}
