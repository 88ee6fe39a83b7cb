/*
 * cmd_detectors.c - `deadheat detectors`: lists them, with their guarantees.
 */
#include <string.h>

#include "cli/cmd.h"
#include "detect/detector.h"
#include "report/table.h"
#include "util/arena.h"

static const char usage[] =
    "usage: deadheat detectors [--format=text|json]\n"
    "\n"
    "Lists the detectors that 'deadheat analyze --detector=NAME' accepts, with what each guarantees:\n"
    "\n"
    "  precise            a variable is reported if and only if this execution has a race on it\n"
    "  hybrid             also races in other schedules; some may be impossible\n"
    "  predictive-sound   also races in other schedules, guaranteed as its summary says\n"
    "  unsound            both false alarms and misses\n"
    "  none               only measures\n"
    "\n"
    "Example:\n"
    "  deadheat detectors --format=json\n";

static void print(const char *format)
{
    static const struct dh_print_column columns[] = {
        {.member = "name", .title = "detector"},
        {.member = "guarantee", .title = "guarantee"},
        {.member = "whole_trace", .title = "whole trace"},
        {.member = "summary", .title = "summary"},
    };
    static const struct dh_print_table table = {
        .member = "detectors", .columns = columns, .n_columns = DH_ARRAY_LEN(columns), .below = "paper"};
    static const struct dh_print_tables about = {.tables = &table, .n_tables = 1};
    json_t *list = json_array();
    for (u32 i = 0; i < dh_n_detectors; i++) {
        const struct dh_detector_ops *ops = dh_detectors[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", ops->name, "guarantee",
                                        dh_guarantee_name(ops->guarantee), "paper", ops->paper, "summary",
                                        ops->summary, "whole_trace", ops->whole_trace != NULL));
    }
    json_t *document = json_pack("{s:i, s:o}", "version", 1, "detectors", list);
    if (!document)
        dh_util_no_memory();
    dh_print_tables(stdout, format, &about, document);
    json_decref(document);
}

int dh_cmd_detectors(int argc, char **argv)
{
    const char *format = "text";
    for (int i = 1; i < argc; i++) {
        const char *v = dh_cli_value(argv[i], "format");
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (!v)
            return dh_cli_fail("detectors", "unknown argument '%s'; see 'deadheat detectors --help'",
                               argv[i]);
        if (strcmp(v, "text") != 0 && strcmp(v, "json") != 0)
            return dh_cli_fail("detectors", "--format cannot be '%s'; it must be text or json", v);
        format = v;
    }
    print(format);
    return 0;
}

int dh_cli_unknown_detector(const char *command, const char *name, size_t len)
{
    const char *names[64];
    size_t n = 0;
    for (u32 i = 0; i < dh_n_detectors && n < DH_ARRAY_LEN(names); i++)
        names[n++] = dh_detectors[i]->name;
    const char *nearest = dh_cli_nearest(name, len, names, n);
    if (nearest)
        return dh_cli_fail(command, "there is no detector '%.*s'; did you mean '%s'?", (int)len, name,
                           nearest);
    return dh_cli_fail(command, "there is no detector '%.*s'; 'deadheat detectors' lists them", (int)len,
                       name);
}
