/*
 * lines.c - see lines.h. stdio is not used because getline() has no limit: garbage without a newline would be
 * read into memory in full.
 */
#include "util/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/arena.h"

void dh_lines_init(struct dh_lines *l, int fd)
{
    enum { FIRST = 64 << 10 };
    *l = (struct dh_lines){.fd = fd, .buffer = dh_util_alloc(FIRST), .cap = FIRST};
}

void dh_lines_done(struct dh_lines *l)
{
    free(l->buffer);
    l->buffer = NULL;
}

/* Read more behind `end`; moves and grows the buffer as needed. False at the end or on an error. */
static bool fill(struct dh_lines *l, bool *ret_error)
{
    if (l->eof)
        return false;
    if (l->begin > 0) {
        memmove(l->buffer, l->buffer + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    if (l->end == l->cap) {
        l->cap *= 2;
        l->buffer = dh_util_realloc(l->buffer, l->cap);
    }
    ssize_t n;
    do
        n = read(l->fd, l->buffer + l->end, l->cap - l->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        *ret_error = true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) {
        l->eof = true;
        return false;
    }
    l->end += (size_t)n;
    return true;
}

enum dh_lines_result dh_lines_next(struct dh_lines *l, const char **ret_text, size_t *ret_len)
{
    size_t seen = 0;    /* bytes after begin known to hold no newline */
    size_t skipped = 0; /* before them, of the same line */
    bool too_long = false, error = false;
    for (;;) {
        const char *text = l->buffer + l->begin;
        size_t have = l->end - l->begin;
        const char *newline = have > seen ? memchr(text + seen, '\n', have - seen) : NULL;
        if (newline) {
            *ret_text = text;
            *ret_len = (size_t)(newline - text);
            l->begin += *ret_len + 1;
            l->number++;
            return too_long || *ret_len > DH_LINES_MAX ? DH_LINES_TOO_LONG : DH_LINES_OK;
        }
        seen = have;
        if (have > DH_LINES_MAX) {
            too_long = true;
            l->begin = l->end = 0;
            seen = 0;
            skipped += have;
        }
        if (skipped > DH_LINES_SKIP) {
            errno = EFBIG;
            return DH_LINES_ERROR;
        }
        if (fill(l, &error))
            continue;
        if (error)
            return DH_LINES_ERROR;
        if (seen == 0 && !too_long)
            return DH_LINES_END;
        *ret_text = l->buffer + l->begin;
        *ret_len = l->end - l->begin;
        l->begin = l->end;
        l->number++;
        return too_long ? DH_LINES_TOO_LONG : DH_LINES_CUT;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int load(const char *path, size_t limit, bool objects, char **ret_text, size_t *ret_len)
{
    size_t n = 0, cap = 4096, spaces = 0; /* with which it begins */
    ssize_t got = 0;
    int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    char *text = dh_util_alloc(cap + 1);
    do {
        if (n == cap)
            text = dh_util_realloc(text, (cap *= 2) + 1);
        got = read(fd, text + n, cap - n);
        if (got < 0 && errno != EINTR)
            rc = -errno; /* a directory opens, and fails here */
        n += got > 0 ? (size_t)got : 0;
        while (spaces < n && is_space(text[spaces]))
            spaces++;
        if (objects && spaces < n && text[spaces] != '{')
            rc = -EILSEQ;
        if (n > limit)
            rc = -EFBIG;
    } while (!rc && got != 0);
    close(fd);
    if (rc) {
        free(text);
        return rc;
    }
    text[n] = 0;
    *ret_text = text;
    *ret_len = n;
    return 0;
}

int dh_lines_load(const char *path, size_t limit, char **ret_text, size_t *ret_len)
{
    return load(path, limit, false, ret_text, ret_len);
}

int dh_lines_load_objects(const char *path, size_t limit, char **ret_text, size_t *ret_len)
{
    return load(path, limit, true, ret_text, ret_len);
}
