// Each module announces itself before its own initialisers run.
// MATCH *: llvm.global_ctors = appending .*i32 0, ptr @__dh_module_ctor
// MATCH __dh_module_ctor: __dh_module_init_v3\(ptr @__dh_module_marker\)
// EXPECT __dh_module_ctor: module_init_v3=1 enter=0
int x;
__attribute__((constructor)) void early(void) { x = 1; }
