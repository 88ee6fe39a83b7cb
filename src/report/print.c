/*
 * print.c - from a document to the back end of its form. See print.h.
 */
#include "report/words.h"

const char *const dh_print_formats[DH_PRINT_FORMATS] = {"text", "json", "sarif", "html"};

static const struct dh_print_ops *ops(const struct dh_print *p)
{
    static const struct dh_print_ops *const all[DH_PRINT_FORMATS] = {
        [DH_PRINT_TEXT] = &dh_print_as_text,
        [DH_PRINT_JSON] = &dh_print_as_json,
        [DH_PRINT_SARIF] = &dh_print_as_sarif,
        [DH_PRINT_HTML] = &dh_print_as_html,
    };
    return all[p->format];
}

bool dh_print_has_known(enum dh_print_format format)
{
    return format == DH_PRINT_JSON || format == DH_PRINT_SARIF;
}

void dh_print_done(struct dh_print *p)
{
    dh_arena_done(&p->scratch);
    p->scratch = (struct dh_arena){0};
}

void dh_print_begin(struct dh_print *p, const struct dh_print_about *about)
{
    p->about = about;
    ops(p)->begin(p);
    dh_print_done(p);
}

void dh_print_open(struct dh_print *p, const struct dh_print_section *s)
{
    if (ops(p)->open)
        ops(p)->open(p, s);
    dh_print_done(p);
}

void dh_print_finding(struct dh_print *p, const struct dh_finding *f)
{
    if (f->baseline == DH_FINDING_KNOWN && !dh_print_has_known(p->format))
        return;
    ops(p)->finding(p, f);
    p->n++;
    dh_print_done(p);
}

void dh_print_close(struct dh_print *p, const struct dh_print_section *s)
{
    if (ops(p)->close)
        ops(p)->close(p, s);
    dh_print_done(p);
}

void dh_print_end(struct dh_print *p)
{
    ops(p)->end(p);
    dh_print_done(p);
}
