/*
 * test_std.c - the STD reader and writer: what is taken, what is refused and how, what is only warned of.
 */
#include "unit/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/std.h"

static struct dh_std s;
static struct dh_event events[64];

/* Reads the text through a file; how many events, or the error. */
static long read_text(const char *text, size_t len)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(dh_std_init(&s, fd), 0);
    long total = 0, n;
    while ((n = dh_std_read(&s, events + total, DH_ARRAY_LEN(events) - (size_t)total)) > 0)
        total += n;
    close(fd);
    return n < 0 ? n : total;
}

static long read_str(const char *text)
{
    return read_text(text, strlen(text));
}

static void all_operations(void **state)
{
    (void)state;
    assert_int_equal(
        read_str(
            "T0|fork(T1)|1\nT1|acq(L)|-2\r\nT1|w(a[(1)].b)|+3\nT1|r(V)|2147483647\nT1|rel(L)|-2147483648\n"
            "T1|begin|6\nT1|end(x)|7\nT1|branch|8\nT0|join(T1)|9"),
        9);
    static const u8 ops[] = {DH_OP_FORK,        DH_OP_ACQUIRE,   DH_OP_WRITE,  DH_OP_READ, DH_OP_RELEASE,
                             DH_OP_BLOCK_BEGIN, DH_OP_BLOCK_END, DH_OP_BRANCH, DH_OP_JOIN};
    for (u32 i = 0; i < DH_ARRAY_LEN(ops); i++)
        assert_int_equal(events[i].op, ops[i]);
    assert_string_equal(dh_names_get(&s.variables, events[2].target), "a[(1)].b");
    assert_int_equal((int32_t)events[1].site, -2);
    assert_int_equal((int32_t)events[2].site, 3);
    assert_int_equal((int32_t)events[4].site, INT32_MIN);
    assert_int_equal(events[0].target, events[1].thread);
    assert_int_equal(s.threads.n, 2);
    for (u32 w = 0; w < DH_FORM_WARNINGS; w++)
        assert_int_equal(s.form.warnings[w], 0);
    dh_std_done(&s);
}

static void name_spaces_are_separate(void **state)
{
    (void)state;
    assert_int_equal(read_str("x|w(x)|1\nx|acq(x)|2\ny|r(y)|3\n"), 3);
    assert_int_equal(events[0].thread, 0);
    assert_int_equal(events[0].target, 0);
    assert_int_equal(events[1].target, 0);
    assert_int_equal(events[2].target, 1);
    assert_int_equal(s.locks.n, 1);
    dh_std_done(&s);
}

static void names_that_look_alike(void **state)
{
    (void)state;
    assert_int_equal(read_str("3|w(1234567)|1\nT3|w(12345678)|2\n3|w(123456789012345678901)|3\n"
                              "T3|w(123456789012345678902)|4\nT3|w(1234567)|5\n"),
                     5);
    assert_int_equal(s.threads.n, 2);
    assert_int_equal(s.variables.n, 4);
    assert_int_equal(events[4].target, events[0].target);
    assert_int_equal(dh_names_find(&s.variables, "12345678", 8), events[1].target);
    assert_int_equal(dh_names_find(&s.variables, "nobody", 6), UINT32_MAX);
    dh_std_done(&s);
}

struct bad {
    const char *text;
    u64 line;
    const char *says;
};

static void refused(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"T0|w(x)|1\n\nT0|w(x)|2\n", 2, "blank line"},
        {"T0|w(x)|1\n\n", 2, "blank line"},
        {"\n", 1, "blank line"},
        {"T0 w(x) 1\n", 1, "no bars"},
        {"T0|w(x)\n", 1, "only one bar"},
        {"T0|w(x)|1|2\n", 1, "more than two bars"},
        {"T0|w(x)|\n", 1, "no number"},
        {"T0|w(x)|-\n", 1, "no number"},
        {"T0|w(x)|1x\n", 1, "no number: '1x'"},
        {"T0|w(x)| 1\n", 1, "no number"},
        {"T0|w(x)|2147483648\n", 1, "32 bits"},
        {"T0|w(x)|-2147483649\n", 1, "32 bits"},
        {"T0|w(x)|99999999999999999999999\n", 1, "32 bits"},
        {"|w(x)|1\n", 1, "no thread"},
        {"T0|write(x)|1\n", 1, "unknown operation 'write'"},
        {"T0|req(L)|1\n", 1, "unknown operation 'req'"},
        {"T0||1\n", 1, "unknown operation ''"},
        {"T0|w|1\n", 1, "operand"},
        {"T0|w(x|1\n", 1, "operand"},
        {"T0|w()|1\n", 1, "empty"},
        {"T0|w(a b)|1\n", 1, "blank in the operand"},
        {"T0|rel(L)|1\n", 1, "nobody holds"},
        {"T0|acq(L)|1\nT1|rel(L)|2\n", 2, "thread T1 releases lock L, which thread T0 holds since line 1"},
        {"T0|r(x)|1\nT0|acq(L)|1\nT1|acq(L)|2\n", 3,
         "thread T1 acquires lock L, which thread T0 holds since line 2"},
        {"T0|acq(L)|1\nT0|acq(L)|1\nT0|rel(L)|2\nT1|acq(L)|2\n", 4, "holds since line 1"},
        {"T0|fork(T0)|1\n", 1, "forks itself"},
        {"T0|join(T0)|1\n", 1, "joins itself"},
        {"T0|fork(T1)|1\nT1|w(x)|1\nT0|join(T1)|1\nT1|w(x)|1\n", 4, "thread T1 acts after it was joined"},
    };
    for (u32 i = 0; i < DH_ARRAY_LEN(cases); i++) {
        assert_int_equal(read_str(cases[i].text), -EBADMSG);
        if (s.line != cases[i].line || !strstr(s.error, cases[i].says))
            fail_msg("%s: line %lu, %s", cases[i].text, (unsigned long)s.line, s.error);
        dh_std_done(&s);
    }
}

static void refuses_bytes_that_are_no_text(void **state)
{
    (void)state;
    static const char zero[] = "T\0|w(x)|1\n", operand[] = "T|w(\0)|1\n";
    assert_int_equal(read_text(zero, sizeof(zero) - 1), -EBADMSG);
    dh_std_done(&s);
    assert_int_equal(read_text(operand, sizeof(operand) - 1), -EBADMSG);
    dh_std_done(&s);
}

static void warned_of(void **state)
{
    (void)state;
    assert_int_equal(
        read_str(
            "T0|fork(1)|1\nT1|acq(L)|2\nT1|acq(L)|3\nT0|fork(T2)|4\nT2|r(x)|5\nT0|fork(T2)|6\nT2|r(x)|7\n"),
        7);
    static const u64 counts[DH_FORM_WARNINGS] = {
        [DH_FORM_FORKED_TWICE] = 1, [DH_FORM_NEVER_FORKED] = 1, [DH_FORM_NEVER_RAN] = 1,
        [DH_FORM_REENTERED] = 1,    [DH_FORM_HELD_AT_END] = 1,
    };
    static const u64 first[DH_FORM_WARNINGS] = {
        [DH_FORM_FORKED_TWICE] = 5, [DH_FORM_NEVER_FORKED] = 1, [DH_FORM_NEVER_RAN] = 0,
        [DH_FORM_REENTERED] = 2,    [DH_FORM_HELD_AT_END] = 1,
    };
    for (u32 w = 0; w < DH_FORM_WARNINGS; w++) {
        assert_int_equal(s.form.warnings[w], counts[w]);
        assert_int_equal(s.form.first[w], first[w]);
    }
    dh_std_done(&s);
}

static void nothing_is_a_trace(void **state)
{
    (void)state;
    assert_int_equal(read_str(""), 0);
    dh_std_done(&s);
}

static void a_thread_may_be_forked_again_after_its_join(void **state)
{
    (void)state;
    assert_int_equal(read_str("A|fork(B)|1\nB|r(x)|1\nA|join(B)|1\nA|fork(B)|1\nB|r(x)|1\n"), 5);
    dh_std_done(&s);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    static const char text[] =
        "T0|fork(T1)|1\nT1|acq(L)|-2\nT1|w(a.b)|3\nT1|rel(L)|4\nT1|begin|5\nT1|end|6\nT0|join(T1)|7\n";
    char out[512] = "";
    size_t at = 0;
    long n = read_str(text);
    assert_int_equal(n, 7);
    for (long i = 0; i < n; i++) {
        const struct dh_event *e = &events[i];
        const struct dh_names *names = dh_event_space(e->op) == DH_SPACE_LOCK     ? &s.locks
                                       : dh_event_space(e->op) == DH_SPACE_THREAD ? &s.threads
                                                                                  : &s.variables;
        long len = dh_std_format(e, dh_names_get(&s.threads, e->thread), dh_names_get(names, e->target),
                                 out + at, sizeof(out) - at);
        assert_true(len > 0);
        at += (size_t)len;
    }
    assert_string_equal(out, text);
    struct dh_event shared = {.op = DH_OP_ACQUIRE, .mode = DH_SHARED};
    assert_int_equal(dh_std_format(&shared, "T", "L", out, sizeof(out)), 0);
    assert_true(dh_std_format(&events[0], "T", "a name that is too long", out, 8) < 0);
    dh_std_done(&s);
}

/* Lines across the ends of the reader's buffer; a line that no buffer holds. */
static void long_traces(void **state)
{
    (void)state;
    int fd = memfd_create("trace", MFD_CLOEXEC);
    FILE *f = fdopen(fd, "w+");
    assert_non_null(f);
    u64 lines = 200000, seen = 0;
    for (u64 i = 0; i < lines; i++)
        fprintf(f, "thread%lu|w(variable_number_%lu)|%lu\n", (unsigned long)(i % 3),
                (unsigned long)(i % 1000), (unsigned long)i);
    fflush(f);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(dh_std_init(&s, fd), 0);
    long n;
    while ((n = dh_std_read(&s, events, 7)) > 0) {
        for (long i = 0; i < n; i++, seen++) {
            assert_int_equal(events[i].site, seen);
            assert_int_equal(events[i].thread, seen % 3);
            assert_int_equal(events[i].target, seen % 1000);
        }
    }
    assert_int_equal(n, 0);
    assert_int_equal(seen, lines);
    dh_std_done(&s);
    rewind(f);
    for (u32 i = 0; i < 3 << 20; i++)
        fputc('x', f);
    fflush(f);
    lseek(fd, 0, SEEK_SET);
    assert_int_equal(dh_std_init(&s, fd), 0);
    assert_int_equal(dh_std_read(&s, events, 7), -EBADMSG);
    assert_non_null(strstr(s.error, "megabyte"));
    dh_std_done(&s);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_operations),
        cmocka_unit_test(name_spaces_are_separate),
        cmocka_unit_test(names_that_look_alike),
        cmocka_unit_test(refused),
        cmocka_unit_test(refuses_bytes_that_are_no_text),
        cmocka_unit_test(warned_of),
        cmocka_unit_test(nothing_is_a_trace),
        cmocka_unit_test(a_thread_may_be_forked_again_after_its_join),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(long_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
