/*
 * shim_types.cpp - see shim_types.h.
 */
#include "shim_types.h"

#include <cstring>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include "shim_types_inside.h"

using namespace llvm;

/* ---- Which type ---- */

struct dh_shim_types *dh_shim_types_new(LLVMModuleRef m)
{
    auto *types = new dh_shim_types;
    DebugInfoFinder finder;
    finder.processModule(*unwrap(m));
    for (const DIType *type : finder.types()) {
        auto *composite = dyn_cast<DICompositeType>(type);
        if (!composite || composite->isForwardDecl() || composite->getTag() == dwarf::DW_TAG_array_type)
            continue;
        /* C++ names a struct in this metadata by its mangled name, C by its tag. */
        StringRef name =
            composite->getIdentifier().empty() ? composite->getName() : composite->getIdentifier();
        if (!name.empty())
            types->structs.try_emplace(name, composite);
        if (composite->getIdentifier().empty()) /* of C */
            dh_shim_note_size(types->by_size, composite);
    }
    return types;
}

void dh_shim_types_free(struct dh_shim_types *types)
{
    delete types;
}

static void fill(struct dh_shim_variable *ret, const DIVariable *variable, StringRef name,
                 const DIExpression *expression)
{
    StringRef file = variable->getFilename(), dir = variable->getDirectory();
    auto part = expression->getFragmentInfo();
    *ret = {
        variable->getType(), name.data(), file.data(),         dir.data(), name.size(),
        file.size(),         dir.size(),  variable->getLine(), false,      part ? part->OffsetInBits / 8 : 0};
}

int dh_shim_types_global(LLVMValueRef global, struct dh_shim_variable *ret)
{
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    if (auto *variable = dyn_cast<GlobalVariable>(unwrap(global)))
        variable->getDebugInfo(expressions);
    if (expressions.empty())
        return 0;
    const DIGlobalVariable *variable = expressions[0]->getVariable();
    StringRef linkage = variable->getLinkageName();
    fill(ret, variable, linkage.empty() ? variable->getName() : linkage, expressions[0]->getExpression());
    ret->internal = variable->isLocalToUnit();
    return 1;
}

const void *dh_shim_types_access(const struct dh_shim_types *types, LLVMValueRef inst,
                                 unsigned long long *ret_offset)
{
    const MDNode *tag = unwrap<Instruction>(inst)->getMetadata(LLVMContext::MD_tbaa);
    if (!tag || tag->getNumOperands() < 3)
        return nullptr;
    auto *base = dyn_cast<MDNode>(tag->getOperand(0));
    auto *offset = mdconst::dyn_extract<ConstantInt>(tag->getOperand(2));
    auto *name = base && base->getNumOperands() ? dyn_cast<MDString>(base->getOperand(0)) : nullptr;
    auto found = name ? types->structs.find(name->getString()) : types->structs.end();
    if (!offset || found == types->structs.end())
        return nullptr;
    *ret_offset = offset->getZExtValue();
    return static_cast<const DIType *>(found->second);
}

int dh_shim_types_local(LLVMValueRef alloca_inst, struct dh_shim_variable *ret)
{
    SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
    SmallVector<DbgVariableRecord *, 4> records;
    findDbgUsers(intrinsics, unwrap(alloca_inst), &records);
    /* Others have the address as their value: pointers to it. */
    for (const DbgVariableIntrinsic *user : intrinsics)
        if (isa<DbgDeclareInst>(user) || user->getExpression()->startsWithDeref()) {
            fill(ret, user->getVariable(), user->getVariable()->getName(), user->getExpression());
            return 1;
        }
    for (DbgVariableRecord *user : records)
        if (user->isDbgDeclare() || user->getExpression()->startsWithDeref()) {
            fill(ret, user->getVariable(), user->getVariable()->getName(), user->getExpression());
            return 1;
        }
    return 0;
}

/* ---- What it looks like ---- */

static bool is_qualifier(const DIType *type)
{
    switch (type->getTag()) {
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
        return true;
    default:
        return false;
    }
}

static const DIType *without_qualifiers(const DIType *type)
{
    while (type && is_qualifier(type))
        type = cast<DIDerivedType>(type)->getBaseType();
    return type;
}

static const DIType *without_names(const DIType *type)
{
    while (type && (is_qualifier(type) || type->getTag() == dwarf::DW_TAG_typedef))
        type = cast<DIDerivedType>(type)->getBaseType();
    return type;
}

const DIType *dh_shim_completed(const dh_shim_types *types, const DIType *type)
{
    type = without_names(type);
    auto *composite = dyn_cast_or_null<DICompositeType>(type);
    if (!composite || !composite->isForwardDecl())
        return type;
    auto found = types->structs.find(composite->getIdentifier());
    return found == types->structs.end() ? type : found->second;
}

static std::string name_of(const DIType *type, int depth)
{
    type = without_qualifiers(type);
    if (!type || depth > 4)
        return type ? "..." : "void";
    auto *derived = dyn_cast<DIDerivedType>(type);
    switch (type->getTag()) {
    case dwarf::DW_TAG_pointer_type:
        return name_of(derived->getBaseType(), depth + 1) + " *";
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
        return name_of(derived->getBaseType(), depth + 1) + " &";
    case dwarf::DW_TAG_array_type:
        return name_of(cast<DICompositeType>(type)->getBaseType(), depth + 1) + "[]";
    case dwarf::DW_TAG_structure_type:
        return type->getName().empty() ? "struct" : "struct " + type->getName().str();
    case dwarf::DW_TAG_union_type:
        return type->getName().empty() ? "union" : "union " + type->getName().str();
    case dwarf::DW_TAG_enumeration_type:
        return type->getName().empty() ? "enum" : "enum " + type->getName().str();
    case dwarf::DW_TAG_subroutine_type:
        return "function";
    default:
        return type->getName().str();
    }
}

static void put(const std::string &text, char *buf, size_t cap)
{
    size_t n = text.size() < cap ? text.size() : cap - 1;
    memcpy(buf, text.data(), n);
    buf[n] = '\0';
}

void dh_shim_type_name(const void *type, char *buf, size_t cap)
{
    put(name_of(static_cast<const DIType *>(type), 0), buf, cap);
}

unsigned long long dh_shim_type_size(const struct dh_shim_types *types, const void *type)
{
    const DIType *bare = dh_shim_completed(types, static_cast<const DIType *>(type));
    return bare ? bare->getSizeInBits() / 8 : 0;
}

const DIType *dh_shim_pointee(const dh_shim_types *types, const DIType *type)
{
    auto *pointer = dyn_cast_or_null<DIDerivedType>(without_names(type));
    if (!pointer || pointer->getTag() != dwarf::DW_TAG_pointer_type)
        return nullptr;
    return dh_shim_completed(types, pointer->getBaseType());
}

/* The type of the member of a struct, or of a struct in it, that begins at an offset and is no struct itself.
 */
static const DIType *member_type(const dh_shim_types *types, const DIType *type, unsigned long long offset)
{
    for (int depth = 0; depth < 12; depth++) {
        auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
        if (!composite)
            return offset == 0 ? type : nullptr;
        if (composite->getTag() == dwarf::DW_TAG_array_type) {
            unsigned long long size = dh_shim_type_size(types, composite->getBaseType());
            offset = size ? offset % size : 0;
            type = composite->getBaseType();
            continue;
        }
        const DIDerivedType *member = dh_shim_member_at(types, composite, offset);
        if (!member || composite->getTag() == dwarf::DW_TAG_union_type)
            return nullptr;
        offset -= member->getOffsetInBits() / 8;
        type = member->getBaseType();
    }
    return nullptr;
}

const void *dh_shim_types_loaded(const struct dh_shim_types *types, LLVMValueRef value, const void *from,
                                 unsigned long long offset)
{
    auto *load = dyn_cast<LoadInst>(unwrap(value));
    if (!load)
        return nullptr;
    auto *type = static_cast<const DIType *>(from);
    if (!type)
        type = static_cast<const DIType *>(dh_shim_types_access(types, value, &offset));
    if (!type) {
        /* An element of an array of pointers, or a pointer by itself. */
        struct dh_shim_variable variable;
        auto *global = dyn_cast<GlobalVariable>(getUnderlyingObject(load->getPointerOperand()));
        if (!global || !dh_shim_types_global(wrap(global), &variable))
            return nullptr;
        type = static_cast<const DIType *>(variable.type);
        offset = 0;
        if (auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
            composite && composite->getTag() != dwarf::DW_TAG_array_type)
            return nullptr;
    }
    auto *whole = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
    if (whole && !whole->getIdentifier().empty())
        return nullptr; /* not C */
    const DIType *pointee = dh_shim_pointee(types, member_type(types, type, offset));
    auto *composite = dyn_cast_or_null<DICompositeType>(pointee);
    return composite && composite->getTag() == dwarf::DW_TAG_structure_type && !composite->isForwardDecl() &&
                   composite->getIdentifier().empty()
               ? pointee
               : nullptr;
}

/* What the variable or member that a store goes to is declared as. */
static const DIType *destination(const dh_shim_types *types, const StoreInst *store)
{
    struct dh_shim_variable variable;
    unsigned long long offset;
    auto *to = const_cast<Value *>(store->getPointerOperand());
    if (dh_shim_types_global(wrap(to), &variable))
        return static_cast<const DIType *>(variable.type);
    const void *type = dh_shim_types_access(types, wrap(const_cast<StoreInst *>(store)), &offset);
    if (!type) {
        /* A structure without a name: what the pointer to it is declared as. */
        APInt step(64, 0);
        const DataLayout &layout = store->getDataLayout();
        Value *base = to->stripAndAccumulateConstantOffsets(layout, step, true);
        if (step.isNegative() || dh_shim_types_declared(types, wrap(base), &type, 1) == 0)
            return nullptr;
        offset = step.getZExtValue();
    }
    return member_type(types, static_cast<const DIType *>(type), offset);
}

/* The struct that the pointer is accessed as, at a constant distance at most. */
static const DIType *accessed(const dh_shim_types *types, const Value *pointer, uint64_t at, int depth)
{
    for (const User *user : pointer->users()) {
        const DIType *type = nullptr;
        unsigned long long offset = 0;
        APInt step(64, 0);
        if (isa<LoadInst>(user) || (isa<StoreInst>(user) && user->getOperand(1) == pointer)) {
            type = static_cast<const DIType *>(
                dh_shim_types_access(types, wrap(const_cast<User *>(user)), &offset));
            if (offset != at)
                type = nullptr;
        } else if (auto *gep = dyn_cast<GetElementPtrInst>(user);
                   gep && depth > 0 && gep->getPointerOperand() == pointer &&
                   gep->accumulateConstantOffset(gep->getDataLayout(), step)) {
            type = accessed(types, gep, at + step.getZExtValue(), depth - 1);
        }
        if (type)
            return type;
    }
    return nullptr;
}

const void *dh_shim_types_held(const struct dh_shim_types *types, LLVMValueRef inst, unsigned long long size)
{
    SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
    SmallVector<DbgVariableRecord *, 4> records;
    Value *value = unwrap(inst);
    findDbgUsers(intrinsics, value, &records);
    auto fits = [&](const DIType *type) { return type && size && dh_shim_type_size(types, type) == size; };
    for (const DbgVariableIntrinsic *user : intrinsics)
        if (const DIType *type = dh_shim_pointee(types, user->getVariable()->getType());
            user->getExpression()->getNumElements() == 0 && fits(type))
            return type;
    for (DbgVariableRecord *user : records)
        if (const DIType *type = dh_shim_pointee(types, user->getVariable()->getType());
            user->getExpression()->getNumElements() == 0 && fits(type))
            return type;
    for (const User *user : value->users())
        if (auto *store = dyn_cast<StoreInst>(user); store && store->getValueOperand() == value)
            if (const DIType *type = dh_shim_pointee(types, destination(types, store)); fits(type))
                return type;
    const DIType *type = accessed(types, value, 0, 2);
    return fits(type) ? type : nullptr;
}

bool dh_shim_is_open(const dh_shim_types *types, const DIType *type)
{
    auto *array = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
    return array && array->getTag() == dwarf::DW_TAG_array_type && array->getSizeInBits() == 0;
}

bool dh_shim_is_at(const dh_shim_types *types, const DIDerivedType *member, unsigned long long offset)
{
    if (member->isStaticMember() ||
        (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance))
        return false;
    unsigned long long begin = member->getOffsetInBits() / 8;
    unsigned long long size = dh_shim_type_size(types, member->getBaseType());
    return offset >= begin &&
           (offset - begin < (size ? size : 1) || dh_shim_is_open(types, member->getBaseType()));
}

const DIDerivedType *dh_shim_member_at(const dh_shim_types *types, const DICompositeType *type,
                                       unsigned long long offset)
{
    for (const DINode *element : type->getElements())
        if (auto *member = dyn_cast_or_null<DIDerivedType>(element);
            member && dh_shim_is_at(types, member, offset))
            return member;
    return nullptr;
}

/* Types of the C library that are used as one thing. */
static bool is_opaque(const DIType *type)
{
    StringRef name = type->getName();
    return name.starts_with("pthread_") || name == "mtx_t" || name == "cnd_t" || name == "sem_t" ||
           name == "FILE" || name == "_IO_FILE";
}

void dh_shim_type_path(const struct dh_shim_types *types, const void *from, unsigned long long offset,
                       char *buf, size_t cap)
{
    std::string path;
    auto *type = static_cast<const DIType *>(from);
    for (int depth = 0; type && depth < 12; depth++) {
        type = without_qualifiers(type);
        if (!type || is_opaque(type))
            break;
        auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
        if (!composite)
            break;
        if (composite->getTag() == dwarf::DW_TAG_array_type) {
            unsigned long long size = dh_shim_type_size(types, composite->getBaseType());
            for (size_t n = composite->getElements().size(); n > 0; n--)
                path += "[]";
            offset = size ? offset % size : 0;
            type = composite->getBaseType();
            continue;
        }
        const DIDerivedType *member = dh_shim_member_at(types, composite, offset);
        /* Members of a union and bit-fields share their bytes: it is not known which is meant. */
        if (!member || composite->getTag() == dwarf::DW_TAG_union_type || member->isBitField())
            break;
        if (!member->getName().empty())
            path += "." + member->getName().str();
        offset -= member->getOffsetInBits() / 8;
        type = member->getBaseType();
    }
    put(path, buf, cap);
}

int dh_shim_type_array(const struct dh_shim_types *types, const void *from, unsigned long long offset,
                       unsigned long long stride, struct dh_shim_array *ret)
{
    int found = 0;
    unsigned long long start = 0;
    auto *type = static_cast<const DIType *>(from);
    for (int depth = 0; type && depth < 16; depth++) {
        auto *composite = dyn_cast_or_null<DICompositeType>(dh_shim_completed(types, type));
        /* Of a union's members none is more likely than the others. */
        if (!composite || composite->getTag() == dwarf::DW_TAG_union_type)
            break;
        if (composite->getTag() == dwarf::DW_TAG_array_type) {
            unsigned long long element = dh_shim_type_size(types, composite->getBaseType());
            unsigned long long bytes = composite->getSizeInBits() / 8;
            if (element == 0)
                break;
            if (stride % element == 0) {
                /* An array of one was how to say that it goes on to the end of the block. */
                *ret = {start, bytes > element ? start + bytes : UINT32_MAX, element};
                found = 1;
            }
            /* On in the element it is in. */
            start += offset / element * element;
            offset %= element;
            type = composite->getBaseType();
            continue;
        }
        const DIDerivedType *member = dh_shim_member_at(types, composite, offset);
        if (!member)
            break;
        start += member->getOffsetInBits() / 8;
        offset -= member->getOffsetInBits() / 8;
        type = member->getBaseType();
    }
    return found;
}
