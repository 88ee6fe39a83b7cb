/*
 * test_hive_crowd.c - the hive without store and network: policies and verdicts on simulated crowds of up to
 * 10,000 users, the same each time; and that the log alone gives the same state.
 */
#include "unit/hive_log.h"

static void test_more_races_than_users(void **unused)
{
    (void)unused;
    begin(100, false);
    for (u64 user = 0; user < 40; user++)
        assert_int_not_equal(poll(user), DH_HIVE_NONE);
    assert_int_equal(dh_hive_idle(&state.builds[0]), 60); /* one each, and the rest is queued */
    for (u64 user = 0; user < 40; user++) {
        u32 task = poll(user); /* still the same */
        assert_int_equal(state.tasks[task].state, DH_HIVE_ACTIVE);
        assert_int_equal(post(user, task, "no-race", "none", 10), DH_HIVE_CREATED);
    }
    for (u64 user = 0; user < 40; user++)
        poll(user);
    for (u32 i = 0; i < 40; i++) /* as users finish, the others' turn comes */
        assert_int_not_equal(state.tasks[state.users[i].task].unit, state.tasks[i].unit);
    end();
}

static void test_more_users_than_races(void **unused)
{
    (void)unused;
    begin(20, false);
    for (u64 user = 0; user < 1000; user++)
        assert_int_not_equal(poll(user), DH_HIVE_NONE);
    for (u32 i = 0; i < 20; i++) {
        assert_in_range(state.units[i].active, 20, 100); /* about 50 */
        assert_in_range(state.units[i].tried[DH_HIVE_ALTERNATE], state.units[i].active / 3,
                        state.units[i].active * 2 / 3);
    }
    end();
}

static void test_confirmed_is_withdrawn_at_once(void **unused)
{
    (void)unused;
    begin(2, false);
    for (u64 user = 0; user < 100; user++)
        poll(user);
    u32 unit = state.tasks[0].unit;
    u64 before = state.seq;
    assert_int_equal(post(0, 0, "race", "crash", 10), DH_HIVE_CREATED);
    for (u32 i = 0; i < 100; i++) {
        assert_true(state.users[i].task == DH_HIVE_NONE || state.tasks[state.users[i].task].unit != unit);
        assert_int_equal(state.users[i].changed > before, state.tasks[i].unit == unit);
    }
    for (u64 user = 0; user < 100; user++) {
        u32 task = poll(user);
        assert_int_not_equal(state.tasks[task].unit, unit);
    }
    struct dh_hive_judgement j = dh_hive_judge(&state.units[unit].tally);
    assert_true(j.verdict == DH_HIVE_TRUE_RACE && j.crash && !j.both_orders);
    /* What was under way counts, once. */
    u32 late = 1;
    while (state.tasks[late].unit != unit || state.tasks[late].order == state.tasks[0].order)
        late++;
    assert_int_equal(post(late, late, "race", "none", 10), DH_HIVE_CREATED);
    assert_int_equal(post(late, late, "race", "none", 10), DH_HIVE_CONFLICT);
    assert_true(dh_hive_judge(&state.units[unit].tally).both_orders);
    end();
}

/* After a race in one order the other is tried, by one user at a time; seen as well, it is enough. */
static void test_other_order(void **unused)
{
    (void)unused;
    begin(1, false);
    u32 task = poll(1), waiting = poll(2);
    u8 order = state.tasks[task].order;
    assert_int_equal(post(1, task, "race", "none", 10), DH_HIVE_CREATED);
    assert_int_equal(state.tasks[waiting].state, DH_HIVE_WITHDRAWN);
    assert_false(dh_hive_judge(&state.units[0].tally).both_orders);
    u32 other = poll(2);
    assert_int_equal(state.tasks[other].order, !order);
    assert_int_equal(poll(1), DH_HIVE_NONE);
    assert_int_equal(post(2, other, "timeout", "none", 10), DH_HIVE_CREATED);
    assert_int_equal(state.tasks[other].state, DH_HIVE_ACTIVE); /* with a longer wait */
    assert_int_equal(post(2, other, "race", "none", 10), DH_HIVE_CREATED);
    assert_true(dh_hive_judge(&state.units[0].tally).both_orders);
    for (u64 user = 1; user < 10; user++)
        assert_int_equal(poll(user), DH_HIVE_NONE);
    end();
}

/* The other order does not show up: the race is one of a single order, and costs nobody anything any more. */
static void test_single_order(void **unused)
{
    (void)unused;
    begin(1, false);
    u32 task = poll(0);
    u8 order = state.tasks[task].order;
    assert_int_equal(post(0, task, "race", "none", 10), DH_HIVE_CREATED);
    for (u64 user = 1; user <= DH_HIVE_SECOND; user++) {
        task = poll(user);
        assert_int_not_equal(state.tasks[task].order, order);
        assert_int_equal(post(user, task, user % 2 ? "no-race" : "not-seen", "none", 10), DH_HIVE_CREATED);
    }
    assert_int_equal(poll(0), DH_HIVE_NONE);
    assert_int_equal(poll(DH_HIVE_SECOND + 1), DH_HIVE_NONE);
    struct dh_hive_judgement j = dh_hive_judge(&state.units[0].tally);
    assert_true(j.verdict == DH_HIVE_TRUE_RACE && !j.both_orders);
    end();
}

/* An access that races with itself in another thread has only one order, which is both. */
static void test_same_access(void **unused)
{
    (void)unused;
    u32 lines[1][2] = {{7, 7}};
    begin_with(lines, 1);
    assert_int_equal(post(0, poll(0), "race", "none", 10), DH_HIVE_CREATED);
    assert_true(dh_hive_judge(&state.units[0].tally).both_orders);
    assert_int_equal(poll(1), DH_HIVE_NONE);
    end();
}

/* How likely it is that it is chance that the program crashed after this race and not after others. */
static double chance_of(u32 unit)
{
    const struct dh_hive_harm own = dh_hive_harm_of(&state.units[unit].tally), all = state.programs[0].harm;
    return dh_hive_chance(own.crashes, own.races, all.crashes - own.crashes, all.races - own.races);
}

/* After two of many races the program crashed; then one of them is forgotten, and not compared with any
 * more. */
static void test_crash_of_others(void **unused)
{
    (void)unused;
    enum { RACES = 25 };
    char id[17];
    const char *why;
    begin(RACES, false);
    for (u64 user = 0; user < RACES; user++) /* one unit each */
        poll(user);
    for (u32 task = 0; task < RACES; task++)
        assert_int_equal(post(task, task, "race", state.tasks[task].unit < 2 ? "crash" : "none", 10),
                         DH_HIVE_CREATED);
    assert_true(state.programs[0].harm.races == RACES && state.programs[0].harm.crashes == 2);
    assert_float_equal(chance_of(0), 2. / RACES, 1e-9);
    assert_float_equal(chance_of(2), 1, 1e-9);
    assert_int_equal(dh_hive_forget(&hive, "prog", dh_hive_id_text(state.units[1].id, id), NULL, NULL, &why),
                     DH_HIVE_OK);
    assert_true(state.programs[0].harm.races == RACES - 1 && state.programs[0].harm.crashes == 1);
    assert_float_equal(chance_of(0), 1. / (RACES - 1), 1e-9);
    end();
}

/* A forgotten user who takes part again is as new. */
static void test_forgotten_user(void **unused)
{
    (void)unused;
    char name[DH_HIVE_HASH + 1];
    const char *why;
    begin(3, false);
    post(1, poll(1), "no-race", "none", 10);
    u32 task = poll(1), hint = 0;
    hive_name(name, DH_HIVE_HASH, 1);
    assert_int_equal(dh_hive_forget(&hive, NULL, NULL, NULL, name, &why), DH_HIVE_OK);
    assert_int_equal(state.tasks[task].state, DH_HIVE_WITHDRAWN);
    assert_true(state.users[0].forgotten && !state.users[0].results);
    assert_true(dh_hive_poll_changes(&state, 0, name, "aaaaaaaa", hive.now_us, &hint));
    assert_int_not_equal(poll(1), DH_HIVE_NONE);
    assert_false(state.users[0].forgotten);
    assert_int_equal(state.n_users, 1);
    end();
}

static void test_tau(void **unused)
{
    (void)unused;
    static const u32 waits[] = {1000, 51000, 101000, 151000, 200000};
    begin(1, false);
    u32 task = poll(7);
    for (size_t i = 0; i < DH_ARRAY_LEN(waits); i++) {
        assert_int_equal(state.tasks[task].state, DH_HIVE_ACTIVE);
        assert_int_equal(state.tasks[task].tau_us, waits[i]);
        assert_int_equal(dh_hive_judge(&state.units[0].tally).verdict, DH_HIVE_UNKNOWN);
        assert_int_equal(post(7, task, "timeout", "none", 10), DH_HIVE_CREATED);
    }
    assert_int_equal(state.tasks[task].state, DH_HIVE_ABANDONED);
    assert_int_equal(dh_hive_judge(&state.units[0].tally).verdict, DH_HIVE_LIKELY_FALSE);
    u32 other = poll(7); /* the other order, not this one again */
    assert_int_not_equal(state.tasks[other].order, state.tasks[task].order);
    assert_int_equal(state.tasks[other].tau_us, 1000);
    end();
}

static void test_overdue(void **unused)
{
    (void)unused;
    begin(3, false);
    u32 slow = poll(1);
    hive.now_us += 5 * MINUTE;
    poll(2), poll(3);
    hive.now_us += 6 * MINUTE;
    u32 extra = poll(4); /* only the first is late */
    assert_int_equal(state.tasks[extra].unit, state.tasks[slow].unit);
    assert_int_equal(state.tasks[extra].order, state.tasks[slow].order);
    assert_int_equal(state.tasks[slow].state, DH_HIVE_ACTIVE);
    assert_int_equal(state.units[state.tasks[slow].unit].active, 2);
    end();
}

/* A user who never comes back, whose unit everybody else has tried: all other tasks come and go, and are not
 * kept behind that one. */
static void test_vanished_user(void **unused)
{
    (void)unused;
    enum { TASKS = 5000 };
    begin(2, false);
    u32 slow = poll(0);
    for (int i = 0; i < TASKS; i++) {
        hive.now_us += MINUTE;
        assert_int_equal(post(1, poll(1), "no-race", "none", 10), DH_HIVE_CREATED);
    }
    assert_int_equal(state.tasks[slow].state, DH_HIVE_ACTIVE);
    assert_true(state.builds[0].n_queue < TASKS / 2);
    end();
}

static void test_relief(void **unused)
{
    (void)unused;
    begin(50, false);
    for (int round = 0; round < 8; round++)
        for (u64 user = 0; user < 10; user++)
            assert_int_equal(post(user, poll(user), "no-race", "none", user == 3 ? 9000 : 1000),
                             DH_HIVE_CREATED);
    for (u64 user = 0; user < 10; user++)
        assert_int_equal(poll(user) == DH_HIVE_NONE, user == 3);
    hive.now_us += 11 * MINUTE;
    assert_int_not_equal(poll(3), DH_HIVE_NONE);
    end();
}

static void test_bundle(void **unused)
{
    (void)unused;
    begin(0, true);
    const struct dh_pairs *t = state.builds[0].table;
    const char *why;
    char name[DH_HIVE_HASH + 1], a[17], b[17], c[17];
    assert_int_equal(state.n_units, 1);
    assert_true(state.units[0].bundle);
    u32 task = poll(1);
    dh_hive_id_text(t->sites[0].id, a);
    dh_hive_id_text(t->sites[1].id, b); /* of the other side */
    dh_hive_id_text(t->sites[2].id, c); /* of the same side as the first */
    json_t *r = json_pack("{s:s, s:I, s:s, s:s, s:[{s:[s,s], s:s}]}", "id",
                          "00000000000000000000000000000001", "task", (json_int_t)task, "result", "inference",
                          "run", "00000000000000000000000000000001", "pairs", "sites", a, c, "saw", "met");
    hive_name(name, DH_HIVE_HASH, 1);
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_BAD);
    assert_int_equal(state.n_units, 1); /* no pair of the bundle */
    json_t *pair = json_array_get(json_object_get(r, "pairs"), 0);
    json_array_set_new(json_object_get(pair, "sites"), 1, json_string(b));
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_CREATED);
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_OK); /* as the first time */
    json_decref(r);
    keep_log();
    assert_int_equal(state.n_units, 2);
    assert_true(!state.units[1].bundle && state.units[1].parent == 0);
    assert_int_equal(state.units[1].id, dh_pairs_id_of(t->sites[0].id, t->sites[1].id));
    task = poll(1);
    assert_int_equal(state.tasks[task].unit, 1);
    add_build("prog", "bbbbbbbb", 0, 0, 1, true); /* other lines: another bundle, without these sites */
    add_build("prog", "cccccccc", 0, 0, 0, true); /* the same again */
    assert_int_equal(dh_hive_find_slot(&state, 1, 1), DH_HIVE_NONE);
    assert_int_not_equal(dh_hive_find_slot(&state, 2, 1), DH_HIVE_NONE);
    end();
}

/* The result of an inference that saw this of two accesses. */
static json_t *inference_of(u32 task, u64 number, const struct dh_pairs_site *a,
                            const struct dh_pairs_site *b, const char *saw)
{
    char id[33], first[17], second[17];
    hive_name(id, 32, number);
    return json_pack("{s:s, s:I, s:s, s:s, s:[{s:[s,s], s:s}]}", "id", id, "task", (json_int_t)task, "result",
                     "inference", "run", id, "pairs", "sites", dh_hive_id_text(a->id, first),
                     dh_hive_id_text(b->id, second), "saw", saw);
}

/* Two accesses of a bundle that did not meet are no candidate, but it is known that they are executed. */
static void test_bundle_reached(void **unused)
{
    (void)unused;
    begin(0, true);
    const struct dh_pairs *t = state.builds[0].table;
    const char *why;
    char name[DH_HIVE_HASH + 1];
    json_t *r = inference_of(poll(1), 900, &t->sites[0], &t->sites[1], "not-aliasing");
    assert_int_equal(dh_hive_add_result(&hive, 0, hive_name(name, DH_HIVE_HASH, 1), r, &why),
                     DH_HIVE_CREATED);
    json_decref(r);
    keep_log();
    assert_int_equal(state.n_units, 1);
    for (int side = 0; side < 2; side++)
        assert_int_equal(state.sites[state.units[0].at[side]].reached, 1);
    end();
}

/* An inference sees more than its bundle: another pair of the build that met, and accesses that were reached. */
static void test_outside(void **unused)
{
    (void)unused;
    begin(1, true);
    const struct dh_pairs *t = state.builds[0].table;
    const char *why;
    char name[DH_HIVE_HASH + 1], ids[6][17];
    for (int i = 0; i < 6; i++)
        dh_hive_id_text(t->sites[i].id, ids[i]); /* 0 and 1 are a pair, the others are in the bundle */
    u64 user = 1;
    u32 task = poll(user);
    if (!state.units[state.tasks[task].unit].bundle)
        task = poll(++user);
    assert_true(state.units[state.tasks[task].unit].bundle);
    hive_name(name, DH_HIVE_HASH, user);
    json_t *r = inference_of(task, 900, &t->sites[0], &t->sites[1], "not-aliasing");
    json_object_set_new(r, "reached", json_pack("[s]", "000000000000000f"));
    json_t *pair = json_array_get(json_object_get(r, "pairs"), 0);
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_BAD); /* it has not met */
    json_object_set_new(pair, "saw", json_string("met"));
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_BAD); /* no such access */
    json_array_set_new(json_object_get(r, "reached"), 0, json_string(ids[2]));
    json_array_set_new(json_object_get(pair, "sites"), 1, json_string(ids[2]));
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_BAD); /* no pair of the build */
    json_array_set_new(json_object_get(pair, "sites"), 1, json_string(ids[1]));
    json_object_set_new(pair, "stacks", json_pack("[[i], [i, i]]", 16, 32, 48));
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_BAD); /* stacks of no race */
    json_object_del(pair, "stacks");
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_CREATED);
    json_decref(r);
    keep_log();
    assert_int_equal(state.n_units, 2);
    u32 met = dh_hive_find_unit(&state, 0, dh_pairs_id_of(t->sites[0].id, t->sites[1].id));
    assert_int_equal(state.units[met].tally.seen[DH_HIVE_MET], 1);
    assert_int_equal(state.sites[state.units[met].at[0]].reached, 1);
    u32 bundle = state.tasks[task].unit;
    assert_int_equal(state.sites[state.units[bundle].at[0]].reached, 1);
    assert_int_equal(state.sites[state.units[bundle].at[1]].reached, 0);
    end();
}

/* A pair that met is a candidate, whatever set it is in, also of later builds that have it. */
static void test_met_outside_of_the_units(void **unused)
{
    (void)unused;
    size_t len;
    begin_empty();
    u8 *table = hive_sound_table(true, &len);
    add_table("prog", "aaaaaaaa", table, len);
    const struct dh_pairs *t = state.builds[0].table;
    const char *why;
    char name[DH_HIVE_HASH + 1];
    hive_name(name, DH_HIVE_HASH, 1);
    assert_int_equal(state.n_units, 1);
    u32 task = poll(1);
    assert_true(state.units[state.tasks[task].unit].bundle);
    json_t *r = inference_of(task, 900, &t->sites[0], &t->sites[1], "met");
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_CREATED);
    json_decref(r);
    keep_log();
    u32 met = dh_hive_find_unit(&state, 0, dh_pairs_id_of(t->sites[0].id, t->sites[1].id));
    assert_int_not_equal(met, DH_HIVE_NONE);
    assert_int_equal(dh_hive_judge(&state.units[met].tally).verdict, DH_HIVE_UNKNOWN);
    assert_int_not_equal(dh_hive_find_slot(&state, 0, met), DH_HIVE_NONE);
    u64 number = 901;
    while (state.tasks[task = poll(1)].unit != met) { /* it is validated */
        r = inference_of(task, number++, &t->sites[2], &t->sites[3], "not-aliasing");
        assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_CREATED);
        json_decref(r);
    }
    table = hive_sound_table(false, &len);
    add_table("prog", "bbbbbbbb", table, len);
    assert_int_not_equal(dh_hive_find_slot(&state, 1, met), DH_HIVE_NONE);
    add_build("prog", "cccccccc", 3, 0, 0, false); /* other lines */
    assert_int_equal(dh_hive_find_slot(&state, 2, met), DH_HIVE_NONE);
    end();
}

/* Two threads that an inference has caught at once have raced, in the order of the sites. */
static void test_raced_in_bundle(void **unused)
{
    (void)unused;
    begin(0, true);
    const struct dh_pairs *t = state.builds[0].table;
    const char *why;
    char name[DH_HIVE_HASH + 1];
    hive_name(name, DH_HIVE_HASH, 1);
    for (u64 i = 0; i < 2; i++) {
        u32 task = poll(1);
        while (task != DH_HIVE_NONE && !state.units[state.tasks[task].unit].bundle) { /* not this order */
            assert_int_equal(post(1, task, "not-seen", "none", 10), DH_HIVE_CREATED);
            task = poll(1);
        }
        assert_int_not_equal(task, DH_HIVE_NONE);
        json_t *r = inference_of(task, 900 + i, &t->sites[i], &t->sites[1 - i], "race");
        json_object_set_new(json_array_get(json_object_get(r, "pairs"), 0), "stacks",
                            json_pack("[[i], [i,i]]", 16, 32, 48));
        assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_CREATED);
        json_decref(r);
        keep_log();
        u32 unit = dh_hive_find_unit(&state, 0, dh_pairs_id_of(t->sites[0].id, t->sites[1].id));
        assert_int_not_equal(unit, DH_HIVE_NONE);
        const struct dh_hive_unit *u = &state.units[unit];
        assert_int_equal(dh_hive_judge(&u->tally).verdict, DH_HIVE_TRUE_RACE);
        assert_int_equal(u->tally.races[DH_HIVE_PRIMARY] + u->tally.races[DH_HIVE_ALTERNATE], i + 1);
        assert_int_equal(u->tally.races[i ? DH_HIVE_ALTERNATE : DH_HIVE_PRIMARY], 1);
        assert_int_equal(u->stacks[i]->n[i ? 1 : 0], 1); /* by access, not by order */
        assert_int_equal(u->stacks[i]->n[i ? 0 : 1], 2);
        assert_int_equal(u->tally.caught, i + 1);
        assert_int_equal(state.programs[0].harm.races, 0); /* what followed is not known */
    }
    end();
}

/* A unit with an access that the build has no instruction for is tried once; its other access is not blamed. */
static void test_no_instruction(void **unused)
{
    (void)unused;
    const char *why;
    char name[DH_HIVE_HASH + 1], id[33];
    begin(1, false);
    json_t *r = json_pack("{s:s, s:I, s:s, s:s, s:[b]}", "id", hive_name(id, 32, 1), "task",
                          (json_int_t)poll(1), "result", "not-seen", "run", id, "none", true);
    hive_name(name, DH_HIVE_HASH, 1);
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_BAD); /* of one only */
    json_object_set_new(r, "none", json_pack("[b,b]", false, true));
    assert_int_equal(dh_hive_add_result(&hive, 0, name, r, &why), DH_HIVE_CREATED);
    json_decref(r);
    keep_log();
    const struct dh_hive_unit *u = &state.units[0];
    assert_int_equal(state.sites[u->at[0]].missed, 0);
    assert_int_equal(dh_hive_hope_of(&state, u), DH_HIVE_DIM);
    end();
}

/* Only one thread ever came to it; then, in another run, two did. */
static void test_context(void **unused)
{
    (void)unused;
    static const char *const saw[] = {"one-thread", "not-aliasing", "met"};
    static const enum dh_hive_why why[] = {DH_HIVE_CONTEXT, DH_HIVE_NOT_ALIASING, DH_HIVE_NO_REASON};
    const char *sentence;
    begin(1, false);
    for (u64 user = 0; user < 3; user++) {
        char name[DH_HIVE_HASH + 1], id[33];
        u32 task = poll(user);
        json_t *r = json_pack("{s:s, s:I, s:s, s:s, s:s}", "id", hive_name(id, 32, user + 1), "task",
                              (json_int_t)task, "result", "not-seen", "run", id, "saw", saw[user]);
        assert_int_equal(dh_hive_add_result(&hive, 0, hive_name(name, DH_HIVE_HASH, user), r, &sentence),
                         DH_HIVE_CREATED);
        json_decref(r);
        keep_log();
        assert_int_equal(dh_hive_judge(&state.units[0].tally).why, why[user]);
    }
    end();
}

static void test_verdicts_carry_over(void **unused)
{
    (void)unused;
    begin(10, false);
    u32 task = poll(1), unit = state.tasks[task].unit;
    post(1, task, "race", "none", 5);
    add_build("prog", "bbbbbbbb", 10, 5, 1, false); /* of the ten pairs, five are at other lines */
    assert_int_equal(state.n_units, 15);
    for (u32 u = 0; u < 10; u++)
        assert_int_equal(dh_hive_find_slot(&state, 1, u) != DH_HIVE_NONE, u < 5);
    assert_int_equal(state.builds[1].n_open, unit < 5 ? 9 : 10);
    char id[17];
    const char *why;
    assert_int_equal(
        dh_hive_forget(&hive, "prog", dh_hive_id_text(state.units[unit].id, id), NULL, NULL, &why),
        DH_HIVE_OK);
    assert_int_equal(dh_hive_judge(&state.units[unit].tally).verdict, DH_HIVE_UNKNOWN);
    assert_int_equal(state.builds[0].n_open, 10);
    assert_int_equal(dh_hive_forget(&hive, NULL, NULL, "bbbbbbbb", NULL, &why), DH_HIVE_OK);
    assert_int_equal(state.builds[1].n_open, 0);
    assert_int_equal(dh_hive_forget(&hive, NULL, NULL, "bbbbbbbb", NULL, &why), DH_HIVE_NOT_FOUND);
    end();
}

/* Which pairs of a table are candidates is said when the build is added, and stays so. */
static void test_style(void **unused)
{
    (void)unused;
    struct dh_pairs *p = dh_pairs_new();
    const char *why;
    u8 *table;
    size_t len;
    dh_pairs_set_program(p, "prog", "test", "");
    u32 a = hive_site(p, 1), b = hive_site(p, 2);
    hive_pair(p, a, b, DH_PAIRS_RELAY | DH_PAIRS_SOUND);
    hive_pair(p, a, a, DH_PAIRS_SOUND);
    dh_pairs_write(p, &table, &len);
    dh_pairs_free(p);
    begin_empty();
    assert_int_equal(dh_hive_add_build(&hive, "prog", "aaaaaaaa", NULL, table, len, &why), DH_HIVE_CREATED);
    assert_int_equal(dh_hive_add_build(&hive, "prog", "bbbbbbbb", "sound", table, len, &why),
                     DH_HIVE_CREATED);
    assert_int_equal(dh_hive_add_build(&hive, "prog", "cccccccc", "all", table, len, &why), DH_HIVE_BAD);
    assert_int_equal(state.builds[0].n_slots, 1);
    assert_int_equal(state.builds[1].n_slots, 2);
    assert_int_equal(dh_hive_add_build(&hive, "prog", "bbbbbbbb", NULL, table, len, &why), DH_HIVE_OK);
    assert_int_equal(dh_hive_add_build(&hive, "prog", "bbbbbbbb", "relay", table, len, &why),
                     DH_HIVE_CONFLICT);
    free(table);
    end();
}

/* What a unit is, and what a user who is given it reports. */
enum truth { RACY, RARE, ORDERED, STUBBORN, DEAD, TRUTHS };

static const char *reported(u32 unit, u64 *random)
{
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    u32 chance = (u32)(*random >> 33) % 100;
    switch ((enum truth)(unit % TRUTHS)) {
    case RACY:
        return chance < 80 ? "race" : "not-seen";
    case RARE:
        return chance < 10 ? "race" : chance < 50 ? "no-race" : "not-seen";
    case ORDERED:
        return chance < 60 ? "no-race" : "not-seen";
    case STUBBORN:
        return "timeout";
    default:
        return "not-seen";
    }
}

static void test_ten_thousand_users(void **unused)
{
    (void)unused;
    enum { USERS = 10000, UNITS = 500, ROUNDS = 6 };
    static const enum dh_hive_verdict expected[TRUTHS] = {
        DH_HIVE_TRUE_RACE, DH_HIVE_TRUE_RACE, DH_HIVE_LIKELY_FALSE, DH_HIVE_LIKELY_FALSE, DH_HIVE_UNKNOWN};
    u64 random = 1;
    begin(UNITS, false);
    for (int round = 0; round < ROUNDS; round++) {
        for (u64 user = 0; user < USERS; user++) {
            hive.now_us += 1000;
            u32 task = poll(user);
            if (task != DH_HIVE_NONE)
                assert_int_equal(post(user, task, reported(state.tasks[task].unit, &random), "none", 100),
                                 DH_HIVE_CREATED);
        }
        if (round == 0) /* users outnumber races: nothing is left untouched */
            for (u32 i = 0; i < UNITS; i++)
                assert_true(state.units[i].n_records > 0);
    }
    for (u32 i = 0; i < UNITS; i++)
        assert_int_equal(dh_hive_judge(&state.units[i].tally).verdict, expected[i % TRUTHS]);
    for (u32 i = 0; i < UNITS; i++) { /* what is decided costs nobody anything any more */
        const struct dh_hive_unit *u = &state.units[i];
        if (i % TRUTHS == RACY)
            assert_in_range(u->n_records, 1, 60);
        if (i % TRUTHS == ORDERED)
            assert_true(u->tally.quiet_runs == u->tally.no_races && dh_hive_bound(u->tally.quiet_runs) < 0.3);
    }
    end();
}

/* ---- A large program, most of which no execution reaches ---- */

enum { LIVE = 30, PAIRS = 3000, USERS = 200, RESULTS = 2000 };

/* As it was without what results teach: any that is idle. */
static bool choose_any(const struct dh_hive_policy *p, const struct dh_hive_state *s, u32 user, u64 now_us,
                       u64 *random, struct dh_hive_choice *ret)
{
    const struct dh_hive_build *b = &s->builds[s->users[user].build];
    (void)p;
    (void)now_us;
    if (!b->n_open)
        return false;
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    *ret = (struct dh_hive_choice){b->slots[b->open[(*random >> 33) % b->n_open]].unit,
                                   (enum dh_hive_order)(*random >> 32 & 1), DH_HIVE_NONE};
    return true;
}

/* The lines of the first LIVE sites are executed. Of the pairs between them a third race, in half of the runs;
 * the others are ordered or on different memory. */
static const char *what_happens(u32 task, u64 *random, const char **ret_saw)
{
    const struct dh_hive_unit *u = &state.units[state.tasks[task].unit];
    const struct dh_pairs *t = state.builds[0].table;
    u32 lines[2];
    for (int side = 0; side < 2; side++)
        lines[side] = t->sites[dh_pairs_find_site(t, u->sites[side])].at.line;
    *random = *random * 6364136223846793005ull + 1442695040888963407ull;
    u32 sum = lines[0] + lines[1];
    *ret_saw = NULL;
    if (lines[0] > LIVE || lines[1] > LIVE)
        return lines[state.tasks[task].order == DH_HIVE_PRIMARY] <= LIVE ? "timeout" : "not-seen";
    if (sum % 3 == 0)
        return *random >> 63 ? "race" : "timeout";
    *ret_saw = sum % 3 == 1 ? "not-aliasing" : NULL;
    return sum % 3 == 1 ? "not-seen" : "no-race";
}

/* Races that this policy finds in so many results; how many units nobody has tried. */
static u32 races_by(const struct dh_hive_policy *policy, u32 *ret_untried)
{
    static u32 lines[PAIRS][2];
    u64 random = 99;
    u32 n = 0, races = 0;
    for (u32 i = 1; i <= SITES && n < PAIRS; i++) /* each with each that is near, in a ring */
        for (u32 near = 1; near <= PAIRS / SITES; near++, n++) {
            lines[n][0] = i;
            lines[n][1] = (i + near - 1) % SITES + 1;
        }
    begin_with(lines, n);
    hive.policy = policy;
    *ret_untried = 0;
    for (u64 n_results = 0, user = 0; n_results < RESULTS; user = (user + 1) % USERS) {
        const char *saw, *why;
        char name[DH_HIVE_HASH + 1], id[33];
        hive.now_us += MINUTE / USERS;
        u32 task = poll(user);
        if (task == DH_HIVE_NONE) /* it was relieved */
            continue;
        const char *result = what_happens(task, &random, &saw);
        json_t *r = json_pack("{s:s, s:I, s:s, s:s, s:s*}", "id", hive_name(id, 32, ++n_results), "task",
                              (json_int_t)task, "result", result, "run", id, "saw", saw);
        assert_int_equal(dh_hive_add_result(&hive, 0, hive_name(name, DH_HIVE_HASH, user), r, &why),
                         DH_HIVE_CREATED);
        json_decref(r);
        keep_log();
    }
    for (u32 i = 0; i < state.n_units; i++) {
        races += dh_hive_judge(&state.units[i].tally).verdict == DH_HIVE_TRUE_RACE;
        *ret_untried += !state.units[i].n_records;
    }
    end();
    return races;
}

static void test_what_results_teach(void **unused)
{
    (void)unused;
    struct dh_hive_policy any = dh_hive_racemob;
    any.choose = choose_any;
    u32 untried[2];
    u32 guided = races_by(&dh_hive_racemob, &untried[0]), uniform = races_by(&any, &untried[1]);
    assert_true(guided > 2 * uniform);
    assert_in_range(untried[0], 1, untried[1] + PAIRS / 10); /* and nearly as many others had their turn */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_races_than_users),
        cmocka_unit_test(test_more_users_than_races),
        cmocka_unit_test(test_confirmed_is_withdrawn_at_once),
        cmocka_unit_test(test_other_order),
        cmocka_unit_test(test_single_order),
        cmocka_unit_test(test_same_access),
        cmocka_unit_test(test_crash_of_others),
        cmocka_unit_test(test_forgotten_user),
        cmocka_unit_test(test_tau),
        cmocka_unit_test(test_overdue),
        cmocka_unit_test(test_vanished_user),
        cmocka_unit_test(test_relief),
        cmocka_unit_test(test_bundle),
        cmocka_unit_test(test_bundle_reached),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_met_outside_of_the_units),
        cmocka_unit_test(test_raced_in_bundle),
        cmocka_unit_test(test_no_instruction),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_verdicts_carry_over),
        cmocka_unit_test(test_style),
        cmocka_unit_test(test_ten_thousand_users),
        cmocka_unit_test(test_what_results_teach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
