// A thread-local variable whose address goes nowhere is private; one that is shown around, or that other modules
// may name, is not.
// EXPECT count: 
// EXPECT shown: write4=1
// EXPECT named: write4=1
static _Thread_local int hits, visible;
_Thread_local int outside;
int *where(void) { return &visible; }
int count(void) { return ++hits; }
void shown(void) { visible = 1; }
void named(void) { outside = 1; }
