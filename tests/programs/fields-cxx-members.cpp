// Members of an object, its base class's among them, that one constructor-like function fills in one go.
#include "invisible.h"

struct Shape {
    int id = 0;
    float weight = 0;
};

struct Circle : Shape {
    double radius = 0;
    bool filled = false;

    void set(int new_id, double new_radius)
    {
        id = new_id;
        weight = 1;
        radius = new_radius; // RACE r:write
        filled = true;       // RACE f:write
    }
};

static Circle circle;

THREAD(first)
{
    circle.set(1, 2);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    double r = circle.radius;    // RACE r:read
    bool filled = circle.filled; // RACE f:read
    use(static_cast<long>(r) + filled);
    return NULL;
}

int main()
{
    both(first, second);
    return 0;
}
