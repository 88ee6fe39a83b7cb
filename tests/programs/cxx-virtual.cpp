// Virtual calls on shared objects: one vtable pointer read from many threads, destruction after the join.
// NO RACE
#include <memory>
#include <thread>
#include <vector>

#include "invisible.h"

struct Shape {
    virtual ~Shape() = default;
    virtual int area() const = 0;
};

struct Square : Shape {
    int side;
    explicit Square(int s) : side(s)
    {
    }
    int area() const override
    {
        return side * side;
    }
};

int main()
{
    std::vector<std::unique_ptr<Shape>> shapes;

    for (int i = 0; i < 10; i++)
        shapes.push_back(std::make_unique<Square>(i));
    auto sum = [&] {
        int total = 0;

        for (auto &s : shapes)
            total += s->area();
        MUST(total == 285);
    };
    std::thread a(sum), b(sum);

    a.join();
    b.join();
    shapes.clear();
    return 0;
}
