/*
 * test_record.c - src/report/record.c and reporter.c: valid records, bad ones, garbage, grouping.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/record.h"
#include "report/reporter.h"
#include "unit/check.h"

/* The modules do not exist as files: everything is shown as offsets. */
#define PROCESS "{\"v\":1,\"type\":\"process\",\"pid\":123,\"exe\":\"/x/prog\",\"cwd\":\"/x\"}"
#define MODULE "{\"v\":1,\"type\":\"module\",\"id\":0,\"path\":\"/no/prog\",\"build_id\":\"\"}"
#define THREAD1 "{\"v\":1,\"type\":\"thread\",\"uid\":1,\"name\":\"main\",\"parent\":0,\"tid\":10}"
#define THREAD2                                                                           \
    "{\"v\":1,\"type\":\"thread\",\"uid\":2,\"name\":\"worker\",\"parent\":1,\"tid\":11," \
    "\"created_at\":[[0,\"0x99\"]]}"
#define ACCESS(kind, at, thread)                                                           \
    "{\"kind\":\"" kind "\",\"addr\":\"0xffffffffffffffff\",\"size\":4,\"thread\":" thread \
    ",\"stack\":[[0,\"" at                                                                 \
    "\"],[-1,\"0x7\"]],"                                                                   \
    "\"locks\":[{\"addr\":\"0x5\",\"mode\":\"read\",\"module\":0,\"offset\":\"0x1\",\"acquired_at\":[]}]}"
#define RACE(id, a, b) \
    "{\"v\":1,\"type\":\"race\",\"id\":" id ",\"accesses\":[" \
    ACCESS("write", a, "2") "," ACCESS("read", b, "1") \
    "],\"location\":{\"kind\":\"heap\",\"start\":\"0x10\",\"size\":40,\"offset\":8,\"thread\":1," \
    "\"allocated_at\":[[0,\"0x20\"]],\"freed\":false}}"
#define REPEAT(id, count) "{\"v\":1,\"type\":\"repeat\",\"id\":" id ",\"count\":" count "}"

static struct dh_record record;
static struct dh_record_error err;

static int read_line(struct dh_model *m, const char *line)
{
    return dh_record_read(m, line, strlen(line), &record, &err);
}

static void valid(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    struct dh_model m;
    dh_model_init(&m, &a);
    assert_int_equal(read_line(&m, PROCESS), 0);
    assert_int_equal(read_line(&m, MODULE), 0);
    assert_int_equal(read_line(&m, THREAD1), 0);
    assert_int_equal(read_line(&m, THREAD2), 0);
    assert_int_equal(read_line(&m, RACE("7", "0x30", "0x40")), 0);
    assert_int_equal(record.type, DH_RECORD_RACE);
    const struct dh_model_race *race = record.race;
    assert_int_equal(race->id, 7);
    assert_int_equal(race->process->pid, 123);
    assert_int_equal(race->accesses[0].kind, DH_MODEL_WRITE);
    assert_true(race->accesses[0].addr == UINT64_MAX);
    assert_int_equal(race->accesses[0].stack.n, 2);
    assert_string_equal(race->accesses[0].stack.frames[0].module->path, "/no/prog");
    assert_null(race->accesses[0].stack.frames[1].module);
    assert_int_equal(race->accesses[1].kind, DH_MODEL_READ);
    assert_true(race->accesses[1].locks[0].read_mode);
    assert_int_equal(race->location.place, DH_MODEL_HEAP);
    assert_int_equal(race->location.allocated_at.frames[0].offset, 0x20);
    assert_string_equal(dh_model_find_thread(race->process, 2)->name, "worker");
    assert_null(dh_model_find_thread(race->process, 3));
    assert_int_equal(read_line(&m, REPEAT("7", "41")), 0);
    assert_int_equal(record.type, DH_RECORD_REPEAT);
    assert_ptr_equal(record.race, race);
    assert_int_equal(record.count, 41);
    assert_int_equal(read_line(&m, "{\"v\":1,\"type\":\"counters\",\"values\":{\"LOST_IDS\":3}}"), 0);
    assert_int_equal(dh_model_counter(&m, "LOST_IDS"), 3);
    assert_int_equal(read_line(&m, "{\"v\":1,\"type\":\"end\",\"races\":1}"), 0);
    assert_int_equal(read_line(&m, "{\"v\":1,\"type\":\"from_the_future\"}"), 0);
    assert_int_equal(read_line(&m, " \t\r"), 0);
    assert_int_equal(read_line(&m, ""), 0);
    dh_model_done(&m);
    dh_arena_done(&a);
}

#define ID_A "00112233445566778899aabbccddeeff"
#define ID_B "ffeeddccbbaa99887766554433221100"
#define LINE(id, rest) "{\"v\":2,\"process\":\"" id "\",\"pid\":7," rest "}"

/* Two containers: the same pid, numbers of modules and races, and every line of one among those of the other.
 */
static void same_pid(void **state)
{
    (void)state;
    static const char *const ids[] = {ID_A, ID_B},
                             *const lines[][2] = {
                                 {LINE(ID_A, "\"type\":\"process\",\"exe\":\"/a\""),
                                  LINE(ID_B, "\"type\":\"process\",\"exe\":\"/b\"")},
                                 {LINE(ID_A, "\"type\":\"module\",\"id\":0,\"path\":\"/a\""),
                                  LINE(ID_B, "\"type\":\"module\",\"id\":0,\"path\":\"/b\"")},
                                 {LINE(ID_A, "\"type\":\"race\",\"id\":1,\"accesses\":[" ACCESS(
                                                 "write", "0x1", "1") "," ACCESS("read", "0x2", "2") "]"),
                                  LINE(ID_B, "\"type\":\"race\",\"id\":1,\"accesses\":[" ACCESS(
                                                 "write", "0x1", "1") "," ACCESS("read", "0x2", "2") "]")},
                                 {LINE(ID_A, "\"type\":\"repeat\",\"id\":1,\"count\":3"),
                                  LINE(ID_B, "\"type\":\"repeat\",\"id\":1,\"count\":4")},
                             };
    struct dh_arena a = {0};
    struct dh_model m;
    const struct dh_model_race *races[2] = {0};
    dh_model_init(&m, &a);
    for (size_t i = 0; i < DH_ARRAY_LEN(lines); i++) {
        for (int k = 0; k < 2; k++) {
            assert_int_equal(read_line(&m, lines[i][k]), 0);
            if (record.type == DH_RECORD_RACE)
                races[k] = record.race;
            if (record.type == DH_RECORD_REPEAT)
                assert_ptr_equal(record.race, races[k]);
        }
    }
    for (int k = 0; k < 2; k++) {
        const char *exe = k ? "/b" : "/a";
        assert_string_equal(races[k]->process->id, ids[k]);
        assert_int_equal(races[k]->process->pid, 7);
        assert_string_equal(races[k]->process->exe, exe);
        assert_string_equal(races[k]->accesses[0].stack.frames[0].module->path, exe);
    }
    dh_model_done(&m);
    dh_arena_done(&a);
}

/* How CTest started a process, and what is not that. */
static void started_by_ctest(void **state)
{
    (void)state;
    static const char *const others[] = {"7", "[]", "{}", "{\"command\":7,\"cwd\":[]}", "{\"command\":{}}"};
    struct dh_arena a = {0};
    struct dh_model m;
    char line[256];
    dh_model_init(&m, &a);
    assert_int_equal(
        read_line(&m, LINE(ID_A,
                           "\"type\":\"process\",\"ctest\":{\"cwd\":\"/b\",\"command_cwd\":\"/b/c\","
                           "\"command\":[\"/x\",\"\",7]}")),
        0);
    assert_int_equal(record.type, DH_RECORD_PROCESS);
    const struct dh_model_ctest *started = &record.process->ctest;
    assert_string_equal(started->cwd, "/b");
    assert_string_equal(started->command_cwd, "/b/c");
    assert_int_equal(started->n_command, 3);
    assert_string_equal(started->command[0], "/x");
    assert_string_equal(started->command[1], "");
    assert_string_equal(started->command[2], "");
    for (size_t i = 0; i < DH_ARRAY_LEN(others); i++) {
        snprintf(line, sizeof(line), LINE(ID_A, "\"type\":\"process\",\"ctest\":%s"), others[i]);
        assert_int_equal(read_line(&m, line), 0);
        assert_int_equal(record.process->ctest.n_command, 0);
        assert_string_equal(record.process->ctest.cwd, "");
    }
    dh_model_done(&m);
    dh_arena_done(&a);
}

#define SIDE "{\"kind\":\"read\",\"addr\":1,\"size\":1,\"thread\":1}"
#define PLACED(where) \
    "{\"v\":1,\"type\":\"race\",\"id\":1,\"accesses\":[" SIDE "," SIDE "],\"location\":" where "}"

static void bad(void **state)
{
    (void)state;
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"garbage", "not JSON: '[' or '{' expected near 'garbage'"},
        {"[]", "not a race record"},
        {"{}", "not a race record"},
        {"{\"v\":1}", "not a race record"},
        {"{\"v\":3,\"type\":\"race\"}", "record version 3; this deadheat reads versions 1 and 2"},
        {"{\"v\":2,\"type\":\"end\",\"pid\":7}", "'process' is not a number of 32 hex digits"},
        {"{\"v\":2,\"type\":\"end\",\"pid\":7,\"process\":7}", "'process' is not a number of 32 hex digits"},
        {"{\"v\":2,\"type\":\"end\",\"process\":\"" ID_A "0\"}",
         "'process' is not a number of 32 hex digits"},
        {"{\"v\":2,\"type\":\"end\",\"process\":\"" ID_A "\"}", "process " ID_A " has not been announced"},
        {"{\"v\":2,\"type\":\"process\",\"process\":\"" ID_A "\"}", "'pid' is missing"},
        {"{\"v\":1,\"type\":\"process\"}", "'pid' is missing"},
        {"{\"v\":1,\"type\":\"module\",\"id\":0}", "'path' is missing"},
        {"{\"v\":1,\"type\":\"module\",\"id\":-1,\"path\":\"x\"}", "'id' is not a number"},
        {"{\"v\":1,\"type\":\"module\",\"id\":99999999,\"path\":\"x\"}", "module id out of range"},
        {"{\"v\":1,\"type\":\"race\",\"id\":1}", "a race needs two accesses"},
        {"{\"v\":1,\"type\":\"race\",\"id\":1,\"accesses\":[1,2]}",
         "an access has no 'kind' of read, write or free"},
        {PLACED("{\"kind\":\"tls\",\"thread\":1,\"module\":3,\"offset\":0}"),
         "module 3 has not been announced"},
        {PLACED("{\"kind\":\"tls\",\"thread\":1,\"module\":-1}"), "'offset' is missing"},
        {PLACED("{\"kind\":\"stack\",\"thread\":1,\"frame\":7}"),
         "'frame' is not a frame with its registers"},
        {PLACED("{\"kind\":\"stack\",\"thread\":1,\"frame\":{\"pc\":[-1]}}"),
         "frame 0 of 'frame' is not a pair"},
        {PLACED("{\"kind\":\"stack\",\"thread\":1,\"frame\":{\"pc\":[-1,1],\"sp\":1}}"), "'bp' is missing"},
        {"{\"v\":1,\"type\":\"repeat\",\"id\":1,\"count\":1}", "race 1 repeats but was not reported"},
        {"{\"v\":1,\"type\":\"counters\"}", "'values' is missing"},
        {"{\"v\":1,\"type\":\"counters\",\"values\":{\"A\":1,\"B\":\"x\"}}", "'B' is not a number"},
        {"{\"v\":1,\"type\":\"thread\",\"uid\":\"0x\"}", "'uid' is not a number"},
        {"{\"v\":1,\"type\":\"thread\",\"uid\":\"0x11112222333344445\"}", "'uid' is not a number"},
        {"{\"v\":1,\"type\":\"thread\",\"uid\":1,\"created_at\":[[5,\"0x1\"]]}",
         "module 5 has not been announced"},
        {"{\"v\":1,\"type\":\"thread\",\"uid\":1,\"created_at\":[[4294967296,\"0x1\"]]}",
         "module 4294967296 has not been announced"},
        {"{\"v\":1,\"type\":\"thread\",\"uid\":1,\"created_at\":[[-1]]}",
         "frame 0 of 'created_at' is not a pair"},
        {"{\"v\":1,\"type\":\"thread\",\"uid\":1,\"created_at\":{}}", "'created_at' is not a stack"},
        {"{\"v\":1,\"pid\":77,\"type\":\"end\"}", "process 77 has not been announced"},
    };
    struct dh_arena a = {0};
    struct dh_model m;
    dh_model_init(&m, &a);
    for (size_t i = 0; i < DH_ARRAY_LEN(cases); i++) {
        if (read_line(&m, cases[i].line) == 0)
            fail_msg("accepted: %s", cases[i].line);
        assert_string_equal(err.text, cases[i].why);
    }
    assert_int_equal(dh_model_counter(&m, "A"), 0); /* a bad line leaves nothing behind */
    dh_model_done(&m);
    dh_arena_done(&a);
}

/* ---- The whole reporter ------------------------------------------------------------------------------- */

struct outcome {
    struct dh_reporter_result result;
    char *out, *messages;
};

static struct outcome report(const char *text, size_t len, const struct dh_reporter_options *extra)
{
    struct outcome o = {0};
    size_t out_len, messages_len;
    char name[] = "/tmp/deadheat-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    lseek(fd, 0, SEEK_SET);
    struct dh_reporter_options options = *extra;
    options.out = open_memstream(&o.out, &out_len);
    options.messages = open_memstream(&o.messages, &messages_len);
    options.input = "in";
    options.print = true;
    struct dh_reporter *r = dh_reporter_new(&options);
    assert_int_equal(dh_reporter_read(r, fd, "in"), 0);
    dh_reporter_finish(r, &o.result);
    fclose(options.out);
    fclose(options.messages);
    close(fd);
    return o;
}

static void done(struct outcome *o)
{
    free(o->out);
    free(o->messages);
}

#define HEAD PROCESS "\n" MODULE "\n" THREAD1 "\n" THREAD2 "\n"

static void grouping(void **state)
{
    (void)state;
    /* 1 and 2 are one race; 4 has a line in common with it, and is a variant. */
    static const char text[] = HEAD RACE("1", "0x30", "0x40") "\n" RACE("2", "0x30", "0x40") "\n" RACE(
        "4", "0x31", "0x40") "\n" REPEAT("2", "10") "\n" REPEAT("4", "5") "\n" REPEAT("4", "5") "\n";
    struct dh_reporter_options options = {.suppressions = ""};
    struct outcome o = report(text, sizeof(text) - 1, &options);
    assert_int_equal(o.result.races, 1);
    assert_int_equal(o.result.variants, 2);
    assert_int_equal(o.result.repetitions, 21);
    assert_int_equal(o.result.bad_lines, 0);
    assert_non_null(strstr(o.out, "seen 12 times"));
    assert_non_null(strstr(o.out, "seen 11 times"));
    assert_non_null(strstr(o.messages, "deadheat: 1 data race (2 variants, 21 repetitions)\n"));
    assert_non_null(strstr(o.messages, "cannot read /no/prog (No such file or directory)"));
    done(&o);
    options.all = true;
    o = report(text, sizeof(text) - 1, &options);
    assert_int_equal(o.result.races, 2);
    assert_int_equal(o.result.repetitions, 21);
    assert_non_null(strstr(o.messages, "deadheat: 2 data races (21 repetitions)\n"));
    done(&o);
}

static void both_sides_are_one_race(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "{\"v\":1,\"type\":\"race\",\"id\":1,\"accesses\":[" ACCESS("write", "0x30", "2") "," ACCESS(
            "read", "0x40", "1") "]}\n"
             "{\"v\":1,\"type\":\"race\",\"id\":2,\"accesses\":[" ACCESS("read", "0x40", "1") "," ACCESS(
                 "write", "0x30", "2") "]}\n"
                                       "{\"v\":1,\"type\":\"race\",\"id\":3,\"accesses\":[" ACCESS(
                                           "write", "0x40", "1") "," ACCESS("write", "0x30", "2") "]}\n";
    struct dh_reporter_options options = {.suppressions = "", .format = DH_PRINT_JSON};
    struct outcome o = report(text, sizeof(text) - 1, &options);
    assert_int_equal(o.result.variants, 2); /* the third is another kind of pair */
    assert_int_equal(o.result.repetitions, 1);
    done(&o);
}

static void several_processes(void **state)
{
    (void)state;
    /* A forked child writes between its parent's lines. */
    static const char
        text[] =
            HEAD "{\"v\":1,\"type\":\"process\",\"pid\":124}\n" MODULE "\n" RACE(
                "1", "0x30", "0x40") "\n{\"v\":1,\"pid\":123,\"type\":\"race\",\"id\":1,\"accesses\":"
                                     "[" ACCESS("write", "0x50", "2") "," ACCESS("write", "0x60", "1") "]}\n";
    struct dh_reporter_options options = {.suppressions = ""};
    struct outcome o = report(text, sizeof(text) - 1, &options);
    assert_int_equal(o.result.races, 2);
    assert_int_equal(o.result.bad_lines, 0);
    assert_non_null(strstr(o.out, "(pid 124)"));
    assert_non_null(strstr(o.out, "(pid 123)"));
    assert_non_null(strstr(o.out, "by thread T2, holding")); /* the child did not say its name */
    assert_non_null(strstr(o.out, "by thread T2 'worker', holding"));
    done(&o);
}

static void bad_lines_do_not_hide_races(void **state)
{
    (void)state;
    static const char text[] = HEAD "nonsense\n" RACE("1", "0x30", "0x40") "\n{\"v\":1,\"type\":\"ra";
    struct dh_reporter_options options = {.suppressions = "", .streaming = true};
    struct outcome o = report(text, sizeof(text) - 1, &options);
    assert_int_equal(o.result.races, 1);
    assert_int_equal(o.result.bad_lines, 2);
    assert_non_null(strstr(o.messages, "deadheat: in:5: not JSON"));
    assert_non_null(strstr(o.messages, "deadheat: in:7: not JSON"));
    done(&o);
}

/* Every cut of a stream, and thousands of mutations of it: no crash, no hang; the counts stay sane. */
static void truncated(void **state)
{
    (void)state;
    static const char text[] = HEAD RACE("1", "0x30", "0x40") "\n" REPEAT("1", "2") "\n";
    struct dh_reporter_options options = {.suppressions = ""};
    for (size_t len = 0; len < sizeof(text); len += 3) {
        struct outcome o = report(text, len, &options);
        assert_true(o.result.bad_lines <= 1);
        assert_true(o.result.races <= 1);
        done(&o);
    }
}

static u32 seed;

static u32 next(u32 below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static void mutate(char *text, size_t *len, size_t cap)
{
    static const char *const pieces[] = {
        "\"0xffffffffffffffff\"",
        "-1",
        "18446744073709551615",
        "1e999",
        "null",
        "[]",
        "{}",
        "[[",
        "\"\\u0000\"",
        "\n",
        "\"",
        "{\"v\":1,\"type\":\"race\"",
        "9223372036854775807",
        "\xff\xfe",
    };
    size_t at = next((u32)*len);
    switch (next(4)) {
    case 0:
        text[at] = (char)next(256);
        break;
    case 1: { /* remove some */
        size_t n = next(20);
        n = n < *len - at ? n : *len - at;
        memmove(text + at, text + at + n, *len - at - n);
        *len -= n;
        break;
    }
    case 2: { /* put something in */
        const char *piece = pieces[next(DH_ARRAY_LEN(pieces))];
        size_t n = strlen(piece);
        if (*len + n > cap)
            break;
        memmove(text + at + n, text + at, *len - at);
        memcpy(text + at, piece, n);
        *len += n;
        break;
    }
    default: { /* put something over it */
        const char *piece = pieces[next(DH_ARRAY_LEN(pieces))];
        size_t n = strlen(piece);
        memcpy(text + at, piece, n < *len - at ? n : *len - at);
        break;
    }
    }
    if (*len == 0)
        text[(*len)++] = ' ';
}

static void garbage(void **state)
{
    (void)state;
    static const char corpus[] =
        HEAD RACE("1", "0x30", "0x40") "\n" REPEAT("1", "2") "\n"
        "{\"v\":1,\"type\":\"race\",\"id\":2,\"accesses\":["
        ACCESS("free", "0x30", "2") "," ACCESS("write", "0x40", "1")
            "],\"location\":{\"kind\":\"global\",\"module\":0,\"offset\":\"0x8\"}}\n"
            "{\"v\":1,\"type\":\"counters\",\"values\":{\"LOST_IDS\":3}}\n";
    static char text[sizeof(corpus) + 2048];
    for (u32 round = 0; round < 6000; round++) {
        struct dh_reporter_options options = {
            .suppressions = "",
            .format = round % 3 == 1 ? DH_PRINT_TEXT : (enum dh_print_format)(round % DH_PRINT_FORMATS),
            .source = true,
            .streaming = round % 3 == 1,
            .color = round % 2,
            .stats = true};
        size_t len = sizeof(corpus) - 1;
        memcpy(text, corpus, len);
        seed = round;
        for (u32 i = 0, n = 1 + next(8); i < n; i++)
            mutate(text, &len, sizeof(text));
        struct outcome o = report(text, len, &options);
        assert_true(o.result.races <= 16);
        done(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid),
        cmocka_unit_test(same_pid),
        cmocka_unit_test(started_by_ctest),
        cmocka_unit_test(bad),
        cmocka_unit_test(grouping),
        cmocka_unit_test(both_sides_are_one_race),
        cmocka_unit_test(several_processes),
        cmocka_unit_test(bad_lines_do_not_hide_races),
        cmocka_unit_test(truncated),
        cmocka_unit_test(garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
