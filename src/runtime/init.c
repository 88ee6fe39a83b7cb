/*
 * init.c - the runtime's beginning and end, its counters, and fork.
 *
 * Start: from .preinit_array of the executable, before any constructor; from the first instrumented module's
 * constructor if that comes earlier (a shared library's). Never from interceptors: until then they just call
 * the real functions.
 */
#include "runtime/init.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/filter.h"
#include "base/fmt.h"
#include "base/pool.h"
#include "base/sys.h"
#include "runtime/compat/compat.h"
#include "runtime/engine/pending.h"
#include "runtime/engine/rules.h"
#include "runtime/filter.h"
#include "runtime/intercept/intercept.h"
#include "runtime/report/about.h"
#include "runtime/report/gather.h"
#include "runtime/report/modules.h"
#include "runtime/report/process_id.h"
#include "runtime/report/report.h"
#include "runtime/shadow/collect.h"
#include "runtime/shadow/exclusive.h"
#include "runtime/shadow/history.h"
#include "runtime/shadow/ids.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/split.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/period.h"
#include "runtime/threads/sync.h"

struct dh_options dh_opts;
char *dh_options_env, *dh_suppressions_env;
bool dh_runtime_off;

static bool started;
static bool membarrier; /* atomic */
static u64 counters[DH_COUNT_MAX];
static u64 told[DH_COUNT_MAX]; /* the part already reported, or left for the parent to report */

void dh_runtime_count(enum dh_counter c)
{
    __atomic_fetch_add(&counters[c], 1, __ATOMIC_RELAXED);
}

u64 dh_runtime_counter(enum dh_counter c)
{
    u64 here;
    if (c >= DH_RULES_FIRST)
        return dh_rules_total(c);
    if (dh_period_counter(c, &here))
        return here;
    if (dh_filter_counter(c, &here))
        return here;
    if (c == DH_COUNT_BLIND_MODULES)
        return dh_modules_blind();
    return __atomic_load_n(&counters[c], __ATOMIC_RELAXED);
}

static const struct {
    const char *name, *help;
} counter_texts[] = {
#define DH_COUNTER(name, help) {#name, help},
#include "runtime/counters.def"
#undef DH_COUNTER
};

const char *dh_runtime_counter_name(enum dh_counter c)
{
    return counter_texts[c].name;
}

bool dh_runtime_has_membarrier(void)
{
    return __atomic_load_n(&membarrier, __ATOMIC_RELAXED);
}

void dh_runtime_lose_membarrier(void)
{
    __atomic_store_n(&membarrier, false, __ATOMIC_RELAXED);
    dh_pending_on = false; /* end what needs the barrier: plain stores and exclusive blocks */
}

void dh_runtime_degrade(const char *why)
{
    dh_runtime_count(DH_COUNT_LOST_MEMORY);
    if (__atomic_exchange_n(&dh_runtime_off, true, __ATOMIC_SEQ_CST))
        return;
    dh_pending_on = false;
    char buf[256];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, why);
    dh_fmt_str(&f, "; race detection stops here, the program continues");
    dh_sys_say(buf);
}

_Noreturn void dh_runtime_no_shadow(void)
{
    dh_sys_say(
        "cannot continue: no address space is left for shadow memory, which takes several times the "
        "program's "
        "own; is "
        "`ulimit -v` or `ulimit -d` too small?");
    for (;;)
        dh_sys3(SYS_exit_group, 1, 0, 0);
}

static void print(void *unused, const char *text, size_t n)
{
    (void)unused;
    dh_sys_write_all(2, text, n);
}

/* getenv does not work yet when .preinit_array runs: libc sets up its environment later. No libc function is
 * called: once the runtime has started, strncmp would count as the program's. */
static const char *find_env(char **envp, const char *name)
{
    for (; envp && *envp; envp++) {
        size_t n = 0;
        while (name[n] != '\0' && (*envp)[n] == name[n])
            n++;
        if (name[n] == '\0' && (*envp)[n] == '=')
            return *envp + n + 1;
    }
    return NULL;
}

/* The reporter reads the options too, without the program's changes to its environment. */
static void keep_options(const char *text)
{
    static const char name[] = "DEADHEAT_OPTIONS=";
    dh_options_env = text ? dh_pool_alloc(sizeof(name) + strlen(text)) : NULL;
    if (dh_options_env) {
        strcpy(dh_options_env, name);
        strcat(dh_options_env, text);
    }
}

static void read_options(char **envp)
{
    static struct dh_options_error err;
    dh_runtime_secure_init(envp);
    const char *text = dh_compat_options(find_env(envp, "DEADHEAT_OPTIONS"));
    dh_gather_init(find_env(envp, "DEADHEAT_RUN")); /* removed from the environment of a setuid program */
    dh_about_init(dh_runtime_secure ? NULL : envp);
    keep_options(text);
    dh_suppressions_env = dh_compat_suppressions();
    dh_options_default(&dh_opts);
    if (dh_options_parse(&dh_opts, text, &err) < 0) {
        dh_sys_say(err.text);
        dh_sys3(SYS_exit_group, 2, 0, 0);
    }
    dh_runtime_secure_options(&dh_opts);
    if (dh_opts.help) {
        dh_options_help(print, NULL, false);
        dh_sys3(SYS_exit_group, 0, 0, 0);
    }
}

/* Where the kernel randomises more than the layout of the planes has room for (vm.mmap_rnd_bits above 28),
 * restart without randomisation. If that fails, continue: it may still work. Not in a setuid program: the
 * path may name another program by now. */
static void fix_layout(char **argv, char **envp)
{
    static char path[4096];
    if (getauxval(AT_SECURE))
        return;
    void *mapped = dh_sys_map(4096);
    bool covered =
        dh_region_covers((uptr)&started) && dh_region_covers((uptr)&mapped) && dh_region_covers((uptr)mapped);
    if (mapped)
        dh_sys_unmap(mapped, 4096);
    long persona = dh_sys3(SYS_personality, 0xFFFFFFFF, 0, 0);
    if (covered || dh_sys_failed(persona) || (persona & ADDR_NO_RANDOMIZE))
        return;
    long n = dh_sys3(SYS_readlink, (long)"/proc/self/exe", (long)path, sizeof(path) - 1);
    if (n <= 0 || dh_sys_failed(dh_sys3(SYS_personality, persona | ADDR_NO_RANDOMIZE, 0, 0)))
        return;
    dh_sys3(SYS_execve, (long)path, (long)argv, (long)envp);
    dh_sys3(SYS_personality, persona, 0, 0);
}

static void start(char **envp)
{
    if (started)
        return;
    started = true;
    read_options(envp);
    dh_process_id_renew();
    dh_history_init();
    dh_rules_init(dh_opts.stats);
    dh_sync_init();
    membarrier = dh_sys_membarrier_init();
    dh_tap_init();
    dh_period_init();
    dh_pending_init();
    /* Shadow first: looking up the real functions may call the program's own, instrumented malloc. What that
     * touches besides the modules (its stack, what it maps) gets shadow when it faults. */
    dh_modules_changed();
    if (!dh_region_has((uptr)&started) || !dh_ids_init())
        dh_runtime_no_shadow();
    dh_signal_init();
    dh_intercept_init();
    dh_thread_init_main();
    struct dh_thread *t = __dh_hot.self;
    bool entered = t && dh_thread_enter_any(t);
    dh_report_announce();
    dh_report_begin();
    dh_sink_modules();
    if (entered)
        dh_thread_leave(t);
}

void dh_runtime_init(void)
{
    start(environ);
}

static void preinit(int argc, char **argv, char **envp)
{
    (void)argc;
    if (!started)
        fix_layout(argv, envp);
    start(envp);
    dh_filter_apply(find_env(envp, DH_FILTER_ENV));
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit_entry)(int, char **,
                                                                                    char **) = preinit;

/* A collection scans all resident shadow: if collections are that frequent, they take most of the time. */
static void tell_collections(void)
{
    u64 n = dh_runtime_counter(DH_COUNT_COLLECTIONS), ms = dh_runtime_counter(DH_COUNT_MILLISECONDS);
    if (n < 2 || n * 1000 <= ms)
        return;
    u64 tenths = n * 10000 / (ms ? ms : 1);
    char buf[128];
    struct dh_fmt f;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, "the collector of access ids ran ");
    dh_fmt_u64(&f, tenths / 10);
    dh_fmt_char(&f, '.');
    dh_fmt_u64(&f, tenths % 10);
    dh_fmt_str(&f, " times a second");
    dh_sys_say(buf);
}

static void print_stats(void)
{
    for (int c = 0; c < DH_COUNT_MAX; c++) {
        char buf[256];
        struct dh_fmt f;
        dh_fmt_init(&f, buf, sizeof(buf));
        dh_fmt_u64(&f, dh_runtime_counter((enum dh_counter)c));
        dh_fmt_char(&f, ' ');
        dh_fmt_str(&f, counter_texts[c].help);
        dh_sys_say(buf);
    }
    tell_collections();
}

/* Silence means that there was nothing to find, so a run that could not see everything must say so. If races
 * were found, the report's summary does. Truncated stacks (LOST_FRAMES) hide no race. */
static void tell_losses(void)
{
    char buf[900];
    struct dh_fmt f;
    u32 lost = 0;
    if (dh_runtime_counter(DH_COUNT_RACES))
        return;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, "no data race was found, but not everything was seen: ");
    for (int c = 0; c < DH_COUNT_MAX; c++) {
        u64 v = dh_runtime_counter((enum dh_counter)c) - told[c];
        if (c == DH_COUNT_LOST_FRAMES || v == 0 || strncmp(counter_texts[c].name, "LOST_", 5) != 0)
            continue;
        if (lost++)
            dh_fmt_str(&f, "; ");
        dh_fmt_str(&f, counter_texts[c].help);
        dh_fmt_str(&f, " (");
        dh_fmt_u64(&f, v);
        dh_fmt_char(&f, ')');
        told[c] += v;
    }
    if (lost)
        dh_sys_say(buf);
}

static void tell_share(struct dh_fmt *f, u64 part, u64 whole, const char *of)
{
    u64 hundredths = whole ? part * 10000 / whole : 0;
    dh_fmt_str(f, ", ");
    dh_fmt_u64(f, hundredths / 100);
    dh_fmt_str(f, hundredths % 100 < 10 ? ".0" : ".");
    dh_fmt_u64(f, hundredths % 100);
    dh_fmt_str(f, "% of the ");
    dh_fmt_str(f, of);
}

/* Likewise, silence after a sampled run must not be mistaken for that of a full one. */
static void tell_sample(void)
{
    char buf[256];
    struct dh_fmt f;
    u64 us = dh_runtime_counter(DH_COUNT_SAMPLED_OF_US), work = dh_runtime_counter(DH_COUNT_SAMPLED_OF_WORK);
    if (!dh_period_on || !us || dh_runtime_counter(DH_COUNT_RACES))
        return;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, "no data race was found in the sampled part: ");
    dh_fmt_u64(&f, dh_runtime_counter(DH_COUNT_PERIODS));
    dh_fmt_str(&f, dh_runtime_counter(DH_COUNT_PERIODS) == 1 ? " period" : " periods");
    tell_share(&f, dh_runtime_counter(DH_COUNT_SAMPLED_US), us, "time");
    tell_share(&f, dh_runtime_counter(DH_COUNT_SAMPLED_WORK), work, "work");
    dh_sys_say(buf);
}

/* The same for a run with a filter. */
static void tell_filter(void)
{
    char buf[256];
    struct dh_fmt f;
    u64 all = dh_runtime_counter(DH_COUNT_FILTERABLE);
    if (!all || dh_runtime_counter(DH_COUNT_RACES))
        return;
    dh_fmt_init(&f, buf, sizeof(buf));
    dh_fmt_str(&f, dh_opts.record_fd >= 0 ? "accesses are missing from the recording: of "
                                          : "no data race was found by the remaining checks: of ");
    dh_fmt_u64(&f, all);
    dh_fmt_str(&f, " checks, the filter skipped ");
    dh_fmt_u64(&f, dh_runtime_counter(DH_COUNT_FILTERED_SAFE));
    dh_fmt_str(&f, " that cannot find anything, and ");
    dh_fmt_u64(&f, dh_runtime_counter(DH_COUNT_FILTERED_UNESCAPED));
    dh_fmt_str(&f, " on the assumption that memory that has not escaped so far does not escape now");
    dh_sys_say(buf);
}

int dh_runtime_exit_status(int status)
{
    struct dh_thread *t = __dh_hot.self;
    if (!started)
        return status;
    bool entered = t && dh_thread_enter_any(t);
    if (entered)
        dh_pending_settle(t);
    dh_sink_finish();
    bool found = dh_report_end(), raced = dh_compat_ends(found);
    if (found)
        dh_report_exits(raced ? dh_opts.exitcode : 0);
    if (dh_opts.report) {
        tell_losses();
        tell_sample();
        tell_filter();
    }
    if (dh_opts.stats)
        print_stats();
    if (entered)
        dh_thread_leave(t);
    return raced && dh_opts.exitcode ? dh_opts.exitcode : status;
}

/* ---- fork ---- */

static void each_lock(dh_lock_fn *fn)
{
    dh_collect_each_lock(fn);
    dh_sync_each_lock(fn);
    dh_range_each_lock(fn);
    dh_sink_each_lock(fn);
    dh_benign_each_lock(fn);
    dh_report_each_lock(fn);
    fn(&dh_threads_lock);
    dh_history_each_lock(fn);
    dh_split_each_lock(fn);
    dh_ids_each_lock(fn);
    dh_region_each_lock(fn);
    dh_modules_each_lock(fn);
    dh_pool_each_lock(fn);
}

void dh_runtime_fork_before(void)
{
    each_lock(dh_lock_fork_take);
}

void dh_runtime_fork_parent(void)
{
    each_lock(dh_lock_fork_drop);
}

void dh_runtime_fork_child(void)
{
    dh_process_id_renew();
    each_lock(dh_lock_fork_drop);
    if (!__dh_hot.self)
        return;
    for (int c = 0; c < DH_COUNT_MAX; c++)
        told[c] = counters[c];
    dh_filter_fork_child();
    dh_range_fork_child();
    dh_exclusive_fork_child();
    dh_report_fork_child();
    dh_sink_fork_child(__dh_hot.self);
    dh_thread_fork_child(__dh_hot.self);
}
