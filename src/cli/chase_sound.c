/*
 * chase_sound.c - every race confirmed in a program with a table of pairs must be a pair of `sound`. If it is
 * not, the static analysis is wrong, and a message says so.
 *
 * The accesses are looked up by their lines: the compiler may have moved one within its line. Machine code
 * rarely shows which accesses are atomic, so nothing is reported unless one of the two is certainly not.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/static.h"
#include "util/path.h"

struct dh_static *dh_chase_table(struct dh_chase_request *q)
{
    if (q->table || q->no_table)
        return q->table;
    q->no_table = !dh_chase_lines_has_section(q->modules[0].file, DH_PAIRS_SECTION);
    if (q->no_table)
        return NULL;
    q->table = dh_util_alloc(sizeof(*q->table));
    if (dh_chase_load_table(q, "sound", q->table) != 0) {
        dh_chase_close_table(q);
        q->no_table = true;
    }
    return q->table;
}

void dh_chase_close_table(struct dh_chase_request *q)
{
    if (q->table)
        dh_chase_forget_table(q->table);
    free(q->table);
    q->table = NULL;
}

/* The analysis knows from the source which of the accesses in its table are atomic. */
static bool is_plain(const struct dh_pairs *p, const struct dh_chase_place *place)
{
    bool plain = place->plain, atomic = false;
    for (size_t i = 0; i < p->n_sites && !place->plain; i++) {
        const struct dh_pairs_site *s = &p->sites[i];
        if ((int)s->at.line != place->line || (int)s->at.column != place->column ||
            strcmp(dh_path_base(s->at.file), dh_path_base(place->file)) != 0)
            continue;
        bool is = s->access == DH_PAIRS_READ || s->access == DH_PAIRS_WRITE;
        plain |= is;
        atomic |= !is;
    }
    return plain && !atomic;
}

/* The name of the pair, in either order. */
static const char *name_of(struct dh_arena *arena, const struct dh_chase_place places[2])
{
    const char *a = dh_arena_printf(arena, "%s:%d", places[0].file, places[0].line);
    const char *b = dh_arena_printf(arena, "%s:%d", places[1].file, places[1].line);
    bool turned = strcmp(a, b) > 0;
    return dh_arena_printf(arena, "%s,%s", turned ? b : a, turned ? a : b);
}

bool dh_chase_is_missed(struct dh_chase_request *q, const struct dh_chase_place places[2])
{
    struct dh_static *table = places[0].file && places[1].file ? dh_chase_table(q) : NULL;
    if (!table || !(is_plain(table->pairs, &places[0]) || is_plain(table->pairs, &places[1])))
        return false;
    const char *name = name_of(&q->arena, places);
    if (dh_static_has(table, name))
        return false;
    if (q->missed.arena == NULL)
        dh_map_init(&q->missed, &q->arena);
    if (!dh_map_get(&q->missed, name, strlen(name))) {
        dh_map_put(&q->missed, name, strlen(name), (void *)name);
        dh_cli_warn("chase",
                    "a defect of the static analysis: %s:%d raced with %s:%d, and these lines are no pair of "
                    "its table (--style=sound); please report it",
                    places[0].file, places[0].line, places[1].file, places[1].line);
    }
    return true;
}
