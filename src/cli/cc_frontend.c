/*
 * cc_frontend.c - --dh-frontend: another compiler, with its own -fsanitize=thread, in front of our runtime.
 *
 * Its code calls ThreadSanitizer's instrumentation functions, which our runtime provides, too
 * (src/runtime/compat/). So the compiler must instrument when compiling, but must not link the other runtime:
 *   clang's driver passes on whatever follows -Xclang without looking at it;
 *   gcc's adds libtsan if it sees -fsanitize=thread. A specs file passes that option only to the compilers
 *   that the driver calls.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/cc_args.h"

static const struct {
    const char *name, *cxx; /* cxx: the program that compiles C++ */
    enum dh_cc_frontend kind;
} frontends[] = {
    {"clang", "clang", DH_CC_CLANG}, {"gcc", "g++", DH_CC_GNU}, {"gfortran", "gfortran", DH_CC_GNU}};

/* The entry for NAME or NAME-VERSION; -1: none. */
static int find(const char *name)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(frontends); i++) {
        size_t n = strlen(frontends[i].name);
        if (strncmp(name, frontends[i].name, n) == 0 && (!name[n] || name[n] == '-'))
            return (int)i;
    }
    return -1;
}

void dh_cc_frontend_read(const char *name, struct dh_cc_line *line)
{
    int i = find(name);
    line->frontend_name = name;
    line->frontend = i < 0 ? DH_CC_NO_SUCH : frontends[i].kind;
}

const char *dh_cc_frontend_program(struct dh_arena *arena, const struct dh_cc_line *line)
{
    int i = find(line->frontend_name);
    const char *version = line->frontend_name + strlen(frontends[i].name);
    return dh_arena_printf(arena, "%s%s", line->cxx ? frontends[i].cxx : frontends[i].name, version);
}

void dh_cc_frontend_flags(const struct dh_cc_line *line, const char *specs, struct dh_cc_args *out)
{
    if (line->plain)
        return;
    if (line->frontend == DH_CC_GNU) {
        /* gcc expands small calls of these inline after it has instrumented. As calls they reach our
         * interceptors. It also warns about fences, which it instruments but ThreadSanitizer does not track:
         * we do. The Fortran compiler has no such options. */
        static const char *const c_flags[] = {"-fno-builtin-memcpy", "-fno-builtin-memmove",
                                              "-fno-builtin-memset", "-fno-builtin-memcmp", "-Wno-tsan"};
        bool c = strncmp(line->frontend_name, "gcc", 3) == 0;
        for (size_t i = 0; c && i < DH_ARRAY_LEN(c_flags); i++)
            dh_cc_args_add(out, c_flags[i]);
        dh_cc_args_add(out, dh_arena_printf(out->arena, "-specs=%s", specs));
    } else {
        dh_cc_args_add(out, "-Xclang");
        dh_cc_args_add(out, "-fsanitize=thread");
    }
}

/* The location of deadheat, which our own pass puts into every object (src/ir/link.c): passed as a source
 * file in memory, which the compiler's processes open by an inherited descriptor. */
void dh_cc_frontend_home(const char *libdir, struct dh_cc_args *out)
{
    int fd = memfd_create("deadheat-home", 0);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f)
        return; /* the program will ask for DEADHEAT_OPTIONS=reporter=PATH if it races and is run on its own
                 */
    fputs("\t.section .rodata\n\t.weak deadheat_home\n\t.hidden deadheat_home\ndeadheat_home:\n", f);
    for (const char *p = libdir; *p; p++)
        fprintf(f, "\t.byte %d\n", (unsigned char)*p);
    fputs("\t.byte 0\n\t.section .note.GNU-stack,\"\",@progbits\n", f);
    fflush(f);
    dh_cc_args_add(out, "-x"); /* only libraries follow */
    dh_cc_args_add(out, "assembler");
    dh_cc_args_add(out, dh_arena_printf(out->arena, "/proc/self/fd/%d", fd));
}

/* Without `thread` in the list, which we add ourselves in our own way; NULL: nothing is left of it. */
const char *dh_cc_frontend_sanitizers(struct dh_arena *arena, const char *arg)
{
    static const char prefix[] = "-fsanitize=", ours[] = "thread";
    if (strncmp(arg, prefix, strlen(prefix)) != 0)
        return arg;
    const char *rest = NULL;
    for (const char *at = arg + strlen(prefix); *at;) {
        size_t n = strcspn(at, ",");
        if (n != strlen(ours) || strncmp(at, ours, n) != 0)
            rest = rest ? dh_arena_printf(arena, "%s,%.*s", rest, (int)n, at)
                        : dh_arena_printf(arena, "%s%.*s", prefix, (int)n, at);
        at += n + (at[n] == ',');
    }
    return rest;
}
