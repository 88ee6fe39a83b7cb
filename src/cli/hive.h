/*
 * hive.h - `deadheat hive`: the parts of the command.
 */
#ifndef DH_CLI_HIVE_H
#define DH_CLI_HIVE_H

#include "caper/build.h"
#include "hive/engine.h"
#include "report/print.h"

/* Options of all its commands. */
struct dh_cli_hive {
    const char *command;   /* "hive add" */
    const char *db, *hive; /* its database, or its URL */
    const char *program, *build, *candidate, *user, *format, *output, *revoke, *listen, *cert, *key, *token;
    const char *style;  /* "relay" or "sound"; NULL: not said */
    const char *filter; /* a file of `caper export --to=filter`, which pairs to keep */
    const char *reader; /* a file with the reader's token */
    const char *rate, *bound, *connections, *timeout, *snapshot;
    bool insecure, source;
    const char **files;
    size_t n_files;
    struct dh_arena arena;
};

/* The database as messages name it, which may end up in a log: without the passwords in an address. */
const char *dh_cli_hive_shown(struct dh_cli_hive *c);
/* Opens the store, which must exist unless it may be created. 0, or the exit status after a message. */
int dh_cli_hive_open(struct dh_cli_hive *c, bool create, struct dh_hive_engine **ret);
void dh_cli_hive_close(struct dh_hive_engine *e);
/* Makes the engine do something and prints the outcome. 0, or the exit status after a message. */
int dh_cli_hive_stored(struct dh_cli_hive *c, bool stored, enum dh_hive_status status, const char *why);

/* The same through a hive's interface, if --hive is given. */
int dh_cli_hive_remote_add(struct dh_cli_hive *c);
int dh_cli_hive_remote_key(struct dh_cli_hive *c);

/* hive_build.c: a program's build id and the bytes of its table, with --filter only the pairs in dpPairs,
 * whose number is printed. 0, or the exit status after a message. */
int dh_cli_hive_build(struct dh_cli_hive *c, const char *path, struct dh_caper_build *ret);
/* A build that was there already keeps the pairs it was added with, whatever a filter says. */
void dh_cli_hive_say_kept(const struct dh_cli_hive *c, bool is_new);

/* hive_source.c: the source lines around the sites of a build's table, as a document from malloc
 * (hive/source.h). Prints which files cannot be read. NULL after a message. */
struct dh_cli_source_count {
    size_t lines, files;
};
char *dh_cli_hive_source(struct dh_cli_hive *c, const char *path, const struct dh_caper_build *build,
                         struct dh_cli_source_count *ret);
void dh_cli_hive_source_print(const char *program, const struct dh_cli_source_count *n, bool is_new);

/* hive_symbols.c: symbols for its code in the stacks of races, as a document from malloc (hive/stacks.h).
 * NULL, after a warning: there is too much of it. */
char *dh_cli_hive_symbols(struct dh_cli_hive *c, const char *path, size_t *ret_len);

/* Each is one command. */
int dh_cli_hive_serve(struct dh_cli_hive *c);
int dh_cli_hive_add(struct dh_cli_hive *c);
int dh_cli_hive_key(struct dh_cli_hive *c);
int dh_cli_hive_forget(struct dh_cli_hive *c);
int dh_cli_hive_status(struct dh_cli_hive *c);
int dh_cli_hive_export(struct dh_cli_hive *c);
int dh_cli_hive_backup(struct dh_cli_hive *c);

#endif
