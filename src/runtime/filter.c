/*
 * filter.c - switches off the checks that `deadheat run --filter` excludes (base/filter.h): their nops become
 * jumps over them.
 *
 * The environment is trusted only if it names the checks of this very build. Anything else is ignored, and
 * every check stays. The environment is left unchanged, so that further instances of the program started by
 * it have the same filter; a forked child has it in its code.
 */
#include "runtime/filter.h"

#include "base/filter.h"
#include "base/fmt.h"
#include "base/sys.h"

/* Provided by the linker. */
extern DH_HIDDEN __attribute__((weak)) const struct dh_patch_point __start_dh_filter_points[];
extern DH_HIDDEN __attribute__((weak)) const struct dh_patch_point __stop_dh_filter_points[];
extern DH_HIDDEN __attribute__((weak)) const struct dh_filter_head __start_dh_filter_head[];

/* Written once, before any thread is created. */
static u64 n_checks, n_safe, n_unescaped;

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int letter(char c)
{
    static const char letters[] = DH_FILTER_LETTERS;
    for (int i = 0; i < 1 << DH_FILTER_BITS; i++)
        if (letters[i] == c)
            return i;
    return -1;
}

/* A number and the colon after it. NULL: there is none. */
static const char *read_number(const char *text, u32 *ret)
{
    u64 n = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && n <= UINT32_MAX; at++)
        n = n * 10 + (u64)(*at - '0');
    if (at == text || *at != ':' || n > UINT32_MAX)
        return NULL;
    *ret = (u32)n;
    return at + 1;
}

static const char *read_id(const char *text, u8 ret[DH_PROGRAM_BUILD_ID])
{
    for (u32 i = 0; i < DH_PROGRAM_BUILD_ID; i++) {
        int high = hex_digit(text[2 * i]), low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);
        if (low < 0)
            return NULL;
        ret[i] = (u8)(high << 4 | low);
    }
    text += (size_t)2 * DH_PROGRAM_BUILD_ID;
    return *text == ':' ? text + 1 : NULL;
}

/* A byte for each group. */
static bool read_bits(const char *text, u32 n, u8 *ret)
{
    for (u32 i = 0; i < n; i++) {
        int bits = letter(text[i / DH_FILTER_BITS]);
        if (bits < 0)
            return false;
        ret[i] = (u8)(bits >> i % DH_FILTER_BITS & 1);
    }
    return text[(n + DH_FILTER_BITS - 1) / DH_FILTER_BITS] == '\0';
}

static void say_ignored(const char *why)
{
    char line[256];
    struct dh_fmt f;
    dh_fmt_init(&f, line, sizeof(line));
    dh_fmt_str(&f, DH_FILTER_ENV " is ignored, and every check is made: ");
    dh_fmt_str(&f, why);
    dh_sys_say(line);
}

static void switch_off(const u8 *wanted, u32 n, u32 safe, u32 unescaped)
{
    const struct dh_patch p = {
        .points = __start_dh_filter_points, .end = __stop_dh_filter_points, .wanted = wanted, .n_groups = n};
    if (!dh_patch_program(&p))
        dh_sys_say(
            "the program's code cannot be changed, so not all checks that the filter names are skipped");
    n_checks = n;
    n_safe = safe;
    n_unescaped = unescaped;
}

void dh_filter_apply(const char *text)
{
    const struct dh_filter_head *head = __start_dh_filter_head;
    u8 id[DH_PROGRAM_BUILD_ID];
    u32 n = 0, safe = 0, unescaped = 0;
    if (!text || !head)
        return;
    bool known = text[0] == '0' + DH_FILTER_VERSION && text[1] == ':';
    if (!known || head->version != DH_FILTER_VERSION) {
        say_ignored("it is from another version of deadheat");
        return;
    }
    const char *at = read_id(text + 2, id);
    if (at && !dh_program_is(id))
        return; /* it is meant for another program */
    at = at ? read_number(at, &n) : NULL;
    at = at ? read_number(at, &safe) : NULL;
    at = at ? read_number(at, &unescaped) : NULL;
    u8 *wanted = at && n == head->n_groups ? dh_sys_map(n + 1) : NULL;
    if (wanted && read_bits(at, n, wanted))
        switch_off(wanted, n, safe, unescaped);
    else
        say_ignored(at && n == head->n_groups && !wanted ? "there is no memory" : "it is damaged");
    if (wanted)
        dh_sys_unmap(wanted, n + 1);
}

void dh_filter_fork_child(void)
{
    n_checks = n_safe = n_unescaped = 0;
}

bool dh_filter_counter(enum dh_counter c, u64 *ret)
{
    if (c != DH_COUNT_FILTERABLE && c != DH_COUNT_FILTERED_SAFE && c != DH_COUNT_FILTERED_UNESCAPED)
        return false;
    *ret = c == DH_COUNT_FILTERABLE ? n_checks : c == DH_COUNT_FILTERED_SAFE ? n_safe : n_unescaped;
    return true;
}
