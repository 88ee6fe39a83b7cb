/*
 * reporter.h - records in, reports out: the whole of the report room behind one interface.
 */
#ifndef DH_REPORT_REPORTER_H
#define DH_REPORT_REPORTER_H

#include "report/baseline.h"
#include "report/print.h"

/* That is written at the end, while races are told as text as they come. */
struct dh_reporter_document {
    enum dh_print_format format;
    FILE *out;
};

struct dh_reporter_options {
    FILE *out;                    /* reports */
    FILE *messages;               /* errors and the summary */
    const char *input;            /* what to call all of the input */
    const char *suppressions;     /* file, or "" */
    struct dh_baseline *baseline; /* NULL: none */
    const char *own_suppressions; /* the program's, as text; NULL: none */
    const char *program;          /* that was asked for, if others may run below it; NULL: not known */
    u64 exitcode;                /* status because of the races of a process that has not said one; 0: none */
    bool streaming;              /* print each race as it comes, not all at the end with their counts */
    bool print;                  /* false: only count */
    enum dh_print_format format; /* of what is printed, unless streaming: then it is text */
    const struct dh_reporter_document *documents; /* while streaming */
    size_t n_documents;
    const char *command; /* that a document is of; NULL: "report" */
    bool resolve;        /* print records that need nothing else in place of a document */
    bool all;            /* print races with one cause one by one */
    bool color;
    bool source;
    bool full_names;                 /* of C++, where people read them */
    const struct dh_path_map *paths; /* of sources, and where these are now; NULL: where they were */
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
    u64 status;            /* that some process which raced asks for; 0: none does */
    bool bad_suppressions; /* the file could not be read */
    bool incomplete; /* no process is recorded, or not all of them to their end: no races means nothing */
};

struct dh_reporter;
struct dh_reporter *dh_reporter_new(const struct dh_reporter_options *options);
/* Read everything from the descriptor; `input`: what to call it in errors. 0 or a negative errno (what was
 * read before counts). */
int dh_reporter_read(struct dh_reporter *r, int fd, const char *input);
/* Read one line, `number` of its stream. True if it tells of a race that is neither suppressed nor known. */
bool dh_reporter_take(struct dh_reporter *r, const char *text, size_t len, u64 number);
/* What is read from now on is of one more run: how many of them show a race is counted. */
void dh_reporter_begin_run(struct dh_reporter *r);
/* How many distinct races there are so far that are neither suppressed nor known. */
u64 dh_reporter_races(const struct dh_reporter *r);
/* Print what is left and the summary; free. */
void dh_reporter_finish(struct dh_reporter *r, struct dh_reporter_result *ret);

#endif
