// A race in a member function called from std::thread with a lambda.
#include <thread>

#include "invisible.h"

struct Account {
    long balance = 0;
    void deposit(long n)
    {
        balance += n; // RACE a
    }
};

int main()
{
    Account account;
    std::thread first([&] {
        account.deposit(1);
        mark();
    });
    std::thread second([&] {
        after(1);
        account.deposit(2);
    });

    first.join();
    second.join();
    return account.balance == 3 ? 0 : 1;
}
