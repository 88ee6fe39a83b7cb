/*
 * pipeline_state.c - pipeline.json: which stages have been worked on, for which build, and how long.
 *
 * The sets, the runs and the races are in files of their own; without this file they are still valid, and
 * only the totals at the end would be too small. It is written after each stage, as a whole.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/pipeline.h"
#include "report/json.h"
#include "util/output.h"

enum { VERSION = 1 };

static const char *const names[DH_PIPELINE_STAGES] = {"static", "caper", "infer", "chase", "steer"};

static u64 number_in(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? (u64)n : 0;
}

int dh_pipeline_load(struct dh_pipeline *p)
{
    const char *path = dh_pipeline_file(p, "pipeline.json");
    if (access(path, F_OK) != 0)
        return 0;
    json_t *d = json_load_file(path, 0, NULL);
    const char *known = json_string_value(json_object_get(d, "build_id")), *why = NULL;
    if (!known || json_integer_value(json_object_get(d, "version")) != VERSION)
        why = "its pipeline.json is damaged, or of another version of deadheat";
    else if (strcmp(known, p->build_id) != 0)
        why = dh_arena_printf(&p->arena, "it is of build %.12s, and the program is build %.12s", known,
                              p->build_id);
    for (int i = 0; !why && i < DH_PIPELINE_STAGES; i++) {
        const json_t *stage = json_object_get(json_object_get(d, "stages"), names[i]);
        p->took[i].us = number_in(stage, "us");
        p->took[i].runs = number_in(stage, "runs");
        p->took[i].in = number_in(stage, "in");
        p->took[i].confirmed = number_in(stage, "confirmed");
        if (json_object_get(stage, "pairs"))
            p->took[i].pairs = number_in(stage, "pairs");
    }
    p->earlier_us = number_in(d, "spent_us");
    p->resumed = !why;
    p->inferred = !why && json_is_true(json_object_get(d, "inferred"));
    json_decref(d);
    return why ? dh_cli_fail("pipeline", "cannot go on with '%s': %s; take another --state", p->dir, why) : 0;
}

int dh_pipeline_save(struct dh_pipeline *p)
{
    struct dh_output to = {0};
    const char *path = dh_pipeline_file(p, "pipeline.json");
    json_t *stages = json_object();
    for (int i = 0; i < DH_PIPELINE_STAGES; i++) {
        const struct dh_pipeline_took *t = &p->took[i];
        json_t *stage =
            json_pack("{s:I, s:I, s:I, s:I}", "us", (json_int_t)t->us, "runs", (json_int_t)t->runs, "in",
                      (json_int_t)t->in, "confirmed", (json_int_t)t->confirmed);
        if (t->pairs != UINT64_MAX)
            json_object_set_new(stage, "pairs", json_integer((json_int_t)t->pairs));
        json_object_set_new(stages, names[i], stage);
    }
    json_t *d =
        json_pack("{s:i, s:s, s:b, s:I, s:o}", "version", VERSION, "build_id", p->build_id, "inferred",
                  p->inferred, "spent_us", (json_int_t)dh_pipeline_spent(p), "stages", stages);
    int rc = dh_output_open(&to, &p->arena, path);
    if (rc == 0) {
        json_dumpf(d, to.stream, JSON_INDENT(1));
        fputc('\n', to.stream);
        rc = dh_output_commit(&to);
    }
    json_decref(d);
    return rc ? dh_cli_fail("pipeline", "cannot write '%s': %s", path, to.why) : 0;
}
