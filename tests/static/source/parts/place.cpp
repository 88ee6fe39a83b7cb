// The variable that two_files.cpp is about.
int PLACE;
