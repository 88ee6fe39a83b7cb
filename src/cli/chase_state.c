/*
 * chase_state.c - what has been tried, in a file: one line of JSON for the program, and one for each run.
 *
 * A line is written at once, when its run is over, so a process that is killed loses only its current
 * run. An incomplete last line was being written at that time; it is removed. Anything else that cannot be
 * parsed is refused, and the file is left unchanged. The file is locked while it is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "util/lines.h"
#include "util/output.h"

enum { MAX_MEGABYTES = 256, VERSION = 1 };

static const char no_state[] = "it is no state of 'deadheat chase'";

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* False, with errno. Then nothing of the line is left, or the next would be written behind it. */
static bool write_line(int fd, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    if (!text)
        dh_util_no_memory();
    size_t len = strlen(text);
    text[len++] = '\n'; /* replaces the terminating zero */
    const off_t end = lseek(fd, 0, SEEK_END);
    size_t done = 0;
    for (ssize_t n = 1; done < len && n > 0; done += n > 0 ? (size_t)n : 0)
        n = write(fd, text + done, len - done);
    const int error = errno;
    const bool written = done == len;
    if (!written && done && ftruncate(fd, end) != 0)
        dh_cli_warn("chase", "cannot remove half a line from the state: %s", strerror(errno));
    errno = error;
    free(text);
    json_decref(line);
    return written;
}

/* NULL, or what is wrong with the first line. */
static const char *check_header(const struct dh_chase_request *q, const json_t *line, const char *build_id)
{
    if (strcmp(text_in(line, "type"), "chase") != 0)
        return no_state;
    if (json_integer_value(json_object_get(line, "v")) != VERSION)
        return "it is from another version of deadheat";
    if (strcmp(text_in(line, "build_id"), build_id) != 0)
        return dh_arena_printf(
            (struct dh_arena *)&q->arena,
            "it is of another build of '%s'; begin a new state, or run the program it was made "
            "with",
            text_in(line, "exe"));
    return NULL;
}

/* NULL, or what is wrong with the line. */
static const char *take_run(const json_t *line, void (*take)(void *ctx, const struct dh_chase_outcome *o),
                            void *ctx)
{
    static const char *const words[] = {"confirmed", "no race", "not seen", "not reached", "timeout", "met"};
    const char *word = text_in(line, "outcome");
    struct dh_chase_outcome o = {.pair = text_in(line, "pair"),
                                 .fingerprint = json_string_value(json_object_get(line, "fingerprint")),
                                 .steer = json_string_value(json_object_get(line, "steer")),
                                 .swapped = json_is_true(json_object_get(line, "swapped")),
                                 .met = json_is_true(json_object_get(line, "met")),
                                 .at_once = json_is_true(json_object_get(line, "at_once"))};
    for (size_t i = 0; i < DH_ARRAY_LEN(words); i++)
        o.word = strcmp(word, words[i]) == 0 ? words[i] : o.word;
    if (strcmp(text_in(line, "type"), "run") != 0 || !o.word || !o.pair[0])
        return "is not the outcome of a run";
    take(ctx, &o);
    return NULL;
}

/* Returns the length of the complete lines; *ret_why: what is wrong. */
static size_t take_lines(struct dh_chase_request *q, const char *text, size_t len, const char *build_id,
                         void (*take)(void *ctx, const struct dh_chase_outcome *o), void *ctx,
                         const char **ret_why)
{
    size_t at = 0;
    for (u64 number = 1; at < len && !*ret_why; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        if (!end)
            break;
        json_t *line = json_loadb(text + at, (size_t)(end - text) - at, 0, NULL);
        const char *why = "is not JSON";
        if (number == 1)
            *ret_why = line ? check_header(q, line, build_id) : no_state;
        else
            why = line ? take_run(line, take, ctx) : why;
        if (number > 1 && why)
            *ret_why = dh_arena_printf(&q->arena, "line %llu %s", (unsigned long long)number, why);
        json_decref(line);
        at = (size_t)(end - text) + 1;
    }
    return at;
}

int dh_chase_state_open(struct dh_chase_request *q, struct dh_chase_state *s,
                        void (*take)(void *ctx, const struct dh_chase_outcome *o), void *ctx)
{
    const char *build_id = dh_chase_lines_build_id(q->modules[0].file), *why = NULL;
    char *text = NULL;
    size_t len = 0, whole = 0;
    struct stat st;
    s->fd = -1;
    if (!build_id[0])
        return dh_cli_fail("chase",
                           "'%s' has no build id, by which a state would know it again; link it with "
                           "-Wl,--build-id",
                           q->modules[0].path);
    int fd = open(q->state, O_RDWR | O_APPEND | O_CLOEXEC | (q->replay ? 0 : O_CREAT), 0666);
    if (fd < 0)
        return dh_cli_fail("chase", "cannot open the state '%s': %s", q->state, strerror(errno));
    if (!dh_output_lock(fd)) {
        why = "another 'deadheat chase' uses it";
        goto bad;
    }
    if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) { /* a pipe would be waited for */
        why = no_state;
        goto bad;
    }
    int rc = dh_lines_load_objects(q->state, (size_t)MAX_MEGABYTES << 20, &text, &len);
    if (rc) {
        why = rc == -EILSEQ  ? no_state
              : rc == -EFBIG ? dh_arena_printf(&q->arena, "it has more than %d MB", MAX_MEGABYTES)
                             : strerror(-rc);
        goto bad;
    }
    whole = take_lines(q, text, len, build_id, take, ctx, &why);
    if (!why && len && !whole)
        why = no_state;
    if (!why && whole < len && ftruncate(fd, (off_t)whole) != 0)
        why = strerror(errno);
    if (!why && !whole &&
        !write_line(fd, json_pack("{s:i, s:s, s:s, s:s}", "v", VERSION, "type", "chase", "build_id", build_id,
                                  "exe", q->modules[0].path)))
        why = strerror(errno);
    if (why)
        goto bad;
    free(text);
    s->fd = fd;
    return 0;
bad:
    rc = dh_cli_fail("chase", "cannot use the state '%s': %s", q->state, why);
    free(text);
    close(fd);
    return rc;
}

void dh_chase_state_add(struct dh_chase_state *s, const struct dh_chase_outcome *o)
{
    if (s->fd < 0)
        return;
    json_t *line = json_pack("{s:s, s:s, s:s, s:b, s:b, s:b, s:s*, s:s*}", "type", "run", "pair", o->pair,
                             "outcome", o->word, "swapped", o->swapped, "met", o->met, "at_once", o->at_once,
                             "steer", o->steer, "fingerprint", o->fingerprint);
    if (!write_line(s->fd, line))
        dh_cli_warn("chase", "cannot write the state: %s", strerror(errno));
}

void dh_chase_state_close(struct dh_chase_state *s)
{
    if (s->fd >= 0)
        close(s->fd);
}
