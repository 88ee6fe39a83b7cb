/*
 * static_compile.c - sources for `deadheat static`: each is compiled to bitcode, in an unnamed file.
 *
 * For the SOURCE: without optimisation, whatever the options say, so that every access in the source is
 * there. An optimiser removes reads whose values nobody uses, reads of what was just written, and reads that
 * a loop repeats, and with them their races: that is right for the binary, which does not have them, but the
 * source still does. For the BINARY: as a field build compiles it (cc_lto.c), with the options unchanged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cc_args.h"
#include "cli/cmd.h"
#include "cli/static.h"

/* Options that set the output and its kind: these are fixed here. */
static bool is_left_out(const char *option)
{
    static const char *const whole[] = {"-c",      "-S",         "-E", "-emit-llvm", "-fsyntax-only",
                                        "-shared", "-save-temps"};
    for (size_t i = 0; i < DH_ARRAY_LEN(whole); i++)
        if (strcmp(option, whole[i]) == 0)
            return true;
    return strncmp(option, "-o", 2) == 0 || strncmp(option, "-M", 2) == 0 || strncmp(option, "-l", 2) == 0 ||
           strncmp(option, "-L", 2) == 0 || strncmp(option, "-Wl,", 4) == 0;
}

static void add_options(const struct dh_static_input *in, struct dh_cc_args *out)
{
    for (size_t i = 0; i < in->n_options; i++) {
        const char *option = in->options[i];
        bool pair = dh_cc_args_takes_value(option) && i + 1 < in->n_options;
        if (!is_left_out(option)) {
            dh_cc_args_add(out, option);
            if (pair)
                dh_cc_args_add(out, in->options[i + 1]);
        }
        i += pair;
    }
}

static void add_all(const char *const *options, size_t n, struct dh_cc_args *out)
{
    for (size_t i = 0; i < n; i++)
        dh_cc_args_add(out, options[i]);
}

/* After the user's, so that they win; but the choice of debug information is the user's. */
static void make_line(const struct dh_static *s, const struct dh_static_input *in, const char *clang,
                      const char *file, struct dh_cc_args *out)
{
    static const char *const first[] = {"-w", "-Qunused-arguments", "-g", "-fno-finite-loops"};
    static const char *const source[] = {"-O0", "-fno-lto", "-emit-llvm"};
    static const char *const binary[] = {"-flto=full", "-fno-fat-lto-objects"};
    static const char *const last[] = {"-fno-sanitize=all", "-c", "-o", "-"};
    dh_cc_args_add(out, clang);
    add_all(first, DH_ARRAY_LEN(first), out);
    dh_cc_add_headers(out);
    add_options(in, out);
    if (s->of == DH_STATIC_SOURCE)
        add_all(source, DH_ARRAY_LEN(source), out);
    else
        add_all(binary, DH_ARRAY_LEN(binary), out);
    add_all(last, DH_ARRAY_LEN(last), out);
    dh_cc_args_add(out, "--");
    dh_cc_args_add(out, file);
}

/* clang's diagnostics go where they always go. */
static int run(const struct dh_cc_args *line, const char *file, int to)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(to, STDOUT_FILENO);
        execv(line->at[0], (char **)line->at);
        _exit(DH_EXIT_TROUBLE);
    }
    if (pid < 0)
        return dh_cli_fail("static", "cannot start the compiler: %s", strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return dh_cli_fail("static", "'%s' cannot be compiled", file);
}

int dh_static_compile(struct dh_static *s, const struct dh_static_input *in, int *ret_fds)
{
    const char *clang = dh_cc_find_clang(&s->arena);
    if (!clang)
        return dh_cli_fail(
            "static", "cannot find clang-19; install the package clang-19 or set DEADHEAT_CLANG to its path");
    for (size_t i = 0; i < in->n_files; i++) {
        struct dh_cc_args line = {.arena = &s->arena};
        make_line(s, in, clang, in->files[i], &line);
        if (in->progress)
            fprintf(stderr, "\r\033[Kdeadheat static: compiling %.60s", in->files[i]);
        int rc = run(&line, in->files[i], ret_fds[i]);
        free(line.at);
        if (in->progress)
            fputs("\r\033[K", stderr);
        if (rc != 0)
            return rc;
    }
    return 0;
}
