// The time until a user's program computes: its start-up and its compilation.
#include <ambit/error.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../child_process.h"
#include "../peers.h"
#include "rows.h"
#include "scratch_folder.h"

namespace bench {
namespace {

class StartUp final : public Work {
 public:
  explicit StartUp(std::string side) : side_(std::move(side)) {}
  void run() override { output_of({own_file(), "bench", "--alone", side_, "--filter", "add/1"}); }
  double result() override { return NAN; }

 private:
  std::string side_;
};

// The program of the README.
const char* const kProgram = R"(
#include <ambit/ambit.h>
#include <iostream>
using namespace ambit;
struct NetImpl : nn::Module {
  nn::Linear fc1 = register_module("fc1", nn::Linear(2, 16));
  nn::Linear fc2 = register_module("fc2", nn::Linear(16, 1));
  Tensor forward(const Tensor& x) { return fc2(tanh(fc1(x))); }
};
AMBIT_MODULE(Net);
int main() {
  Net net = Net().to(best_device());
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  const Tensor x = randn({256, 2}), y = x.prod(1, true);
  for (int step = 0; step < 500; ++step) {
    sgd.zero_grad();
    nn::functional::mse_loss(net(x), y).backward();
    sgd.step();
  }
  std::cout << net(tensor({{0.5, -1.0}})) << '\n';
}
)";

class Compilation final : public Work {
 public:
  Compilation() {
    const char* compiler = std::getenv("CXX");
    command_ = {compiler && *compiler ? compiler : "c++",
                "-std=c++20",
                "-O2",
                "-c",
                "-o",
                folder_.file("program.o")};
    for (const std::string& folder : include_folders()) command_.push_back("-I" + folder);
    command_.push_back(folder_.file("program.cpp"));
    std::ofstream(command_.back()) << kProgram;
  }
  void run() override { output_of(command_); }
  double result() override { return NAN; }

 private:
  ScratchFolder folder_;
  std::vector<std::string> command_;
};

}  // namespace

std::vector<Row> program_rows() {
  Row start{"start_up", "first_add"}, compile{"compile", "small_program"};
  start.make = [](const Inputs&, ambit::Device) { return std::make_unique<StartUp>("ambit"); };
  start.make_peer = [](const std::string& peer) { return std::make_unique<StartUp>(peer); };
  compile.make = [](const Inputs&, ambit::Device) { return std::make_unique<Compilation>(); };
  return {start, compile};
}

}  // namespace bench
