/*
 * words.h - wording shared by several output formats, so that they agree. Internal to the report room, for
 * the back ends only. Returned strings are valid until the next finding, and sanitised.
 */
#ifndef DH_REPORT_WORDS_H
#define DH_REPORT_WORDS_H

#include "report/print.h"

struct dh_print_ops {
    void (*begin)(struct dh_print *p);
    void (*open)(struct dh_print *p, const struct dh_print_section *s); /* NULL: the format has no sections */
    void (*finding)(struct dh_print *p, const struct dh_finding *f);
    void (*close)(struct dh_print *p, const struct dh_print_section *s);
    void (*end)(struct dh_print *p);
};
#define DH_FORMAT(id, name, people, known, help) extern const struct dh_print_ops dh_print_as_##name;
#include "report/formats.def"
#undef DH_FORMAT

const char *dh_words_plural(u64 n); /* "" or "s" */

/* ---- Places ---- */
const char *dh_words_path(struct dh_print *p, const char *path); /* relative to p->cwd */
/* "src/a.c:12:3", or (module+offset); "" for a completely unknown place. */
const char *dh_words_place(struct dh_print *p, const struct dh_symbol_frame *f);
/* "src/a.c:12" of the frame to point at, the location of a trace, or "?". */
const char *dh_words_at(struct dh_print *p, const struct dh_finding_access *a);
const char *dh_words_function(struct dh_print *p, const struct dh_symbol_frame *f); /* "??" if unknown */
/* How many frames of a stack are worth showing. */
size_t dh_words_visible(const struct dh_symbol_trace *trace);
/* Line `number` in the file of the frame, truncated. False: there is none, or none is to be shown. */
bool dh_words_source(struct dh_print *p, const struct dh_symbol_frame *f, int number,
                     struct dh_source_line *ret);

/* The same without leading blanks, as a string. */
const char *dh_words_trimmed(struct dh_print *p, const struct dh_source_line *line);

/* Why an input shows no absence of races, for formats that stand alone: without a full stop. NULL: it is
 * complete. */
const char *dh_words_gap(const struct dh_print_about *about);

/* ---- Parts of a finding ---- */
/* Everything known about the memory in one sentence without a full stop; without stacks. */
const char *dh_words_memory(struct dh_print *p, const struct dh_finding *f);
/* The same for memory on which a race is possible. */
const char *dh_words_possible(struct dh_print *p, const struct dh_finding_location *at);
/* The memory, the locks and the threads: for each, a line and its stack, which may be empty. */
struct dh_words_stack {
    const char *title;
    const struct dh_symbol_trace *trace;
};
size_t dh_words_stacks(struct dh_print *p, const struct dh_finding *f, struct dh_words_stack **ret);
/* An entry point: "`worker`, a thread created by pthread_create in main at a.c:3, several at once". */
const char *dh_words_thread(struct dh_print *p, const struct dh_finding_thread *t);
/* "write by T1 at 7 (event 7), earlier read by T2 at 3" */
const char *dh_words_line(struct dh_print *p, const struct dh_finding *f);
const char *dh_words_witness(struct dh_print *p, const struct dh_finding *f); /* "" if it is not predicted */
/* ", seen 3 times", ", seen in 7 of 20 runs (35 %; with 95 % confidence 18 % to 57 %)", or "" */
const char *dh_words_seen(struct dh_print *p, const struct dh_finding *f);
/* The interval for the true share of runs that show it, if `seen` of `runs` did: Wilson's, with 95 %
 * confidence. */
void dh_words_interval(u64 seen, u64 runs, double *ret_low, double *ret_high);
/* The whole finding in a sentence or two: what raced, where, and why. */
const char *dh_words_sentence(struct dh_print *p, const struct dh_finding *f);
/* Its severity in SARIF's terms: "error", "warning" or "note". */
const char *dh_words_level(const struct dh_finding *f);
bool dh_words_same_place(const struct dh_finding *f); /* the same code, executed by two threads */
/* "a bundle: 3 places like the first, each with 5 like the second", or "". */
const char *dh_words_bundle(struct dh_print *p, const struct dh_finding *f);

/* ---- Documents ---- */
const char *dh_words_section(struct dh_print *p, const struct dh_print_section *s);
const char *dh_words_count(struct dh_print *p, const struct dh_print_section *s);
const char *dh_words_more(struct dh_print *p, const struct dh_print_section *s); /* "" if all are shown */
const char *dh_words_known(struct dh_print *p, u64 n); /* "3 findings are in the baseline" */
/* An entry of the baseline: "dh2-012345678901: read f@a.c+3:9; write g@a.c+4:5; global x". */
const char *dh_words_identity(struct dh_print *p, const struct dh_baseline_entry *e);
/* Prints the entries that were not seen this time, one per line, after an introductory sentence preceded by
 * `before`. b may be NULL: there is no baseline. */
void dh_words_put_unseen(struct dh_print *p, FILE *out, struct dh_baseline *b, const char *before);
const char *dh_words_trace(struct dh_print *p);    /* "7 events, 2 threads, 2 locks, 1 variables" */
const char *dh_words_pairs(struct dh_print *p);    /* how many there are, and in which style */
const char *dh_words_of(const struct dh_print *p); /* what code the pairs come from */

#endif
