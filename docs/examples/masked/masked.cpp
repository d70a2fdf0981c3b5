// A network whose mask is a member, but not a registered buffer: `ambit check -- ./masked cuda`.
#include <ambit/ambit.h>
#include <iostream>

using namespace ambit;

struct Masked : nn::Module {
  Masked() : fc(register_module("fc", nn::Linear(8, 8))), mask(tril(ones({8, 8}))) {}

  Tensor forward(const Tensor& x) { return fc(x).matmul(mask); }

  nn::Linear fc;
  Tensor mask;
};

int main(int, char** argv) try {
  const Device device(argv[1]);
  Masked net;
  net.to(device);
  const Tensor x = randn({4, 8}).to(device);
  net.forward(x);
} catch (const DeviceMismatchError& e) {
  std::cout << e.explain() << '\n';
  return 1;
}
