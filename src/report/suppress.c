/*
 * suppress.c - parsing suppressions and matching their patterns. See suppress.h.
 *
 * One difference from ThreadSanitizer: its matcher takes the first position where a piece of a pattern
 * matches and never tries a later one, so that `foo$` misses "foo_foo". Ours tries all.
 */
#include "report/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "report/fingerprint.h"
#include "util/lines.h"

enum { MAX_BYTES = 16 << 20 }; /* of a file */

static const char *const type_names[DH_SUPPRESS_TYPES] = {
    [DH_SUPPRESS_RACE] = "race",
    [DH_SUPPRESS_RACE_TOP] = "race_top",
    [DH_SUPPRESS_CALLED_FROM_LIB] = "called_from_lib",
    [DH_SUPPRESS_FINGERPRINT] = "fingerprint",
    [DH_SUPPRESS_THREAD] = "thread",
    [DH_SUPPRESS_MUTEX] = "mutex",
    [DH_SUPPRESS_SIGNAL] = "signal",
    [DH_SUPPRESS_DEADLOCK] = "deadlock",
};

void dh_suppress_init(struct dh_suppress *s, struct dh_arena *arena)
{
    s->arena = arena;
    s->rules = NULL;
    s->end = &s->rules;
}

static void complain_type(dh_suppress_complain *complain, void *ctx, u64 line, const char *type, size_t len)
{
    char sentence[256];
    const char *nearest = NULL;
    u32 best = UINT32_MAX;
    for (int i = 0; i < DH_SUPPRESS_TYPES; i++) {
        u32 d = dh_options_distance(type, len, type_names[i], strlen(type_names[i]));
        if (d < best && dh_options_is_near(d, strlen(type_names[i]))) {
            best = d;
            nearest = type_names[i];
        }
    }
    if (nearest)
        snprintf(sentence, sizeof(sentence), "unknown suppression type '%.*s'; did you mean '%s'?",
                 (int)(len < 60 ? len : 60), type, nearest);
    else
        snprintf(sentence, sizeof(sentence),
                 "unknown suppression type '%.*s'; there are race, race_top, called_from_lib, fingerprint, "
                 "thread, mutex, signal and deadlock",
                 (int)(len < 60 ? len : 60), type);
    complain(ctx, line, sentence);
}

/* One line without its newline and the blanks around it. False: it was bad and has been complained about. */
static bool parse_line(struct dh_suppress *s, const char *text, size_t len, u64 line,
                       dh_suppress_complain *complain, void *ctx)
{
    const char *colon = memchr(text, ':', len);
    if (len == 0 || text[0] == '#')
        return true;
    if (memchr(text, 0, len)) {
        complain(ctx, line, "the line holds a zero byte");
        return false;
    }
    if (!colon) {
        complain(ctx, line, "not of the form type:pattern");
        return false;
    }
    size_t type_len = (size_t)(colon - text);
    size_t pattern_len = len - type_len - 1;
    for (int type = 0; type < DH_SUPPRESS_TYPES; type++) {
        if (strlen(type_names[type]) != type_len || memcmp(type_names[type], text, type_len) != 0)
            continue;
        if (pattern_len == 0) {
            complain(ctx, line, "there is no pattern after the colon; write * to match everything");
            return false;
        }
        if (type == DH_SUPPRESS_FINGERPRINT && !dh_fingerprint_is_valid(colon + 1, pattern_len)) {
            complain(ctx, line, "not a fingerprint as reports have it: dh2- and 12 hex digits");
            return false;
        }
        struct dh_suppress_rule *rule = dh_arena_alloc(s->arena, sizeof(*rule));
        rule->type = (enum dh_suppress_type)type;
        rule->pattern = dh_arena_dup(s->arena, colon + 1, pattern_len);
        rule->line = line;
        *s->end = rule;
        s->end = &rule->next;
        return true;
    }
    complain_type(complain, ctx, line, text, type_len);
    return false;
}

u64 dh_suppress_parse(struct dh_suppress *s, const char *text, size_t len, dh_suppress_complain *complain,
                      void *ctx)
{
    u64 line = 0, bad = 0;
    const char *end = text + len;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        const char *first = text, *last = stop;
        while (first < last && (*first == ' ' || *first == '\t'))
            first++;
        while (last > first && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r'))
            last--;
        line++;
        bad += !parse_line(s, first, (size_t)(last - first), line, complain, ctx);
        text = newline ? newline + 1 : end;
    }
    return bad;
}

int dh_suppress_load(struct dh_suppress *s, const char *path, dh_suppress_complain *complain, void *ctx,
                     u64 *ret_bad)
{
    char *text;
    size_t n;
    int rc = dh_lines_load(path, MAX_BYTES, &text, &n);
    if (rc)
        return rc;
    *ret_bad = dh_suppress_parse(s, text, n, complain, ctx);
    free(text);
    return 0;
}

/* Does the pattern fit a prefix of text (or all of it, if the pattern ends in '$')? `*` is any text. The
 * usual greedy walk with one point to go back to: after a later `*`, earlier ones need no second try. */
static bool fits(const char *pattern, const char *text)
{
    const char *retry_pattern = NULL, *retry_text = NULL;
    for (;;) {
        if (*pattern == '*') {
            retry_pattern = ++pattern;
            retry_text = text;
            continue;
        }
        if (!*pattern || (pattern[0] == '$' && !pattern[1] && !*text))
            return true;
        if (*text && *pattern == *text && !(pattern[0] == '$' && !pattern[1])) {
            pattern++;
            text++;
            continue;
        }
        if (!retry_pattern || !*retry_text)
            return false;
        pattern = retry_pattern;
        text = ++retry_text;
    }
}

bool dh_suppress_match(const char *pattern, const char *text)
{
    if (!text || !text[0])
        return false;
    if (pattern[0] == '^')
        return fits(pattern + 1, text);
    do {
        if (fits(pattern, text))
            return true;
    } while (*text++);
    return false;
}

struct dh_suppress_rule *dh_suppress_find(const struct dh_suppress *s, enum dh_suppress_type type,
                                          const char *text)
{
    for (struct dh_suppress_rule *rule = s->rules; rule; rule = rule->next) {
        if (rule->type == type && dh_suppress_match(rule->pattern, text))
            return rule;
    }
    return NULL;
}
