/*
 * cmd_cc.c - `deadheat cc` and `deadheat c++`: clang with the pass and the runtime.
 *
 * The driver execs clang, so exit codes, signals and output are clang's own. It adds
 *   to every command with an input:  the pass plugin, and options against warnings about ignored arguments;
 *   to commands that link a program: the whole runtime, and the list of symbols it must export, so that its
 *                                    interceptors replace libc's in every module of the process.
 * Shared objects get no runtime: they use the executable's when they are loaded.
 * A field build gets neither: its code is plain, the link analyses the whole program (cc_lto.c), and includes
 * a small dormant library (src/field). A Caper build is a field build whose code is instrumented for escape
 * at link time (src/ir/caper, src/field/escape). With --dh-prune the link also analyses the program, and
 * instruments only what may race; with --dh-filterable, in a way that can be undone at program start.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cc_args.h"
#include "cli/cmd.h"
#include "util/output.h"
#include "util/path.h"

struct driver {
    struct dh_arena arena;
    struct dh_cc_line line;
    const char *libdir;
};

static void print_help(const struct driver *d)
{
    const char *cc = d->line.cxx ? "deadheat c++" : "deadheat cc", *suffix = d->line.cxx ? "cpp" : "c";
    printf(
        "usage: %s [clang and gcc options] FILE...\n"
        "\n"
        "Compiles like clang, and instruments every access to shared memory to find data races.\n"
        "Example:\n"
        "  %s -g -O1 -pthread -o prog prog.%s\n"
        "  deadheat run -- ./prog\n"
        "\n"
        "In a build system, name it as the compiler:\n"
        "  make CC=deadheat-cc CXX=deadheat-c++\n"
        "  CC=deadheat-cc CXX=deadheat-c++ ./configure   (also cmake, meson setup)\n"
        "\n"
        "Options in addition to the compiler's:\n"
        "  --dh-mode=full    check every access (the default)\n"
        "  --dh-mode=field   uninstrumented code, analysed as a whole when it is linked: the program "
        "carries\n"
        "                    the table of possible races, which 'deadheat static' prints. Needed for both\n"
        "                    compiling and linking; nothing is checked at run time, and a small library\n"
        "                    in the program does nothing until 'deadheat chase' starts it\n"
        "  --dh-mode=caper   a field build that also tracks which memory other threads can reach, for\n"
        "                    'deadheat caper'\n"
        "  --dh-alias        with --dh-mode=caper: log each access that may race instead, for\n"
        "                    'deadheat caper --analysis=alias'; slow\n"
        "  --dh-prune        analyse the whole program when it is linked, and omit the checks of accesses\n"
        "                    that cannot race. Needed for both compiling and linking; the link prints what\n"
        "                    was omitted and on which assumptions, unless it is --dh-prune=quiet\n"
        "  --dh-filterable   allow checks to be turned off when the program starts, for 'deadheat run\n"
        "                    --filter=STATE' with the results of 'deadheat caper'. Needed for both\n"
        "                    compiling and linking, which analyses the whole program\n"
        "  --dh-exceptions   allow data races to be thrown as C++ exceptions ('deadheat run\n"
        "                    --on-race=exception'); the code is slower\n"
        "  --dh-plain   leave this code uninstrumented (a program still gets the runtime). Clang's\n"
        "               -fsanitize-ignorelist=FILE and -fno-sanitize-thread-... exclude parts of it\n"
        "  --dh-frontend=gcc|clang|gfortran\n"
        "               let that compiler (or a version of it: gcc-12) instrument the code with its own\n"
        "               -fsanitize=thread, for deadheat's runtime\n"
        "  --dh-launch COMPILER\n"
        "               ignore COMPILER, so that this command can be the launcher of that compiler and run\n"
        "               in its place: CMAKE_C_COMPILER_LAUNCHER='deadheat;cc;--dh-launch'\n"
        "  --dh-checked link a runtime with all assertions enabled: slower, for debugging\n"
        "               deadheat itself\n"
        "  --dh-count-checks\n"
        "               with --dh-prune: the program counts its accesses and those that are checked, and\n"
        "               prints both when it ends; slow, for measuring\n"
        "  --dh-help    this text\n"
        "Example of a field build:\n"
        "  make CC='deadheat-cc --dh-mode=field' CXX='deadheat-c++ --dh-mode=field'\n"
        "  deadheat static ./prog\n"
        "Environment: DEADHEAT_CLANG names the clang 19 to use.\n",
        cc, cc, suffix);
}

__attribute__((format(printf, 2, 3))) static int fail(const struct driver *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = dh_cli_vfail(d->line.cxx ? "c++" : "cc", format, args);
    va_end(args);
    return rc;
}

static const char *mode_flag(const struct dh_cc_line *l)
{
    return l->mode == DH_CC_CAPER ? "--dh-mode=caper" : "--dh-mode=field";
}

/* The same for what is excluded from instrumentation. */
static int check_left_out(const struct driver *d)
{
    const struct dh_cc_line *l = &d->line;
    const char *flag = l->ignorelists.count ? l->ignorelist_flag : l->left_out ? l->left_out_flag : NULL;
    if (l->plain)
        return 0;
    if (l->tsan_option && l->frontend == DH_CC_OWN)
        return fail(d,
                    "'%s' is an option of ThreadSanitizer's own pass, which deadheat does not use; "
                    "--dh-frontend=clang (or gcc) does",
                    l->tsan_option);
    if (l->frontend == DH_CC_GNU) /* which obeys its own parameters */
        flag = l->ignorelists.count ? l->ignorelist_flag : l->left_out ? l->clang_flag : NULL;
    if (flag && l->frontend == DH_CC_GNU)
        return fail(d, "'%s' is an option of clang, and '%s' has none like it", flag, l->frontend_name);
    if (flag && dh_cc_is_field(l))
        return fail(d, "'%s' and %s cannot be combined: such a build has no checks to leave out", flag,
                    mode_flag(l));
    for (size_t i = 0; i < l->ignorelists.count; i++) {
        const char *wrong = dh_cc_sanitize_check(l->ignorelists.arena, l->ignorelists.at[i]);
        if (wrong)
            return fail(d, "%s", wrong);
    }
    return 0;
}

/* The same for flags that make the link instrument. */
static int check_linked(const struct driver *d)
{
    const struct dh_cc_line *l = &d->line;
    const char *flag = l->filterable ? "--dh-filterable" : l->prune ? "--dh-prune" : NULL;
    if (!flag)
        return 0;
    if (dh_cc_is_field(l))
        return fail(d, "%s and %s cannot be combined: such a build has no checks", flag, mode_flag(l));
    if (l->frontend != DH_CC_OWN)
        return fail(d, "%s and --dh-frontend cannot be combined: the link instruments by our own pass", flag);
    if (l->exceptions)
        return fail(d,
                    "%s and --dh-exceptions cannot be combined: checks that throw are inserted before "
                    "the program is linked",
                    flag);
    return 0;
}

/* 0, or DH_EXIT_TROUBLE after a message about what is not supported. */
static int check_supported(const struct driver *d)
{
    const struct dh_cc_line *l = &d->line;
    if (l->own_unknown) {
        const char *nearest = dh_cc_args_nearest(l->own_unknown);
        return fail(d, "unknown option '%s'; did you mean '%s'? (--dh-help lists them)", l->own_unknown,
                    nearest);
    }
    if (l->bad_mode)
        return fail(d, "there is no mode '%s'; --dh-mode is 'full', 'field' or 'caper'", l->bad_mode);
    if (l->frontend == DH_CC_NO_SUCH)
        return fail(
            d,
            "there is no frontend '%s'; --dh-frontend is 'gcc', 'clang' or 'gfortran', or one of them "
            "with a version, such as 'gcc-12'",
            l->frontend_name);
    if (l->frontend != DH_CC_OWN && dh_cc_is_field(l))
        return fail(d, "%s and --dh-frontend cannot be combined: such a build needs our own pass",
                    mode_flag(l));
    if (l->count_checks && !l->prune)
        return fail(d, "--dh-count-checks counts what --dh-prune leaves out: give both");
    if (l->alias && l->mode != DH_CC_CAPER)
        return fail(d, "--dh-alias is a kind of Caper build: give --dh-mode=caper, too");
    if (check_linked(d) != 0)
        return DH_EXIT_TROUBLE;
    if (!l->has_input)
        return 0;
    if (l->other_machine)
        return fail(d, "'%s' is not supported: deadheat works on 64-bit x86 Linux programs with glibc only",
                    l->other_machine);
    if (l->emulated_tls)
        return fail(d,
                    "'%s' is not supported: instrumented code reaches the state of its thread by the "
                    "machine's own thread-local storage",
                    l->emulated_tls);
    if (l->sanitizer)
        return fail(d,
                    "'%s' cannot be combined with deadheat, which watches memory itself; build with one or "
                    "the other",
                    l->sanitizer);
    if (l->thread_sanitizer && l->frontend == DH_CC_OWN)
        return fail(d,
                    "'%s' cannot be combined with deadheat, which watches memory itself; build with one or "
                    "the other, or "
                    "let --dh-frontend=clang (or gcc) instrument so for deadheat's runtime",
                    l->thread_sanitizer);
    if (check_left_out(d) != 0)
        return DH_EXIT_TROUBLE;
    if (l->links && l->static_flag)
        return fail(d,
                    "'%s' is not supported: deadheat must take the place of functions of the shared C "
                    "library; link dynamically",
                    l->static_flag);
    if (l->links && !l->shared && l->archives_only)
        return fail(d,
                    "'%s' with no -Bdynamic after it is not supported: deadheat must take the place of "
                    "functions of the shared C library",
                    l->archives_only);
    if (l->links && !l->shared && l->nostdlib)
        return fail(d, "'%s' is not supported for programs: deadheat's runtime needs the C library",
                    l->nostdlib);
    return 0;
}

/* The directory of the plugin, the bitcode and the runtime. */
static const char *find_libdir(struct driver *d)
{
    const char *given = getenv("DEADHEAT_LIBDIR");
    return given && *given ? given : dh_cc_beside_program(&d->arena, "../../lib/deadheat");
}

/* NULL after a message. */
static const char *find_compiler(struct driver *d)
{
    const char *name = d->line.frontend == DH_CC_OWN ? "clang" : d->line.frontend_name;
    if (strcmp(name, "clang") == 0) {
        const char *clang = dh_cc_find_clang(&d->arena);
        if (!clang)
            fail(d, "cannot find clang-19; install the package clang-19 or set DEADHEAT_CLANG to its path");
        return clang;
    }
    name = dh_cc_frontend_program(&d->arena, &d->line);
    const char *found = dh_path_find_program(&d->arena, name);
    if (!found)
        fail(d, "cannot find '%s', which --dh-frontend=%s asks for", name, d->line.frontend_name);
    return found;
}

static const char *in_libdir(struct driver *d, const char *prefix, const char *name)
{
    return dh_arena_printf(&d->arena, "%s%s/%s", prefix, d->libdir, name);
}

static void add_whole(struct driver *d, const char *archive, struct dh_cc_args *out)
{
    dh_cc_args_add(out, "-Wl,--whole-archive");
    dh_cc_args_add(out, in_libdir(d, "", archive));
    dh_cc_args_add(out, "-Wl,--no-whole-archive");
}

/* Each is a DH_INTERCEPTOR_WRAPS of the runtime. */
#define WRAP_CXX                                                        \
    "-Wl,--wrap=_Unwind_DeleteException"                                \
    ",--wrap=_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv"       \
    ",--wrap=_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv" \
    ",--wrap=_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE"    \
    ",--wrap=_ZNSt3pmr20get_default_resourceEv"

/* First, so that an archive of the program that also defines malloc, for example, is not pulled in. */
static void add_runtime(struct driver *d, struct dh_cc_args *out)
{
    add_whole(d, d->line.checked ? "libdeadheat_rt_checked.a" : "libdeadheat_rt.a", out);
    dh_cc_args_add(out, in_libdir(d, "-Wl,--dynamic-list=", "intercept.syms"));
    dh_cc_args_add(out, WRAP_CXX);
}

/* Last, since the runtime needs them, and without affecting the program's own --as-needed. */
static void add_runtime_libraries(struct dh_cc_args *out)
{
    static const char *const libraries[] = {"-Wl,--push-state,--as-needed", "-lpthread", "-ldl", "-lm",
                                            "-Wl,--pop-state"};
    for (size_t i = 0; i < DH_ARRAY_LEN(libraries); i++)
        dh_cc_args_add(out, libraries[i]);
}

/* If the arguments are too long for execv, as expanded response files may be, replaces them by a response
 * file in memory, which clang opens by its descriptor. */
static void shorten(struct dh_cc_args *args)
{
    const size_t limit = 512 * 1024; /* a quarter of what Linux allows, to leave room for the environment */
    size_t total = 0;
    for (size_t i = 0; i < args->count; i++)
        total += strlen(args->at[i]) + 1 + sizeof(char *);
    if (total <= limit)
        return;
    int fd = memfd_create("deadheat-args", 0);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f)
        return; /* execv will say that the list is too long */
    for (size_t i = 1; i < args->count; i++) {
        for (const char *p = args->at[i]; *p; p++) {
            fputc('\\', f);
            fputc(*p, f);
        }
        fputs(args->at[i][0] ? "\n" : "\"\"\n", f);
    }
    fflush(f);
    args->count = 1;
    dh_cc_args_add(args, dh_arena_printf(args->arena, "@/proc/self/fd/%d", fd));
}

/* So that a race can be thrown: src/ir/statements.cpp and src/ir/throwing.c. */
static void add_exceptions(struct dh_cc_args *out)
{
    static const char *const arguments[] = {"-Xclang", "-add-plugin", "-Xclang", "deadheat-exceptions",
                                            "-fexceptions"};
    for (size_t i = 0; i < DH_ARRAY_LEN(arguments); i++)
        dh_cc_args_add(out, arguments[i]);
    setenv("DEADHEAT_EXCEPTIONS", "1", 1);
}

static void add_full(struct driver *d, const struct dh_cc_args *in, struct dh_cc_args *out)
{
    dh_cc_args_add(out, "-D__DEADHEAT__=1"); /* the runtime will be linked: <deadheat/lard.h> */
    if (d->line.frontend != DH_CC_OWN) {
        dh_cc_frontend_flags(&d->line, in_libdir(d, "", "gcc.specs"), out);
        if (d->line.frontend == DH_CC_CLANG && !d->line.plain)
            dh_cc_sanitize_tell_clang(&d->line, out);
    } else if (!d->line.plain) {
        /* Annotations for ThreadSanitizer are also for us: docs/guide/compat.md. */
        dh_cc_args_add(out, "-D__SANITIZE_THREAD__=1");
        if (d->line.filterable)
            dh_cc_lto_before(&d->line, out);
        if (d->line.exceptions)
            add_exceptions(out);
        dh_cc_sanitize_tell_pass(&d->line, out);
        dh_cc_args_add(out, in_libdir(d, "-fplugin=", "deadheat-attributes.so"));
        dh_cc_args_add(out, in_libdir(d, "-fpass-plugin=", "deadheat-pass.so"));
        /* clang's default, position-independent code, is enough for most shared libraries, but not for
         * instrumented ones. The user's options come later and win. */
        if (d->line.links && d->line.shared)
            dh_cc_args_add(out, "-fPIC");
    }
    bool program = d->line.links && !d->line.shared;
    if (program)
        add_runtime(d, out);
    dh_cc_filter(in, &d->line, out);
    if (program && d->line.frontend != DH_CC_OWN)
        dh_cc_frontend_home(d->libdir, out);
    if (program)
        add_runtime_libraries(out);
}

/* The library is dormant in the program until a command activates it (src/field). It is an archive, so that
 * the program needs nothing of deadheat where it runs. */
static void add_field(struct driver *d, const struct dh_cc_args *in, struct dh_cc_args *out)
{
    bool program = d->line.links && !d->line.shared;
    dh_cc_lto_before(&d->line, out);
    if (!d->line.plain)
        dh_cc_args_add(out, in_libdir(d, "-fpass-plugin=", "deadheat-code.so")); /* src/ir/code.c */
    if (program) {
        add_whole(d, "libdeadheat-field.a", out);
        if (d->line.mode == DH_CC_CAPER)
            add_whole(d, d->line.alias ? "libdeadheat-alias.a" : "libdeadheat-caper.a", out);
    }
    dh_cc_filter(in, &d->line, out);
    if (program)
        add_runtime_libraries(out);
}

/* What the plugin cannot find out inside the compiler and the linker. */
static void tell_plugin(const struct driver *d)
{
    if (d->line.links)
        setenv("DEADHEAT_LINK_OUTPUT", dh_path_base(d->line.output ? d->line.output : "a.out"), 1);
    if (d->line.prune)
        setenv("DEADHEAT_PRUNE", d->line.prune_quietly ? "quiet" : "1", 1);
    if (d->line.filterable)
        setenv("DEADHEAT_FILTERABLE", "1", 1);
    if (d->line.mode == DH_CC_CAPER)
        setenv("DEADHEAT_CAPER", d->line.alias ? "alias" : "1", 1);
    if (d->line.count_checks)
        setenv("DEADHEAT_COUNT_CHECKS", "1", 1);
}

static int run_compiler(struct driver *d, const struct dh_cc_args *in)
{
    const char *compiler = find_compiler(d);
    bool gnu = d->line.frontend == DH_CC_GNU;
    if (!compiler)
        return DH_EXIT_TROUBLE;
    struct dh_cc_args out = {.arena = &d->arena};
    dh_cc_args_add(&out, compiler);
    if (d->line.cxx && !gnu)
        dh_cc_args_add(&out, "--driver-mode=g++");
    if (d->line.has_input) {
        d->libdir = find_libdir(d);
        const char *plugin = d->libdir ? in_libdir(d, "", "deadheat-pass.so") : NULL;
        if (!plugin || access(plugin, R_OK) != 0)
            return fail(d,
                        "cannot find deadheat-pass.so in '%s'; install what compiling takes (on Debian "
                        "libdeadheat-dev), or set DEADHEAT_LIBDIR",
                        d->libdir ? d->libdir : "?");
        bool lto = dh_cc_lto_wanted(&d->line);
        if (lto && (d->line.links || d->line.relocatable) && !dh_path_find_program(&d->arena, "ld.lld-19"))
            return fail(d, "cannot find ld.lld-19, which %s is linked with; install the package lld-19",
                        d->line.filterable            ? "a program with --dh-filterable"
                        : d->line.prune               ? "a program with --dh-prune"
                        : d->line.mode == DH_CC_CAPER ? "a Caper build"
                                                      : "a field build");
        static const char *const silence[] = {"-Qunused-arguments", "-Wno-unknown-warning-option",
                                              "-Wno-ignored-optimization-argument"};
        for (size_t i = 0; i < DH_ARRAY_LEN(silence) && !gnu; i++)
            dh_cc_args_add(&out, silence[i]);
        dh_cc_add_headers(&out);
        if (dh_cc_is_field(&d->line))
            add_field(d, in, &out);
        else
            add_full(d, in, &out);
        if (lto) {
            dh_cc_lto_after(&d->line, plugin, &out);
            tell_plugin(d);
        }
    } else {
        dh_cc_filter(in, &d->line, &out);
    }
    shorten(&out);
    execv(compiler, (char **)out.at);
    return fail(d, "cannot run '%s': %s", compiler, strerror(errno));
}

/* clang would overwrite its source file; gcc refuses to. */
static int check_output(const struct driver *d, const struct dh_cc_args *in)
{
    for (size_t i = 0; i < in->count; i++) {
        if (in->at[i][0] != '-')
            dh_output_reads(in->at[i]);
        i += dh_cc_args_takes_value(in->at[i]);
    }
    return d->line.output && dh_output_is_input(d->line.output)
               ? fail(d, "the output '%s' is also an input", d->line.output)
               : 0;
}

/* The arguments, without --dh-launch and the compiler it names. */
static void read_arguments(int argc, char **argv, struct dh_cc_args *in)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--dh-launch") == 0 && i + 1 < argc)
            i++;
        else
            dh_cc_args_add_expanded(in, argv[i]);
    }
}

static int drive(int argc, char **argv, bool cxx)
{
    struct driver d = {0};
    struct dh_cc_args in = {.arena = &d.arena};
    read_arguments(argc, argv, &in);
    dh_cc_args_read(&in, cxx, &d.line);
    const char *wrong = NULL;
    if (d.line.frontend != DH_CC_GNU) { /* which has neither */
        free(d.line.ignorelists.at);
        wrong = dh_cc_config_expand(&in);
        dh_cc_args_read(&in, cxx, &d.line);
    }
    int rc;
    if (d.line.help) {
        print_help(&d);
        rc = 0;
    } else if (wrong) {
        rc = fail(&d, "%s", wrong);
    } else if (argc < 2) {
        rc = fail(&d, "nothing to compile; 'deadheat %s --dh-help' has examples", cxx ? "c++" : "cc");
    } else if (strcmp(argv[argc - 1], "--dh-launch") == 0) {
        rc = fail(&d, "--dh-launch stands in front of the command line of another compiler");
    } else if (d.line.multiarch && !d.line.frontend_name) {
        puts("x86_64-linux-gnu");
        rc = 0;
    } else {
        rc = check_supported(&d);
        if (rc == 0)
            rc = check_output(&d, &in);
        if (rc == 0)
            rc = run_compiler(&d, &in);
    }
    free(in.at);
    free(d.line.ignorelists.at);
    dh_arena_done(&d.arena);
    return rc;
}

int dh_cmd_cc(int argc, char **argv)
{
    return drive(argc, argv, false);
}

int dh_cmd_cxx(int argc, char **argv)
{
    return drive(argc, argv, true);
}
