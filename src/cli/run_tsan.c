/*
 * run_tsan.c - see run_tsan.h.
 *
 * A flag of ThreadSanitizer is translated, already the default, or refused with a message:
 * docs/guide/from-tsan.md lists all of them. Flags that only concern ThreadSanitizer's own machinery share
 * one message.
 */
#include "cli/run_tsan.h"

#include <string.h>

#include "cli/cmd.h"
#include "util/arena.h"

static const char separators[] = ": ,\t\r\n"; /* as in ThreadSanitizer */

#define ONLY_RACES "has no effect: only data races are reported"
#define NO_DEADLOCKS "has no effect: deadlocks are not detected"
#define ALL_IS_NEEDED "has no effect: no memory can be released without losing races"

/* Flags that are translated. The first line that has the flag's name and value counts. */
static const struct rule {
    const char *name;
    const char *value; /* NULL: any */
    const char *flag;  /* ours; one that ends in = gets the value; NULL: none, it is the default */
    const char *why;   /* printed about a difference; NULL: there is none */
} rules[] = {
    {"exitcode", NULL, "--exitcode=", NULL},
    {"suppressions", NULL, "--suppressions=", NULL},
    {"color", NULL, "--color=", NULL},
    {"atexit_sleep_ms", NULL, "--exit-wait=", NULL},
    {"halt_on_error", "1", "--on-race=stop", NULL},
    {"halt_on_error", "0", "--on-race=report", NULL},
    {"report_bugs", "1", NULL, NULL},
    {"report_bugs", "0", "--report=0", NULL},
    {"suppress_equal_stacks", "1", "--all=0", NULL},
    {"suppress_equal_stacks", "0", "--all=1", NULL},
    {"io_sync", "0", "--io-sync=0", NULL},
    {"io_sync", "1", "--io-sync=1", NULL},
    {"io_sync", "2", "--io-sync=1", "counts as io_sync=1: a read is after the writes to the same descriptor"},
    {"print_suppressions", "0", NULL, NULL},
    {"print_suppressions", "1", "--stats=1", NULL},
    {"log_path", "stderr", NULL, NULL},
    {"log_path", "stdout", NULL, "has no effect: reports go to standard error"},
    {"log_path", NULL,
     "--output=", "holds race records, which 'deadheat report' prints; reports still go to standard error"},
};

/* Flags that are not, unless the value asks for what deadheat does anyway. */
static const struct refusal {
    const char *name;
    const char *same; /* that value; NULL: none */
    const char *why;
} refusals[] = {
    {"history_size", NULL, "has no effect: no access is forgotten"},
    {"flush_memory_ms", "0", ALL_IS_NEEDED},
    {"memory_limit_mb", "0", ALL_IS_NEEDED},
    {"detect_deadlocks", "0", NO_DEADLOCKS},
    {"second_deadlock_stack", "0", NO_DEADLOCKS},
    {"report_thread_leaks", "0", ONLY_RACES},
    {"report_destroy_locked", "0", ONLY_RACES},
    {"report_mutex_bugs", "0", ONLY_RACES},
    {"report_signal_unsafe", "0", ONLY_RACES},
    {"detect_invalid_join", "0", ONLY_RACES},
    {"report_atomic_races", "1", "is not supported: a race of an atomic access with a plain one is reported"},
    {"force_seq_cst_atomics", "0", "is not supported: atomics order what their memory order says"},
    {"enable_annotations", "1", "is not supported: annotations apply"},
    {"ignore_noninstrumented_modules", "0",
     "is not supported: a suppression 'called_from_lib:NAME' suppresses races in a library"},
    {"ignore_interceptors_accesses", "0", "is not supported: accesses by libc functions are checked"},
    {"die_after_fork", "0", "has no effect: a child of a multithreaded program continues, and is checked"},
    {"abort_on_error", "0", "has no effect: with halt_on_error=1 the program is always aborted"},
    {"symbolize", "1", "is not supported: --output with --report=0 writes records without symbols"},
    {"strip_path_prefix", NULL, "has no effect: files below the working directory are shown relative to it"},
    {"help", NULL, "has no effect: 'deadheat run --help' lists the options"},
};

/* 1 and 0 have other spellings. */
static const char *plain(const char *value)
{
    if (strcmp(value, "true") == 0 || strcmp(value, "yes") == 0)
        return "1";
    return strcmp(value, "false") == 0 || strcmp(value, "no") == 0 ? "0" : value;
}

static void refuse(const char *name, const char *value)
{
    const char *why = "is not supported, and has no effect";
    for (size_t i = 0; i < DH_ARRAY_LEN(refusals); i++) {
        if (strcmp(refusals[i].name, name) != 0)
            continue;
        if (refusals[i].same && strcmp(refusals[i].same, plain(value)) == 0)
            return;
        why = refusals[i].why;
    }
    dh_cli_warn("run", "--tsan-options: %s=%s %s", name, value, why);
}

static const struct rule *find(const char *name, const char *value)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(rules); i++)
        if (strcmp(rules[i].name, name) == 0 &&
            (!rules[i].value || strcmp(rules[i].value, plain(value)) == 0))
            return &rules[i];
    return NULL;
}

static int take(struct dh_arena *arena, const char *name, const char *value, dh_run_tsan_set *set, void *ctx)
{
    const struct rule *rule = find(name, value);
    if (!rule)
        refuse(name, value);
    else if (rule->why)
        dh_cli_warn("run", "--tsan-options: %s=%s %s", name, value, rule->why);
    if (!rule || !rule->flag)
        return 0;
    bool with_value = rule->flag[strlen(rule->flag) - 1] == '=';
    int rc = set(ctx, with_value ? dh_arena_printf(arena, "%s%s", rule->flag, value) : rule->flag);
    /* There, without reports a race does not count. */
    return !rc && strcmp(rule->flag, "--report=0") == 0 ? set(ctx, "--exitcode=0") : rc;
}

int dh_run_tsan(struct dh_arena *arena, const char *text, dh_run_tsan_set *set, void *ctx)
{
    int rc = 0;
    for (text += strspn(text, separators); !rc && *text; text += strspn(text, separators)) {
        size_t n = strcspn(text, "=: ,\t\r\n");
        const char *name = dh_arena_dup(arena, text, n);
        text += n;
        if (*text != '=')
            return dh_cli_fail("run", "--tsan-options: '%s' has no value; it is name=value:name=value", name);
        const char *value = ++text;
        bool quoted = *value == '\'' || *value == '"';
        if (quoted) {
            const char *end = strchr(++value, *text);
            if (!end)
                return dh_cli_fail("run", "--tsan-options: the value of '%s' lacks its closing quote", name);
            n = (size_t)(end - value);
        } else {
            n = strcspn(value, separators);
        }
        text = value + n + quoted;
        rc = take(arena, name, dh_arena_dup(arena, value, n), set, ctx);
    }
    return rc;
}
