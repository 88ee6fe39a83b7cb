/*
 * backend.h - what a database backend has to provide for store.c; private to this room.
 */
#ifndef DH_STORE_BACKEND_H
#define DH_STORE_BACKEND_H

#include "store/store.h"

struct dh_store_backend {
    /* Connects. On failure sets a message with dh_store_set_error. */
    int (*open)(struct dh_store *s, const char *where, bool create);
    void (*close)(struct dh_store *s);
    int (*run)(struct dh_store *s, const char *sql); /* statements without a result */
    int (*begin)(struct dh_store *s);
    int (*number)(struct dh_store *s, const char *sql,
                  u64 *ret); /* one row, one number; 0 if there is none */
    int (*read)(struct dh_store *s, u64 after, int (*take)(void *ctx, const struct dh_store_event *e),
                void *ctx);
    int (*append)(struct dh_store *s, const struct dh_store_event *events, size_t n);
    int (*put_snapshot)(struct dh_store *s, u64 part, u64 seq, const void *data, size_t len);
    int (*read_snapshot)(struct dh_store *s, int (*take)(void *ctx, u64 seq, const void *data, size_t len),
                         void *ctx);
    int (*backup)(struct dh_store *s, const char *path);
    /* Its name for a type: a column of bytes. */
    const char *bytes;
};

extern const struct dh_store_backend dh_store_sqlite, dh_store_postgres;

struct dh_store {
    const struct dh_store_backend *backend;
    void *connection; /* the backend's own */
    bool writing;     /* between begin and commit */
    char error[400];
};

/* Returns err. */
__attribute__((format(printf, 3, 4))) int dh_store_set_error(struct dh_store *s, int err, const char *format,
                                                             ...);

#endif
