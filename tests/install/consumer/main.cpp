#include <ambit/ambit.h>

#include <iostream>

int main(int argc, char** argv) {
  const ambit::Device device(argc > 1 ? argv[1] : "cpu");
  std::cout << ambit::ones({2, 2}, device) + 1 << '\n';
}
