/*
 * metrics.c - the hive's counters, in the text format of Prometheus.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hive/server.h"

static void put(FILE *f, const char *name, const char *type, const char *help, double value)
{
    fprintf(f, "# HELP deadheat_hive_%s %s\n# TYPE deadheat_hive_%s %s\ndeadheat_hive_%s %.17g\n", name, help,
            name, type, name, value);
}

char *dh_hive_metrics(struct dh_hive_server *s)
{
    struct dh_hive_engine_stats stats;
    u64 answers[DH_HIVE_STATUSES], verdicts[DH_HIVE_VERDICTS] = {0}, active = 0, waiting = 0;
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        dh_util_no_memory();
    dh_hive_engine_stats(s->engine, &stats);
    const struct dh_hive_state *state = dh_hive_engine_lock(s->engine);
    for (size_t i = 0; i < state->n_units; i++) {
        if (!state->units[i].bundle)
            verdicts[dh_hive_judge(&state->units[i].tally).verdict]++;
        active += state->units[i].active;
    }
    put(f, "users", "gauge", "Users that were ever seen.", (double)state->n_users);
    put(f, "results_total", "counter", "Results in the log.", (double)state->n_results);
    put(f, "events_total", "counter", "Events in the log.", (double)state->seq);
    dh_hive_engine_unlock(s->engine);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < DH_HIVE_STATUSES; i++)
        answers[i] = s->answers[i];
    for (const struct dh_hive_request *r = s->waiting; r; r = r->next)
        waiting++;
    pthread_mutex_unlock(&s->lock);
    put(f, "active_tasks", "gauge", "Tasks that users have.", (double)active);
    pthread_mutex_lock(&s->patience.lock);
    u64 connections = s->patience.connections, late = s->patience.late;
    pthread_mutex_unlock(&s->patience.lock);
    put(f, "connections", "gauge", "Connections that are open.", (double)connections);
    put(f, "late_connections_total", "counter", "Connections that were closed because they took too long.",
        (double)late);
    put(f, "waiting_polls", "gauge", "Polls that wait for news.", (double)waiting);
    put(f, "ready", "gauge", "1 if the store answers and takes what is written.", stats.ready);
    put(f, "commits_total", "counter", "Transactions of this process.", (double)stats.batches);
    put(f, "committed_events_total", "counter", "Events that this process appended.", (double)stats.events);
    put(f, "store_failures_total", "counter", "Times that the store could not be used.",
        (double)stats.failures);
    put(f, "snapshot_event", "gauge",
        "The number of the last event that the snapshot has; 0 if there is none.", (double)stats.snapshot);
    put(f, "start_time_seconds", "gauge", "When this process started, since 1970.",
        (double)s->started_us / 1e6);
    fputs("# HELP deadheat_hive_candidates Candidates by verdict.\n# TYPE deadheat_hive_candidates gauge\n",
          f);
    for (int i = 0; i < DH_HIVE_VERDICTS; i++)
        fprintf(f, "deadheat_hive_candidates{verdict=\"%s\"} %llu\n", dh_hive_verdicts[i],
                (unsigned long long)verdicts[i]);
    fputs(
        "# HELP deadheat_hive_answers_total Answers by HTTP status.\n"
        "# TYPE deadheat_hive_answers_total counter\n",
        f);
    for (int i = 0; i < DH_HIVE_STATUSES; i++)
        if (answers[i])
            fprintf(f, "deadheat_hive_answers_total{status=\"%d\"} %llu\n", i,
                    (unsigned long long)answers[i]);
    if (fclose(f) != 0)
        dh_util_no_memory();
    return text;
}
