/*
 * pipeline.h - `deadheat pipeline`: the stages of figure 1 of the paper (Caper and RaceChaser, CC 2017), one
 * after another, and the page at the end.
 *
 * Results are kept in a directory, and each stage continues from what is there:
 *   caper          the state of `deadheat caper`
 *   pairs.json     dpPairs, as `deadheat caper export --to=pairs` writes them, but no more than can be chased
 *   chase          the state of `deadheat chase`, for all ways of chasing
 *   races.jsonl    race records
 *   pipeline.json  the stages, with their time and runs so far
 */
#ifndef DH_CLI_PIPELINE_H
#define DH_CLI_PIPELINE_H

#include <jansson.h>

#include "cli/caper.h"
#include "util/map.h"

/* The result for a pair, after all ways of chasing it. */
struct dh_pipeline_pair {
    const char *name; /* as for --pair */
    bool confirmed;
    u64 pairs; /* how many pairs of sites in pairs.json it stands for; 0: it is not there, but its accesses
                  met */
    u64 runs, reached, timeouts, met;
    const char *refused; /* why it was not chased; NULL: it can be */
};

enum dh_pipeline_stage {
    DH_PIPELINE_STATIC,
    DH_PIPELINE_CAPER,
    DH_PIPELINE_INFER,
    DH_PIPELINE_CHASE,
    DH_PIPELINE_STEER,
    DH_PIPELINE_STAGES
};

/* What a stage has taken in total: time, runs, the pairs it started with, those it confirmed, and what it
 * left; pairs: UINT64_MAX if it was not reached. */
struct dh_pipeline_took {
    u64 us, runs, in, confirmed, pairs;
};

struct dh_pipeline {
    struct dh_arena arena;
    const char *dir;
    char **argv;
    const char *client;  /* runs alongside the program, and ends it; NULL: none */
    const char *program; /* the Caper build; absolute */
    const char *build_id;
    u64 budget_us, start_us;
    u64 earlier_us; /* spent by earlier commands on the same directory */
    u64 steady;     /* how many runs without anything new are enough */
    bool resumed;   /* the directory existed */
    bool inferred;  /* dynamic context inference was done */
    bool stop;      /* interrupted */
    bool nameless;  /* no pair can be chased: their lines are not known */
    struct dh_pipeline_took took[DH_PIPELINE_STAGES];
    struct dh_pipeline_pair *pairs; /* a heap array */
    size_t n_pairs, cap_pairs;
    struct dh_map by_name;
    struct dh_map lines; /* of the accesses in dpPairs */
    u64 page_us;         /* the part of the budget reserved for the page */
    u64 unlisted;        /* pairs of dpPairs that are not in pairs.json */
    u64 unnamed;         /* pairs of dpPairs that lines cannot identify: frees, and accesses without a line */
};

/* A file of the directory. */
const char *dh_pipeline_file(struct dh_pipeline *p, const char *name);
u64 dh_pipeline_now(void);
/* By all commands so far. */
u64 dh_pipeline_spent(const struct dh_pipeline *p);

/* pipeline_stages.c. All return 0, or the exit status after a message. */
int dh_pipeline_caper(struct dh_pipeline *p);
int dh_pipeline_chase(struct dh_pipeline *p);

/* pipeline_state.c: pipeline.json. 0, or the exit status after a message. */
int dh_pipeline_load(struct dh_pipeline *p);
int dh_pipeline_save(struct dh_pipeline *p);

/* pipeline_page.c: what is known, as a document; *ret_confirmed: the number of races. NULL after a
 * message. */
json_t *dh_pipeline_document(struct dh_pipeline *p, u64 *ret_confirmed);
void dh_pipeline_print(FILE *out, const char *format, const json_t *document);

/* pipeline_sums.c */

/* What became of the pairs of dpPairs: rows with the number of pairs of sites, which add up to dpPairs. */
json_t *dh_pipeline_sums(const struct dh_pipeline *p);
/* Why a pair that met is not in pairs.json; what: its name for --pair. Opens the sets when first called. */
struct dh_pipeline_lookup {
    struct dh_pipeline *p;
    struct dh_cli_caper dynamic, all; /* tables reduced to dpPairs, and with all pairs */
    bool open, good;
};
const char *dh_pipeline_why_beyond(struct dh_pipeline_lookup *l, const struct dh_pipeline_pair *pair);
void dh_pipeline_lookup_done(struct dh_pipeline_lookup *l);
bool dh_pipeline_is_reached(const struct dh_pipeline_pair *pair);

#endif
