/*
 * fmt.h - text into a buffer, freestanding; enough for JSON lines and messages.
 *
 * Invariant: buf is always NUL-terminated and len < cap. Text that does not fit is cut and
 * `overflow` is set.
 */
#ifndef DH_BASE_FMT_H
#define DH_BASE_FMT_H

#include "base/base.h"

struct dh_fmt {
    char *buf;
    size_t len;
    size_t cap;
    bool overflow;
};

void dh_fmt_init(struct dh_fmt *f, char *buf, size_t cap);
void dh_fmt_char(struct dh_fmt *f, char c);
void dh_fmt_str(struct dh_fmt *f, const char *s);
void dh_fmt_u64(struct dh_fmt *f, u64 v);
void dh_fmt_i64(struct dh_fmt *f, int64_t v);
/* 0x... in lower case, without quotes. */
void dh_fmt_hex(struct dh_fmt *f, u64 v);
/* "0x...", quoted: how JSON carries addresses. */
void dh_fmt_json_hex(struct dh_fmt *f, u64 v);
/* Quoted and escaped; bytes that are not UTF-8 become U+FFFD. */
void dh_fmt_json_str(struct dh_fmt *f, const char *s);

#endif
