/*
 * options.h - the run-time options as a struct, and the one parser for them.
 *
 * Shared by the runtime, which parses DEADHEAT_OPTIONS very early in a process, and by the command line.
 * Freestanding: nothing here allocates, locks, touches errno or calls into libc, and strings are
 * copied, because a program may overwrite its environment later.
 *
 * Syntax: name=value:name=value. Empty parts are skipped. A value may be written in '...' or "..." to
 * contain a colon; there are no escapes. A later setting of a name wins. '-' in a name means '_'.
 */
#ifndef DH_BASE_OPTIONS_H
#define DH_BASE_OPTIONS_H

#include "base/base.h"

#define DH_OPTIONS_STR_MAX 4096 /* with the final zero; a longer value is an error */

/* In the order of their words in options.c. */
enum { DH_ON_RACE_REPORT, DH_ON_RACE_STOP, DH_ON_RACE_EXCEPTION };
enum { DH_ACTION_THROW, DH_ACTION_SIGNAL, DH_ACTION_CONTINUE, DH_ACTION_THREAD, DH_ACTION_ABORT };

#define DH_OPTION_FIELD_BOOL(name) bool name
#define DH_OPTION_FIELD_INT(name) int name
#define DH_OPTION_FIELD_STR(name) char name[DH_OPTIONS_STR_MAX]
#define DH_OPTION_FIELD_SHARE(name) int name
#define DH_OPTION_FIELD_ONRACE(name) int name
#define DH_OPTION_FIELD_ACTION(name) int name

/* About 28 KiB: static, not on a small stack. */
struct dh_options {
#define DH_OPTION(name, type, value, help) DH_OPTION_FIELD_##type(name);
#include "deadheat/options.def"
#undef DH_OPTION
};

struct dh_options_error {
    bool flags;     /* it is about a flag, and names options as flags */
    char text[512]; /* one sentence without a final newline */
};

/* Called with pieces of text, in order. */
typedef void dh_options_write(void *ctx, const char *text, size_t len);

void dh_options_default(struct dh_options *o);

/* Apply `string` on top of *o. Returns 0; or, with *ret_err filled in, -EINVAL or, if there is no such option
 * nor a likely intended one, -ENOENT: then everything before the bad part has been applied. NULL and "" are
 * valid and change nothing. */
int dh_options_parse(struct dh_options *o, const char *string, struct dh_options_error *ret_err);

/* Apply one option that was given as a flag, `flag` being "--its-name"; the value is taken as it is, without
 * quotes. Returns what dh_options_parse returns. */
int dh_options_set_flag(struct dh_options *o, const char *flag, size_t flag_len, const char *value,
                        size_t value_len, struct dh_options_error *ret_err);

/* The table for a person to read. flags: show names as --name-with-dashes, as `deadheat run` takes them. */
void dh_options_help(dh_options_write *write, void *ctx, bool flags);

/* Is this an option that is only on or off? The command line allows those without a value. */
bool dh_options_is_switch(const char *name, size_t name_len);
bool dh_options_is_known(const char *name, size_t name_len);

/* How many single-character edits turn a into b; '-' and '_' count as equal. Long strings (over 63) are
 * compared by their first 63 characters. For "did you mean": at most max(2, len/3) is near. */
u32 dh_options_distance(const char *a, size_t a_len, const char *b, size_t b_len);
bool dh_options_is_near(u32 distance, size_t len);

#endif
