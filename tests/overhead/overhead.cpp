// Repeats one small piece of work, for instructions.sh to count what a call of it costs:
//   ambit_overhead <work> <calls>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "net.h"

namespace {

using namespace ambit;

const std::map<std::string, std::function<void(long)>> kWorks = {
    {"add",
     [](long calls) {
       const Tensor a = ones({1}), b = ones({1});
       while (calls-- > 0) a + b;
     }},
    {"add_grad",
     [](long calls) {
       const Tensor a = ones({1}, requires_grad()), b = ones({1}, requires_grad());
       while (calls-- > 0) a + b;
     }},
    {"add_number",
     [](long calls) {
       const Tensor a = ones({1});
       while (calls-- > 0) a + 2;
     }},
    {"add_backward",
     [](long calls) {
       const Tensor a = ones({1}, requires_grad()), b = ones({1}, requires_grad());
       while (calls-- > 0) (a + b).backward();
     }},
    // A step of training, to look at by hand, and what of it is not kernels.
    {"step",
     [](long calls) {
       NetTraining training(kCPU, 4);
       while (calls-- > 0) training.step();
     }},
    {"step_meta",
     [](long calls) {
       NetTraining training(kMeta, 4);
       while (calls-- > 0) training.step();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto work = argc == 3 ? kWorks.find(argv[1]) : kWorks.end();
  if (work == kWorks.end()) {
    std::cerr << "usage: ambit_overhead <work> <calls>; works:";
    for (const auto& [name, repeat] : kWorks) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 1;
  }
  work->second(std::atol(argv[2]));
  return 0;
}
