/*
 * verdict.c - see verdict.h.
 */
#include "hive/verdict.h"

#include <math.h>
#include <string.h>

const char *const dh_hive_orders[] = {"primary", "alternate"};
const char *const dh_hive_results[] = {"race", "no-race", "timeout", "not-seen", "inference"};
const char *const dh_hive_consequences[] = {"none", "crash", "hang"};
const char *const dh_hive_seens[] = {"met", "not-aliasing", "one-thread"};
const char *const dh_hive_verdicts[] = {"unknown", "likely-false-positive", "true-race"};
const char *const dh_hive_whys[] = {"none", "not-aliasing", "context", "synchronisation"};

int dh_hive_word(const char *const *words, int n, const char *word)
{
    for (int i = 0; word && i < n; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Two accesses that were ordered did meet, whatever inference saw in other runs; and one run in which two
 * threads reached them disproves that only one ever does. */
static enum dh_hive_why why_false(const struct dh_hive_tally *t)
{
    if (t->no_races || t->capped)
        return DH_HIVE_SYNCHRONISATION;
    if (t->seen[DH_HIVE_MET])
        return DH_HIVE_NO_REASON;
    if (t->seen[DH_HIVE_UNALIASED])
        return DH_HIVE_NOT_ALIASING;
    return t->seen[DH_HIVE_ONE_THREAD] ? DH_HIVE_CONTEXT : DH_HIVE_NO_REASON;
}

struct dh_hive_judgement dh_hive_judge(const struct dh_hive_tally *t)
{
    u64 races = t->races[DH_HIVE_PRIMARY] + t->races[DH_HIVE_ALTERNATE];
    if (races)
        return (struct dh_hive_judgement){
            .verdict = DH_HIVE_TRUE_RACE,
            .both_orders = t->symmetric || (t->races[DH_HIVE_PRIMARY] && t->races[DH_HIVE_ALTERNATE]),
            .crash = t->crashes > 0,
            .hang = t->hangs > 0};
    enum dh_hive_why why = why_false(t);
    return (struct dh_hive_judgement){.verdict = why ? DH_HIVE_LIKELY_FALSE : DH_HIVE_UNKNOWN, .why = why};
}

enum dh_hive_wanted dh_hive_wanted(const struct dh_hive_tally *t)
{
    struct dh_hive_judgement j = dh_hive_judge(t);
    if (j.verdict != DH_HIVE_TRUE_RACE)
        return DH_HIVE_WANT_ANY;
    return j.both_orders || j.crash || j.hang || t->second >= DH_HIVE_SECOND ? DH_HIVE_WANT_NONE
                                                                             : DH_HIVE_WANT_OTHER;
}

enum dh_hive_order dh_hive_other_order(const struct dh_hive_tally *t)
{
    return t->races[DH_HIVE_PRIMARY] ? DH_HIVE_ALTERNATE : DH_HIVE_PRIMARY;
}

struct dh_hive_harm dh_hive_harm_of(const struct dh_hive_tally *t)
{
    return (struct dh_hive_harm){.races = t->races[DH_HIVE_PRIMARY] + t->races[DH_HIVE_ALTERNATE] - t->caught,
                                 .crashes = t->crashes,
                                 .hangs = t->hangs};
}

/* The logarithm of n! / (k! (n - k)!). */
static double log_choose(u64 n, u64 k)
{
    int sign; /* lgamma itself writes a global variable */
    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

double dh_hive_chance(u64 k, u64 n, u64 other_k, u64 other_n)
{
    const u64 all_k = k + other_k, all = n + other_n, most = all_k < n ? all_k : n;
    const double of = log_choose(all, n);
    double sum = 0;
    for (u64 i = k; i <= most; i++)
        if (n - i <= all - all_k)
            sum += exp(log_choose(all_k, i) + log_choose(all - all_k, n - i) - of);
    return sum < 1 ? sum : 1;
}

double dh_hive_bound(u64 quiet_runs)
{
    return quiet_runs ? 1 - pow(0.05, 1 / (double)quiet_runs) : 1;
}
