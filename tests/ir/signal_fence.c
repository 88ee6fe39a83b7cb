// Fences and atomics against a signal handler of the same thread order no threads.
// EXPECT compiler_only: write4=1
#include <stdatomic.h>
int x;
void compiler_only(void) { x = 1; atomic_signal_fence(memory_order_seq_cst); }
