/*
 * shim_fit.cpp - which structures can be where in an object of a known type; see shim_types.h.
 *
 * Types are compared by name: each file that includes a header has its own description of the same structure,
 * and optimisation does not merge them. Two structures are also treated as compatible where C programs do so:
 * if they begin with the same two members (headers that are repeated in each structure), or are socket
 * addresses. A structure of at most two words may be anywhere: such links are overlaid on free blocks.
 *
 * Only C variables count. In C++ a pointer to a class is too often used for derived classes, and for memory
 * in which an object was constructed, and for many classes debug information has only the name.
 */
#include "shim_types.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Path.h"

#include "shim_types_inside.h"

using namespace llvm;

constexpr int MAX_DEPTH = 16;
constexpr uint64_t TWO_WORDS = 16, FOUR_WORDS = 32; /* bytes */

static const DICompositeType *as_struct(const dh_shim_types *types, const DIType *type)
{
    auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
    if (!composite || composite->isForwardDecl() || composite->getSizeInBits() == 0)
        return nullptr;
    unsigned tag = composite->getTag();
    return tag == dwarf::DW_TAG_structure_type || tag == dwarf::DW_TAG_class_type ? composite : nullptr;
}

size_t dh_shim_types_declared(const struct dh_shim_types *types, LLVMValueRef value, const void **ret,
                              size_t cap)
{
    SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
    SmallVector<DbgVariableRecord *, 4> records;
    Value *v = unwrap(value);
    auto *inst = dyn_cast<Instruction>(v);
    auto *argument = dyn_cast<Argument>(v);
    const BasicBlock *home = inst       ? inst->getParent()
                             : argument ? &argument->getParent()->getEntryBlock()
                                        : nullptr;
    size_t n = 0;
    auto take = [&](const DILocalVariable *variable, const DIExpression *expression, const BasicBlock *at) {
        const DISubprogram *function = variable->getScope()->getSubprogram();
        if (!function || !function->getUnit() ||
            !dwarf::isC(static_cast<dwarf::SourceLanguage>(function->getUnit()->getSourceLanguage())))
            return;
        const DIType *type = dh_shim_pointee(types, variable->getType());
        if (n < cap && at == home && expression->getNumElements() == 0 && as_struct(types, type))
            ret[n++] = type;
    };
    findDbgUsers(intrinsics, v, &records);
    for (const DbgVariableIntrinsic *user : intrinsics)
        if (isa<DbgValueInst>(user))
            take(user->getVariable(), user->getExpression(), user->getParent());
    for (DbgVariableRecord *user : records)
        if (user->isDbgValue())
            take(user->getVariable(), user->getExpression(), user->getParent());
    return n;
}

int dh_shim_type_same(const void *a, const void *b)
{
    auto *x = static_cast<const DIType *>(a), *y = static_cast<const DIType *>(b);
    if (x == y || x->getName() != y->getName())
        return x == y;
    /* A header has other paths from other directories. */
    return !x->getName().empty() ||
           (sys::path::filename(x->getFilename()) == sys::path::filename(y->getFilename()) &&
            x->getLine() == y->getLine() && x->getSizeInBits() == y->getSizeInBits());
}

void dh_shim_note_size(DenseMap<unsigned long long, const DICompositeType *> &by_size,
                       const DICompositeType *type)
{
    auto [known, added] = by_size.try_emplace(type->getSizeInBits() / 8, type);
    if (!added && known->second && !dh_shim_type_same(known->second, type))
        known->second = nullptr;
}

const void *dh_shim_types_only(const struct dh_shim_types *types, unsigned long long size)
{
    auto found = types->by_size.find(size);
    if (size < FOUR_WORDS || (size & (size - 1)) == 0 || found == types->by_size.end())
        return nullptr;
    return as_struct(types, found->second);
}

static const DIDerivedType *data_member(const DICompositeType *type, unsigned wanted)
{
    for (const DINode *element : type->getElements())
        if (auto *member = dyn_cast_or_null<DIDerivedType>(element);
            member && member->getTag() == dwarf::DW_TAG_member && !member->isStaticMember() && wanted-- == 0)
            return member;
    return nullptr;
}

static bool begin_alike(const DICompositeType *a, const DICompositeType *b)
{
    if (a->getName().starts_with("sockaddr") && b->getName().starts_with("sockaddr"))
        return true;
    for (unsigned i = 0; i < 2; i++) {
        const DIDerivedType *x = data_member(a, i), *y = data_member(b, i);
        if (!x || !y || x->getName().empty() || x->getName() != y->getName() ||
            x->getOffsetInBits() != y->getOffsetInBits() || x->getSizeInBits() != y->getSizeInBits())
            return false;
    }
    return true;
}

/* Whether a structure has another one as its first member, or first base class, or in that. */
static bool begins_with(const dh_shim_types *types, const DICompositeType *type, const DICompositeType *first,
                        int depth)
{
    if (dh_shim_type_same(type, first))
        return true;
    for (const DINode *element : type->getElements())
        if (auto *member = dyn_cast_or_null<DIDerivedType>(element);
            depth > 0 && member && dh_shim_is_at(types, member, 0))
            if (auto *inner = as_struct(types, member->getBaseType());
                inner && begins_with(types, inner, first, depth - 1))
                return true;
    return false;
}

/* Whether what is of one type may be used as the other, from its start. A block that is held by a pointer to
 * its base is as likely one of what was derived from it, if there is room for that. */
static bool is_part(const dh_shim_types *types, const DICompositeType *type, const DICompositeType *part,
                    bool open)
{
    return dh_shim_type_same(type, part) || begin_alike(type, part) ||
           ((open || part->getSizeInBits() <= type->getSizeInBits()) &&
            begins_with(types, part, type, MAX_DEPTH));
}

unsigned long long dh_shim_type_least(const struct dh_shim_types *types, const void *type)
{
    unsigned long long last = 0;
    if (const DICompositeType *composite = as_struct(types, static_cast<const DIType *>(type)))
        for (unsigned i = 0; const DIDerivedType *member = data_member(composite, i); i++)
            last = std::max<unsigned long long>(last, member->getOffsetInBits() / 8);
    return last;
}

/* Storage of scalars, or a union, from an offset on; without an end it has room for everything. */
static bool has_room(const DICompositeType *array, unsigned long long offset, const DICompositeType *part)
{
    return array->getSizeInBits() == 0 || array->getSizeInBits() / 8 - offset >= part->getSizeInBits() / 8;
}

/* ---- at one offset ---- */

static bool holds(const dh_shim_types *types, const DIType *type, unsigned long long offset,
                  const DICompositeType *part, bool open, int depth);

/* An empty base class, or an empty member, has the offset of what comes behind it: all of them count. */
static bool a_member_holds(const dh_shim_types *types, const DICompositeType *type, unsigned long long offset,
                           const DICompositeType *part, int depth)
{
    bool inside = false;
    for (const DINode *element : type->getElements()) {
        auto *member = dyn_cast_or_null<DIDerivedType>(element);
        if (!member || !dh_shim_is_at(types, member, offset))
            continue;
        inside = true;
        if (holds(types, member->getBaseType(), offset - member->getOffsetInBits() / 8, part, false,
                  depth - 1))
            return true;
    }
    return !inside && offset >= type->getSizeInBits() / 8; /* behind it, there may be more of the block */
}

static bool holds(const dh_shim_types *types, const DIType *type, unsigned long long offset,
                  const DICompositeType *part, bool open, int depth)
{
    auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
    if (!composite)
        return false;
    if (depth == 0 || composite->isForwardDecl())
        return true;
    if (composite->getTag() == dwarf::DW_TAG_union_type)
        return has_room(composite, offset, part);
    if (composite->getTag() == dwarf::DW_TAG_array_type) {
        const DIType *element = composite->getBaseType();
        unsigned long long size = dh_shim_type_size(types, element);
        if (!isa_and_nonnull<DICompositeType>(dh_shim_completed(types, element)) || size == 0)
            return has_room(composite, offset, part);
        return holds(types, element, offset % size, part, false, depth - 1);
    }
    return (offset == 0 && is_part(types, composite, part, open)) ||
           a_member_holds(types, composite, offset, part, depth);
}

int dh_shim_type_fits(const struct dh_shim_types *types, const void *from, int open,
                      unsigned long long offset, const void *wanted)
{
    auto *type = static_cast<const DIType *>(from);
    const DICompositeType *part = as_struct(types, static_cast<const DIType *>(wanted));
    if (!part || part->getSizeInBits() / 8 <= TWO_WORDS || offset == dh_shim_type_size(types, from))
        return 1;
    /* A block of scalars is storage for anything. */
    return !isa_and_nonnull<DICompositeType>(dh_shim_completed(types, type)) ||
           holds(types, type, offset, part, open, MAX_DEPTH);
}

/* ---- anywhere ---- */

namespace
{
struct search {
    const dh_shim_types *types;
    const DICompositeType *part;
    unsigned long long *ret;
    size_t n, cap;
    bool anywhere, open;
};
} // namespace

static void look(search &s, const DIType *type, unsigned long long start, int depth);

static void look_in_array(search &s, const DICompositeType *array, unsigned long long start, int depth)
{
    const DIType *element = array->getBaseType();
    unsigned long long size = dh_shim_type_size(s.types, element), bytes = array->getSizeInBits() / 8;
    if (!isa_and_nonnull<DICompositeType>(dh_shim_completed(s.types, element)) || size == 0) {
        s.anywhere |= has_room(array, 0, s.part);
        return;
    }
    if (bytes == 0)
        s.anywhere = true;
    for (unsigned long long at = 0; at + size <= bytes && !s.anywhere; at += size)
        look(s, element, start + at, depth - 1);
}

static void look(search &s, const DIType *type, unsigned long long start, int depth)
{
    auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(s.types, type));
    if (!composite || s.anywhere)
        return;
    unsigned long long room = s.part->getSizeInBits();
    if (composite->getTag() == dwarf::DW_TAG_array_type) {
        look_in_array(s, composite, start, depth);
        return;
    }
    bool has_room = composite->getSizeInBits() >= room;
    if (composite->isForwardDecl() || depth == 0 ||
        (composite->getTag() == dwarf::DW_TAG_union_type && has_room)) {
        s.anywhere = true;
        return;
    }
    if (is_part(s.types, composite, s.part, s.open && start == 0)) {
        s.anywhere |= s.n == s.cap;
        if (!s.anywhere)
            s.ret[s.n++] = start;
        return;
    }
    for (const DINode *element : composite->getElements())
        if (auto *member = dyn_cast_or_null<DIDerivedType>(element);
            member && !member->isStaticMember() &&
            (member->getTag() == dwarf::DW_TAG_member || member->getTag() == dwarf::DW_TAG_inheritance))
            look(s, member->getBaseType(), start + member->getOffsetInBits() / 8, depth - 1);
}

size_t dh_shim_type_places(const struct dh_shim_types *types, const void *type, int open, const void *wanted,
                           unsigned long long *ret, size_t cap)
{
    const DICompositeType *part = as_struct(types, static_cast<const DIType *>(wanted));
    if (!part || part->getSizeInBits() / 8 <= TWO_WORDS)
        return DH_SHIM_ANYWHERE;
    auto *whole = static_cast<const DIType *>(type);
    bool scalars = !isa_and_nonnull<DICompositeType>(dh_shim_completed(types, whole));
    search s = {types, part, ret, 0, cap, scalars, open != 0};
    look(s, whole, 0, MAX_DEPTH);
    return s.anywhere ? DH_SHIM_ANYWHERE : s.n;
}

/* ---- plain members ---- */

int dh_shim_type_plain(const struct dh_shim_types *types, const void *from, unsigned long long offset,
                       unsigned long long length)
{
    auto *type = static_cast<const DIType *>(from);
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        const DIType *whole = dh_shim_completed(types, type);
        auto *composite = dyn_cast_or_null<DICompositeType>(whole);
        if (whole && !composite)
            return offset + length <= dh_shim_type_size(types, whole);
        composite = as_struct(types, type);
        if (!composite || !composite->getIdentifier().empty()) /* not C */
            return 0;
        const DIDerivedType *member = dh_shim_member_at(types, composite, offset);
        if (!member)
            return 0;
        if (member->isBitField()) /* accessed with its neighbours */
            return 0;
        offset -= member->getOffsetInBits() / 8;
        type = member->getBaseType();
    }
    return 0;
}

static bool contains(const dh_shim_types *types, const DIType *type, const DICompositeType *part, int depth)
{
    auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
    if (!composite)
        return false;
    if (depth == 0 || composite->isForwardDecl())
        return true;
    if (composite->getTag() == dwarf::DW_TAG_array_type)
        return contains(types, composite->getBaseType(), part, depth - 1);
    if (is_part(types, composite, part, true))
        return true;
    for (const DINode *element : composite->getElements())
        if (auto *member = dyn_cast_or_null<DIDerivedType>(element);
            member && !member->isStaticMember() && contains(types, member->getBaseType(), part, depth - 1))
            return true;
    return false;
}

int dh_shim_type_related(const struct dh_shim_types *types, const void *a, const void *b)
{
    const DICompositeType *x = as_struct(types, static_cast<const DIType *>(a));
    const DICompositeType *y = as_struct(types, static_cast<const DIType *>(b));
    return !x || !y || contains(types, x, y, MAX_DEPTH) || contains(types, y, x, MAX_DEPTH);
}

/* ---- members side by side ---- */

static bool is_scalar(const dh_shim_types *types, const DIType *type)
{
    return !isa_and_nonnull<DICompositeType>(dh_shim_completed(types, type)) &&
           dh_shim_type_size(types, type) > 0;
}

static void widen(const dh_shim_types *types, const DICompositeType *type, const DIDerivedType *around,
                  unsigned long long base, struct dh_shim_array *ret)
{
    const DIType *like = dh_shim_completed(types, around->getBaseType());
    bool more = true;
    for (int depth = 0; more && depth < MAX_DEPTH; depth++) {
        more = false;
        for (unsigned i = 0; const DIDerivedType *member = data_member(type, i); i++) {
            unsigned long long begin = base + member->getOffsetInBits() / 8, end = begin + ret->stride;
            const DIType *its = dh_shim_completed(types, member->getBaseType());
            bool same = its == like ||
                        (its && like && its->getTag() == like->getTag() && its->getName() == like->getName());
            if (!same || (end != ret->start && begin != ret->end))
                continue;
            ret->start = std::min(ret->start, begin);
            ret->end = std::max(ret->end, end);
            more = true;
        }
    }
}

int dh_shim_type_run(const struct dh_shim_types *types, const void *from, unsigned long long offset,
                     struct dh_shim_array *ret)
{
    auto *type = static_cast<const DIType *>(from);
    unsigned long long base = 0;
    for (int depth = 0; offset > 0 && depth < MAX_DEPTH; depth++) {
        auto *composite = as_struct(types, type);
        const DIDerivedType *member = composite ? dh_shim_member_at(types, composite, offset) : nullptr;
        if (composite && !member && offset < composite->getSizeInBits() / 8) {
            *ret = {base + offset, base + offset + 1, 1}; /* between members: behind the end of one */
            return 1;
        }
        if (!member || member->isBitField())
            return 0;
        unsigned long long begin = member->getOffsetInBits() / 8;
        if (is_scalar(types, member->getBaseType())) {
            unsigned long long size = dh_shim_type_size(types, member->getBaseType());
            *ret = {base + begin, base + begin + size, size};
            widen(types, composite, member, base, ret);
            return 1;
        }
        base += begin;
        offset -= begin;
        type = member->getBaseType();
    }
    return 0;
}
