/*
 * std.c - see std.h.
 *
 * Freestanding like the rest of this room: reads by system call, keeps its memory in the pool.
 */
#include "event/std.h"

#include <errno.h>
#include <string.h>

#include "base/fmt.h"
#include "base/pool.h"
#include "base/sys.h"

enum { BUFFER = 1 << 20, SLACK = 8 /* names are read eight bytes at a time */ };

struct span {
    const char *p;
    size_t n;
};

int dh_std_init(struct dh_std *s, int fd)
{
    *s = (struct dh_std){.fd = fd};
    s->buf = dh_pool_alloc(BUFFER + SLACK);
    return s->buf ? 0 : -ENOMEM;
}

void dh_std_done(struct dh_std *s)
{
    dh_pool_free(s->buf, BUFFER + SLACK);
    dh_names_done(&s->threads);
    dh_names_done(&s->locks);
    dh_names_done(&s->variables);
    dh_form_done(&s->form);
}

/* Numbers the variables of the events read so far, in their order. */
static bool number_pending(struct dh_std *s)
{
    for (u32 i = 0; i < s->n_pending; i++) {
        u32 n = dh_names_intern_key(&s->variables, s->pending[i].name, s->pending[i].len, s->pending[i].key);
        if (n == UINT32_MAX)
            return false;
        s->pending[i].e->target = n;
    }
    s->n_pending = 0;
    return true;
}

/* The table of names may be large: prefetch the slot now and use it later. */
static bool name_variable(struct dh_std *s, struct dh_event *e, struct span name)
{
    if (s->n_pending == DH_STD_PENDING && !number_pending(s))
        return false;
    u32 i = s->n_pending++;
    s->pending[i].e = e;
    s->pending[i].name = name.p;
    s->pending[i].len = name.n;
    s->pending[i].key = dh_names_soon(&s->variables, name.p, name.n);
    return true;
}

/* More bytes behind the unread ones. 0, or what read said. */
static int fill(struct dh_std *s)
{
    memmove(s->buf, s->buf + s->at, s->len - s->at);
    s->len -= s->at;
    s->at = 0;
    while (s->len < BUFFER && !s->at_end) {
        long n = dh_sys6(SYS_read, s->fd, (long)(s->buf + s->len), (long)(BUFFER - s->len), 0, 0, 0);
        if (n == -EINTR)
            continue;
        if (n < 0)
            return (int)n;
        s->at_end = n == 0;
        s->len += (size_t)n;
        s->bytes += (u64)n;
    }
    return 0;
}

/* The error text: pieces up to a NULL. Quoted text is cut to a readable length. */
static DH_COLD long bad(struct dh_std *s, const char *before, struct span quoted, const char *after)
{
    struct dh_fmt f;
    dh_fmt_init(&f, s->error, sizeof(s->error));
    dh_fmt_str(&f, before);
    if (quoted.p) {
        dh_fmt_str(&f, "'");
        for (size_t i = 0; i < quoted.n && i < 40; i++)
            dh_fmt_char(&f, quoted.p[i] < 0x20 || quoted.p[i] == 0x7f ? '?' : quoted.p[i]);
        dh_fmt_str(&f, quoted.n > 40 ? "...'" : "'");
    }
    dh_fmt_str(&f, after);
    return -EBADMSG;
}

static const struct span none = {NULL, 0};

static bool is_blank(char c)
{
    return (u8)c <= ' ' || c == 0x7f;
}

static long parse_location(struct dh_std *s, struct span field, u32 *ret_site)
{
    const char *p = field.p, *end = field.p + field.n;
    bool negative = p < end && *p == '-';
    u64 v = 0;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return bad(s, "the location is no number: ", field, "");
    for (; p < end; p++) {
        if (*p == '|')
            return bad(s, "more than two bars", none, "");
        if (*p < '0' || *p > '9')
            return bad(s, "the location is no number: ", field, "");
        v = v * 10 + (u64)(*p - '0');
        if (v > (u64)INT32_MAX + negative)
            return bad(s, "the location does not fit 32 bits: ", field, "");
    }
    *ret_site = (u32)(negative ? -v : v);
    return 0;
}

static bool is(struct span word, const char *text, size_t n)
{
    return word.n == n && memcmp(word.p, text, n) == 0;
}

static bool begins(struct span field, const char *text, size_t n)
{
    return field.n >= n && memcmp(field.p, text, n) == 0;
}

static u8 op_of(struct span word)
{
    if (word.n == 1)
        return word.p[0] == 'r' ? DH_OP_READ : word.p[0] == 'w' ? DH_OP_WRITE : DH_OP_SKIP;
    if (is(word, "acq", 3))
        return DH_OP_ACQUIRE;
    if (is(word, "rel", 3))
        return DH_OP_RELEASE;
    if (is(word, "fork", 4))
        return DH_OP_FORK;
    return is(word, "join", 4) ? DH_OP_JOIN : DH_OP_SKIP;
}

static long parse_op(struct dh_std *s, struct span field, struct dh_event *e)
{
    const char *open = memchr(field.p, '(', field.n);
    struct span word = {field.p, open ? (size_t)(open - field.p) : field.n};
    u8 op = op_of(word);
    if (op == DH_OP_SKIP) {
        if (begins(field, "begin", 5))
            e->op = DH_OP_BLOCK_BEGIN;
        else if (begins(field, "end", 3))
            e->op = DH_OP_BLOCK_END;
        else if (begins(field, "branch", 6))
            e->op = DH_OP_BRANCH;
        else
            return bad(s, "unknown operation ", word, "");
        return 0;
    }
    if (!open || field.p[field.n - 1] != ')')
        return bad(s, "an operand in parentheses is missing after ", word, "");
    struct span operand = {open + 1, (size_t)(field.p + field.n - 1 - (open + 1))};
    if (operand.n == 0)
        return bad(s, "the operand is empty after ", word, "");
    for (size_t i = 0; i < operand.n; i++) {
        if (DH_UNLIKELY(is_blank(operand.p[i])))
            return bad(s, "a blank in the operand ", operand, "");
    }
    e->op = op;
    if (op <= DH_OP_WRITE)
        return name_variable(s, e, operand) ? 0 : -ENOMEM;
    e->target = dh_names_intern(op <= DH_OP_RELEASE ? &s->locks : &s->threads, operand.p, operand.n);
    return e->target == UINT32_MAX ? -ENOMEM : 0;
}

static long parse_thread(struct dh_std *s, struct span name, struct dh_event *e)
{
    if (name.n == s->last_len && name.n && memcmp(name.p, s->last_name, name.n) == 0) {
        e->thread = s->last_thread;
        return 0;
    }
    if (name.n == 0)
        return bad(s, "no thread before the first bar", none, "");
    for (size_t i = 0; i < name.n; i++) {
        if ((u8)name.p[i] < ' ')
            return bad(s, "a control character in the thread ", name, "");
    }
    e->thread = dh_names_intern(&s->threads, name.p, name.n);
    if (e->thread == UINT32_MAX)
        return -ENOMEM;
    s->last_thread = e->thread;
    s->last_len = name.n <= sizeof(s->last_name) ? (u32)name.n : 0;
    memcpy(s->last_name, name.p, s->last_len);
    return 0;
}

static DH_COLD long malformed(struct dh_std *s, const struct dh_event *e, enum dh_form_error error)
{
    const char *thread = dh_names_get(&s->threads, e->thread);
    const char *lock = dh_names_get(&s->locks, e->target);
    struct dh_fmt f;
    dh_fmt_init(&f, s->error, sizeof(s->error));
    if (error == DH_FORM_NO_MEMORY)
        return -ENOMEM;
    dh_fmt_str(&f, "thread ");
    dh_fmt_str(&f, thread);
    switch (error) {
    case DH_FORM_NOT_HELD:
    case DH_FORM_HELD:
        dh_fmt_str(&f, error == DH_FORM_HELD ? " acquires lock " : " releases lock ");
        dh_fmt_str(&f, lock);
        if (s->form.other == DH_FORM_NOBODY) {
            dh_fmt_str(&f,
                       error == DH_FORM_HELD ? ", which others hold for reading" : ", which nobody holds");
            break;
        }
        dh_fmt_str(&f, ", which thread ");
        dh_fmt_str(&f, dh_names_get(&s->threads, s->form.other));
        dh_fmt_str(&f, " holds since line ");
        dh_fmt_u64(&f, s->form.since + 1);
        break;
    case DH_FORM_SELF_FORK:
        dh_fmt_str(&f, " forks itself");
        break;
    case DH_FORM_SELF_JOIN:
        dh_fmt_str(&f, " joins itself");
        break;
    default:
        dh_fmt_str(&f, " acts after it was joined");
    }
    return -EBADMSG;
}

static long parse_line(struct dh_std *s, const char *p, const char *end, struct dh_event *e)
{
    if (end > p && end[-1] == '\r')
        end--;
    if (p == end)
        return bad(s, "blank line", none, "");
    const char *bar = memchr(p, '|', (size_t)(end - p));
    if (!bar)
        return bad(s, "no bars: expected thread|op(operand)|location, found ",
                   (struct span){p, (size_t)(end - p)}, "");
    const char *bar2 = memchr(bar + 1, '|', (size_t)(end - bar - 1));
    if (!bar2)
        return bad(s, "only one bar: expected thread|op(operand)|location, found ",
                   (struct span){p, (size_t)(end - p)}, "");
    *e = (struct dh_event){0};
    long rc = parse_thread(s, (struct span){p, (size_t)(bar - p)}, e);
    if (!rc)
        rc = parse_op(s, (struct span){bar + 1, (size_t)(bar2 - bar - 1)}, e);
    if (!rc)
        rc = parse_location(s, (struct span){bar2 + 1, (size_t)(end - bar2 - 1)}, &e->site);
    if (rc)
        return rc;
    enum dh_form_error error = dh_form_next(&s->form, e, s->line);
    return DH_LIKELY(error == DH_FORM_OK) ? 0 : malformed(s, e, error);
}

long dh_std_read(struct dh_std *s, struct dh_event *events, size_t cap)
{
    size_t n = 0;
    s->n_pending = 0;
    while (n < cap) {
        const char *p = s->buf + s->at;
        const char *end = memchr(p, '\n', s->len - s->at);
        if (!end) {
            if (!s->at_end) {
                int rc = number_pending(s) ? fill(s) : -ENOMEM; /* the names lie in the buffer */
                if (rc)
                    return rc;
                if (memchr(s->buf, '\n', s->len) || s->at_end)
                    continue;
                s->line++;
                return bad(s, "the line is longer than a megabyte", none, "");
            }
            if (s->at == s->len)
                break;
            end = s->buf + s->len; /* the last line, without its end */
        }
        long rc = parse_line(s, p, end, &events[n]);
        s->line++;
        if (DH_UNLIKELY(rc))
            return rc;
        n++;
        s->at = (size_t)(end - s->buf) + (end < s->buf + s->len);
    }
    if (n == 0)
        dh_form_end(&s->form);
    return number_pending(s) ? (long)n : -ENOMEM;
}

long dh_std_format(const struct dh_event *e, const char *thread, const char *target, char *buf, size_t cap)
{
    static const char *const words[DH_OP_COUNT] = {
        [DH_OP_READ] = "r",        [DH_OP_WRITE] = "w",           [DH_OP_ACQUIRE] = "acq",
        [DH_OP_RELEASE] = "rel",   [DH_OP_FORK] = "fork",         [DH_OP_JOIN] = "join",
        [DH_OP_BRANCH] = "branch", [DH_OP_BLOCK_BEGIN] = "begin", [DH_OP_BLOCK_END] = "end",
    };
    const char *word = e->op < DH_OP_COUNT ? words[e->op] : NULL;
    bool sync = e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE;
    if (!word || (sync && e->mode != DH_EXCLUSIVE) || (dh_event_is_access(e) && (e->mode & DH_ATOMIC)))
        return 0;
    struct dh_fmt f;
    dh_fmt_init(&f, buf, cap);
    dh_fmt_str(&f, thread);
    dh_fmt_char(&f, '|');
    dh_fmt_str(&f, word);
    if (dh_event_space(e->op) != DH_SPACE_NONE) {
        dh_fmt_char(&f, '(');
        dh_fmt_str(&f, target);
        dh_fmt_char(&f, ')');
    }
    dh_fmt_char(&f, '|');
    dh_fmt_i64(&f, (int32_t)e->site);
    dh_fmt_char(&f, '\n');
    return f.overflow ? -EMSGSIZE : (long)f.len;
}
