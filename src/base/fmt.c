/*
 * fmt.c - see fmt.h.
 */
#include "base/fmt.h"

void dh_fmt_init(struct dh_fmt *f, char *buf, size_t cap)
{
    *f = (struct dh_fmt){.buf = buf, .len = 0, .cap = cap, .overflow = false};
    buf[0] = '\0';
}

void dh_fmt_char(struct dh_fmt *f, char c)
{
    if (f->len + 1 >= f->cap) {
        f->overflow = true;
        return;
    }
    f->buf[f->len++] = c;
    f->buf[f->len] = '\0';
}

void dh_fmt_str(struct dh_fmt *f, const char *s)
{
    while (*s)
        dh_fmt_char(f, *s++);
}

static void digits(struct dh_fmt *f, u64 v, unsigned base)
{
    char tmp[24];
    int n = 0;
    do {
        tmp[n++] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    while (n > 0)
        dh_fmt_char(f, tmp[--n]);
}

void dh_fmt_u64(struct dh_fmt *f, u64 v)
{
    digits(f, v, 10);
}

void dh_fmt_i64(struct dh_fmt *f, int64_t v)
{
    if (v < 0)
        dh_fmt_char(f, '-');
    digits(f, v < 0 ? 0 - (u64)v : (u64)v, 10);
}

void dh_fmt_hex(struct dh_fmt *f, u64 v)
{
    dh_fmt_str(f, "0x");
    digits(f, v, 16);
}

void dh_fmt_json_hex(struct dh_fmt *f, u64 v)
{
    dh_fmt_char(f, '"');
    dh_fmt_hex(f, v);
    dh_fmt_char(f, '"');
}

/* Length of the well-formed UTF-8 sequence at s, 0 if it is not one. */
static int utf8_len(const unsigned char *s)
{
    int n = s[0] < 0x80                   ? 1
            : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
            : (s[0] & 0xF0) == 0xE0       ? 3
            : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                          : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0)))
        return 0;
    if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90)))
        return 0;
    return n;
}

void dh_fmt_json_str(struct dh_fmt *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    dh_fmt_char(f, '"');
    while (*s) {
        int n = utf8_len(s);
        if (n == 0) {
            dh_fmt_str(f, "\\ufffd");
            s++;
        } else if (n == 1 && (*s == '"' || *s == '\\')) {
            dh_fmt_char(f, '\\');
            dh_fmt_char(f, (char)*s++);
        } else if (*s < 0x20) {
            dh_fmt_str(f, "\\u00");
            dh_fmt_char(f, "0123456789abcdef"[*s >> 4]);
            dh_fmt_char(f, "0123456789abcdef"[*s & 15]);
            s++;
        } else {
            while (n-- > 0)
                dh_fmt_char(f, (char)*s++);
        }
    }
    dh_fmt_char(f, '"');
}
