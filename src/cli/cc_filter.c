/*
 * cc_filter.c - removes from a command line what clang would reject, or what breaks the link.
 *
 * Two kinds of argument are removed:
 *   - gcc options for its own optimiser, dumps or diagnostics that clang 19 does not know: dropping them
 *     cannot change the meaning of a program. Options that change meaning or ABI (-freg-struct-return and
 *     the like) stay, and clang says that it cannot honour them.
 *   - linker options with which an instrumented link cannot succeed: see is_fatal_to_link.
 * A field build also makes its own choice of link-time optimisation and linker.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cc_args.h"

/* Names after -f or -fno-, without "=value", separated by spaces; fnmatch patterns. */
static const char gcc_f_options[] =
    "aggressive-loop-optimizations allocation-dce allow-store-data-races analyzer* argument-* auto-inc-dec "
    "bit-tests branch-probabilities branch-target-load-optimize* btr-bb-exclusive "
    "callgraph-info* canonical-system-headers check-data-deps checking* code-hoisting "
    "combine-stack-adjustments compare-debug* compare-elim concepts concepts-diagnostics-depth "
    "concepts-ts conserve-space conserve-stack constexpr-cache-depth constexpr-loop-limit "
    "constexpr-ops-limit "
    "cprop-registers crossjumping cse-* dbg-cnt* dce debug-cpp declone-ctor-dtor deduce-init-list "
    "delayed-branch "
    "delete-dead-exceptions devirtualize-at-ltrans diagnostics-column-origin diagnostics-column-unit "
    "diagnostics-escape-format diagnostics-generate-patch diagnostics-minimum-margin-width "
    "diagnostics-path-format diagnostics-plain-output diagnostics-show-caret diagnostics-show-cwe "
    "diagnostics-show-labels diagnostics-show-path-depths diagnostics-urls disable-ipa-* disable-rtl-* "
    "disable-tree-* dse dump-* early-inlining eliminate-dwarf2-dups emit-class-debug-always "
    "emit-struct-debug-* ext-numeric-literals fold-simple-inlines forward-propagate "
    "fp-int-builtin-inexact function-cse gcse-* gnu-unique graphite* guess-branch-probability harden-* "
    "hoist-adjacent-loads if-conversion* implicit-constexpr indirect-inlining inhibit-size-directive "
    "inline-atomics inline-limit-* ipa-* ira-* isolate-erroneous-paths-* keep-gc-roots-live "
    "keep-static-functions large-source-files lifetime-dse* limit-function-alignment live-patching* "
    "live-range-shrinkage loop-* lra-remat lto-compression-level lto-odr-type-merging lto-partition "
    "lto-report* max-include-depth mem-report* merge-debug-strings move-loop-* nothrow-opt opt-info* "
    "optimize-register-move optimize-strlen optional-diags partial-inlining pch-deps peephole* "
    "permitted-flt-eval-methods post-ipa-mem-report pre-ipa-mem-report "
    "predictive-commoning pretty-templates printf-return-value profile-abs-path profile-info-section "
    "profile-note profile-partial-training profile-reorder-functions profile-report "
    "profile-reproducible ree regmove reorder-blocks-algorithm reorder-blocks-and-partition "
    "reorder-functions report-bug rerun-* reschedule-* sched-* sched2-* schedule-fusion "
    "section-anchors sel-sched-* selective-scheduling* shrink-wrap* simd-cost-model split-* ssa-* "
    "stack-check* stack-limit* stack-reuse stats stdarg-opt store-merging strong-eval-order "
    "sync-libcalls thread-jumps time-report-details toplevel-reorder track-macro-expansion* "
    "trampolines tree-* unconstrained-commons use-linker-plugin var-tracking* vect-cost-model "
    "version-loops-for-strides vpt web whole-program working-directory zee";

/* Exceptions from those patterns, which clang understands. */
static const char clang_f_options[] =
    "tree-vectorize tree-slp-vectorize tree-ter tree-vrp split-stack split-machine-functions "
    "split-lto-unit split-dwarf-inlining ipa-cp dump-record-layouts dump-vtable-layouts lto-jobs "
    "loop-unroll";

/* Whole words after -m or -mno-, without "=value". */
static const char gcc_m_options[] =
    "8bit-idiv accumulate-outgoing-args align-data align-stringops avx256-split-unaligned-* "
    "branch-cost call-ms2sysv-xlogues cet-switch cld dispatch-scheduler dump-tune-features "
    "fancy-math-387 force-drap force-indirect-call fused-madd indirect-branch indirect-branch-register "
    "inline-all-stringops inline-stringops-dynamically memcpy-strategy "
    "memset-strategy mitigate-rop move-max needed prefer-avx128 push-args relax-cmpxchg-loop "
    "store-max stringop-strategy stv tune-ctrl vzeroupper";

/* Whole words after -g or -gno-, without "=value": details of gcc's debug information. */
static const char gcc_g_options[] =
    "as-loc-support as-locview-support describe-dies inline-points internal-reset-location-views "
    "statement-frontiers variable-location-views";

/* After -fno- and -mno-: features that clang 19 does not have anyway, so they need not be switched off. */
static const char absent_f_options[] = "gnu-tm leading-underscore plan9-extensions strict-volatile-bitfields";
static const char absent_m_options[] =
    "avx5124fmaps avx5124vnniw avx512er avx512pf direct-extern-access hle prefetchwt1";

static bool matches(const char *name, size_t len, const char *patterns)
{
    char word[96], pattern[96];
    if (len >= sizeof(word))
        return false;
    memcpy(word, name, len);
    word[len] = '\0';
    while (*patterns) {
        size_t n = strcspn(patterns, " ");
        memcpy(pattern, patterns, n);
        pattern[n] = '\0';
        if (fnmatch(pattern, word, 0) == 0)
            return true;
        patterns += n + (patterns[n] == ' ');
    }
    return false;
}

static bool is_gcc_only(const char *arg)
{
    if (arg[0] != '-' || arg[1] == '\0' || !strchr("fgm", arg[1]))
        return false;
    const char *name = arg + 2;
    bool no = strncmp(name, "no-", 3) == 0;
    if (no)
        name += 3;
    size_t len = strcspn(name, "=");
    if (arg[1] == 'g')
        return matches(name, len, gcc_g_options);
    if (no && matches(name, len, arg[1] == 'm' ? absent_m_options : absent_f_options))
        return true;
    if (arg[1] == 'm')
        return matches(name, len, gcc_m_options);
    return matches(name, len, gcc_f_options) && !matches(name, len, clang_f_options);
}

/* gcc takes any number for its highest level; clang warns about those it does not have. */
static bool is_beyond_o3(const char *arg)
{
    return strncmp(arg, "-O", 2) == 0 && arg[2] && arg[strspn(arg + 2, "0123456789") + 2] == '\0' &&
           atoi(arg + 2) > 3;
}

/*
 * Must this linker argument be removed?
 *   Shared objects: the runtime is part of the executable, so its entry points are undefined in every
 *   shared object until it is loaded; a link that forbids undefined symbols can only fail.
 *   Executables: hiding the symbols of all archives, or all not named in a version script, would
 *   hide the interceptors in the runtime's archive from the process's shared objects, libc above all.
 *   Both: reports could not read debug information compressed in this way; see copy_argument.
 */
static bool is_fatal_to_link(const struct dh_cc_line *line, const char *arg)
{
    if (dh_cc_is_field(line))
        return false;
    if (strcmp(arg, "--compress-debug-sections=zstd") == 0)
        return true;
    arg += arg[0] == '-' && arg[1] == '-'; /* a single dash is also accepted */
    if (line->shared)
        return strcmp(arg, "-no-undefined") == 0 || strcmp(arg, "-no-allow-shlib-undefined") == 0 ||
               strncmp(arg, "-unresolved-symbols=", 20) == 0;
    return strcmp(arg, "-exclude-libs=ALL") == 0 || strncmp(arg, "-version-script=", 16) == 0;
}

static bool is_fatal_pair(const struct dh_cc_line *line, const char *arg, const char *value)
{
    if (dh_cc_is_field(line))
        return false;
    if (line->shared)
        return strcmp(arg, "-z") == 0 && strcmp(value, "defs") == 0;
    arg += arg[0] == '-' && arg[1] == '-';
    return strcmp(arg, "-version-script") == 0 ||
           (strcmp(arg, "-exclude-libs") == 0 && strcmp(value, "ALL") == 0);
}

static void split_words(const char *list, struct dh_cc_args *words)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        dh_cc_args_add(words, dh_arena_dup(words->arena, list, len));
        list += len + (list[len] == ',');
    }
}

/* Does arg at index i pass words to the linker? Adds them and returns how many arguments it was. */
static size_t take_linker_words(const struct dh_cc_args *in, size_t i, struct dh_cc_args *words)
{
    const char *arg = in->at[i];
    if (strncmp(arg, "-Wl,", 4) == 0) {
        split_words(arg + 4, words);
        return 1;
    }
    if (i + 1 < in->count && strcmp(arg, "-Xlinker") == 0) {
        dh_cc_args_add(words, in->at[i + 1]);
        return 2;
    }
    if (i + 1 < in->count && strcmp(arg, "-z") == 0) {
        dh_cc_args_add(words, "-z");
        dh_cc_args_add(words, in->at[i + 1]);
        return 2;
    }
    return 0;
}

/* The number of words to remove at index i: 0, 1, or 2 for an option and its value. */
static size_t fatal_length(const struct dh_cc_line *line, const struct dh_cc_args *words, size_t i)
{
    if (is_fatal_to_link(line, words->at[i]))
        return 1;
    return i + 1 < words->count && is_fatal_pair(line, words->at[i], words->at[i + 1]) ? 2 : 0;
}

/* Copies a run of linker arguments, in which an option and its value may be two arguments. Returns whether
 * anything had to be removed; if not, nothing is copied. */
static bool copy_linker_words(const struct dh_cc_line *line, const struct dh_cc_args *words,
                              struct dh_cc_args *out)
{
    bool fatal = false;
    for (size_t i = 0; i < words->count; i++)
        fatal |= fatal_length(line, words, i) > 0;
    for (size_t i = 0; fatal && i < words->count;) {
        size_t gone = fatal_length(line, words, i);
        if (gone == 0) {
            dh_cc_args_add(out, "-Xlinker");
            dh_cc_args_add(out, words->at[i]);
        }
        i += gone ? gone : 1;
    }
    return fatal;
}

static bool is_field_choice(const char *arg)
{
    static const char *const begins[] = {
        "-flto", "-fno-lto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-fuse-ld=", "--ld-path="};
    for (size_t i = 0; i < DH_ARRAY_LEN(begins); i++)
        if (strncmp(arg, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

static void copy_argument(const struct dh_cc_line *line, const char *arg, const char *value,
                          struct dh_cc_args *out)
{
    if ((is_gcc_only(arg) && line->frontend != DH_CC_GNU) || strncmp(arg, "--dh-", 5) == 0)
        return;
    if (line->frontend != DH_CC_OWN && !(arg = dh_cc_frontend_sanitizers(out->arena, arg)))
        return;
    if (dh_cc_is_field(line) && is_field_choice(arg))
        return;
    /* gcc's number of jobs: clang has no such form. */
    bool jobs = strncmp(arg, "-flto=", 6) == 0 && arg[6] >= '0' && arg[6] <= '9';
    if (jobs && line->frontend != DH_CC_GNU)
        arg = "-flto";
    else if (is_beyond_o3(arg) && line->frontend != DH_CC_GNU)
        arg = "-O3";
    else if (strcmp(arg, "-gz=zstd") == 0) /* libdw, our reader, unpacks zlib only before 0.189 */
        arg = "-gz=zlib";
    dh_cc_args_add(out, arg);
    if (strcmp(arg, "-Ofast") == 0 && line->frontend != DH_CC_GNU) /* gcc does not object to it */
        dh_cc_args_add(out, "-Wno-deprecated-ofast");
    if (value)
        dh_cc_args_add(out, value);
}

/* The language given to clang for inputs that are not under a -x of the user's. */
struct language {
    bool users;         /* a -x of the user's is in force */
    const char *forced; /* ... or one of ours; NULL: none */
};

/* g++ silently takes C files for C++; clang does so too, but warns, unless told explicitly. */
static const char *forced_language(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".c") == 0)
        return "c++";
    if (dot && strcmp(dot, ".h") == 0)
        return "c++-header";
    return dot && strcmp(dot, ".i") == 0 ? "c++-cpp-output" : NULL;
}

static void name_language(const char *arg, const char *value, struct language *now, struct dh_cc_args *out)
{
    if (strncmp(arg, "-x", 2) == 0) {
        const char *name = arg[2] ? arg + 2 : value;
        *now = (struct language){.users = name && strcmp(name, "none") != 0};
    } else if (arg[0] != '-' && !now->users) {
        const char *forced = forced_language(arg);
        if (forced != now->forced) { /* both are among the literals above */
            dh_cc_args_add(out, "-x");
            dh_cc_args_add(out, forced ? forced : "none");
        }
        now->forced = forced;
    }
}

void dh_cc_filter(const struct dh_cc_args *in, const struct dh_cc_line *line, struct dh_cc_args *ret_out)
{
    struct language language = {0};
    for (size_t i = 0; i < in->count;) {
        struct dh_cc_args words = {.arena = in->arena};
        size_t first = i, used;
        while (line->links && i < in->count && (used = take_linker_words(in, i, &words)) > 0)
            i += used;
        if (i > first) {
            if (!copy_linker_words(line, &words, ret_out))
                for (size_t k = first; k < i; k++)
                    dh_cc_args_add(ret_out, in->at[k]);
            free(words.at);
            continue;
        }
        bool pair = dh_cc_args_takes_value(in->at[i]) && i + 1 < in->count;
        const char *value = pair ? in->at[i + 1] : NULL;
        if (line->cxx && line->frontend != DH_CC_GNU)
            name_language(in->at[i], value, &language, ret_out);
        copy_argument(line, in->at[i], value, ret_out);
        i += pair ? 2 : 1;
    }
}
