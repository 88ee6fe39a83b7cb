/*
 * baseline.c - --baseline=FILE and --update-baseline, for all commands that report findings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "util/output.h"

bool dh_cli_baseline_flag(struct dh_cli_baseline *b, const char *arg)
{
    const char *file = dh_cli_value(arg, "baseline");
    if (file)
        b->file = file;
    else if (strcmp(arg, "--update-baseline") == 0)
        b->update = true;
    else
        return false;
    return true;
}

static void note(void *ctx, const char *sentence)
{
    dh_cli_warn(ctx, "the baseline: %s", sentence);
}

int dh_cli_baseline_load(const char *command, struct dh_cli_baseline *b)
{
    struct dh_baseline_error err;
    if (!b->file)
        return b->update ? dh_cli_fail(command, "--update-baseline needs --baseline=FILE, to be written") : 0;
    dh_output_reads(b->file);
    const char *urls = getenv("DEBUGINFOD_URLS");
    char *kept = urls ? strdup(urls) : NULL; /* for a program that is run */
    unsetenv("DEBUGINFOD_URLS");             /* records must not wait for the network */
    int rc = dh_baseline_load(b->file, b->update, note, (void *)command, &b->is, &err);
    if (kept)
        setenv("DEBUGINFOD_URLS", kept, 1);
    free(kept);
    return rc ? dh_cli_fail(command, "cannot use the baseline '%s': %s%s", b->file, err.text,
                            rc == -EINVAL ? "; a baseline is a document of --format=json, race records, or a "
                                            "list of fingerprints"
                                          : "")
              : 0;
}

int dh_cli_baseline_end(const char *command, struct dh_cli_baseline *b, bool partial, int status)
{
    struct dh_baseline_change n;
    const char *why;
    if (b->is && b->update && status == DH_EXIT_TROUBLE) {
        fprintf(stderr, "deadheat: the baseline %s is left as it was\n", b->file);
    } else if (b->is && b->update) {
        if (dh_baseline_write(b->is, partial, &n, &why) != 0)
            status = dh_cli_fail(command, "cannot write the baseline '%s': %s", b->file, why);
        else
            fprintf(stderr,
                    "deadheat: the baseline %s: %" PRIu64 " added, %" PRIu64 " removed, %" PRIu64 " kept%s\n",
                    b->file, n.added, n.removed, n.kept,
                    partial ? "; nothing is removed, since not everything was seen" : "");
        status = status == DH_EXIT_RACES ? 0 : status;
    }
    fflush(stderr); /* it is buffered where reports are made for other processes */
    dh_baseline_free(b->is);
    b->is = NULL;
    return status;
}
