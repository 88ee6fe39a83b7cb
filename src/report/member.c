/*
 * member.c - see member.h.
 */
#include "report/member.h"

#include <dwarf.h>
#include <stdio.h>

enum { MAX_STEPS = 50000 }; /* debug information may be of anybody's making */

static void look_into(struct dh_members *m, Dwarf_Die *type, const char *typedef_name, u64 rest,
                      const struct dh_member *so_far);

static bool append(struct dh_member *c, const char *before, const char *name)
{
    size_t room = sizeof(c->path) - c->len;
    int n = snprintf(c->path + c->len, room, "%s%s", c->len ? before : "", name);
    if (n < 0 || (size_t)n >= room)
        return false;
    c->len += (size_t)n;
    return true;
}

static void found(struct dh_members *m, const struct dh_member *c)
{
    if (m->n == m->max)
        m->overflow = true;
    else if (c->len)
        m->list[m->n++] = *c;
}

/* Bit-fields share bytes: each that has a bit in those accessed may be the one. */
static bool is_in_bytes(Dwarf_Die *member, u64 rest, u64 size)
{
    Dwarf_Attribute attr;
    Dwarf_Word bits, at, unit, shift;
    if (dwarf_formudata(dwarf_attr(member, DW_AT_bit_size, &attr), &bits) != 0)
        return false;
    if (dwarf_formudata(dwarf_attr(member, DW_AT_data_bit_offset, &attr), &at) != 0) {
        /* As before DWARF 4: counted from the other end of the unit that holds it. */
        Dwarf_Die type;
        if (dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attr), &at) != 0 ||
            dwarf_formudata(dwarf_attr(member, DW_AT_bit_offset, &attr), &shift) != 0 ||
            !dh_object_type(member, &type) || dwarf_aggregate_size(&type, &unit) != 0 ||
            shift + bits > unit * 8)
            return false;
        at = at * 8 + unit * 8 - shift - bits;
    }
    return at < (rest + size) * 8 && at + bits > rest * 8;
}

static bool is_last(const Dwarf_Die *member)
{
    Dwarf_Die next = *member;
    while (dwarf_siblingof(&next, &next) == 0) {
        if (dwarf_tag(&next) == DW_TAG_member)
            return false;
    }
    return true;
}

static void look_at_member(struct dh_members *m, Dwarf_Die *member, u64 rest, const struct dh_member *so_far)
{
    struct dh_member c = *so_far;
    Dwarf_Die type;
    Dwarf_Attribute attr;
    Dwarf_Word at, size;
    u64 accessed = m->size;
    const char *name = dwarf_tag(member) == DW_TAG_member ? dwarf_diename(member) : NULL;
    if (dwarf_hasattr(member, DW_AT_bit_size)) {
        if (name && is_in_bytes(member, rest, accessed) && append(&c, ".", name))
            found(m, &c);
        return;
    }
    bool is_static = dwarf_hasattr(member, DW_AT_external);
    bool placed = dwarf_hasattr(member, DW_AT_data_member_location); /* union members need not have it */
    if (is_static || !dh_object_type(member, &type))
        return;
    if (dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attr), &at) != 0) {
        if (placed) /* computed: a virtual base */
            return;
        at = 0;
    }
    if (rest < at)
        return;
    /* A flexible array at the end of a structure occupies the rest of the block. */
    if (dwarf_aggregate_size(&type, &size) != 0 || size == 0)
        size = dwarf_tag(&type) == DW_TAG_array_type && is_last(member) ? UINT64_MAX : 0;
    if (rest - at >= size || accessed > size - (rest - at) || (name && !append(&c, ".", name)))
        return;
    size_t before = m->n;
    look_into(m, &type, NULL, rest - at, &c);
    if (m->n == before && rest == at && size == accessed)
        found(m, &c); /* all of it at once */
}

static void look_at_element(struct dh_members *m, Dwarf_Die *array, u64 rest, const struct dh_member *so_far)
{
    struct dh_member c = *so_far;
    char index[32];
    Dwarf_Die element, second;
    Dwarf_Word size;
    if (!dh_object_type(array, &element) || dwarf_aggregate_size(&element, &size) != 0 || size == 0)
        return;
    bool matrix = dwarf_child(array, &second) == 0 && dwarf_siblingof(&second, &second) == 0;
    if (matrix || m->size > size - rest % size) { /* several elements: only the array is known */
        found(m, &c);
        return;
    }
    snprintf(index, sizeof(index), "[%llu]", (unsigned long long)(rest / size));
    if (append(&c, "", index))
        look_into(m, &element, NULL, rest % size, &c);
}

static void look_into(struct dh_members *m, Dwarf_Die *type, const char *typedef_name, u64 rest,
                      const struct dh_member *so_far)
{
    Dwarf_Word size;
    Dwarf_Die member;
    if (m->overflow || ++m->steps > MAX_STEPS) {
        m->overflow = true;
        return;
    }
    if (dwarf_tag(type) == DW_TAG_array_type) {
        look_at_element(m, type, rest, so_far);
        return;
    }
    if (!dh_types_is_aggregate(type)) {
        if (rest == 0 && dwarf_aggregate_size(type, &size) == 0 && size == m->size)
            found(m, so_far);
        return;
    }
    struct dh_member c = *so_far;
    if (c.n_along == DH_MEMBER_NESTED || dwarf_child(type, &member) != 0)
        return;
    c.along[c.n_along++] = dh_types_describe(m->object, type, typedef_name);
    do {
        int tag = dwarf_tag(&member);
        if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
            look_at_member(m, &member, rest, &c);
    } while (dwarf_siblingof(&member, &member) == 0);
}

void dh_member_find(struct dh_members *m, const struct dh_type *type, u64 offset,
                    const struct dh_member *whole)
{
    Dwarf_Die die = type->die;
    m->object = type->object;
    look_into(m, &die, type->name, offset, whole);
}
