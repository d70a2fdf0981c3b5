// Compiles the program of ambit's README with libtorch.
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "works.h"

namespace bench::libtorch {
namespace {

const char* const kProgram = R"(
#include <torch/torch.h>
#include <iostream>
using torch::Tensor;
namespace nn = torch::nn;
struct NetImpl : nn::Module {
  nn::Linear fc1 = register_module("fc1", nn::Linear(2, 16));
  nn::Linear fc2 = register_module("fc2", nn::Linear(16, 1));
  Tensor forward(const Tensor& x) { return fc2(torch::tanh(fc1(x))); }
};
TORCH_MODULE(Net);
int main() {
  Net net;
  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const Tensor x = torch::randn({256, 2}), y = x.prod(1, true);
  for (int step = 0; step < 500; ++step) {
    sgd.zero_grad();
    nn::functional::mse_loss(net(x), y).backward();
    sgd.step();
  }
  std::cout << net(torch::tensor({{0.5, -1.0}})) << '\n';
}
)";

class Compilation final : public Work {
 public:
  Compilation() {
    const auto folder = std::filesystem::temp_directory_path();
    source_ = (folder / ("ambit_bench_" + std::to_string(getpid()) + ".cpp")).string();
    std::ofstream(source_) << kProgram;
    const std::string include = BENCH_TORCH_INCLUDE;
    // The compiler searches `include` after the system's folders, because it may be one of them.
    command_ = "${CXX:-c++} -std=c++17 -O2 -c -o /dev/null -idirafter " + include + " -isystem " +
               include + "/torch/csrc/api/include " + source_;
  }
  ~Compilation() override { unlink(source_.c_str()); }
  void run() override {
    if (system(command_.c_str()) != 0) throw std::runtime_error("failed: " + command_);
  }
  double result() override { return NAN; }

 private:
  std::string source_, command_;
};

}  // namespace

std::unique_ptr<Work> make_compilation(const Specification& s) {
  if (s.what != "compile") return nullptr;
  return std::make_unique<Compilation>();
}

}  // namespace bench::libtorch
