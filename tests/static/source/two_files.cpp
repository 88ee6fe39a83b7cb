// C++, a program of two files, and an option that the compiler needs.
// OPTIONS -DPLACE=shared_place
// WITH parts/place.cpp
#include <thread>

extern int PLACE;

int main()
{
    std::thread t([] {
        int unused = PLACE; // REMOVED a
        (void)unused;
    });
    PLACE = 1; // REMOVED a
    t.join();
}
