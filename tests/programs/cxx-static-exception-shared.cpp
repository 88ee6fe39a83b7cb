// The same with libstdc++ and libgcc inside the program, where no call of theirs can be taken over by its name.
// NO RACE
// FLAGS: -static-libstdc++ -static-libgcc
// TSAN: does not see the counting inside libstdc++
#include "cxx-exception-shared.cpp"
