/*
 * text.c - see text.h. UTF-8 is decoded as RFC 3629 defines it: overlong encodings, and values
 * beyond the last character, are invalid.
 */
#include "util/text.h"

#include <string.h>

/* The character that begins at s, of n > 0 bytes, and its length. A byte that begins none is itself, as in
 * Latin-1, with length 1. */
static size_t decode(const char *s, size_t n, u32 *ret_character)
{
    u8 lead = (u8)s[0];
    size_t len = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
    static const u32 least[] = {0, 0, 0x80, 0x800, 0x10000};
    u32 c = len == 1 ? lead : lead & (0x7fu >> len);
    *ret_character = lead;
    if (len > n)
        return 1;
    for (size_t i = 1; i < len; i++) {
        if (((u8)s[i] & 0xc0) != 0x80)
            return 1;
        c = c << 6 | ((u8)s[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 1;
    *ret_character = c;
    return len;
}

static bool is_harmful(u32 c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* How many bytes from s on can be shown, up to the first that cannot; *ret_bad: how many of those there are.
 */
static size_t harmless(const char *s, size_t n, bool tabs, size_t *ret_bad)
{
    u32 c;
    size_t at = 0, len;
    for (; at < n; at += len) {
        len = decode(s + at, n - at, &c);
        if (is_harmful(c) && !(tabs && c == '\t')) {
            *ret_bad = len;
            return at;
        }
    }
    *ret_bad = 0;
    return n;
}

void dh_text_tame(char *s, size_t n)
{
    size_t bad;
    for (char *end = s + n; s < end; s += bad) {
        s += harmless(s, (size_t)(end - s), false, &bad);
        memset(s, '?', bad);
    }
}

const char *dh_text_shown(struct dh_arena *arena, const char *s)
{
    size_t bad, n = strlen(s);
    if (harmless(s, n, false, &bad) == n)
        return s;
    char *copy = dh_arena_dup(arena, s, n);
    dh_text_tame(copy, n);
    return copy;
}

char *dh_text_utf8(struct dh_arena *arena, const char *s, size_t n)
{
    static const char replacement[] = "\xef\xbf\xbd";
    size_t bad = 0, len, at;
    u32 c;
    for (at = 0; at < n; at += len) {
        len = decode(s + at, n - at, &c);
        bad += len == 1 && (u8)s[at] >= 0x80;
    }
    char *copy = dh_arena_alloc(arena, n + bad * (sizeof(replacement) - 2) + 1), *to = copy;
    for (at = 0; at < n; at += len) {
        len = decode(s + at, n - at, &c);
        bool none = len == 1 && (u8)s[at] >= 0x80;
        size_t size = none ? sizeof(replacement) - 1 : len;
        memcpy(to, none ? replacement : s + at, size);
        to += size;
    }
    return copy;
}

static void put(FILE *out, const char *s, size_t n, bool tabs)
{
    size_t bad;
    for (const char *end = s + n; s < end; s += bad) {
        size_t good = harmless(s, (size_t)(end - s), tabs, &bad);
        fwrite(s, 1, good, out);
        s += good;
        for (size_t i = 0; i < bad; i++)
            putc('?', out);
    }
}

void dh_text_put(FILE *out, const char *s)
{
    put(out, s, strlen(s), false);
}

void dh_text_put_line(FILE *out, const char *s, size_t n)
{
    put(out, s, n, true);
}
