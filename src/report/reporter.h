/*
 * reporter.h - records in, reports out: the whole report room behind one interface.
 */
#ifndef DH_REPORT_REPORTER_H
#define DH_REPORT_REPORTER_H

#include "report/baseline.h"
#include "report/print.h"

/* A document that is written at the end, while races are printed as text as they come. */
struct dh_reporter_document {
    enum dh_print_format format;
    FILE *out;
};

struct dh_reporter_options {
    FILE *out;                    /* reports */
    FILE *messages;               /* errors and the summary */
    const char *input;            /* name of the input as a whole */
    const char *suppressions;     /* file, or "" */
    struct dh_baseline *baseline; /* NULL: none */
    const char *own_suppressions; /* the program's, as text; NULL: none */
    const char *program;          /* the one that was requested, if it may start others; NULL: not known */
    u64 exitcode;                 /* exit status for races of a process that announced none; 0: none */
    bool streaming;               /* print each race as it comes, not all at the end with their counts */
    bool print;                   /* false: only count */
    enum dh_print_format format;  /* of the output; when streaming it is always text */
    const struct dh_reporter_document *documents; /* while streaming */
    size_t n_documents;
    const char *command; /* named in the document; NULL: "report" */
    bool resolve;        /* print self-contained records instead of a document */
    bool all;            /* print races with the same cause individually */
    bool color;
    bool source;
    bool full_names;                 /* show C++ names unshortened to people */
    const struct dh_path_map *paths; /* where the sources are now; NULL: where they were */
    bool stats;                      /* all counters at the end, unless streaming */
};

struct dh_reporter_result {
    u64 races;    /* with different causes, and not suppressed */
    u64 variants; /* with different fingerprints */
    u64 repetitions;
    u64 suppressed; /* distinct */
    u64 known;      /* of the races: in the baseline */
    u64 bad_lines;
    u64 processes;         /* announced */
    u64 runs;              /* begun; 0: they are not counted */
    u64 status;            /* requested by some process that raced; 0: by none */
    bool bad_suppressions; /* the file could not be read */
    bool incomplete;       /* no process was recorded, or not all to their end: "no races" means nothing */
    bool unsaved;          /* while streaming: records are missing from some process's output file */
};

struct dh_reporter;
struct dh_reporter *dh_reporter_new(const struct dh_reporter_options *options);
/* Read everything from the descriptor; `input`: its name in error messages. 0 or a negative errno (what
 * was read before the error counts). */
int dh_reporter_read(struct dh_reporter *r, int fd, const char *input);
/* Read one line, `number` of its stream. True if it has a race that is neither suppressed nor known. */
bool dh_reporter_take(struct dh_reporter *r, const char *text, size_t len, u64 number);
/* What is read from now on belongs to a new run; the reporter counts in how many runs each race occurs. */
void dh_reporter_begin_run(struct dh_reporter *r);
/* The number of distinct races so far that are neither suppressed nor known. */
u64 dh_reporter_races(const struct dh_reporter *r);
/* Print what remains and the summary; free. */
void dh_reporter_finish(struct dh_reporter *r, struct dh_reporter_result *ret);

#endif
