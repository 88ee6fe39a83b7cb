/*
 * goldilocks_log.c - see goldilocks_log.h.
 *
 * Bringing all sets forward at once goes through the log backwards. For a place p let reach(x) be what x
 * becomes by the end of the log if it is in a set at p. At the end reach(x) = {x}; the step (from, to) before
 * it makes reach(from) the union of reach(from) and reach(to) and changes nothing else, one to nobody makes
 * reach(from) empty. A set at p then
 * becomes the union of its elements' reaches. That is one union of bit rows a step, however many sets there
 * are; each set is touched once.
 */
#include "detect/goldilocks_log.h"

#include <string.h>

void dh_gold_log_init(struct dh_gold_log *log, struct dh_detector *d)
{
    log->d = d;
    log->limit = 1 << 20;
    log->row_bytes = 16 << 20;
}

u32 dh_gold_element(struct dh_gold_log *log, u32 id, u32 kind)
{
    u32 key = id * 4 + kind;
    if (!DH_ROOM(log->d, log->numbers, log->n_numbers, key))
        return 0;
    if (DH_UNLIKELY(!log->numbers[key]))
        log->numbers[key] = ++log->n_elements;
    return log->numbers[key] - 1;
}

/* A row of bits is preceded by the number of words it has room for, which is one less than a power of two. */
static u64 *new_row(struct dh_gold_log *log, u32 words)
{
    u32 all = 2;
    while (all < words + 1)
        all *= 2;
    u64 *row = dh_detect_alloc(log->d, all * sizeof(*row));
    if (!row)
        return NULL;
    row[0] = all - 1;
    return row + 1;
}

static void free_row(struct dh_gold_log *log, u64 *bits)
{
    if (bits)
        dh_detect_free(log->d, bits - 1, (bits[-1] + 1) * sizeof(*bits));
}

void dh_gold_start(struct dh_gold_log *log, struct dh_gold_set *s, u32 self)
{
    s->self = self;
    s->at = log->n;
    s->words = 0; /* its row, if any, is not touched until it is needed again */
}

void dh_gold_drop(struct dh_gold_log *log, struct dh_gold_set *s)
{
    free_row(log, s->bits);
    *s = (struct dh_gold_set){0};
}

void dh_gold_own(struct dh_gold_log *log, struct dh_gold_set *s)
{
    u64 *bits = s->words ? new_row(log, s->words) : NULL;
    if (bits)
        memcpy(bits, s->bits, s->words * sizeof(*bits));
    s->bits = bits;
    s->words = bits ? s->words : 0;
}

/* Bits for every element there is. */
static bool reserve(struct dh_gold_log *log, struct dh_gold_set *s)
{
    u32 words = log->n_elements / 64 + 1;
    if (words <= s->words)
        return true;
    if (s->bits && words <= s->bits[-1]) {
        memset(s->bits + s->words, 0, (words - s->words) * sizeof(*s->bits));
    } else {
        u64 *bits = new_row(log, words);
        if (!bits)
            return false;
        if (s->bits)
            memcpy(bits, s->bits, s->words * sizeof(*bits));
        free_row(log, s->bits);
        s->bits = bits;
    }
    s->bits[s->self / 64] |= 1ull << (s->self % 64);
    s->words = words;
    return true;
}

static u64 bit(const u64 *bits, u32 i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

bool dh_gold_advance(struct dh_gold_log *log, struct dh_gold_set *s, u32 wanted)
{
    if (s->at == log->n)
        return false;
    if (!reserve(log, s))
        return true; /* the detector has failed: no report without evidence */
    u64 *bits = s->bits;
    for (u32 i = s->at; i < log->n; i++) {
        struct dh_gold_step step = log->steps[i];
        if (!bit(bits, step.from))
            continue;
        if (step.to == DH_GOLD_NOBODY) {
            bits[step.from / 64] &= ~(1ull << (step.from % 64));
            continue;
        }
        if (bit(bits, step.to))
            continue;
        bits[step.to / 64] |= 1ull << (step.to % 64);
        if (step.to == wanted) {
            s->at = i + 1;
            return true;
        }
    }
    s->at = log->n;
    return false;
}

/* --- all sets at once --- */

struct chain {
    struct dh_gold_set *set;
    u32 next; /* chain + 1 */
};

struct pass {
    struct dh_gold_log *log;
    u32 first, last;      /* the segment of the log */
    struct chain *chains; /* the sets of each place */
    u32 n_chains, cap_chains;
    u32 *heads; /* by place - first: chain + 1 */
    u32 *row;   /* by element: row + 1; 0: not in this segment, so it reaches itself only */
    u32 n_rows, max_rows;
    u32 words; /* of a row */
    u64 *rows;
    u64 *result; /* a set being brought forward */
};

static void chain_up(void *ctx, struct dh_gold_set *s)
{
    struct pass *p = ctx;
    if (s->at >= p->last)
        return;
    if (!DH_ROOM(p->log->d, p->chains, p->cap_chains, p->n_chains))
        return;
    p->chains[p->n_chains] = (struct chain){.set = s, .next = p->heads[s->at - p->first]};
    p->heads[s->at - p->first] = ++p->n_chains;
}

static u64 *row_of(const struct pass *p, u32 element)
{
    return p->rows + (size_t)(p->row[element] - 1) * p->words;
}

static void unite(const struct pass *p, u64 *restrict into, const u64 *restrict row)
{
    for (u32 i = 0; i < p->words; i++)
        into[i] |= row[i];
}

static void lift(const struct pass *p, struct dh_gold_set *s)
{
    s->at = p->last;
    if (!s->words) {
        if (!p->row[s->self])
            return; /* its thread gave nothing to anyone: still alone */
        if (reserve(p->log, s))
            unite(p, s->bits, row_of(p, s->self));
        return;
    }
    if (!reserve(p->log, s))
        return;
    /* Beside the set: what an element has become is not what it would have given at this place. */
    memset(p->result, 0, p->words * sizeof(*p->result));
    for (u32 w = 0; w < s->words; w++) {
        for (u64 left = s->bits[w]; left; left &= left - 1) {
            u32 element = w * 64 + (u32)__builtin_ctzll(left);
            if (p->row[element])
                unite(p, p->result, row_of(p, element));
            else
                p->result[w] |= 1ull << (element % 64);
        }
    }
    memcpy(s->bits, p->result, p->words * sizeof(*p->result));
}

static bool add_row(struct pass *p, u32 element)
{
    if (p->row[element])
        return true;
    if (p->n_rows == p->max_rows)
        return false;
    p->row[element] = ++p->n_rows;
    u64 *row = row_of(p, element);
    memset(row, 0, p->words * sizeof(*row));
    row[element / 64] = 1ull << (element % 64);
    return true;
}

/* One backward pass over the segment that starts at p->first; sets p->last. */
static void segment(struct pass *p, dh_gold_each_fn *each)
{
    struct dh_gold_log *log = p->log;
    p->n_rows = 0;
    p->n_chains = 0;
    p->last = p->first;
    memset(p->row, 0, log->n_elements * sizeof(*p->row));
    while (p->last < log->n && add_row(p, log->steps[p->last].from) &&
           (log->steps[p->last].to == DH_GOLD_NOBODY || add_row(p, log->steps[p->last].to)))
        p->last++;
    memset(p->heads, 0, (p->last - p->first) * sizeof(*p->heads));
    each(log->d, chain_up, p);
    for (u32 place = p->last; place-- > p->first && !log->d->failed;) {
        struct dh_gold_step step = log->steps[place];
        if (step.to == DH_GOLD_NOBODY)
            memset(row_of(p, step.from), 0, p->words * sizeof(u64));
        else if (step.from != step.to)
            unite(p, row_of(p, step.from), row_of(p, step.to));
        for (u32 c = p->heads[place - p->first]; c; c = p->chains[c - 1].next)
            lift(p, p->chains[c - 1].set);
    }
}

static void set_back(void *ctx, struct dh_gold_set *s)
{
    (void)ctx;
    s->at = 0;
}

static DH_NOINLINE void bring_all_forward(struct dh_gold_log *log, dh_gold_each_fn *each)
{
    struct dh_detector *d = log->d;
    struct pass p = {.log = log, .words = log->n_elements / 64 + 1};
    u32 fit = (u32)(log->row_bytes / (p.words * sizeof(u64)));
    p.max_rows = fit < 2 ? 2 : fit < log->n_elements ? fit : log->n_elements;
    size_t rows = (size_t)p.max_rows * p.words * sizeof(u64);
    p.rows = dh_detect_alloc(d, rows);
    p.heads = dh_detect_alloc(d, log->limit * sizeof(*p.heads));
    p.row = dh_detect_alloc(d, log->n_elements * sizeof(*p.row));
    p.result = dh_detect_alloc(d, p.words * sizeof(*p.result));
    while (!d->failed && p.first < log->n) {
        segment(&p, each);
        p.first = p.last;
    }
    dh_detect_free(d, p.rows, rows);
    dh_detect_free(d, p.result, p.words * sizeof(*p.result));
    dh_detect_free(d, p.heads, log->limit * sizeof(*p.heads));
    dh_detect_free(d, p.row, log->n_elements * sizeof(*p.row));
    dh_detect_free(d, p.chains, p.cap_chains * sizeof(*p.chains));
    log->n = 0;
    each(d, set_back, NULL);
}

void dh_gold_give(struct dh_gold_log *log, u32 from, u32 to, dh_gold_each_fn *each)
{
    if (log->n >= log->limit)
        bring_all_forward(log, each);
    if (DH_ROOM(log->d, log->steps, log->cap, log->n))
        log->steps[log->n++] = (struct dh_gold_step){.from = from, .to = to};
}
