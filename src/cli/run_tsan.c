/*
 * run_tsan.c - see run_tsan.h.
 *
 * A flag of ThreadSanitizer is taken over, or already so, or refused with a sentence: docs/guide/from-tsan.md
 * has all of them. What is only about ThreadSanitizer's own machinery shares one sentence.
 */
#include "cli/run_tsan.h"

#include <string.h>

#include "cli/cmd.h"
#include "util/arena.h"

static const char separators[] = ": ,\t\r\n"; /* as ThreadSanitizer has them */

/* What a flag comes to. The first line that has its name and its value counts. */
static const struct rule {
    const char *name;
    const char *value; /* NULL: any */
    const char *flag;  /* ours; one that ends in = gets the value; NULL: none */
    const char *why;   /* said; NULL: nothing, it is as the user wants it */
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
    {"history_size", NULL, NULL, "has no effect: no access is forgotten"},
    {"flush_memory_ms", "0", NULL, NULL},
    {"flush_memory_ms", NULL, NULL, "has no effect: there is nothing to give up without losing races"},
    {"memory_limit_mb", "0", NULL, NULL},
    {"memory_limit_mb", NULL, NULL, "has no effect: there is nothing to give up without losing races"},
    {"detect_deadlocks", "0", NULL, NULL},
    {"detect_deadlocks", NULL, NULL, "has no effect: deadlocks are not looked for"},
    {"second_deadlock_stack", "0", NULL, NULL},
    {"second_deadlock_stack", NULL, NULL, "has no effect: deadlocks are not looked for"},
    {"report_thread_leaks", "0", NULL, NULL},
    {"report_thread_leaks", NULL, NULL, "has no effect: only data races are reported"},
    {"report_destroy_locked", "0", NULL, NULL},
    {"report_destroy_locked", NULL, NULL, "has no effect: only data races are reported"},
    {"report_mutex_bugs", "0", NULL, NULL},
    {"report_mutex_bugs", NULL, NULL, "has no effect: only data races are reported"},
    {"report_signal_unsafe", "0", NULL, NULL},
    {"report_signal_unsafe", NULL, NULL, "has no effect: only data races are reported"},
    {"detect_invalid_join", "0", NULL, NULL},
    {"detect_invalid_join", NULL, NULL, "has no effect: only data races are reported"},
    {"report_atomic_races", "1", NULL, NULL},
    {"report_atomic_races", NULL, NULL,
     "is not supported: a race of an atomic access with a plain one is reported"},
    {"force_seq_cst_atomics", "0", NULL, NULL},
    {"force_seq_cst_atomics", NULL, NULL, "is not supported: atomics order what their memory order says"},
    {"enable_annotations", "1", NULL, NULL},
    {"enable_annotations", NULL, NULL, "is not supported: annotations count"},
    {"ignore_noninstrumented_modules", "0", NULL, NULL},
    {"ignore_noninstrumented_modules", NULL, NULL,
     "is not supported: a suppression 'called_from_lib:NAME' leaves out what a library does"},
    {"ignore_interceptors_accesses", "0", NULL, NULL},
    {"ignore_interceptors_accesses", NULL, NULL,
     "is not supported: what functions of libc access is checked"},
    {"die_after_fork", "0", NULL, NULL},
    {"die_after_fork", NULL, NULL,
     "has no effect: a child of a program with threads goes on, and is watched"},
    {"abort_on_error", "0", NULL, NULL},
    {"abort_on_error", NULL, NULL, "has no effect: with halt_on_error=1 the program is aborted in any case"},
    {"symbolize", "1", NULL, NULL},
    {"symbolize", NULL, NULL, "is not supported: 'output=FILE' with 'report=0' has records without symbols"},
    {"strip_path_prefix", NULL, NULL,
     "has no effect: files below the working directory are told relative to it"},
    {"help", NULL, NULL, "has no effect: 'deadheat run --help' lists the options"},
};

static bool is_yes(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "yes") == 0;
}

static bool is_no(const char *value)
{
    return strcmp(value, "false") == 0 || strcmp(value, "no") == 0;
}

static const struct rule *find(const char *name, const char *value)
{
    const char *plain = is_yes(value) ? "1" : is_no(value) ? "0" : value;
    for (size_t i = 0; i < DH_ARRAY_LEN(rules); i++)
        if (strcmp(rules[i].name, name) == 0 && (!rules[i].value || strcmp(rules[i].value, plain) == 0))
            return &rules[i];
    return NULL;
}

static int take(struct dh_arena *arena, const char *name, const char *value, dh_run_tsan_set *set, void *ctx)
{
    const struct rule *rule = find(name, value);
    if (!rule || rule->why)
        dh_cli_warn("run", "--tsan-options: %s=%s %s", name, value,
                    rule ? rule->why : "is not supported, and has no effect");
    if (!rule || !rule->flag)
        return 0;
    bool with_value = rule->flag[strlen(rule->flag) - 1] == '=';
    int rc = set(ctx, with_value ? dh_arena_printf(arena, "%s%s", rule->flag, value) : rule->flag);
    /* Without reports a race does not count there. */
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
