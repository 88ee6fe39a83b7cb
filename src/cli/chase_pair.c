/*
 * chase_pair.c - from the positions given by the user to the instructions to chase, and what to say if there
 * are none, or if it is ambiguous which are meant.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "report/json.h"
#include "util/output.h"
#include "util/path.h"
#include "util/text.h"

int dh_chase_open_modules(struct dh_chase_request *q)
{
    for (size_t i = 0; i < q->n_modules; i++) {
        struct dh_chase_module *m = &q->modules[i];
        const char *why = NULL;
        char *real = realpath(m->path, NULL);
        m->path = real ? dh_arena_strdup(&q->arena, real) : m->path;
        free(real);
        dh_output_reads(m->path);
        if (dh_chase_lines_open(&q->arena, m->path, &m->file, &why) != 0)
            return dh_cli_fail("chase", "%s", why);
        if (i == 0 && dh_chase_lines_is_static(m->file))
            return dh_cli_fail(
                "chase",
                "'%s' is linked statically, so deadheat's library cannot be loaded into it; link it "
                "without -static",
                m->path);
    }
    return 0;
}

void dh_chase_close_modules(struct dh_chase_request *q)
{
    dh_chase_close_table(q);
    dh_map_done(&q->missed);
    json_decref(q->unchased);
    dh_chase_loaded_done(&q->loaded);
    for (size_t i = 0; i < q->n_modules; i++)
        dh_chase_lines_close(q->modules[i].file);
}

/* ---- Words ---- */

static const char *kind_words(u8 kinds)
{
    return kinds == DH_CONTROL_READ ? "read" : kinds == DH_CONTROL_WRITE ? "write" : "read and write";
}

static void print_access(struct dh_chase_request *q, FILE *out, const struct dh_chase_access *a)
{
    const char *file = dh_text_shown(&q->arena, dh_path_base(a->file));
    if (a->code.kind == DH_CHASE_CODE_REFUSED) {
        fprintf(out, "  %s:%d:%d at 0x%" PRIx64 ": cannot be chased: %s\n", file, a->line, a->column,
                a->address, a->code.refused);
        return;
    }
    for (u8 i = 0; i < a->code.n_operands; i++) {
        const struct dh_control_operand *o = &a->code.operands[i];
        fprintf(out, "  %s:%d:%d at 0x%" PRIx64 ": %s%s of ", file, a->line, a->column, a->address,
                a->code.atomic ? "atomic " : "", kind_words(o->kind));
        if (a->code.copies)
            fprintf(out, "what a call is given\n");
        else
            fprintf(out, "%u byte%s%s\n", o->size, o->size == 1 ? "" : "s",
                    o->flags & (DH_CONTROL_REPEAT | DH_CONTROL_AT_MOST) ? ", repeated" : "");
    }
}

/* ---- What cannot be chased, with many pairs: each reported once ---- */

static bool is_told(struct dh_chase_request *q, const char *key)
{
    if (!q->unchased)
        q->unchased = json_object();
    return json_object_get(q->unchased, key) != NULL;
}

static void tell_unchased(struct dh_chase_request *q, const struct dh_chase_module *m,
                          const struct dh_chase_access *a)
{
    const char *address = dh_arena_printf(&q->arena, "0x%" PRIx64, a->address);
    const char *key = dh_arena_printf(&q->arena, "%s:%s", m->path, address);
    const char *at = dh_arena_printf(&q->arena, "%s:%d:%d", a->file, a->line, a->column);
    if (is_told(q, key))
        return;
    json_object_set_new(q->unchased, key,
                        json_pack("{s:o, s:o, s:s, s:s}", "module", dh_json_text(m->path), "at",
                                  dh_json_text(at), "address", address, "why", a->code.refused));
    if (!q->brief)
        dh_cli_warn("chase", "the access at %s:%d:%d (%s) cannot be chased: %s", dh_path_base(a->file),
                    a->line, a->column, address, a->code.refused);
}

static void tell_undecodable(struct dh_chase_request *q, const struct dh_chase_module *m,
                             const struct dh_chase_position *p)
{
    static const char why[] = "its code could not be decoded to its end";
    const char *at = dh_chase_position_text(&q->arena, p);
    const char *key = dh_arena_printf(&q->arena, "%s:%s", m->path, at);
    if (is_told(q, key))
        return;
    json_object_set_new(
        q->unchased, key,
        json_pack("{s:o, s:o, s:s}", "module", dh_json_text(m->path), "at", dh_json_text(at), "why", why));
    if (!q->brief)
        dh_cli_warn("chase", "the code of %s in '%s' could not be decoded to its end", at, m->path);
}

static void tell_all_undecodable(struct dh_chase_request *q, const struct dh_chase_position *p,
                                 const struct dh_chase_found *f)
{
    for (size_t m = 0; m < q->n_modules; m++)
        if (f->in[m].undecodable)
            tell_undecodable(q, &q->modules[m], p);
}

static void look_up(struct dh_chase_request *q, const struct dh_chase_position *p, struct dh_chase_found *f)
{
    dh_chase_sites_look(q->modules, q->n_modules, p, f);
    tell_all_undecodable(q, p, f);
}

static int fail_and_list(struct dh_chase_request *q, const struct dh_chase_found *f, const char *sentence)
{
    int rc = dh_cli_fail("chase", "%s", sentence);
    for (size_t m = 0; m < q->n_modules; m++)
        for (size_t i = 0; i < f->in[m].n; i++)
            print_access(q, stderr, &f->in[m].at[i]);
    return rc;
}

/* 0 if it is clear what is meant, or the exit status after a message. */
static int check(struct dh_chase_request *q, const struct dh_chase_position *p,
                 const struct dh_chase_found *f)
{
    const char *name = dh_chase_position_text(&q->arena, p);
    if (f->other)
        return dh_cli_fail("chase", "there are several files '%s': '%s' and '%s'; write more of the path",
                           p->file, f->file, f->other);
    if (f->n_chased && !f->many_columns)
        return 0;
    if (f->many_columns)
        return fail_and_list(
            q, f,
            dh_arena_printf(&q->arena,
                            "%s has several accesses; add the column, as in %s:%d:COLUMN (* for all), "
                            "or the kind, :read or :write, to say which:",
                            name, p->file, p->line));
    if (f->file)
        return fail_and_list(q, f,
                             dh_arena_printf(&q->arena, "no access at %s can be chased; there is:", name));
    if (f->has_frame)
        return dh_cli_fail(
            "chase", "%s accesses nothing but its function's own stack frame, which is not chased", name);
    if (f->has_code)
        return dh_cli_fail("chase", "%s accesses no memory (the compiler may have kept it in a register)",
                           name);
    return dh_cli_fail("chase", "there is no code for %s in '%s'%s", name, q->modules[0].path,
                       q->n_modules > 1 ? " and the other modules"
                                        : "; if a library has it, name that with --module=FILE");
}

/* ---- Sites ---- */

/* False if there are too many. */
static bool add_sites(struct dh_chase_request *q, const struct dh_chase_position *p,
                      const struct dh_chase_found *f, u8 side)
{
    return dh_chase_sites_add(&q->sites, q->modules, q->n_modules, p->kinds, f, side);
}

static void warn_of_refused(struct dh_chase_request *q, const struct dh_chase_position *p,
                            const struct dh_chase_found *f)
{
    size_t refused = 0;
    for (size_t m = 0; m < q->n_modules; m++)
        refused += f->in[m].refused;
    if (!refused || q->list)
        return;
    dh_cli_warn("chase", "%zu of the accesses at %s cannot be chased; --list says which and why", refused,
                dh_chase_position_text(&q->arena, p));
}

static void warn_of_merged(struct dh_chase_request *q, const struct dh_chase_position *p,
                           const struct dh_chase_found *f)
{
    for (size_t m = 0; m < q->n_modules; m++)
        if (f->in[m].merged)
            dh_cli_warn(
                "chase",
                "the compiler has merged the access at %s with others, so it has no line; all such accesses "
                "of its function are chased",
                dh_chase_position_text(&q->arena, p));
}

static size_t n_positions(const struct dh_chase_request *q)
{
    return q->any ? 1 : 2;
}

/* Which side a position is on. A thread waits at the first side: in a steered run, the one that would come
 * too early. */
static u8 side_of(const struct dh_chase_request *q, size_t position)
{
    return (position == 1) == (q->steer == DH_CHASE_PRIMARY) ? DH_CONTROL_FIRST : DH_CONTROL_SECOND;
}

int dh_chase_find_sites(struct dh_chase_request *q)
{
    struct dh_chase_found found;
    int rc = 0;
    q->sites.n = 0;
    for (size_t i = 0; !rc && i < n_positions(q); i++) {
        look_up(q, &q->positions[i], &found);
        rc = check(q, &q->positions[i], &found);
        if (!rc && !add_sites(q, &q->positions[i], &found, side_of(q, i)))
            rc = dh_cli_fail("chase", "the pair has more than %d instructions", DH_CONTROL_SITES);
        if (!rc) {
            warn_of_refused(q, &q->positions[i], &found);
            warn_of_merged(q, &q->positions[i], &found);
        }
    }
    if (!rc && !q->any && !dh_chase_sites_can_conflict(&q->sites))
        rc = dh_cli_fail("chase", "both positions only read, so they cannot race");
    return rc;
}

/* True if there is any. */
static bool tell_refused(struct dh_chase_request *q, const struct dh_chase_position *p,
                         const struct dh_chase_found *f)
{
    bool any = false;
    for (size_t m = 0; m < q->n_modules; m++) {
        for (size_t i = 0; i < f->in[m].n; i++) {
            const struct dh_chase_access *a = &f->in[m].at[i];
            if (a->code.kind != DH_CHASE_CODE_REFUSED || !(a->code.kinds & p->kinds))
                continue;
            tell_unchased(q, &q->modules[m], a);
            any = true;
        }
    }
    return any;
}

/* Adds the accesses of a machine-written position. NULL, or why there are none. */
static const char *add_position(struct dh_chase_request *q, const struct dh_chase_position *at, u8 side)
{
    struct dh_chase_position p = *at;
    struct dh_chase_found found;
    dh_chase_sites_look_leniently(q->modules, q->n_modules, &p, &found);
    tell_all_undecodable(q, &p, &found);
    if (found.other)
        return "several files of the program have this name";
    bool refused = tell_refused(q, &p, &found);
    if (!found.n_chased)
        return refused          ? "what accesses it cannot be chased"
               : found.has_code ? "there is no such access in the machine code"
                                : "there is no code for this line";
    return add_sites(q, &p, &found, side) ? NULL : "it has too many instructions";
}

const char *dh_chase_find_candidate(struct dh_chase_request *q)
{
    const char *why = NULL;
    q->sites.n = 0;
    for (size_t i = 0; i < 2 && !why; i++)
        why = add_position(q, &q->positions[i], side_of(q, i));
    return why || dh_chase_sites_can_conflict(&q->sites) ? why : "both accesses only read";
}

const char *dh_chase_find_access(struct dh_chase_request *q, const struct dh_chase_position *at)
{
    q->sites.n = 0;
    return add_position(q, at, DH_CONTROL_FIRST);
}

int dh_chase_find_all(struct dh_chase_request *q)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_modules; i++) {
        q->pools[i].module = &q->modules[i];
        dh_chase_lines_every(q->modules[i].file, &q->pools[i].spots);
        n += q->pools[i].spots.n;
    }
    return n ? 0
             : dh_cli_fail("chase", "'%s' accesses no memory that threads could share", q->modules[0].path);
}

void dh_chase_list_sites(struct dh_chase_request *q)
{
    struct dh_chase_found found;
    for (size_t m = 0; m < q->n_modules && q->drawn; m++)
        for (size_t i = 0; i < q->pools[m].spots.n; i++)
            print_access(q, stdout, dh_chase_lines_at(q->modules[m].file, &q->pools[m].spots.at[i]));
    if (q->drawn)
        return;
    for (size_t i = 0; i < n_positions(q); i++) {
        printf("%s:\n", i == 0 ? "first" : "second");
        look_up(q, &q->positions[i], &found);
        for (size_t m = 0; m < q->n_modules; m++)
            for (size_t k = 0; k < found.in[m].n; k++)
                print_access(q, stdout, &found.in[m].at[k]);
    }
}
