#include <ambit/ambit.h>

#include <iostream>

int main() { std::cout << ambit::ones({2, 2}) + 1 << '\n'; }
