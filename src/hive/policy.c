/*
 * policy.c - the assignment policy of RaceMob, section 3.3; see policy.h.
 *
 * Each choice examines a bounded number of units. It differs from the paper in two ways. A user is relieved
 * above twice the average, not above the average, where about half of all users are. And in the paper context
 * inference watches all candidates at once, while here a user watches one; so what results have shown so far
 * decides which come first (enum dh_hive_hope). Three of four tasks go to the best class that has any unit,
 * three of four of the rest to the next, and so on: no unit waits for ever.
 */
#include "hive/policy.h"

enum { PROBES = 32 };

static u64 next(u64 *random)
{
    *random += 0x9e3779b97f4a7c15ull; /* splitmix64 */
    u64 z = *random;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static size_t below(u64 *random, size_t n)
{
    return (size_t)(next(random) % n);
}

/* How suitable this unit is for this user. The verdict so far does not matter: if Unknown were preferred,
 * units that no execution ever reaches would in the end take all users. */
enum liking { NOT_AT_ALL, AGAIN, NEW };

static enum liking liking(const struct dh_hive_state *s, u32 user, u32 unit, enum dh_hive_order *ret_order)
{
    const struct dh_hive_unit *u = &s->units[unit];
    const struct dh_hive_tried *t = dh_hive_tried(s, user, unit);
    enum liking best = NOT_AT_ALL;
    bool other = dh_hive_wanted(&u->tally) == DH_HIVE_WANT_OTHER;
    for (int order = 0; order < (u->bundle ? 1 : DH_HIVE_ORDERS); order++) {
        u8 bit = (u8)(1u << order);
        if ((t && t->abandoned & bit) || (other && order != (int)dh_hive_other_order(&u->tally)))
            continue;
        bool less_tried = u->tried[order] < u->tried[!order];
        enum liking like = t && t->done & bit ? AGAIN : NEW;
        if (like > best || (like == best && less_tried)) {
            best = like;
            *ret_order = (enum dh_hive_order)order;
        }
    }
    return best;
}

static enum liking draw(const struct dh_hive_state *s, const struct dh_hive_build *b, const u32 *slots,
                        size_t n, u32 user, u64 *random, struct dh_hive_choice *ret)
{
    enum liking best = NOT_AT_ALL;
    size_t start = n ? below(random, n) : 0;
    for (size_t i = 0; i < PROBES && i < n && best < NEW; i++) {
        /* If there are few, all are examined; if many, a random selection. */
        size_t at = n <= PROBES ? (start + i) % n : below(random, n);
        enum dh_hive_order order = DH_HIVE_PRIMARY;
        u32 unit = b->slots[slots[at]].unit;
        enum liking like = liking(s, user, unit, &order);
        if (like > best) {
            best = like;
            *ret = (struct dh_hive_choice){unit, order, DH_HIVE_NONE};
        }
    }
    return best;
}

/* From the idle ones. */
static enum liking draw_idle(const struct dh_hive_state *s, const struct dh_hive_build *b, u32 user,
                             u64 *random, struct dh_hive_choice *ret)
{
    int first = DH_HIVE_HOPES - 1;
    enum liking best = NOT_AT_ALL;
    for (int hope = first; hope >= 0; hope--) {
        if (!b->n_idle[hope])
            continue;
        first = hope;
        if (next(random) & 3)
            break;
    }
    for (int i = 0; i < DH_HIVE_HOPES && best < NEW; i++) {
        /* The class that was drawn, then the others, best first. */
        int hope = !i ? first : DH_HIVE_HOPES - i - (DH_HIVE_HOPES - i <= first);
        struct dh_hive_choice c;
        enum liking like = draw(s, b, b->idle[hope], b->n_idle[hope], user, random, &c);
        if (like > best) {
            best = like;
            *ret = c;
        }
    }
    return best;
}

static bool overdue(const struct dh_hive_policy *p, const struct dh_hive_state *s,
                    const struct dh_hive_build *b, u32 user, u64 now_us, struct dh_hive_choice *ret)
{
    size_t looked = 0;
    for (size_t i = b->queue_head; i < b->n_queue && looked < PROBES; i++) {
        const struct dh_hive_waiting *w = &b->queue[i];
        if (w->task == DH_HIVE_NONE || s->tasks[w->task].state != DH_HIVE_ACTIVE)
            continue;
        if (w->since_us + p->settings.bound_us > now_us)
            return false; /* all after it are younger */
        const struct dh_hive_task *t = &s->tasks[w->task];
        const struct dh_hive_tried *tried = dh_hive_tried(s, user, t->unit);
        looked++;
        if (tried && (tried->done | tried->abandoned) & (1u << t->order))
            continue;
        *ret = (struct dh_hive_choice){t->unit, (enum dh_hive_order)t->order, w->task};
        return true;
    }
    return false;
}

static bool choose(const struct dh_hive_policy *p, const struct dh_hive_state *s, u32 user, u64 now_us,
                   u64 *random, struct dh_hive_choice *ret)
{
    const struct dh_hive_user *u = &s->users[user];
    const struct dh_hive_build *b = &s->builds[u->build];
    struct dh_hive_choice idle = {0}, any = {0};
    if (u->relieved_until_us > now_us || b->forgotten)
        return false;
    enum liking like = draw_idle(s, b, user, random, &idle);
    if (like == NEW) {
        *ret = idle;
        return true;
    }
    if (overdue(p, s, b, user, now_us, ret))
        return true;
    if (draw(s, b, b->open, b->n_open, user, random, &any) > like)
        *ret = any;
    else if (like)
        *ret = idle;
    else
        return false;
    return true;
}

static bool tau(const struct dh_hive_policy *p, u32 timeouts, u32 *ret_us)
{
    const struct dh_hive_settings *x = &p->settings;
    u64 before = timeouts ? x->tau_first_us + (u64)x->tau_step_us * (timeouts - 1) : 0;
    u64 us = x->tau_first_us + (u64)x->tau_step_us * timeouts;
    if (before >= x->tau_most_us)
        return false; /* the longest wait was one of them */
    *ret_us = (u32)(us < x->tau_most_us ? us : x->tau_most_us);
    return true;
}

static bool relieve(const struct dh_hive_policy *p, const struct dh_hive_state *s, u32 user)
{
    const struct dh_hive_user *u = &s->users[user];
    double share = p->settings.relieve_above;
    const struct dh_hive_program *all = &s->programs[u->program];
    if (u->runs < p->settings.relieve_runs || u->runs == all->runs)
        return false;
    double runs = (double)u->runs / (double)all->runs;
    return (double)u->waited_us > share * runs * (double)all->waited_us ||
           (double)u->timeouts > share * runs * (double)all->timeouts;
}

const struct dh_hive_policy dh_hive_racemob = {
    .name = "racemob",
    .settings = {.bound_us = 10 * 60 * 1000000ull,
                 .tau_first_us = 1000,
                 .tau_step_us = 50000,
                 .tau_most_us = 200000,
                 .relieve_above = 2,
                 .relieve_runs = 8,
                 .relieve_us = 10 * 60 * 1000000ull},
    .choose = choose,
    .tau = tau,
    .relieve = relieve,
};
