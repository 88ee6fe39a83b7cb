/*
 * hive_crowd.h - for tests of the hive: a table of pairs, and users who act by a rule instead of running
 * anything.
 */
#ifndef DH_TESTS_HIVE_CROWD_H
#define DH_TESTS_HIVE_CROWD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hive/decide.h"

/* What is written in pieces. */
struct hive_bytes {
    char *at;
    size_t len;
};

static inline int hive_take(void *ctx, const void *bytes, size_t len)
{
    struct hive_bytes *b = ctx;
    b->at = dh_util_realloc(b->at, b->len + len);
    memcpy(b->at + b->len, bytes, len);
    b->len += len;
    return 0;
}

/* A write of 4 bytes in this line, in a function that is known by this hash (0: unknown). */
static inline u32 hive_site_in(struct dh_pairs *p, u32 line, u64 code)
{
    const struct dh_pairs_site s = {.module = "m.c",
                                    .function = "f",
                                    .host = "",
                                    .at = {.file = "m.c", .dir = "/", .line = line},
                                    .access = DH_PAIRS_WRITE,
                                    .size = 4,
                                    .code = code};
    return dh_pairs_add_site(p, &s);
}

static inline u32 hive_site(struct dh_pairs *p, u32 line)
{
    return hive_site_in(p, line, 1);
}

/* flags: the sets that it is in, DH_PAIRS_RELAY or DH_PAIRS_SOUND. */
static inline void hive_pair(struct dh_pairs *p, u32 first, u32 second, u32 flags)
{
    const struct dh_pairs_pair pair = {.side = {{.site = first}, {.site = second}},
                                       .flags = flags,
                                       .reasons = DH_PAIRS_BY_TWO_THREADS,
                                       .note = ""};
    dh_pairs_add_pair(p, &pair);
}

/* `pairs` pairs of sites of their own and, if wanted, one bundle of 2 x 2 sites, as bytes from malloc. The
 * first `same` pairs are the same for every `salt`. */
static inline void hive_table(u32 pairs, u32 same, u32 salt, bool bundle, u8 **ret, size_t *ret_len)
{
    struct dh_pairs *p = dh_pairs_new();
    u32 alike[2], first[2];
    dh_pairs_set_program(p, "prog", "test", "");
    for (u32 i = 0; i < pairs + (bundle ? 2 : 0); i++) {
        u32 at[2];
        for (u32 side = 0; side < 2; side++)
            at[side] = hive_site(p, 10 + 2 * i + side + (i < same ? 0 : 1000000 * salt));
        if (i < pairs) {
            hive_pair(p, at[0], at[1], DH_PAIRS_RELAY);
        } else if (i == pairs) {
            memcpy(first, at, sizeof(first));
        } else {
            for (u32 side = 0; side < 2; side++)
                alike[side] = dh_pairs_add_list(p, &at[side], 1);
            struct dh_pairs_pair pair = {.side = {{.site = first[0]}, {.site = first[1]}},
                                         .alike = {alike[0], alike[1]},
                                         .flags = DH_PAIRS_RELAY,
                                         .note = ""};
            dh_pairs_add_pair(p, &pair);
        }
    }
    dh_pairs_write(p, ret, ret_len);
    dh_pairs_free(p);
}

/* A pair of the set `sound` only, of the first two sites, and perhaps a bundle of relay's. */
static inline u8 *hive_sound_table(bool bundle, size_t *ret_len)
{
    struct dh_pairs *p = dh_pairs_new();
    u8 *table;
    dh_pairs_set_program(p, "prog", "test", "");
    const u32 a = hive_site(p, 1), b = hive_site(p, 2);
    hive_pair(p, a, b, DH_PAIRS_SOUND);
    if (bundle) {
        const u32 c = hive_site(p, 3), d = hive_site(p, 4), e = hive_site(p, 5);
        const struct dh_pairs_pair pair = {.side = {{.site = c}, {.site = d}},
                                           .alike = {0, dh_pairs_add_list(p, &e, 1)},
                                           .flags = DH_PAIRS_RELAY,
                                           .note = ""};
        dh_pairs_add_pair(p, &pair);
    }
    dh_pairs_write(p, &table, ret_len);
    dh_pairs_free(p);
    return table;
}

/* A name of that many hexadecimal digits, made of a number. */
static inline const char *hive_name(char *to, size_t digits, u64 number)
{
    snprintf(to, digits + 1, "%0*llx", (int)digits, (unsigned long long)number);
    return to;
}

#endif
