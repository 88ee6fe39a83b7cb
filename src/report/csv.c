/*
 * csv.c - findings as rows for spreadsheets: RFC 4180, with one column for each property that people sort or
 * filter by.
 */
#include <inttypes.h>
#include <string.h>

#include "report/table.h"
#include "report/words.h"
#include "util/text.h"

static const char *const columns[] = {
    "fingerprint", "title",     "level",       "baseline", "memory",     "count",  "processes",
    "detector",    "guarantee", "access",      "thread",   "function",   "file",   "line",
    "column",      "locks",     "access_2",    "thread_2", "function_2", "file_2", "line_2",
    "column_2",    "locks_2",   "explanation", "program",  "pid",        "test",
};

/* The row so far; commas stand between values. */
struct row {
    struct dh_print *p;
    size_t n;
};

static void put(struct row *r, const char *value)
{
    fputs(r->n++ ? "," : "", r->p->out);
    value = value ? dh_text_shown(&r->p->scratch, value) : "";
    dh_print_csv_text(r->p->out, dh_text_utf8(&r->p->scratch, value, strlen(value)));
}

static void put_number(struct row *r, u64 n)
{
    put(r, n ? dh_arena_printf(&r->p->scratch, "%" PRIu64, n) : "");
}

static void put_access(struct row *r, const struct dh_finding_access *a)
{
    static const struct dh_symbol_frame nowhere;
    struct dh_print *p = r->p;
    const struct dh_symbol_frame *top = dh_symbol_top(&a->stack);
    top = top ? top : &nowhere;
    put(r, a->known ? dh_finding_did(&p->scratch, a) : "");
    put(r, a->known ? a->run_by : "");
    put(r, top->function ? dh_words_function(p, top) : "");
    put(r, top->file ? dh_words_path(p, top->file) : a->place);
    put_number(r, (u64)top->line);
    put_number(r, (u64)top->column);
    put(r, a->known && a->locks_known ? dh_finding_held(&p->scratch, a) : "");
}

static void end_row(struct dh_print *p)
{
    fputs("\r\n", p->out);
}

static void csv_begin(struct dh_print *p)
{
    struct row r = {p, 0};
    for (size_t i = 0; i < DH_ARRAY_LEN(columns); i++)
        put(&r, columns[i]);
    end_row(p);
}

static void csv_finding(struct dh_print *p, const struct dh_finding *f)
{
    static const char *const baselines[] = {
        [DH_FINDING_UNCOMPARED] = "", [DH_FINDING_NEW] = "new", [DH_FINDING_KNOWN] = "known"};
    struct row r = {p, 0};
    put(&r, f->fingerprint.hash);
    put(&r, dh_finding_title(f));
    put(&r, dh_words_level(f));
    put(&r, baselines[f->baseline]);
    put(&r, dh_finding_subject(&p->scratch, f));
    put_number(&r, f->count);
    put_number(&r, f->processes);
    put(&r, f->detector);
    put(&r, f->guarantee);
    put_access(&r, &f->accesses[0]);
    put_access(&r, &f->accesses[1]);
    put(&r, dh_finding_explain(&p->scratch, f));
    put(&r, f->exe ? dh_words_path(p, f->exe) : "");
    put_number(&r, f->pid);
    put(&r, f->test);
    end_row(p);
}

static void csv_end(struct dh_print *p)
{
    (void)p;
}

const struct dh_print_ops dh_print_as_csv = {.begin = csv_begin, .finding = csv_finding, .end = csv_end};
