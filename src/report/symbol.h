/*
 * symbol.h - from (module, offset) to functions, source lines and variables.
 *
 * Reads ELF symbols and DWARF with elfutils' libdw, lazily: a file is opened when a frame first needs it,
 * a compilation unit is walked when an address in it is first asked for, and answers are remembered. All
 * strings live as long as the symboliser's arena. docs/design/report.md says why it is built this way.
 */
#ifndef DH_REPORT_SYMBOL_H
#define DH_REPORT_SYMBOL_H

#include "report/model.h"

/* What a function or variable is in the source: the same in every build and on every machine. origin.c. */
struct dh_object_source;
struct dh_source;
struct dh_path_map; /* util/path.h */
struct dh_symbol_origin {
    const char *name; /* for a linker, or in the source if it has no other; not demangled; NULL if unknown */
    const char *home; /* of internal linkage: the base name of its file; with directories above it, as many as
                         it takes, if another file of that base name has such a thing too. Else NULL */
    int line;         /* where it is declared; 0 if unknown */
    bool elsewhere;   /* of a frame: its line is in another file than the declaration */
    bool artificial;  /* of a function: made by the compiler, and declared nowhere */
    bool allocates;   /* of a function: it takes a number and returns void *, as those do that hand out memory
                         to their callers */
    u64 offset;       /* of a frame without debug information: in the function, if `name` is known */
    const void *unit; /* of debug information; for comparing */
    const struct dh_object_source *source; /* of a function; NULL without debug information */
};

struct dh_symbol_frame {
    const char *function;  /* demangled; NULL if unknown */
    const char *brief;     /* the same, shortened */
    const char *shown;     /* the one that people are to see */
    const char *file;      /* absolute where the debug information allows it; NULL if unknown */
    const char *unit_file; /* as seen from the directory it was compiled in: the same on every machine */
    const char *module;    /* path of the ELF file, or NULL */
    u64 offset;            /* as in the record */
    int line;              /* 0 if unknown */
    int column;            /* 0 if unknown */
    bool inlined;          /* into the frame that follows */
    struct dh_symbol_origin origin;
};

struct dh_symbol_trace {
    struct dh_symbol_frame *frames; /* innermost first, inlined frames expanded */
    size_t n;
};

struct dh_symbol_variable {
    const char *name;    /* of the variable itself, demangled */
    const char *display; /* with the member or offset: "stats.hits", "table[3].n", "buf + 4" */
    const char *shape;   /* with the member, but neither index nor offset: "stats.hits", "table[].n", "buf" */
    const char *function;                            /* of a local variable, static or not; else NULL */
    const char *brief;                               /* `display`, shortened */
    const char *shown, *shown_name, *shown_function; /* `display`, `name` and `function`, for people */
    const char *file;                                /* where it is declared; NULL if unknown */
    int line;
    u64 size;   /* 0 if unknown */
    u64 offset; /* of the access in it */
    struct dh_symbol_origin origin;
    const char *members; /* what `shape` adds to the name: ".hits", "[].n" or "" */
    bool findable;       /* its debug information is found whatever was asked before */
    const char *symbol;  /* what it is without debug information: its name in the symbol table, or NULL */
};

/* An access to a heap block, or the end of the block. */
struct dh_symbol_touch {
    u64 offset, size; /* in the block */
    bool free;
    bool range; /* of many bytes, of which perhaps only these are known */
    const struct dh_symbol_trace *stack;
};

struct dh_symbol_block {
    u64 size;
    struct dh_symbol_touch touches[2];
    const struct dh_symbol_trace *allocated_at;
};

/* The part of a heap block that was accessed, if all that is known of the block agrees. */
struct dh_symbol_field {
    const char *type;                      /* "struct conn", "ns::Conn<int>" */
    const char *name;                      /* "refs", "peer.port", "buf[3]" */
    const char *member;                    /* for suppressions: "conn.refs" */
    const char *brief_type, *brief_member; /* shortened */
    const char *shown_type;                /* for people */
    bool is_element;                       /* the block is an array of them */
    u64 element;
};

/* Called once for each thing a person should know: a rebuilt or unreadable file. */
typedef void dh_symbol_warn(void *ctx, const char *sentence);

struct dh_symbol;
struct dh_symbol *dh_symbol_new(struct dh_arena *arena, dh_symbol_warn *warn, void *ctx);
/* Show names of C++ in full; as a rule they are shortened. */
void dh_symbol_full_names(struct dh_symbol *s);
/* Sources are elsewhere now. NULL: they are not. */
void dh_symbol_map_paths(struct dh_symbol *s, const struct dh_path_map *paths);
/* Lines of source may be looked at, where debug information does not decide which field it is. */
void dh_symbol_use_source(struct dh_symbol *s, struct dh_source *source);
/* Can the file that ran be read? */
bool dh_symbol_is_readable(struct dh_symbol *s, const struct dh_model_module *module);
void dh_symbol_free(struct dh_symbol *s);

void dh_symbol_trace_stack(struct dh_symbol *s, const struct dh_model_stack *stack,
                           struct dh_symbol_trace *ret);
/* The global at this offset. size: of the access, to choose between a struct and its first member.
 * False if no name is known. */
bool dh_symbol_find_variable(struct dh_symbol *s, const struct dh_model_module *module, u64 offset, u64 size,
                             struct dh_symbol_variable *ret);
/* The same for a thread-local variable; the offset is in the module's thread-local segment. */
bool dh_symbol_find_tls(struct dh_symbol *s, const struct dh_model_module *module, u64 offset, u64 size,
                        struct dh_symbol_variable *ret);
/* Do the tables for unwinding agree with a frame that was put together from outside? */
bool dh_symbol_check_frame(struct dh_symbol *s, const struct dh_model_activation *frame);
/* The same as above for a variable on the stack, at address `at` of the process, in a frame that is known. */
bool dh_symbol_find_local(struct dh_symbol *s, const struct dh_model_activation *frame, u64 at, u64 size,
                          struct dh_symbol_variable *ret);

/* The field of a heap block that two accesses race on; false if it is not known. field.c. */
bool dh_symbol_find_field(struct dh_symbol *s, const struct dh_symbol_block *block,
                          struct dh_symbol_field *ret);

/* Not in a system header or library, as far as can be told. */
bool dh_symbol_in_project(const struct dh_symbol_frame *f);
/* The frame to point at: the first that is not in a system header or library; NULL for an empty stack. */
const struct dh_symbol_frame *dh_symbol_top(const struct dh_symbol_trace *trace);

/* "_Z..." names made readable; others as they are. */
const char *dh_symbol_demangle(struct dh_arena *arena, const char *name);
/* A demangled name without what goes without saying; the same pointer if there is nothing to leave out. */
const char *dh_symbol_shorten(struct dh_arena *arena, const char *name);

#endif
