/*
 * cc_args.h - a compiler command line: parsed, interpreted as far as the driver needs, and rewritten.
 */
#ifndef DH_CLI_CC_ARGS_H
#define DH_CLI_CC_ARGS_H

#include "util/arena.h"

/* A growing list of arguments; the strings live in the arena or in argv. */
struct dh_cc_args {
    struct dh_arena *arena;
    const char **at; /* on the heap, always NULL-terminated once something was added */
    size_t count, cap;
};

void dh_cc_args_add(struct dh_cc_args *args, const char *arg);

/* Adds arg, or the contents of the response file if arg is @FILE. As in gcc and clang, a file that cannot be
 * read leaves the argument unchanged. */
void dh_cc_args_add_expanded(struct dh_cc_args *args, const char *arg);

/* A text file in the arena; NULL, and errno, if it cannot be read. */
char *dh_cc_args_read_file(struct dh_arena *arena, const char *path);
/* The next word of a response file in GNU syntax: white space separates, quotes group, a backslash takes the
 * next character as it is. Unquotes in place; NULL at the end. */
char *dh_cc_args_next_word(char **cursor);

/* cc_config.c: puts the contents of clang's configuration files (--config) and options about sanitizers from
 * CCC_OVERRIDE_OPTIONS where clang puts them. What cannot be obeyed, as a sentence in the arena; NULL:
 * nothing. */
const char *dh_cc_config_expand(struct dh_cc_args *args);

/* The kind of build. */
enum dh_cc_mode {
    DH_CC_FULL,  /* every access is checked */
    DH_CC_FIELD, /* plain code, with the table of statically possible races */
    DH_CC_CAPER, /* the same, with escape barriers and queries (src/ir/caper) */
};

/* Which compiler instruments. */
enum dh_cc_frontend {
    DH_CC_OWN,   /* clang with our pass */
    DH_CC_CLANG, /* clang with its -fsanitize=thread */
    DH_CC_GNU,   /* gcc, g++ or gfortran with theirs */
    DH_CC_NO_SUCH,
};

/* What a command line asks for. */
struct dh_cc_line {
    enum dh_cc_mode mode;    /* --dh-mode= */
    bool cxx;                /* deadheat c++ */
    bool has_input;          /* something to compile or link: without it, clang answers or complains itself */
    bool links;              /* produces an executable or a shared object */
    bool shared;             /* ... a shared object */
    bool relocatable;        /* -r: the linker runs, but only combines objects */
    const char *output;      /* -o; NULL: not given */
    bool plain;              /* --dh-plain */
    bool checked;            /* --dh-checked: the runtime with assertions enabled */
    bool exceptions;         /* --dh-exceptions: a race may be thrown at its second access */
    bool prune;              /* --dh-prune: the link removes checks that the analysis finds needless */
    bool prune_quietly;      /* --dh-prune=quiet: ... without a message */
    bool filterable;         /* --dh-filterable: checks can be switched off when the program starts */
    bool alias;              /* --dh-alias: with --dh-mode=caper, an alias build (src/ir/caper/alias.c) */
    bool count_checks;       /* --dh-count-checks: with --dh-prune, the program counts them */
    bool help;               /* --dh-help */
    bool multiarch;          /* -print-multiarch: gcc has an answer, clang does not */
    const char *own_unknown; /* an unknown --dh-* flag */
    const char *bad_mode;    /* an unknown value of --dh-mode */
    enum dh_cc_frontend frontend; /* --dh-frontend= */
    const char *frontend_name;    /* ... as given; NULL: not given */
    /* Options that cannot be combined with deadheat, as written by the user; NULL: absent. */
    const char *static_flag, *nostdlib, *other_machine, *emulated_tls, *sanitizer;
    const char *archives_only;    /* -Wl,-Bstatic, not undone by a later option */
    const char *thread_sanitizer; /* -fsanitize=thread: only valid for a frontend that has it */
    bool no_thread_sanitizer;     /* -fno-sanitize=thread, or all: the code should be plain */
    const char *tsan_option;      /* an option of ThreadSanitizer's pass that ours does not have */
    /* What the user wants excluded, as with clang's -fsanitize=thread. */
    struct dh_cc_args ignorelists; /* -fsanitize-ignorelist= */
    const char *ignorelist_flag;   /* the last of them, as written; NULL: none */
    unsigned left_out;             /* bits, in the order of -fno-sanitize-thread-... in cc_sanitize.c */
    const char *left_out_flag;     /* the last of them, as written; NULL: none */
    const char *clang_flag;        /* the last of them that gcc does not have; NULL: none */
};

/* Parses expanded arguments. cxx: the compiler was called for C++. */
void dh_cc_args_read(const struct dh_cc_args *args, bool cxx, struct dh_cc_line *ret_line);

/* Does a comma-separated list contain one of these words? */
bool dh_cc_args_names_one_of(const char *list, const char *const *names, size_t n);

/* cc_sanitize.c: parses an option that may concern sanitizers; value: the next argument, or NULL. */
void dh_cc_sanitize_read(const char *arg, const char *value, struct dh_cc_line *line);
/* What is wrong with an ignorelist, as a sentence in the arena; NULL: nothing detectable. */
const char *dh_cc_sanitize_check(struct dh_arena *arena, const char *path);
/* Passes the lists and exclusions on. To our own pass: by arguments and the environment; to clang's: by
 * arguments. */
void dh_cc_sanitize_tell_pass(const struct dh_cc_line *line, struct dh_cc_args *out);
void dh_cc_sanitize_tell_clang(const struct dh_cc_line *line, struct dh_cc_args *out);

/* Is this option's value the next argument? */
bool dh_cc_args_takes_value(const char *arg);

/* cc_filter.c: the arguments that clang gets. */
void dh_cc_filter(const struct dh_cc_args *in, const struct dh_cc_line *line, struct dh_cc_args *ret_out);

/* A field build, or one that includes what a field build has. */
DH_INLINE bool dh_cc_is_field(const struct dh_cc_line *line)
{
    return line->mode == DH_CC_FIELD || line->mode == DH_CC_CAPER;
}

/* cc_lto.c: whether programs of this command line are linked from bitcode, and the arguments for it: before
 * the user's, for builds that must name their sites, and after the user's. */
bool dh_cc_lto_wanted(const struct dh_cc_line *line);
void dh_cc_lto_before(const struct dh_cc_line *line, struct dh_cc_args *out);
void dh_cc_lto_after(const struct dh_cc_line *line, const char *plugin, struct dh_cc_args *out);

/* cc_paths.c: a path in deadheat's own tree, which is that of a build or of an installation. NULL if it is
 * unknown. */
const char *dh_cc_beside_program(struct dh_arena *arena, const char *name);
/* The directories of deadheat's own headers. */
void dh_cc_add_headers(struct dh_cc_args *out);
/* The clang that compiles for us, or NULL. */
const char *dh_cc_find_clang(struct dh_arena *arena);

/* cc_frontend.c: the value of --dh-frontend. */
void dh_cc_frontend_read(const char *name, struct dh_cc_line *line);
/* The compiler for a command line that names a frontend, to be looked up in the path. */
const char *dh_cc_frontend_program(struct dh_arena *arena, const struct dh_cc_line *line);
/* The flags that make it instrument. specs: the file for gcc. */
void dh_cc_frontend_flags(const struct dh_cc_line *line, const char *specs, struct dh_cc_args *out);
/* For a linked program: how it finds its reporter. libdir: where deadheat's parts are. */
void dh_cc_frontend_home(const char *libdir, struct dh_cc_args *out);
/* The rest of a user's argument without -fsanitize=thread; NULL: nothing. */
const char *dh_cc_frontend_sanitizers(struct dh_arena *arena, const char *arg);

/* The closest of our own flags to an unknown one, or NULL. */
const char *dh_cc_args_nearest(const char *unknown);

#endif
