/*
 * caper_page.c - what Caper knows as one self-contained page: the numbers, their history, and the runs.
 *
 * A curve is a step function, since a set changes only when a run is merged. Colours are those of the page,
 * so it works in light and dark; each curve is labelled, so that it can be read without colours.
 */
#include "cli/caper_page.h"

#include "report/html.h"
#include "util/text.h"

enum { WIDTH = 640, HEIGHT = 150, LEFT = 70, RIGHT = 12, TOP = 12, BOTTOM = 24 };

struct curve {
    const char *member, *name, *about, *color;
};

static double number_in(const json_t *object, const char *member)
{
    return json_number_value(json_object_get(object, member));
}

static double x_of(double run, double runs)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (runs > 1 ? (run - 1) / (runs - 1) : 0.5);
}

static double y_of(double value, double most)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (most > 0 ? value / most : 0);
}

static void axes(FILE *out, double most, double runs)
{
    fprintf(out,
            "<path d=\"M%d %d V%d H%d\" fill=none stroke=\"var(--line)\"/>"
            "<g fill=\"var(--dim)\" font-size=12><text x=%d y=%d text-anchor=end>%.0f</text>"
            "<text x=%d y=%d text-anchor=end>0</text><text x=%d y=%d>run 1</text>"
            "<text x=%d y=%d text-anchor=end>run %.0f</text></g>",
            LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT, LEFT - 8, TOP + 8, most, LEFT - 8, HEIGHT - BOTTOM,
            LEFT, HEIGHT - 6, WIDTH - RIGHT, HEIGHT - 6, runs);
}

static void print_curve(FILE *out, const struct curve *c, const json_t *history)
{
    size_t n = json_array_size(history);
    double most = 0, runs = number_in(json_array_get(history, n - 1), "run");
    for (size_t i = 0; i < n; i++) {
        double value = number_in(json_array_get(history, i), c->member);
        most = value > most ? value : most;
    }
    fprintf(out,
            "<h2>%s</h2><p class=place>%s</p><svg viewBox=\"0 0 %d %d\" role=img aria-label=\"%s by run\" "
            "style=\"max-width:52rem;width:100%%\">",
            c->name, c->about, WIDTH, HEIGHT, c->name);
    axes(out, most, runs);
    fprintf(out, "<path fill=none stroke=\"var(--%s)\" stroke-width=2 d=\"", c->color);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(history, i);
        double x = x_of(number_in(row, "run"), runs), y = y_of(number_in(row, c->member), most);
        fprintf(out, i ? "H%.1fV%.1f" : "M%.1f %.1f", x, y);
    }
    fputs("\"/>", out);
    const json_t *last = json_array_get(history, n - 1);
    fprintf(
        out, "<circle r=3.5 fill=\"var(--%s)\" cx=%.1f cy=%.1f><title>%.0f after run %.0f</title></circle>",
        c->color, x_of(runs, runs), y_of(number_in(last, c->member), most), number_in(last, c->member), runs);
    fputs("</svg>\n", out);
}

void dh_cli_caper_curves(FILE *out, const json_t *history)
{
    static const struct curve curves[] = {
        {"dp_pairs", "dpPairs", "Pairs that may have raced: both accesses have touched escaped memory.",
         "write"},
        {"escaped_sites", "deSites", "Sites that have touched memory that other threads could reach.",
         "read"},
        {"sp_pairs", "spPairs", "Other pairs that are possible according to the static analysis.", "dim"},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(curves) && json_array_size(history); i++)
        print_curve(out, &curves[i], history);
}

static void tile(FILE *out, const json_t *d, const char *member, const char *name)
{
    fprintf(out, "<div class=tile><b>%.0f</b>%s</div>", number_in(d, member), name);
}

void dh_cli_caper_page(FILE *out, const json_t *document, const struct dh_print_table *history)
{
    struct dh_arena a = {0};
    const char *program = json_string_value(json_object_get(document, "program"));
    const char *build = json_string_value(json_object_get(document, "build_id"));
    dh_html_begin(out, "Caper on", dh_text_shown(&a, program),
                  dh_arena_printf(&a, "Build %.12s. Every race of the runs so far is in dpPairs.", build));
    fputs("<div class=tiles>", out);
    tile(out, document, "runs", "runs");
    tile(out, document, "dp_pairs", "pairs in dpPairs");
    tile(out, document, "sp_pairs", "pairs in spPairs");
    tile(out, document, "escaped_sites", "sites escaped");
    tile(out, document, "sites", "sites in pairs");
    tile(out, document, "steady_runs", "runs without news");
    fputs("</div></div></header>\n<main>\n", out);
    dh_cli_caper_curves(out, json_object_get(document, "history"));
    dh_print_table_html(out, history, document);
    fputs("</main>\n</html>\n", out);
    dh_arena_done(&a);
}
