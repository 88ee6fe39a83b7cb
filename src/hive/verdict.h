/*
 * verdict.h - from counts of results to a verdict: RaceMob (SOSP 2013), section 3.4 and figure 4.
 *
 * Nothing here has state: the verdict is a function of the counts, so the order of results does not matter.
 * Beyond the paper: how certain "likely false positive" is.
 */
#ifndef DH_HIVE_VERDICT_H
#define DH_HIVE_VERDICT_H

#include "base/base.h"

enum dh_hive_order { DH_HIVE_PRIMARY, DH_HIVE_ALTERNATE, DH_HIVE_ORDERS };

enum dh_hive_result {
    DH_HIVE_RACE,
    DH_HIVE_NO_RACE,
    DH_HIVE_TIMEOUT,
    DH_HIVE_NOT_SEEN,
    DH_HIVE_INFERENCE, /* of a bundle: which accesses met */
    DH_HIVE_RESULTS
};

enum dh_hive_consequence { DH_HIVE_HARMLESS, DH_HIVE_CRASH, DH_HIVE_HANG, DH_HIVE_CONSEQUENCES };

/* What context inference saw of two accesses that were both executed (section 3.2.1). */
enum dh_hive_seen {
    DH_HIVE_MET,        /* two threads, the same memory */
    DH_HIVE_UNALIASED,  /* two threads, never the same memory */
    DH_HIVE_ONE_THREAD, /* never two threads */
    DH_HIVE_SEENS
};

enum dh_hive_verdict { DH_HIVE_UNKNOWN, DH_HIVE_LIKELY_FALSE, DH_HIVE_TRUE_RACE, DH_HIVE_VERDICTS };

/* Why it is probably false; table 1 of the paper. */
enum dh_hive_why {
    DH_HIVE_NO_REASON,
    DH_HIVE_NOT_ALIASING,
    DH_HIVE_CONTEXT,
    DH_HIVE_SYNCHRONISATION,
    DH_HIVE_WHYS
};

struct dh_hive_tally {
    u64 races[DH_HIVE_ORDERS]; /* by the order that was seen */
    u64 second; /* since a race was seen in one order: results in the other one without a race */
    u64 no_races, timeouts, not_seen;
    u64 capped; /* timeouts after the longest wait */
    u64 crashes, hangs;
    u64 caught; /* of the races: those caught by an inference, which does not learn what follows */
    u64 seen[DH_HIVE_SEENS];
    u64 quiet_runs; /* distinct executions that reached it without a race: NoRace or Timeout */
    bool symmetric; /* both are the same access in the source, so each order is also the other */
};

/* Races after which the program was observed, and how often a crash or a hang followed. */
struct dh_hive_harm {
    u64 races, crashes, hangs;
};

struct dh_hive_harm dh_hive_harm_of(const struct dh_hive_tally *t);

/* Is a race the cause of what followed it, or does that happen anyway? The program crashed (or hung) after k
 * of this race's n occurrences, and after other_k of the other_n occurrences of other races. If it did not
 * matter which race it was, this is the probability of k or more crashes among the n (Fisher's exact test,
 * one-sided). */
double dh_hive_chance(u64 k, u64 n, u64 other_k, u64 other_n);

struct dh_hive_judgement {
    enum dh_hive_verdict verdict;
    enum dh_hive_why why;
    bool both_orders, crash, hang; /* of a true race */
};

struct dh_hive_judgement dh_hive_judge(const struct dh_hive_tally *t);

/* What is still worth trying. After a race in one order the other is tried, for a limited number of
 * results: the paper distinguishes races in both orders from those in a single one. Not if users were
 * harmed already. */
enum dh_hive_wanted { DH_HIVE_WANT_NONE, DH_HIVE_WANT_OTHER, DH_HIVE_WANT_ANY };

enum { DH_HIVE_SECOND = 20 }; /* enough results for four users to get to the longest wait */

enum dh_hive_wanted dh_hive_wanted(const struct dh_hive_tally *t);
/* If that is OTHER: the order not seen yet. */
enum dh_hive_order dh_hive_other_order(const struct dh_hive_tally *t);

/* The largest probability of a race in one execution that is still consistent, with 95% confidence, with n
 * executions without one, if executions are identically distributed and independent: 1 - 0.05^(1/n). 1 if n
 * is 0. */
double dh_hive_bound(u64 quiet_runs);

/* Terms used in the interface. */
extern const char *const dh_hive_orders[DH_HIVE_ORDERS];             /* "primary" */
extern const char *const dh_hive_results[DH_HIVE_RESULTS];           /* "no-race" */
extern const char *const dh_hive_consequences[DH_HIVE_CONSEQUENCES]; /* "crash" */
extern const char *const dh_hive_seens[DH_HIVE_SEENS];               /* "met" */
extern const char *const dh_hive_verdicts[DH_HIVE_VERDICTS];         /* "true-race" */
extern const char *const dh_hive_whys[DH_HIVE_WHYS];                 /* "not-aliasing" */
/* The index of a word, or -1. */
int dh_hive_word(const char *const *words, int n, const char *word);

#endif
