/*
 * oracle.h - the judge: a race detector of the language itself, to compare deadheat with.
 *
 * It knows threads, objects and fields by their numbers in the language and nothing of addresses, workers or
 * collections; and nothing of deadheat. It keeps two vector clocks for every variable, so that it finds
 * exactly those accesses that conflict with an earlier, concurrent one.
 */
#ifndef LARDVM_ORACLE_H
#define LARDVM_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

struct oracle;

/* A variable or a thing that synchronises: object 0 is that of the globals. */
struct oracle_key {
    uint64_t object;
    uint32_t index; /* slot, or ORACLE_MONITOR */
};

#define ORACLE_MONITOR UINT32_MAX

/* What it finds goes to a file, at the end. NULL: the file cannot be written. */
struct oracle *oracle_new(const char *path);
/* Writes the racy accesses, one a line (number, line of the program, object, slot, r or w), then `end`, how
 * many accesses there were, and how many were racy. False if the file could not be written. */
bool oracle_free(struct oracle *o);

/* Between these no other thread is between them. Whoever accesses memory for the program does so here, with
 * all reports of it, so that everybody has the same order. */
void oracle_lock(struct oracle *o);
void oracle_unlock(struct oracle *o);

/* Inside only: access number k. */
void oracle_access(struct oracle *o, uint32_t thread, struct oracle_key key, bool write, uint64_t k,
                   uint32_t line);
/* Inside or, if the program's own order makes it safe, outside. */
void oracle_acquire(struct oracle *o, uint32_t thread, struct oracle_key key);
void oracle_release(struct oracle *o, uint32_t thread, struct oracle_key key);
void oracle_fork(struct oracle *o, uint32_t parent, uint32_t child);
void oracle_join(struct oracle *o, uint32_t thread, uint32_t ended);

#endif
