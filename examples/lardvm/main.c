/*
 * main.c - the command line of lardvm.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oracle.h"
#include "vm.h"

struct vm vm = {
    .collector = &mark_sweep,
    .param = 1,
    .world = PTHREAD_MUTEX_INITIALIZER,
    .stopped = PTHREAD_COND_INITIALIZER,
    .resumed = PTHREAD_COND_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
};

static const char usage[] =
    "usage: lardvm [OPTIONS] PROGRAM.lasm\n"
    "\n"
    "  --gc=NAME        mark-sweep (default) or semispace\n"
    "  --heap=KB        size of the heap (default: 1024; a semispace heap has half of it in use)\n"
    "  --workers=N      kernel threads (default: 2)\n"
    "  --param=N        what the instruction 'param' gives (default: 1)\n"
    "  --oracle=FILE    judge the accesses in the virtual machine itself and write the racy ones to FILE\n"
    "  --sites          print address and line of every instruction first, to read reports with\n"
    "  --assemble       only read the program\n"
    "  --stats          say at the end how many collections and threads there were\n";

void die(const char *format, ...)
{
    static atomic_flag dying = ATOMIC_FLAG_INIT;
    va_list args;
    while (atomic_flag_test_and_set(&dying)) /* one sentence, and one exit */
        pause();
    va_start(args, format);
    fflush(stdout);
    fputs("lardvm: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

static const char *flag_value(const char *arg, const char *flag)
{
    size_t n = strlen(flag);
    return strncmp(arg, flag, n) == 0 && arg[n] == '=' ? arg + n + 1 : NULL;
}

static long flag_number(const char *flag, const char *s, long low, long high)
{
    char *end;
    errno = 0;
    long n = strtol(s, &end, 10);
    if (*end || end == s || errno || n < low || n > high)
        die("%s cannot be '%s'; it must be a number from %ld to %ld", flag, s, low, high);
    return n;
}

static const struct collector *collector_named(const char *name)
{
    if (strcmp(name, mark_sweep.name) == 0)
        return &mark_sweep;
    if (strcmp(name, semispace.name) == 0)
        return &semispace;
    die("--gc cannot be '%s'; it must be mark-sweep or semispace", name);
}

static void print_sites(void)
{
    for (uint32_t i = 0; i < vm.program.n_code; i++)
        printf("%p %s:%u %s\n", (void *)&vm.program.code[i], vm.program.path, vm.program.code[i].line,
               op_names[vm.program.code[i].op]);
}

int main(int argc, char **argv)
{
    const char *path = NULL, *judge = NULL, *v;
    long heap_kb = 1024, workers = 2;
    bool stats = false, sites = false, assemble = false;
    for (int i = 1; i < argc; i++) {
        if ((v = flag_value(argv[i], "--gc")))
            vm.collector = collector_named(v);
        else if ((v = flag_value(argv[i], "--heap")))
            heap_kb = flag_number("--heap", v, 16, 1 << 22);
        else if ((v = flag_value(argv[i], "--workers")))
            workers = flag_number("--workers", v, 1, 256);
        else if ((v = flag_value(argv[i], "--param")))
            vm.param = flag_number("--param", v, 0, 1 << 30);
        else if ((v = flag_value(argv[i], "--oracle")))
            judge = v;
        else if (strcmp(argv[i], "--stats") == 0)
            stats = true;
        else if (strcmp(argv[i], "--sites") == 0)
            sites = true;
        else if (strcmp(argv[i], "--assemble") == 0)
            assemble = true;
        else if (strcmp(argv[i], "--help") == 0)
            return fputs(usage, stdout) < 0;
        else if (argv[i][0] == '-')
            die("there is no option '%s'; --help lists them", argv[i]);
        else if (path)
            die("more than one program is given: %s and %s", path, argv[i]);
        else
            path = argv[i];
    }
    if (!path)
        die("no program is given; --help says how");

    /* Rules 1 and 2: the main thread, too, works for the run-time system from the beginning to the end. */
    dh_lard_system_begin();
    program_read(&vm.program, path);
    if (sites)
        print_sites();
    if (assemble)
        return 0;
    if (judge && !(vm.oracle = oracle_new(judge)))
        die("cannot write %s: %s", judge, strerror(errno));
    vm.globals = calloc(vm.program.n_globals + 1, sizeof(value));
    if (!vm.globals)
        die("no memory for the globals");
    vm.collector->init((size_t)heap_kb << 10);
    sched_run((uint32_t)workers);
    if (stats)
        fprintf(stderr, "collections %u, threads %u\n", vm.collections, vm.n_threads);
    threads_free();
    if (!oracle_free(vm.oracle))
        die("cannot write %s", judge);
    dh_lard_system_end();
    return fflush(stdout) != 0;
}
