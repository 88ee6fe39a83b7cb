/*
 * print.h - a document of findings, in one of the formats that formats.def lists.
 *
 * A document begins with what it is about, receives one finding after another, in sections if the command has
 * them, and ends. Findings are not kept, so that there may be more of them than fit into memory. The text
 * output of a running program has neither beginning nor end, only findings.
 */
#ifndef DH_REPORT_PRINT_H
#define DH_REPORT_PRINT_H

#include <stdio.h>

#include "report/baseline.h"
#include "report/source.h"

enum dh_print_format {
#define DH_FORMAT(id, name, people, known, help) DH_PRINT_##id,
#include "report/formats.def"
#undef DH_FORMAT
    DH_PRINT_FORMATS
};
extern const char *const dh_print_formats[DH_PRINT_FORMATS]; /* "text" ... */

/* How much detail text shows for one finding. */
enum dh_print_detail {
    DH_PRINT_FULL,
    DH_PRINT_SIDES, /* two or three lines for each access */
    DH_PRINT_LINE,
};

/* Does the document include findings that are in the baseline? */
bool dh_print_has_known(enum dh_print_format format);
/* Is it for people? Then it need not have all findings. */
bool dh_print_is_for_people(enum dh_print_format format);

/* ---- What a document is about: one of these ---- */

struct dh_model;
struct dh_program;
struct dh_reporter_result;

struct dh_print_records {
    const struct dh_model *model;
    const struct dh_program *programs;
    const struct dh_reporter_result *result;
    bool ends; /* processes announce their end, as they do in files */
};

struct dh_print_detector {
    const char *name, *guarantee;
    u64 variables, events, places, pairs; /* distinct racy variables, events, locations and their pairs */
    u64 reports;
    u64 first_event;   /* number, from 1; 0: no race */
    u64 memory;        /* bytes */
    u64 given_up;      /* possible races left undecided */
    u64 suppressed;    /* pairs of locations */
    const char *error; /* why it did not process everything; NULL: it did */
};

struct dh_print_oddity {
    const char *what;
    u64 count, first_event; /* number, from 1 */
};

struct dh_print_trace {
    u64 events, recorded;
    u32 threads, locks, variables;
    double seconds;
    struct dh_print_oddity *oddities;
    size_t n_oddities;
    struct dh_print_detector *detectors;
    size_t n_detectors;
    u64 findings, variants; /* of all detectors */
    bool complete; /* there are events, and none is known to be missing: else "no races" means little */
};

struct dh_pairs; /* report/pairs.h */

struct dh_print_static {
    const struct dh_pairs *table;
    const char *of;          /* which code: "source", "binary" or "bitcode" */
    const char *style;       /* "relay" or "sound" */
    const char *other_style; /* and what it has */
    const char *assumed;     /* "owned, exit" */
    u64 pairs, other, dropped;
    bool most, other_most; /* pairs and other are upper bounds */
    bool bundled;          /* some findings stand for many pairs */
    u64 findings;
    u64 suppressed; /* pairs */
    const struct dh_print_section *variables;
    size_t n_variables;
    const struct dh_finding_thread *threads; /* all entry points */
    size_t n_threads;
    const char *narrowed; /* which subset of the pairs of this style it is, and why; NULL: all */
    bool explained;       /* the document explains one pair in detail */
    bool stats;           /* in text, also show assumptions and phases */
};

struct dh_print_about {
    const char *command;          /* "report" */
    const char *input;            /* as the user named it */
    struct dh_baseline *baseline; /* NULL: nothing was compared */
    u64 known;                    /* findings that are in it */
    const struct dh_print_records *records;
    const struct dh_print_trace *trace;
    const struct dh_print_static *pairs;
};

/* A part of the findings: those of one detector, or on one variable. */
struct dh_print_section {
    const struct dh_print_detector *detector;
    const struct dh_finding_location *variable;
    u64 pairs;       /* on the variable */
    bool most;       /* ... at most */
    size_t n, shown; /* number of findings, and how many are printed */
};

/* ---- The document ---- */

struct dh_print_ops;

struct dh_print {
    FILE *out;
    enum dh_print_format format;
    enum dh_print_detail detail;
    struct dh_source *source; /* NULL: do not show source lines */
    const char *cwd;          /* paths beneath are shown relative to it; may be NULL */
    bool color;
    bool running; /* the number of occurrences is not known yet */
    /* Internal: */
    const struct dh_print_about *about;
    struct dh_arena scratch; /* emptied after each finding */
    u64 n;                   /* findings so far */
    u64 n_known;             /* of them: in the baseline */
    FILE *behind;            /* for a format that begins with its counts: the final destination */
};

void dh_print_begin(struct dh_print *p, const struct dh_print_about *about);
void dh_print_open(struct dh_print *p, const struct dh_print_section *s);
void dh_print_finding(struct dh_print *p, const struct dh_finding *f);
void dh_print_close(struct dh_print *p, const struct dh_print_section *s);
void dh_print_end(struct dh_print *p);
void dh_print_done(struct dh_print *p); /* frees; also if it was never begun */

/* In text, while a program runs: a line for a race with the same cause as one already printed; and, at its
 * end, a line for a race that was repeated. */
void dh_print_variant(struct dh_print *p, const struct dh_finding *f, const struct dh_finding *first);
void dh_print_repeated(struct dh_print *p, FILE *out, const struct dh_finding *f);

#endif
