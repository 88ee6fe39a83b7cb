// Constant globals cannot be written by anyone.
// EXPECT from_table: 
// EXPECT from_string: 
// EXPECT from_variable: read4=1
const int table[] = {1, 2, 3, 4};
extern int variable[];
int from_table(int i) { return table[i]; }
char from_string(int i) { return "hello"[i]; }
int from_variable(int i) { return variable[i]; }
