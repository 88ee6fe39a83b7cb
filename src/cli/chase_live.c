/*
 * chase_live.c - many pairs: a table at the bottom of the terminal with the results so far.
 *
 * The program writes to the same terminal whenever it likes, so the position of the cursor is unknown, and
 * lines cannot be overwritten. Instead the terminal is told to scroll only the lines above the table, and
 * each time the cursor is put back where it was. Reports and the program's output scroll by there; nothing of
 * them is lost. Every update is a single write, for the same reason.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/chase.h"

/* Some lines of the screen must be left for other output. */
enum { FIXED = 5, LEFT_FREE = 5, LEAST_COLUMNS = 10, TICK_US = 500000 };

/* False: there is no terminal, or it is too small. */
static bool measure(int *ret_rows, int *ret_columns)
{
    struct winsize size;
    const char *kind = getenv("TERM");
    if (!isatty(STDERR_FILENO) || !kind || !kind[0] || strcmp(kind, "dumb") == 0 ||
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
        return false;
    *ret_rows = size.ws_row;
    *ret_columns = size.ws_col;
    return size.ws_row >= FIXED + LEFT_FREE && size.ws_col >= LEAST_COLUMNS;
}

static void write_out(const char *text, size_t len)
{
    fflush(stderr);
    while (len) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n <= 0)
            break; /* nobody sees it */
        text += n;
        len -= (size_t)n;
    }
}

/* Shows as much of a text as there is room for. It may be from a file, so control sequences are not passed on
 * to the terminal. */
static void put_line(FILE *out, int row, int columns, const char *text)
{
    int shown = 0;
    fprintf(out, "\033[%d;1H", row);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        bool begins = (*at & 0xc0) != 0x80; /* first byte of a UTF-8 character */
        if (begins && shown++ == columns)
            break;
        fputc(*at < ' ' || *at == 127 ? '?' : *at, out);
    }
    fputs("\033[K", out);
}

static int first_row(const struct dh_chase_live *l)
{
    return l->rows - l->lines + 1;
}

/* Makes room below the cursor. */
static void reserve(struct dh_chase_live *l, FILE *out)
{
    int fits = l->rows - FIXED - LEFT_FREE;
    l->lines = FIXED + (fits < DH_CHASE_LIVE_OUTCOMES ? fits : DH_CHASE_LIVE_OUTCOMES);
    for (int i = 0; i < l->lines; i++)
        fputc('\n', out);
    fprintf(out, "\033[%dA\0337\033[1;%dr\0338", l->lines, first_row(l) - 1);
}

static void put_facts(const struct dh_chase_live *l, FILE *out)
{
    char text[512];
    const struct dh_chase_sum *s = &l->sum;
    int row = first_row(l);
    u64 used = (dh_chase_now_us() - l->start_us) / 1000000;
    int n = snprintf(text, sizeof(text), "deadheat chase: run %" PRIu64 ", %" PRIu64 " s", l->runs, used);
    if (l->budget_us)
        snprintf(text + n, sizeof(text) - (size_t)n, " of %" PRIu64 " s", l->budget_us / 1000000);
    put_line(out, row + 1, l->columns, text);
    put_line(out, row + 2, l->columns,
             "pairs  tried  reached  confirmed  twice  not seen  timeout  not chased  left");
    snprintf(text, sizeof(text),
             "%5" PRIu64 "  %5" PRIu64 "  %7" PRIu64 "  %9" PRIu64 "  %5" PRIu64 "  %8" PRIu64 "  %7" PRIu64
             "  %10" PRIu64 "  %4" PRIu64,
             l->pairs, s->tried, s->reached, s->confirmed, s->twice, s->not_seen, s->timeout, s->not_chased,
             s->left);
    put_line(out, row + 3, l->columns, text);
    put_line(out, row + 4, l->columns, l->now);
}

static void draw(struct dh_chase_live *l)
{
    char *text = NULL;
    size_t len = 0;
    int rows, columns;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        dh_util_no_memory();
    l->drawn_us = dh_chase_now_us();
    if (measure(&rows, &columns)) {
        bool other = rows != l->rows;
        l->rows = rows;
        l->columns = columns;
        if (other)
            reserve(l, out);
        fputs("\0337", out);
        put_line(out, first_row(l), columns, "");
        put_facts(l, out);
        for (int i = FIXED; i < l->lines; i++) /* newest first */
            put_line(out, first_row(l) + i, columns,
                     l->n_outcomes > i - FIXED
                         ? l->outcomes[(l->n_outcomes - 1 - (i - FIXED)) % DH_CHASE_LIVE_OUTCOMES]
                         : "");
        fputs("\0338", out);
    }
    fclose(out);
    write_out(text, len);
    free(text);
}

void dh_chase_live_begin(struct dh_chase_live *l, u64 start_us, u64 budget_us)
{
    int rows, columns;
    *l = (struct dh_chase_live){.start_us = start_us, .budget_us = budget_us};
    l->on = measure(&rows, &columns);
}

void dh_chase_live_show(struct dh_chase_live *l, const char *now, const char *outcome)
{
    snprintf(l->now, sizeof(l->now), "%s", now);
    if (outcome)
        snprintf(l->outcomes[l->n_outcomes++ % DH_CHASE_LIVE_OUTCOMES], sizeof(l->outcomes[0]), "  %s",
                 outcome);
    draw(l);
}

void dh_chase_live_tick(struct dh_chase_live *l)
{
    if (l && l->rows && dh_chase_now_us() - l->drawn_us >= TICK_US)
        draw(l);
}

void dh_chase_live_end(struct dh_chase_live *l)
{
    char text[64];
    if (l->rows)
        write_out(text,
                  (size_t)snprintf(text, sizeof(text), "\0337\033[r\033[%d;1H\033[J\0338", first_row(l)));
    l->rows = 0;
    l->on = false;
}
