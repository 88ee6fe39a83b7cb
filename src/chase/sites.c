/*
 * sites.c - see sites.h.
 */
#include "chase/sites.h"

#include <string.h>

#include "util/path.h"

static bool is_wanted(const struct dh_chase_access *a, u8 kinds)
{
    return a->code.kind == DH_CHASE_CODE_ACCESS && a->code.kinds & kinds;
}

void dh_chase_sites_look(const struct dh_chase_module *modules, size_t n, const struct dh_chase_position *at,
                         struct dh_chase_found *ret)
{
    int column = -1;
    *ret = (struct dh_chase_found){0};
    for (size_t m = 0; m < n; m++) {
        struct dh_chase_accesses *in = &ret->in[m];
        dh_chase_lines_find(modules[m].file, at, in);
        ret->has_code |= in->has_code;
        ret->has_frame |= in->frame > 0;
        for (size_t i = 0; i < in->n; i++) {
            const struct dh_chase_access *a = &in->at[i];
            if (ret->file && strcmp(ret->file, a->file) != 0)
                ret->other = a->file;
            ret->file = ret->file ? ret->file : a->file;
            if (!is_wanted(a, at->kinds))
                continue;
            ret->many_columns |= !at->all && column >= 0 && column != a->column;
            column = a->column;
            ret->n_chased++;
        }
    }
}

void dh_chase_sites_look_leniently(const struct dh_chase_module *modules, size_t n,
                                   struct dh_chase_position *at, struct dh_chase_found *ret)
{
    dh_chase_sites_look(modules, n, at, ret);
    if (!ret->has_code && strchr(at->file, '/')) {
        at->file = dh_path_base(at->file);
        dh_chase_sites_look(modules, n, at, ret);
    }
    if (!ret->n_chased && !at->all) {
        at->column = 0;
        at->all = true;
        dh_chase_sites_look(modules, n, at, ret);
    }
}

static struct dh_chase_site *find(struct dh_chase_sites *sites, const struct dh_chase_module *module,
                                  u64 address)
{
    for (size_t i = 0; i < sites->n; i++)
        if (sites->at[i].module == module && sites->at[i].access->address == address)
            return &sites->at[i];
    return NULL;
}

/* NULL: there are too many. */
static struct dh_chase_site *add(struct dh_chase_sites *sites, const struct dh_chase_module *module,
                                 const struct dh_chase_access *access, u8 side)
{
    struct dh_chase_site *site = find(sites, module, access->address);
    if (!site && sites->n < DH_CONTROL_SITES) {
        site = &sites->at[sites->n++];
        *site = (struct dh_chase_site){access, module, 0, 0};
    }
    if (site)
        site->sides |= side;
    return site;
}

bool dh_chase_sites_add(struct dh_chase_sites *sites, const struct dh_chase_module *modules, size_t n,
                        u8 kinds, const struct dh_chase_found *found, u8 side)
{
    for (size_t m = 0; m < n; m++)
        for (size_t i = 0; i < found->in[m].n; i++)
            if (is_wanted(&found->in[m].at[i], kinds) && !add(sites, &modules[m], &found->in[m].at[i], side))
                return false;
    return true;
}

bool dh_chase_sites_add_atomics(struct dh_chase_sites *sites, const struct dh_chase_module *module,
                                const struct dh_chase_accesses *atomics)
{
    for (size_t i = 0; i < atomics->n; i++) {
        struct dh_chase_site *site = add(sites, module, &atomics->at[i], DH_CONTROL_ATOMIC);
        if (!site)
            return false;
        site->order = atomics->at[i].order;
    }
    return true;
}

bool dh_chase_sites_can_conflict(const struct dh_chase_sites *sites)
{
    u8 kinds[2] = {0};
    for (size_t i = 0; i < sites->n; i++)
        for (int side = 0; side < 2; side++)
            if (sites->at[i].sides & 1 << side)
                kinds[side] |= sites->at[i].access->code.kinds;
    return (kinds[0] | kinds[1]) & DH_CONTROL_WRITE;
}
