/*
 * test_ctest.c - src/report/ctest.c: which test has a command, in files as CMake writes them and in broken ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/ctest.h"
#include "unit/check.h"

#define DEEPER "below/deeper"

static char top[] = "/tmp/dh-ctest-XXXXXX";

static const char *place(const char *below, const char *file)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s%s", top, below, file);
    return path;
}

static void put_bytes(const char *below, const char *text, size_t n)
{
    FILE *f = fopen(place(below, "/CTestTestfile.cmake"), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const char *below, const char *text)
{
    put_bytes(below, text, strlen(text));
}

/* Of these words, started in `below` by CTest at the top. NULL: any name will do. */
static void expect(const char *name, const char *below, size_t n, const char *const *words)
{
    struct dh_arena arena = {0};
    struct dh_ctest c;
    char cwd[256];
    snprintf(cwd, sizeof(cwd), "%s", place(below, ""));
    dh_ctest_init(&c, &arena, NULL);
    const struct dh_model_ctest started = {.command = words, .n_command = n, .command_cwd = cwd, .cwd = top};
    for (int i = 0; i < 2; i++) { /* the second time from memory */
        const char *got = dh_ctest_name(&c, &started);
        if (name)
            assert_string_equal(got, name);
    }
    dh_ctest_done(&c);
    dh_arena_done(&arena);
}

#define EXPECT(name, below, ...) \
    expect(name, below, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static const char full[] =
    "# CMake generated Testfile for \n"
    "add_test(alone \"/x/two\")\n"
    "set_tests_properties(alone PROPERTIES  _BACKTRACE_TRIPLES \"/x/CMakeLists.txt;4;add_test;/x;0;\")\n"
    "add_test([=[two words]=] \"/x/two\" \"a\" \"x y\\\"z;#(\" \"\")\n"
    "add_test([==[a]=]b]==] \"/x/two\" [[\\a\"]])\n"
    "add_test(script \"/x/script.sh\" \"a\") # not \"b\"\n"
    "add_test(shell /bin/sh -c run)\n"
    "add_test(twin1 \"/x/two\" \"a\" \"a\")\n"
    "add_test(twin2 \"/x/two\" \"a\" \"a\")\n"
    "if(CTEST_CONFIGURATION_TYPE MATCHES \"^([Dd][Ee][Bb][Uu][Gg])$\")\n"
    "  add_test(each \"/x/Debug/two\" \"e\")\n"
    "elseif(CTEST_CONFIGURATION_TYPE MATCHES \"^([Rr][Ee][Ll])$\")\n"
    "  add_test(each \"/x/Release/two\" \"e\")\n"
    "else()\n"
    "  add_test(nothing NOT_AVAILABLE)\n"
    "endif()\n"
    "add_test(sh \"sh\" \"/y/both\")\n"
    "add_test(both \"/y/both\")\n"
    "subdirs(\"below\")\n"
    "subdirs(\".\" \"missing\")\n";

static void found(void **state)
{
    (void)state;
    put("", full);
    put("below", "subdirs(\"deeper\" \"..\")");
    put(DEEPER, "add_test(deeper \"/x/two\" \"d\")\nadd_test(twin3 \"/x/two\" \"a\" \"a\")\n");
    EXPECT("alone", "", "/x/two");
    EXPECT("alone", "nowhere", "two");
    EXPECT("two words", "", "/x/two", "a", "x y\"z;#(", "");
    EXPECT("a]=]b", "", "/x/two", "\\a\"");
    EXPECT("script", "", "/bin/sh", "/x/script.sh", "a");
    EXPECT("shell", "", "/bin/sh", "-c", "run");
    EXPECT("each", "", "/x/Debug/two", "e");
    EXPECT("deeper", "", "/x/two", "d");
    EXPECT("deeper", DEEPER, "/x/two", "d");
    EXPECT("twin3", DEEPER, "/x/two", "a", "a"); /* the nearest file decides */
}

static void not_found(void **state)
{
    (void)state;
    put("", full);
    EXPECT("", "", "/x/two", "a", "a");
    EXPECT("", "", "/bin/sh", "/y/both"); /* of sh, or of the script */
    EXPECT("", "", "/x/two", "unknown");
    EXPECT("", "", "/x/two", "");
    EXPECT("", "", "/x/two", "a");
    EXPECT("", "", "/bin/sh", "-e", "/x/script.sh", "a");
    EXPECT("", "", "");
    expect("", "", 0, NULL);
    const struct dh_model_ctest relative = {
        .command = (const char *[]){"two"}, .n_command = 1, .command_cwd = "", .cwd = "x"};
    struct dh_arena arena = {0};
    struct dh_ctest c;
    dh_ctest_init(&c, &arena, NULL);
    assert_string_equal(dh_ctest_name(&c, &relative), "");
    dh_ctest_done(&c);
    dh_arena_done(&arena);
}

/* The build directory is elsewhere now. */
static void moved(void **state)
{
    (void)state;
    struct dh_arena arena = {0};
    struct dh_ctest c;
    const struct dh_path_map map = {.from = "/no/such", .to = top};
    const struct dh_model_ctest started = {
        .command = (const char *[]){"/no/two", "d"}, .n_command = 2, .command_cwd = "/no", .cwd = "/no/such"};
    put("", "subdirs(/no/such/below)");
    put("below", "add_test(d /no/two d)");
    dh_ctest_init(&c, &arena, &map);
    assert_string_equal(dh_ctest_name(&c, &started), "d");
    dh_ctest_done(&c);
    dh_arena_done(&arena);
}

static void malformed(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "",
        "(",
        ")",
        "((((",
        "))))",
        "#",
        "add_test",
        "add_test(",
        "add_test()",
        "add_test(a",
        "add_test(a)",
        "add_test(a \"b",
        "add_test(a \"b\\",
        "add_test(a b\\",
        "add_test(a [",
        "add_test(a [=",
        "add_test(a [=[",
        "add_test(a [=[b]=",
        "add_test(a [[b]",
        "add_test([",
        "add_test(a (b) c)",
        "add_test(a;b",
        "subdirs",
        "subdirs(",
        "subdirs()",
        "subdirs(\"\" . / \"",
        "\\",
        "\"",
        "[[",
        "$<1:(>)",
        "add_test(a \"b\"\"two\"c\"d\")",
        "\xff\xfe(\x80)",
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(broken); i++) {
        put("", broken[i]);
        EXPECT("", "", "/x/two", "a");
        /* What follows is found if the broken part can have ended there. */
        char text[256];
        snprintf(text, sizeof(text), "%s\n)\nadd_test(it /x/two a)", broken[i]);
        bool open = strpbrk(broken[i], "\"[\\") != NULL;
        put("", text);
        if (!open)
            EXPECT("it", "", "/x/two", "a");
    }
    for (size_t n = 0; n < sizeof(full); n++) { /* cut anywhere: what is found is a matter of where */
        put_bytes("", full, n);
        EXPECT(NULL, "", "/x/two");
    }
    static const char zero[] = "add_test(a /x/two)\0add_test(b /x/two)";
    put_bytes("", zero, sizeof(zero));
    EXPECT("a", "", "/x/two");
    unlink(place("", "/CTestTestfile.cmake"));
    assert_int_equal(mkdir(place("", "/CTestTestfile.cmake"), 0700), 0);
    EXPECT("", "", "/x/two");
    assert_int_equal(rmdir(place("", "/CTestTestfile.cmake")), 0);
}

static int make_directories(void **state)
{
    (void)state;
    return !mkdtemp(top) || mkdir(place("below", ""), 0700) != 0 || mkdir(place(DEEPER, ""), 0700) != 0;
}

static int remove_directories(void **state)
{
    static const char *const all[] = {DEEPER, "below", ""};
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++) {
        unlink(place(all[i], "/CTestTestfile.cmake"));
        rmdir(place(all[i], ""));
    }
    return 0;
}

/* CTest was seen in the directory of the test, from which it starts it. */
static void starting(void **state)
{
    (void)state;
    struct dh_arena arena = {0};
    struct dh_ctest c;
    struct dh_model_ctest started = {
        .command = (const char *[]){"/x/two", "d"}, .n_command = 2, .command_cwd = "/no", .cwd = "/no"};
    put("", "subdirs(below)");
    put("below", "add_test(d /x/two d)");
    dh_ctest_init(&c, &arena, NULL);
    assert_string_equal(dh_ctest_name(&c, &started), "");
    started.start = place("below", "/..");
    assert_string_equal(dh_ctest_name(&c, &started), "d");
    dh_ctest_done(&c);
    dh_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),    cmocka_unit_test(not_found), cmocka_unit_test(moved),
        cmocka_unit_test(starting), cmocka_unit_test(malformed),
    };
    return cmocka_run_group_tests(tests, make_directories, remove_directories);
}
