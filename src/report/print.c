/*
 * print.c - dispatches from a document to the back end of its format. See print.h.
 */
#include "report/words.h"

static const struct {
    const struct dh_print_ops *ops;
    bool people, known;
} formats[DH_PRINT_FORMATS] = {
#define DH_FORMAT(id, name, people, known, help) [DH_PRINT_##id] = {&dh_print_as_##name, people, known},
#include "report/formats.def"
#undef DH_FORMAT
};

const char *const dh_print_formats[DH_PRINT_FORMATS] = {
#define DH_FORMAT(id, name, people, known, help) #name,
#include "report/formats.def"
#undef DH_FORMAT
};

static const struct dh_print_ops *ops(const struct dh_print *p)
{
    return formats[p->format].ops;
}

bool dh_print_has_known(enum dh_print_format format)
{
    return formats[format].known;
}

bool dh_print_is_for_people(enum dh_print_format format)
{
    return formats[format].people;
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
    p->n_known += f->baseline == DH_FINDING_KNOWN;
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
