/*
 * shim_types_inside.h - what shim_types.cpp and shim_fit.cpp share: reading the descriptions of types.
 */
#ifndef DH_IR_WHOLE_SHIM_TYPES_INSIDE_H
#define DH_IR_WHOLE_SHIM_TYPES_INSIDE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfoMetadata.h"

#include "shim_types.h"

struct dh_shim_types {
    llvm::StringMap<const llvm::DICompositeType *> structs;
    /* Sizes in bytes that structures have; nullptr: several do. */
    llvm::DenseMap<unsigned long long, const llvm::DICompositeType *> by_size;
};

/* Without typedefs and qualifiers, and completed: clang declares a class where it is only used and defines it
 * once. */
const llvm::DIType *dh_shim_completed(const dh_shim_types *types, const llvm::DIType *type);
void dh_shim_note_size(llvm::DenseMap<unsigned long long, const llvm::DICompositeType *> &by_size,
                       const llvm::DICompositeType *type);
/* What a pointer type points to, completed; or nullptr. */
const llvm::DIType *dh_shim_pointee(const dh_shim_types *types, const llvm::DIType *type);
/* An array whose length is not said: the last member of a structure, which goes on to the end of the block.
 */
bool dh_shim_is_open(const dh_shim_types *types, const llvm::DIType *type);
/* Whether a member, or a base class, is a piece of data that has this offset in it. */
bool dh_shim_is_at(const dh_shim_types *types, const llvm::DIDerivedType *member, unsigned long long offset);
/* The first member or base class at an offset. */
const llvm::DIDerivedType *dh_shim_member_at(const dh_shim_types *types, const llvm::DICompositeType *type,
                                             unsigned long long offset);

#endif
