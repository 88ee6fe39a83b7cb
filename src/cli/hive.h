/*
 * hive.h - `deadheat hive`: the parts of the command.
 */
#ifndef DH_CLI_HIVE_H
#define DH_CLI_HIVE_H

#include "hive/engine.h"
#include "report/print.h"

/* What all of its commands may be given. */
struct dh_cli_hive {
    const char *command;   /* "hive add" */
    const char *db, *hive; /* its database, or where it is served */
    const char *program, *build, *candidate, *user, *format, *output, *revoke, *listen, *cert, *key, *token;
    const char *rate, *bound, *connections, *timeout, *snapshot;
    bool insecure;
    const char **files;
    size_t n_files;
    struct dh_arena arena;
};

/* Opens the store, which must be there unless it may be made. 0, or the exit status after a message. */
int dh_cli_hive_open(struct dh_cli_hive *c, bool create, struct dh_hive_engine **ret);
void dh_cli_hive_close(struct dh_hive_engine *e);
/* Has the engine do something, which says what became of it. 0, or the exit status after a message. */
int dh_cli_hive_stored(struct dh_cli_hive *c, bool stored, enum dh_hive_status status, const char *why);

/* The same by a hive's interface, if --hive is given. */
int dh_cli_hive_remote_add(struct dh_cli_hive *c);
int dh_cli_hive_remote_key(struct dh_cli_hive *c);

/* Each is one command. */
int dh_cli_hive_serve(struct dh_cli_hive *c);
int dh_cli_hive_add(struct dh_cli_hive *c);
int dh_cli_hive_key(struct dh_cli_hive *c);
int dh_cli_hive_forget(struct dh_cli_hive *c);
int dh_cli_hive_status(struct dh_cli_hive *c);
int dh_cli_hive_export(struct dh_cli_hive *c);
int dh_cli_hive_backup(struct dh_cli_hive *c);

#endif
