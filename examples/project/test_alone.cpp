/*
 * test_alone.cpp - one thread submits; nothing can race.
 */
#include <thread>

#include "jobs.h"

int main()
{
    std::thread([] { jobs_submit(7); }).join();
    return jobs_total() == 7 && jobs_count() == 1 ? 0 : 1;
}
