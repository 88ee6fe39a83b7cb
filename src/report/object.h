/*
 * object.h - one ELF file and its debug information, indexed on demand. Internal to the report room, for the
 * files that read debug information.
 *
 * Addresses here are those of the ELF file's own program headers ("file addresses"), which is what race
 * records hold. libdw adds its own bias, which is removed at the boundary.
 */
#ifndef DH_REPORT_OBJECT_H
#define DH_REPORT_OBJECT_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "report/symbol.h"

struct dh_object_function {
    u64 lo, hi;
    Dwarf_Die die;
};

struct dh_object_global {
    u64 addr;        /* of a thread-local one: in the thread-local segment */
    u64 part, bytes; /* which bytes of the variable are there, if the optimiser split it; 0, 0: all */
    bool tls;
    Dwarf_Die die;
    Dwarf_Die owner; /* the function it is static in; addr member NULL if none */
};

struct dh_object_unit {
    Dwarf_Die line_die; /* has the line table and compilation directory */
    Dwarf_Die die;      /* has the functions; differs only with split DWARF */
    u64 bytes;          /* of .debug_info */
    const char *name;   /* of its source file, as passed to the compiler; NULL if unknown */
    const char *dir;
    bool searched; /* for variables, even if no address in it was looked up */
    bool indexed;
    struct dh_object_function *functions; /* sorted by lo once indexed */
    size_t n_functions, cap_functions;
    struct dh_object_global *globals;
    size_t n_globals, cap_globals;
};

struct dh_object_range {
    u64 lo, hi;
    u32 unit;
};

struct dh_object_symbol {
    u64 lo, hi;
    const char *name; /* mangled */
    u8 rank;          /* among several at one address: global beats weak beats local */
};

struct dh_object {
    struct dh_arena *arena;
    const char *path;
    Dwfl *dwfl; /* NULL: unreadable, or not the file that was executed */
    Dwfl_Module *module;
    u64 elf_bias; /* libdwfl address = file address + elf_bias */
    Dwarf *dwarf; /* NULL: no debug information */
    u64 dwarf_bias;
    struct dh_object_unit *units;
    size_t n_units, cap_units;
    struct dh_object_range *ranges; /* sorted by lo */
    size_t n_ranges, cap_ranges;
    u64 searched_bytes;
    struct dh_map types;      /* of functions and units, filled on demand; types.c */
    struct dh_map type_names; /* their names, with scopes */
    bool symbols_read;
    struct dh_object_symbol *symbols[3]; /* by DH_OBJECT_*; each sorted by lo */
    size_t n_symbols[3], cap_symbols[3];
};

/* The addresses of DH_OBJECT_TLS symbols are offsets in the thread-local segment. */
enum { DH_OBJECT_FUNCTIONS, DH_OBJECT_DATA, DH_OBJECT_TLS, DH_OBJECT_KINDS };

/* object.c. The build id is "" if unknown. On failure *ret_why is the reason, for people, or NULL if
 * there is none worth reporting (a pseudo file such as [vdso]). */
struct dh_object *dh_object_open(struct dh_arena *arena, const char *path, const char *build_id,
                                 const char **ret_why);
void dh_object_close(struct dh_object *o);

/* elfsym.c: the symbol that contains the address, or NULL. which: DH_OBJECT_*. */
const struct dh_object_symbol *dh_object_find_symbol(struct dh_object *o, int which, u64 addr);
/* Is it the only symbol that its name can refer to? A symbol that is not local always is. */
bool dh_object_is_sole_symbol(const struct dh_object *o, int which, const struct dh_object_symbol *symbol);

/* dwarf.c */
void dh_object_read_units(struct dh_object *o);
void dh_object_index_unit(struct dh_object_unit *unit);
/* Frames for the instruction at addr, innermost first, appended to *frames (a heap array). Returns how
 * many; 0 without debug information. */
size_t dh_object_frames(struct dh_object *o, u64 addr, struct dh_symbol_frame **ret_frames);
const char *dh_object_name(struct dh_object *o, Dwarf_Die *die); /* demangled; NULL if it has none */
/* The type of the entity that die describes, without typedefs and qualifiers; false if it has none. */
bool dh_object_type(Dwarf_Die *die, Dwarf_Die *ret);
void dh_object_declared_at(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die,
                           const char **ret_file, int *ret_line);

/* The function that contains the instruction at addr, or NULL. */
Dwarf_Die *dh_object_function_at(struct dh_object *o, u64 addr, struct dh_object_unit **ret_unit);
bool dh_object_has_pc(Dwarf_Die *die, u64 pc);

/* A function as declared in the source, and the unit with its code. */
struct dh_object_source {
    struct dh_object *object;
    struct dh_object_unit *unit;
    Dwarf_Die function;
};

/* origin.c */
bool dh_object_is_c(Dwarf_Die *unit);          /* rather than C++ or another language */
const char *dh_object_linkage(Dwarf_Die *die); /* linkage name; NULL if it has none */
/* The function that die is, or is a copy of. file: the one that contains the frame's line. */
void dh_object_origin(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die, const char *file,
                      struct dh_symbol_origin *ret);
/* Sets ret->name if it is not set yet. */
void dh_object_variable_origin(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die,
                               struct dh_symbol_origin *ret);

/* variable.c. which: DH_OBJECT_DATA or DH_OBJECT_TLS. */
bool dh_object_find_variable(struct dh_object *o, int which, u64 addr, u64 size,
                             struct dh_symbol_variable *ret);
/* Fills in the rest of *v for an access of `size` bytes, v->offset bytes into the variable that die
 * describes. Sets v->name if it is not set yet; false if there is none. */
bool dh_object_describe(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die, u64 size,
                        struct dh_symbol_variable *v);

/* local.c: the variable of the function at pc that contains the address `at` of the running process. */
/* Do the unwind tables agree that a frame with these registers ends where its record says? */
bool dh_object_check_frame(struct dh_object *o, u64 pc, const struct dh_model_activation *frame);
bool dh_object_find_local(struct dh_object *o, u64 pc, const struct dh_model_activation *frame, u64 at,
                          u64 size, struct dh_symbol_variable *ret);

#endif
