/*
 * options.c - parsing and printing the run-time options. See options.h for the syntax.
 *
 * One table generated from options.def drives everything. String helpers are written out by hand: inside a
 * target process strlen and friends are intercepted, and this runs before the interceptors are ready.
 */
#include "base/options.h"

#include <errno.h>
#include <limits.h>

enum type { TYPE_BOOL, TYPE_INT, TYPE_STR, TYPE_SHARE, TYPE_ONRACE, TYPE_ACTION };

struct option {
    const char *name;
    const char *help;
    const char *text; /* default of a string, else NULL */
    int number;       /* default of anything else */
    u32 offset;       /* of the field in struct dh_options */
    enum type type;
};

#define DEFAULT_BOOL(value) .number = (value)
#define DEFAULT_INT(value) .number = (value)
#define DEFAULT_SHARE(value) .number = (value)
#define DEFAULT_ONRACE(value) .number = (value)
#define DEFAULT_ACTION(value) .number = (value)
#define DEFAULT_STR(value) .text = (value)

static const struct option table[] = {
#define DH_OPTION(name_, type_, value_, help_)     \
    {.name = #name_,                               \
     .help = help_,                                \
     .offset = offsetof(struct dh_options, name_), \
     .type = TYPE_##type_,                         \
     DEFAULT_##type_(value_)},
#include "deadheat/options.def"
#undef DH_OPTION
};

/* The values of an option that is one of several words; they are an enumeration, from 0. */
static const struct words {
    const char *shown;   /* in the list of options */
    const char *allowed; /* in an error */
    const char *word[5];
} words[] = {
    [TYPE_ONRACE] = {"=report|stop|exception", "report, stop or exception", {"report", "stop", "exception"}},
    [TYPE_ACTION] = {"=throw|signal|continue|thread|abort",
                     "throw, signal, continue, thread or abort",
                     {"throw", "signal", "continue", "thread", "abort"}},
};

static size_t length(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

static bool is(const char *s, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != word[i]) /* also stops at word's end: s holds no zero */
            return false;
    }
    return !word[n];
}

static char plain(char c)
{
    return c == '-' ? '_' : c;
}

static bool is_name(const char *s, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (plain(s[i]) != name[i])
            return false;
    }
    return !name[n];
}

static const struct option *find(const char *name, size_t n)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(table); i++) {
        if (is_name(name, n, table[i].name))
            return &table[i];
    }
    return NULL;
}

/* ---- Error sentences --------------------------------------------------------------------------- */

static void say(struct dh_options_error *e, const char *s, size_t n)
{
    size_t at = length(e->text);
    for (size_t i = 0; i < n && at + 1 < sizeof(e->text); i++)
        e->text[at++] = s[i];
    e->text[at] = 0;
}

static void say_text(struct dh_options_error *e, const char *s)
{
    say(e, s, length(s));
}

/* A user's word, quoted; cut where it would crowd out the rest of the sentence. */
static void say_word(struct dh_options_error *e, const char *s, size_t n)
{
    say_text(e, "'");
    say(e, s, n < 64 ? n : 64);
    say_text(e, n < 64 ? "'" : "...'");
}

/* An option's name, as the user types it. */
static void say_name(struct dh_options_error *e, const char *name)
{
    if (e->flags)
        say_text(e, "--");
    for (; *name; name++)
        say(e, e->flags && *name == '_' ? "-" : name, 1);
}

u32 dh_options_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    u8 row[64];
    if (a_len > 63)
        a_len = 63;
    if (b_len > 63)
        b_len = 63;
    for (size_t j = 0; j <= b_len; j++)
        row[j] = (u8)j;
    for (size_t i = 1; i <= a_len; i++) {
        u8 diagonal = row[0];
        row[0] = (u8)i;
        for (size_t j = 1; j <= b_len; j++) {
            u8 change = (u8)(diagonal + (plain(a[i - 1]) != plain(b[j - 1])));
            diagonal = row[j];
            u8 least = row[j] < row[j - 1] ? row[j] : row[j - 1];
            row[j] = least + 1 < change ? (u8)(least + 1) : change;
        }
    }
    return row[b_len];
}

bool dh_options_is_near(u32 distance, size_t len)
{
    size_t far = len / 3 > 2 ? len / 3 : 2;
    return distance <= far && distance < len;
}

static int fail_unknown(const char *name, size_t n, struct dh_options_error *e)
{
    u32 best = UINT_MAX;
    const struct option *nearest = &table[0];
    for (size_t i = 0; i < DH_ARRAY_LEN(table); i++) {
        u32 d = dh_options_distance(name, n, table[i].name, length(table[i].name));
        if (d < best) {
            best = d;
            nearest = &table[i];
        }
    }
    say_text(e, "unknown option ");
    say_word(e, e->flags ? name - 2 : name, e->flags ? n + 2 : n); /* a flag begins with two dashes */
    if (dh_options_is_near(best, length(nearest->name))) {
        say_text(e, "; did you mean '");
        say_name(e, nearest->name);
        say_text(e, "'?");
        return -EINVAL;
    }
    say_text(e, e->flags ? "; --help lists all" : "; help=1 lists all");
    return -ENOENT;
}

static int fail_value(const struct option *o, const char *value, size_t n, const char *allowed,
                      struct dh_options_error *e)
{
    say_text(e, "option '");
    say_name(e, o->name);
    say_text(e, "' cannot be ");
    say_word(e, value, n);
    say_text(e, "; it must be ");
    say_text(e, allowed);
    return -EINVAL;
}

/* ---- Setting one option --------------------------------------------------------------------------- */

static void *field(struct dh_options *o, const struct option *opt)
{
    return (char *)o + opt->offset;
}

static void copy_text(char *to, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = s[i];
    to[n] = 0;
}

void dh_options_default(struct dh_options *o)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(table); i++) {
        const struct option *opt = &table[i];
        switch (opt->type) {
        case TYPE_BOOL:
            *(bool *)field(o, opt) = opt->number != 0;
            break;
        case TYPE_INT:
        case TYPE_SHARE:
        case TYPE_ONRACE:
        case TYPE_ACTION:
            *(int *)field(o, opt) = opt->number;
            break;
        case TYPE_STR:
            copy_text(field(o, opt), opt->text, length(opt->text));
            break;
        }
    }
}

static bool parse_bool(const char *s, size_t n, bool *ret)
{
    if (is(s, n, "1") || is(s, n, "true") || is(s, n, "yes"))
        *ret = true;
    else if (is(s, n, "0") || is(s, n, "false") || is(s, n, "no"))
        *ret = false;
    else
        return false;
    return true;
}

static bool parse_int(const char *s, size_t n, int *ret)
{
    long value = 0;
    if (n == 0 || n > 10)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        value = value * 10 + (s[i] - '0');
    }
    if (value > INT_MAX)
        return false;
    *ret = (int)value;
    return true;
}

/* A percentage with up to four decimals, in millionths. The sign must be there: a bare 1 could mean all. */
static bool parse_share(const char *s, size_t n, int *ret)
{
    const long whole = 1000000, percent = whole / 100;
    long value = 0, unit = percent; /* ten times that of the next digit after the point */
    bool point = false;
    if (n < 2 || s[n - 1] != '%' || s[0] == '.' || s[n - 2] == '.')
        return false;
    for (size_t i = 0; i < n - 1; i++) {
        int digit = s[i] - '0';
        if (s[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit < 0 || digit > 9 || value > 100 * whole || (unit == 1 && digit))
            return false;
        if (point)
            unit = unit > 1 ? unit / 10 : 1;
        value = point ? value + digit * unit : value * 10 + digit * percent;
    }
    *ret = (int)value;
    return true;
}

static bool parse_word(const struct words *w, const char *s, size_t n, int *ret)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(w->word) && w->word[i]; i++) {
        if (is(s, n, w->word[i])) {
            *ret = (int)i;
            return true;
        }
    }
    return false;
}

/* Options whose values are narrower than their type says. NULL: fine, else what is allowed. */
static const char *narrower(const struct option *opt, const char *s, size_t n, int number)
{
    if (is(opt->name, length(opt->name), "exitcode") && number > 255)
        return "a number from 0 to 255";
    if (is(opt->name, length(opt->name), "max_reports") && number < 1) /* a race must be reported */
        return "a whole number, 1 or more";
    if (is(opt->name, length(opt->name), "race_signal") && (number < 1 || number > 64))
        return "the number of a signal, from 1 to 64";
    if (is(opt->name, length(opt->name), "sample") && number > 1000000)
        return "a percentage from 0% to 100%, such as 1% or 0.5%";
    if (is(opt->name, length(opt->name), "color") && !is(s, n, "auto") && !is(s, n, "always") &&
        !is(s, n, "never"))
        return "auto, always or never";
    return NULL;
}

static int set(struct dh_options *o, const struct option *opt, const char *s, size_t n,
               struct dh_options_error *e)
{
    bool truth = false;
    int number = 0;
    switch (opt->type) {
    case TYPE_BOOL:
        if (!parse_bool(s, n, &truth))
            return fail_value(opt, s, n, "0 or 1", e);
        *(bool *)field(o, opt) = truth;
        return 0;
    case TYPE_INT:
        if (!parse_int(s, n, &number))
            return fail_value(opt, s, n, "a whole number, 0 or more", e);
        break;
    case TYPE_SHARE:
        if (!parse_share(s, n, &number))
            return fail_value(opt, s, n, "a percentage such as 1% or 0.5%", e);
        break;
    case TYPE_ONRACE:
    case TYPE_ACTION:
        if (!parse_word(&words[opt->type], s, n, &number))
            return fail_value(opt, s, n, words[opt->type].allowed, e);
        *(int *)field(o, opt) = number;
        return 0;
    case TYPE_STR:
        if (n >= DH_OPTIONS_STR_MAX)
            return fail_value(opt, s, n, "shorter than 4096 characters", e);
        break;
    }
    const char *allowed = narrower(opt, s, n, number);
    if (allowed)
        return fail_value(opt, s, n, allowed, e);
    if (opt->type == TYPE_INT || opt->type == TYPE_SHARE)
        *(int *)field(o, opt) = number;
    else
        copy_text(field(o, opt), s, n);
    return 0;
}

static int set_named(struct dh_options *o, const char *name, size_t name_len, const char *value,
                     size_t value_len, struct dh_options_error *e)
{
    const struct option *opt = find(name, name_len);
    return opt ? set(o, opt, value, value_len, e) : fail_unknown(name, name_len, e);
}

int dh_options_set_flag(struct dh_options *o, const char *flag, size_t flag_len, const char *value,
                        size_t value_len, struct dh_options_error *ret_err)
{
    *ret_err = (struct dh_options_error){.flags = true};
    return set_named(o, flag + 2, flag_len - 2, value, value_len, ret_err);
}

/* ---- The whole string ------------------------------------------------------------------------------- */

int dh_options_parse(struct dh_options *o, const char *s, struct dh_options_error *ret_err)
{
    ret_err->flags = false;
    ret_err->text[0] = 0;
    while (s && *s) {
        if (*s == ':') {
            s++;
            continue;
        }
        const char *name = s;
        while (*s && *s != ':' && *s != '=')
            s++;
        size_t name_len = (size_t)(s - name);
        if (*s != '=') {
            say_text(ret_err, "option ");
            say_word(ret_err, name, name_len);
            say_text(ret_err, " has no value; write name=value:name=value");
            return -EINVAL;
        }
        const char *value = ++s;
        size_t value_len;
        if (*s == '\'' || *s == '"') {
            char quote = *s++;
            value = s;
            while (*s && *s != quote)
                s++;
            value_len = (size_t)(s - value);
            if (!*s || (s[1] && s[1] != ':')) {
                say_text(ret_err, "option ");
                say_word(ret_err, name, name_len);
                say_text(ret_err, *s ? " has something after its closing quote" : " lacks its closing quote");
                return -EINVAL;
            }
            s++;
        } else {
            while (*s && *s != ':')
                s++;
            value_len = (size_t)(s - value);
        }
        int rc = set_named(o, name, name_len, value, value_len, ret_err);
        if (rc)
            return rc;
    }
    return 0;
}

bool dh_options_is_switch(const char *name, size_t name_len)
{
    const struct option *opt = find(name, name_len);
    return opt && opt->type == TYPE_BOOL;
}

bool dh_options_is_known(const char *name, size_t name_len)
{
    return find(name, name_len) != NULL;
}

/* ---- Help ---------------------------------------------------------------------------------------------- */

static void put(dh_options_write *write, void *ctx, const char *s)
{
    write(ctx, s, length(s));
}

static void put_number(dh_options_write *write, void *ctx, int number)
{
    char digits[12];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    write(ctx, digits + at, sizeof(digits) - at);
}

void dh_options_help(dh_options_write *write, void *ctx, bool flags)
{
    static const char *const values[] = {"=0|1", "=N", "=TEXT", "=N%"};
    enum { COLUMN = 24 };
    for (size_t i = 0; i < DH_ARRAY_LEN(table); i++) {
        const struct option *opt = &table[i];
        if (flags && is(opt->name, length(opt->name), "help")) /* --help is the command's own */
            continue;
        put(write, ctx, flags ? "  --" : "  ");
        for (const char *c = opt->name; *c; c++) {
            char shown = flags && *c == '_' ? '-' : *c;
            write(ctx, &shown, 1);
        }
        bool is_word = opt->type >= TYPE_ONRACE;
        const char *value = is_word ? words[opt->type].shown : values[opt->type];
        put(write, ctx, value);
        size_t used = length(opt->name) + length(value) + (flags ? 2 : 0);
        if (used >= COLUMN) {
            put(write, ctx, "\n  ");
            used = 0;
        }
        do
            put(write, ctx, " ");
        while (++used < COLUMN);
        put(write, ctx, opt->help);
        put(write, ctx, " (default: ");
        if (opt->type == TYPE_STR)
            put(write, ctx, opt->text[0] ? opt->text : "none");
        else if (is_word)
            put(write, ctx, words[opt->type].word[opt->number]);
        else if (opt->number < 0)
            put(write, ctx, "none");
        else
            put_number(write, ctx, opt->number);
        put(write, ctx, ")\n");
    }
}
