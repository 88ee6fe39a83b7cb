/*
 * test_util.c - arenas, maps, paths and line reading of src/util.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/check.h"
#include "util/arena.h"
#include "util/lines.h"
#include "util/map.h"
#include "util/output.h"
#include "util/path.h"
#include "util/url.h"

static void arena(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    for (size_t i = 0; i < 3000; i++) {
        char *p = dh_arena_alloc(&a, i);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t j = 0; j < i; j++)
            assert_int_equal(p[j], 0);
        memset(p, 0xff, i);
    }
    char *large = dh_arena_alloc(&a, 5 << 20);
    large[(5 << 20) - 1] = 1;
    assert_string_equal(dh_arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(dh_arena_dup(&a, "abc", 2), "ab");
    assert_string_equal(dh_arena_dup(&a, NULL, 0), "");
    dh_arena_done(&a);
}

static void map(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    struct dh_map m;
    dh_map_init(&m, &a);
    static int values[10000];
    for (int i = 0; i < 10000; i++)
        dh_map_put(&m, &i, sizeof(i), &values[i]);
    for (int i = 0; i < 10000; i++)
        assert_ptr_equal(dh_map_get(&m, &i, sizeof(i)), &values[i]);
    int absent = 10000;
    assert_null(dh_map_get(&m, &absent, sizeof(absent)));
    dh_map_put(&m, "", 0, &values[3]);
    assert_ptr_equal(dh_map_get(&m, "", 0), &values[3]);
    dh_map_put(&m, "", 0, &values[4]);
    assert_ptr_equal(dh_map_get(&m, "", 0), &values[4]);
    assert_int_equal(m.n, 10001);
    dh_map_done(&m);
    dh_map_init(&m, &a);
    assert_null(dh_map_get(&m, "a", 1));
    dh_map_done(&m);
    dh_arena_done(&a);
}

static void hash_is_the_same_everywhere(void **state)
{
    (void)state;
    assert_true(dh_util_hash("", 0) == 0xcbf29ce484222325ull);
    assert_true(dh_util_hash("a", 1) == 0xaf63dc4c8601ec8cull);
}

static void paths(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    static const struct {
        const char *dir, *name, *joined;
    } joins[] = {
        {"/a/b", "c.c", "/a/b/c.c"},
        {"/a/b", "../c.c", "/a/c.c"},
        {"/a/b", "./x/../c.c", "/a/b/c.c"},
        {"/a/b", "/c.c", "/c.c"},
        {NULL, "x//y", "x/y"},
        {"", "x", "x"},
        {"/", "../../x", "/x"},
        {"a", "../../x", "../x"},
        {"/a/b", ".", "/a/b"},
        {"a", "..", "."},
        {"..", "../x/..", "../.."},
        {NULL, "", ""},
        {"/a", "..", "/"},
        {NULL, "./a/", "a"},
        {NULL, "a/b/../../c", "c"},
        {NULL, "/a/b/c/d", "/a/b/c/d"},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(joins); i++)
        assert_string_equal(dh_path_join(&a, joins[i].dir, joins[i].name), joins[i].joined);
    assert_string_equal(dh_path_from(&a, "/w/build", "/w/src/a.c"), "../src/a.c");
    assert_string_equal(dh_path_from(&a, "/w/build", "/w/build/a.c"), "a.c");
    assert_string_equal(dh_path_from(&a, "/w/build", "/w/builder/a.c"), "../builder/a.c");
    assert_string_equal(dh_path_from(&a, "/w/a/b", "/w/x"), "../../x");
    assert_string_equal(dh_path_from(&a, "/w", "/usr/x"), "/usr/x");
    assert_string_equal(dh_path_from(&a, "w", "/w/x"), "/w/x");
    assert_string_equal(dh_path_beneath("/w", "/w/x.c"), "x.c");
    assert_string_equal(dh_path_beneath("/w", "/wx.c"), "/wx.c");
    assert_string_equal(dh_path_beneath("/", "/x.c"), "/x.c");
    assert_string_equal(dh_path_beneath(NULL, "/x.c"), "/x.c");
    assert_string_equal(dh_path_base("/a/b"), "b");
    assert_string_equal(dh_path_base("b"), "b");
    assert_non_null(dh_path_find_program(&a, "sh"));
    assert_null(dh_path_find_program(&a, "no-such-program-anywhere"));
    assert_null(dh_path_find_program(&a, "./no-such-program"));
    dh_arena_done(&a);
}

static int file_with(const char *text, size_t len)
{
    char name[] = "/tmp/deadheat-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void lines(void **state)
{
    (void)state;
    static const char text[] = "one\n\ntw\0o\nlast";
    int fd = file_with(text, sizeof(text) - 1);
    struct dh_lines l;
    const char *got;
    size_t len;
    dh_lines_init(&l, fd);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_OK);
    assert_int_equal(len, 3);
    assert_memory_equal(got, "one", 3);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_OK);
    assert_int_equal(len, 0);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_OK);
    assert_int_equal(len, 4);
    assert_int_equal(l.number, 3);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_CUT);
    assert_memory_equal(got, "last", 4);
    assert_int_equal(l.number, 4);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_END);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_END);
    dh_lines_done(&l);
    close(fd);
}

/* Of a descriptor that does not block: what there is of a line is kept until the rest comes. */
static void lines_in_pieces(void **state)
{
    (void)state;
    int end[2];
    const char *got;
    size_t len;
    struct dh_lines l;
    assert_int_equal(pipe(end), 0);
    assert_int_equal(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
    dh_lines_init(&l, end[0]);
    assert_int_equal(write(end[1], "ab", 2), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_ERROR);
        assert_int_equal(errno, EAGAIN);
    }
    assert_int_equal(write(end[1], "c\nd", 3), 3);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_OK);
    assert_int_equal(len, 3);
    assert_memory_equal(got, "abc", 3);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_ERROR);
    close(end[1]);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_CUT);
    assert_int_equal(len, 1);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_END);
    dh_lines_done(&l);
    close(end[0]);
}

static void lines_too_long(void **state)
{
    (void)state;
    size_t size = DH_LINES_MAX + (1 << 20);
    char *text = malloc(size);
    memset(text, 'x', size);
    memcpy(text, "a\n", 2);
    memcpy(text + size - 3, "\nb\n", 3);
    int fd = file_with(text, size);
    free(text);
    struct dh_lines l;
    const char *got;
    size_t len;
    dh_lines_init(&l, fd);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_OK);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_TOO_LONG);
    assert_int_equal(l.number, 2);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_OK);
    assert_memory_equal(got, "b", 1);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_END);
    dh_lines_done(&l);
    close(fd);
    dh_lines_init(&l, -1);
    assert_int_equal(dh_lines_next(&l, &got, &len), DH_LINES_ERROR);
    dh_lines_done(&l);
}

static void local_url(void **state)
{
    static const char *const local[] = {"http://localhost",          "https://localhost:7070/v1",
                                        "http://127.0.0.1:7070",     "http://127.8.0.1/",
                                        "http://[::1]:7070/healthz", "http://[::1]"};
    static const char *const other[] = {"http://example.org",
                                        "http://localhost.example.org",
                                        "http://localhost:7070@example.org",
                                        "http://127.0.0.1@example.org/",
                                        "http://[::1]@example.org",
                                        "http://[::1",
                                        "http://[::2]:7070",
                                        "http://128.0.0.1",
                                        "http://127.0.0.1x",
                                        "ftp://localhost",
                                        "localhost",
                                        "http://",
                                        ""};
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(local); i++)
        assert_true(dh_url_is_local(local[i]));
    for (size_t i = 0; i < DH_ARRAY_LEN(other); i++)
        assert_false(dh_url_is_local(other[i]));
}

/* The pipeline says with each of its runs what it reads. */
static void inputs_once(void **state)
{
    (void)state;
    const char *self = "/proc/self/exe";
    dh_output_reads(self);
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 1000; i++)
        dh_output_reads(self);
    assert_int_equal(mallinfo2().uordblks, before);
    assert_true(dh_output_is_input(self));
    assert_false(dh_output_is_input("/dev/null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena),
        cmocka_unit_test(map),
        cmocka_unit_test(hash_is_the_same_everywhere),
        cmocka_unit_test(paths),
        cmocka_unit_test(lines),
        cmocka_unit_test(lines_in_pieces),
        cmocka_unit_test(lines_too_long),
        cmocka_unit_test(local_url),
        cmocka_unit_test(inputs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
