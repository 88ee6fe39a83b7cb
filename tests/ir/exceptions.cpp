// Landing pads reset the shadow stack; a resumed exception leaves the function.
// EXPECT catches: enter=1 exit=1 reenter=1
// EXPECT cleans: enter=1 exit=2 reenter=1
// MATCH cleans: resume
// EXPECT passes: enter=1 exit=1
void f();
struct guard { ~guard(); };
extern "C" int catches() { try { f(); } catch (...) { } return 1; }
extern "C" int cleans() { guard g; f(); return 1; }
extern "C" int passes() { f(); return 1; }
