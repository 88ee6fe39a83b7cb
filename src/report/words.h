/*
 * words.h - what more than one form of a document says in words, so that they agree. Inside the report room,
 * for the back ends only. What is returned is good until the next finding, and fit to be shown.
 */
#ifndef DH_REPORT_WORDS_H
#define DH_REPORT_WORDS_H

#include "report/print.h"

struct dh_print_ops {
    void (*begin)(struct dh_print *p);
    void (*open)(struct dh_print *p, const struct dh_print_section *s); /* NULL: it knows no sections */
    void (*finding)(struct dh_print *p, const struct dh_finding *f);
    void (*close)(struct dh_print *p, const struct dh_print_section *s);
    void (*end)(struct dh_print *p);
};
#define DH_FORMAT(id, name, people, known, help) extern const struct dh_print_ops dh_print_as_##name;
#include "report/formats.def"
#undef DH_FORMAT

const char *dh_words_plural(u64 n); /* "" or "s" */

/* ---- Places ---- */
const char *dh_words_path(struct dh_print *p, const char *path); /* as seen from here */
/* "src/a.c:12:3", or (module+offset); "" for a place that is not known at all. */
const char *dh_words_place(struct dh_print *p, const struct dh_symbol_frame *f);
/* "src/a.c:12" of the frame to point at, the location of a trace, or "?". */
const char *dh_words_at(struct dh_print *p, const struct dh_finding_access *a);
const char *dh_words_function(struct dh_print *p, const struct dh_symbol_frame *f); /* "??" if unknown */
/* How many frames of a stack are worth showing. */
size_t dh_words_visible(const struct dh_symbol_trace *trace);
/* Line `number` around the frame, cut to a length. False: there is none, or none is to be shown. */
bool dh_words_source(struct dh_print *p, const struct dh_symbol_frame *f, int number,
                     struct dh_source_line *ret);

/* The same without the blanks it begins with, as a string. */
const char *dh_words_trimmed(struct dh_print *p, const struct dh_source_line *line);

/* ---- Parts of a finding ---- */
/* All that is known of the memory in one sentence without a full stop; stacks are left out. */
const char *dh_words_memory(struct dh_print *p, const struct dh_finding *f);
/* The same of memory that a race is possible on. */
const char *dh_words_possible(struct dh_print *p, const struct dh_finding_location *at);
/* The memory, the locks and the threads: each a line, and the stack that belongs to it, or an empty one. */
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
/* The share of runs that show it, in general, if `seen` of `runs` did: Wilson's interval with 95 %
 * confidence. */
void dh_words_interval(u64 seen, u64 runs, double *ret_low, double *ret_high);
/* All of it in a sentence or two: what raced, where, and why. */
const char *dh_words_sentence(struct dh_print *p, const struct dh_finding *f);
/* How much it weighs, as SARIF says it: "error", "warning" or "note". */
const char *dh_words_level(const struct dh_finding *f);
bool dh_words_same_place(const struct dh_finding *f); /* both accesses are one, made by two threads */
/* "a bundle: 3 places like the first, each with 5 like the second", or "". */
const char *dh_words_bundle(struct dh_print *p, const struct dh_finding *f);

/* ---- Documents ---- */
const char *dh_words_section(struct dh_print *p, const struct dh_print_section *s);
const char *dh_words_count(struct dh_print *p, const struct dh_print_section *s);
const char *dh_words_more(struct dh_print *p, const struct dh_print_section *s); /* "" if all are shown */
const char *dh_words_known(struct dh_print *p, u64 n); /* "3 findings are in the baseline" */
/* An entry of the baseline: "dh2-012345678901: read f@a.c+3:9; write g@a.c+4:5; global x". */
const char *dh_words_identity(struct dh_print *p, const struct dh_baseline_entry *e);
/* Those that were not seen this time, each on a line, after a sentence and what stands before that. NULL:
 * there is no baseline. */
void dh_words_put_unseen(struct dh_print *p, FILE *out, struct dh_baseline *b, const char *before);
const char *dh_words_trace(struct dh_print *p);    /* "7 events, 2 threads, 2 locks, 1 variables" */
const char *dh_words_pairs(struct dh_print *p);    /* how many there are, and with which style */
const char *dh_words_of(const struct dh_print *p); /* what it means that the pairs are of this code */

#endif
