// The same with libstdc++ inside the program, where no call of it can be taken over by its name.
// NO RACE
// FLAGS: -static-libstdc++
// TSAN: it does not see what the library stores
#include "cxx-future-at-exit.cpp"
