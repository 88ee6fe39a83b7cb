// Printed by a stream, as the number that its address is.
// RULE: cast
#include <sstream>
#include <string>

#include "escape.h"

static std::string shared;

static void publish(struct node *n)
{
    std::ostringstream out;

    out << reinterpret_cast<uintptr_t>(n);
    shared = out.str();
}

static struct node *receive(void)
{
    std::istringstream in(shared);
    uintptr_t address = 0;

    in >> address;
    return reinterpret_cast<struct node *>(address);
}
