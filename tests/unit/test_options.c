/*
 * test_options.c - src/base/options.c.
 */
#include <string.h>

#include "base/options.h"
#include "unit/check.h"

static struct dh_options o;
static struct dh_options_error err;

static int parse(const char *s)
{
    memset(&err, 'x', sizeof(err));
    return dh_options_parse(&o, s, &err);
}

static void defaults(void **state)
{
    (void)state;
    memset(&o, 0xff, sizeof(o));
    dh_options_default(&o);
    assert_false(o.help);
    assert_int_equal(o.exitcode, 66);
    assert_int_equal(o.on_race, DH_ON_RACE_REPORT);
    assert_int_equal(o.race_action, DH_ACTION_THROW);
    assert_int_equal(o.race_signal, 5);
    assert_string_equal(o.output, "");
    assert_string_equal(o.color, "auto");
    assert_true(o.report);
    assert_int_equal(o.max_reports, 1000);
}

static void accepts(void **state)
{
    (void)state;
    dh_options_default(&o);
    assert_int_equal(parse(NULL), 0);
    assert_int_equal(parse(""), 0);
    assert_int_equal(parse(":::"), 0);
    assert_int_equal(parse("exitcode=3:on_race=stop:stats=1:output=/tmp/x y"), 0);
    assert_int_equal(o.exitcode, 3);
    assert_int_equal(o.on_race, DH_ON_RACE_STOP);
    assert_int_equal(parse("on_race=exception:race_action=thread:race_signal=10"), 0);
    assert_int_equal(o.on_race, DH_ON_RACE_EXCEPTION);
    assert_int_equal(o.race_action, DH_ACTION_THREAD);
    assert_int_equal(o.race_signal, 10);
    assert_int_equal(parse("sample=1%:overhead=250%"), 0);
    assert_int_equal(o.sample, 10000);
    assert_int_equal(o.overhead, 2500000);
    assert_int_equal(parse("sample=0.0125%"), 0);
    assert_int_equal(o.sample, 125);
    assert_int_equal(parse("sample=100.00000%:overhead=0%"), 0);
    assert_int_equal(o.sample, 1000000);
    assert_int_equal(o.overhead, 0);
    assert_true(o.stats);
    assert_string_equal(o.output, "/tmp/x y");
    assert_int_equal(parse("on-race=report:max-reports=5:stats=no:report=false"), 0);
    assert_int_equal(o.on_race, DH_ON_RACE_REPORT);
    assert_int_equal(o.max_reports, 5);
    assert_false(o.stats);
    assert_false(o.report);
    assert_int_equal(parse("exitcode=1:exitcode=2:"), 0);
    assert_int_equal(o.exitcode, 2);
    assert_string_equal(err.text, "");
}

static void quotes(void **state)
{
    (void)state;
    dh_options_default(&o);
    assert_int_equal(parse("output='a:b=c':suppressions=\"it's\":color='never'"), 0);
    assert_string_equal(o.output, "a:b=c");
    assert_string_equal(o.suppressions, "it's");
    assert_string_equal(o.color, "never");
    assert_int_equal(parse("output=''"), 0);
    assert_string_equal(o.output, "");
    assert_true(parse("output='a") < 0);
    assert_string_equal(err.text, "option 'output' lacks its closing quote");
    assert_true(parse("output='a'b:stats=1") < 0);
    assert_string_equal(err.text, "option 'output' has something after its closing quote");
}

static void errors(void **state)
{
    (void)state;
    dh_options_default(&o);
    assert_true(parse("exitcod=1") < 0);
    assert_string_equal(err.text, "unknown option 'exitcod'; did you mean 'exitcode'?");
    assert_true(parse("supressions=x") < 0);
    assert_string_equal(err.text, "unknown option 'supressions'; did you mean 'suppressions'?");
    assert_true(parse("on_rcae=stop") < 0);
    assert_string_equal(err.text, "unknown option 'on_rcae'; did you mean 'on_race'?");
    assert_true(parse("quite_another_thing=1") < 0);
    assert_string_equal(err.text, "unknown option 'quite_another_thing'; help=1 lists all");
    assert_true(parse("=1") < 0);
    assert_true(parse("stats") < 0);
    assert_string_equal(err.text, "option 'stats' has no value; write name=value:name=value");
    assert_true(parse("stats=maybe") < 0);
    assert_string_equal(err.text, "option 'stats' cannot be 'maybe'; it must be 0 or 1");
    assert_true(parse("race_action=explode") < 0);
    assert_string_equal(
        err.text,
        "option 'race_action' cannot be 'explode'; it must be throw, signal, continue, thread or abort");
    assert_true(parse("race_signal=0") < 0);
    assert_string_equal(
        err.text, "option 'race_signal' cannot be '0'; it must be the number of a signal, from 1 to 64");
    assert_true(parse("on_race=explode") < 0);
    assert_string_equal(err.text,
                        "option 'on_race' cannot be 'explode'; it must be report, stop or exception");
    assert_true(parse("color=red") < 0);
    assert_string_equal(err.text, "option 'color' cannot be 'red'; it must be auto, always or never");
    assert_true(parse("exitcode=256") < 0);
    assert_string_equal(err.text, "option 'exitcode' cannot be '256'; it must be a number from 0 to 255");
    assert_true(parse("max_reports=0") < 0);
    assert_string_equal(err.text, "option 'max_reports' cannot be '0'; it must be a whole number, 1 or more");
    assert_true(parse("sample=1") < 0);
    assert_string_equal(err.text,
                        "option 'sample' cannot be '1'; it must be a percentage such as 1% or 0.5%");
    assert_true(parse("sample=100.1%") < 0);
    assert_string_equal(
        err.text,
        "option 'sample' cannot be '100.1%'; it must be a percentage from 0% to 100%, such as 1% or 0.5%");
    static const char *const no_share[] = {"overhead=%",      "overhead=.5%",         "overhead=5.%",
                                           "overhead=1.2.3%", "overhead=0.00001%",    "overhead=-1%",
                                           "overhead=1%%",    "overhead=99999999999%"};
    for (size_t i = 0; i < DH_ARRAY_LEN(no_share); i++)
        assert_true(parse(no_share[i]) < 0);
    assert_true(parse("max_reports=-1") < 0);
    assert_true(parse("max_reports=99999999999") < 0);
    assert_true(parse("max_reports=2147483648") < 0);
    assert_true(parse("max_reports=") < 0);
}

static void keeps_what_stood_before(void **state)
{
    (void)state;
    dh_options_default(&o);
    assert_true(parse("exitcode=9:nonsense=1:exitcode=10") < 0);
    assert_int_equal(o.exitcode, 9);
}

static void long_values(void **state)
{
    (void)state;
    static char text[2 * DH_OPTIONS_STR_MAX];
    dh_options_default(&o);
    memset(text, 'a', sizeof(text) - 1);
    memcpy(text, "output=", 7);
    text[7 + DH_OPTIONS_STR_MAX - 1] = 0;
    assert_int_equal(parse(text), 0);
    assert_int_equal(strlen(o.output), DH_OPTIONS_STR_MAX - 1);
    text[7 + DH_OPTIONS_STR_MAX - 1] = 'a';
    assert_true(parse(text) < 0);
    assert_true(strlen(err.text) < 200);
    text[0] = 'q'; /* a very long name is cut in the error */
    memset(text, 'q', sizeof(text) - 1);
    assert_true(parse(text) < 0);
    assert_true(strlen(err.text) < 200);
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(dh_options_distance("", 0, "abc", 3), 3);
    assert_int_equal(dh_options_distance("abc", 3, "abc", 3), 0);
    assert_int_equal(dh_options_distance("on-race", 7, "on_race", 7), 0);
    assert_int_equal(dh_options_distance("kitten", 6, "sitting", 7), 3);
    assert_true(dh_options_is_near(1, 3));
    assert_false(dh_options_is_near(2, 2));
}

static char written[8192];

static void write_text(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    strncat(written, text, len);
}

static void help(void **state)
{
    (void)state;
    written[0] = 0;
    dh_options_help(write_text, NULL, false);
    assert_non_null(strstr(written, "  exitcode=N "));
    assert_non_null(strstr(written, "(default: 66)\n"));
    const char *without = strstr(written, "record_fd="); /* a number that is negative unless given */
    assert_non_null(without);
    assert_memory_equal(strstr(without, " (default"), " (default: none)", 16);
    assert_non_null(strstr(written, "  on_race=report|stop|exception\n"));
    assert_non_null(strstr(written, "  race_action=throw|signal|continue|thread|abort\n"));
    assert_non_null(strstr(written, "  help=0|1 "));
    written[0] = 0;
    dh_options_help(write_text, NULL, true);
    assert_non_null(strstr(written, "  --on-race=report|stop|exception\n"));
    assert_null(strstr(written, "--help"));
    assert_true(dh_options_is_switch("io-sync", 7));
    assert_false(dh_options_is_switch("output", 6));
    assert_false(dh_options_is_switch("outpu", 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),  cmocka_unit_test(accepts),     cmocka_unit_test(quotes),
        cmocka_unit_test(errors),    cmocka_unit_test(long_values), cmocka_unit_test(keeps_what_stood_before),
        cmocka_unit_test(distances), cmocka_unit_test(help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
