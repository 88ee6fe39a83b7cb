/*
 * lines.h - from source positions to the machine instructions of one ELF file.
 *
 * The arena owns all memory. Addresses are virtual addresses, as in the file's own program headers.
 */
#ifndef DH_CHASE_LINES_H
#define DH_CHASE_LINES_H

#include "chase/built.h"
#include "chase/code.h"
#include "chase/position.h"

struct dh_chase_access {
    u64 address;
    struct dh_chase_code code; /* an access, possibly a refused one */
    const char *file;          /* as absolute as the debug information allows */
    int line, column;
    u8 order; /* in the list of atomics: DH_CONTROL_ACQUIRE, _RELEASE or both */
};

struct dh_chase_accesses {
    struct dh_chase_access *at; /* sorted by address */
    size_t n;
    size_t refused;     /* of those */
    size_t frame;       /* accesses to the function's own frame at the position, which are not in the list */
    size_t undecodable; /* stretches of code in which the decoder lost synchronisation */
    bool has_code;      /* there is code at the position */
    bool merged;        /* but no such access in it: the list has the function's accesses without a line */
    const char *other;  /* another file of the same name with accesses there; NULL: none */
};

/* An instruction that accesses memory which other threads may access, too. */
struct dh_chase_spot {
    u64 address;
    const char *file;
    int line, column;
    u8 length;
    u8 kinds; /* DH_CONTROL_READ, _WRITE or both */
};

struct dh_chase_spots {
    struct dh_chase_spot *at; /* sorted by address */
    size_t n;
};

struct dh_chase_file;

/* 0, or a negative errno with a message about the file in *ret_why: it cannot be read, is not for this
 * machine, or has no debug information. */
int dh_chase_lines_open(struct dh_arena *arena, const char *path, struct dh_chase_file **ret_file,
                        const char **ret_why);
void dh_chase_lines_close(struct dh_chase_file *file);

/* Everything at the position, of whatever kind. */
void dh_chase_lines_find(struct dh_chase_file *file, const struct dh_chase_position *position,
                         struct dh_chase_accesses *ret);
/* Every access in the file that has a line and can be chased, except to constants and thread-local
 * variables. */
void dh_chase_lines_every(struct dh_chase_file *file, struct dh_chase_spots *ret);
/* Copies these spots, sorted and without duplicates, to the file's arena. */
void dh_chase_lines_keep(struct dh_chase_file *file, struct dh_chase_spots *spots,
                         struct dh_chase_spots *ret);
/* The access at a spot. */
const struct dh_chase_access *dh_chase_lines_at(struct dh_chase_file *file, const struct dh_chase_spot *spot);
/* The line of any instruction; its length is not returned. False: it has no line. */
bool dh_chase_lines_line(struct dh_chase_file *file, u64 address, struct dh_chase_spot *ret);
/* Does the source declare the variable at these bytes atomic? */
bool dh_chase_lines_is_atomic(struct dh_chase_file *file, u64 address, u64 size);
/* Sets whether the access of the instruction at this address is atomic, or certainly not, as far as is
 * known. */
void dh_chase_lines_tell_atomic(struct dh_chase_file *file, u64 address, struct dh_chase_code *code);
/* The bytes at [lo, hi) as in the file if that range is code, or NULL. */
const u8 *dh_chase_lines_bytes(const struct dh_chase_file *file, u64 lo, u64 hi);
Elf *dh_chase_lines_elf(const struct dh_chase_file *file);
const struct dh_chase_built *dh_chase_lines_built(const struct dh_chase_file *file);
/* The address of the file's first byte if it were loaded at its preferred address. */
u64 dh_chase_lines_base(const struct dh_chase_file *file);
/* Is it a field build, which records which of its code is atomic? */
bool dh_chase_lines_is_field(const struct dh_chase_file *file);
bool dh_chase_lines_has_section(const struct dh_chase_file *file, const char *name);
/* In hex; "": it has none. */
const char *dh_chase_lines_build_id(const struct dh_chase_file *file);
/* Is it a program into which no library can be loaded? */
bool dh_chase_lines_is_static(const struct dh_chase_file *file);

#endif
