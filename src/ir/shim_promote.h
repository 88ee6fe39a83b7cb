/*
 * shim_promote.h - promotion of memory to registers by the optimiser, for src/ir/shim.cpp. C++.
 */
#ifndef DH_IR_SHIM_PROMOTE_H
#define DH_IR_SHIM_PROMOTE_H

#include "llvm/Passes/PassBuilder.h"

/* At the beginning of a pipeline. */
void dh_shim_forbid_promotion();
/* Adds what is allowed of it, where loops have been rotated. */
void dh_shim_promote(llvm::FunctionPassManager &passes);

#endif
