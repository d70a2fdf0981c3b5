// Repeats one small piece of work, whose cost instructions.sh counts:
//   ambit_overhead <work> <calls>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "net.h"

namespace {

using namespace ambit;

// Run the counted calls, after a few calls that create objects once.
template <class Call>
[[gnu::noinline]] void counted(long calls, const Call& call) {
  while (calls-- > 0) call();
}
template <class Call>
void repeat(long calls, const Call& call) {
  for (int i = 0; i < 5; ++i) call();
  counted(calls, call);
}

void steps(long calls) {
  NetTraining training(kCPU, 4);
  repeat(calls, [&] { training.step(); });
}

const std::map<std::string, std::function<void(long)>> kWorks = {
    {"add",
     [](long calls) {
       const Tensor a = ones({1}), b = ones({1});
       repeat(calls, [&] { a + b; });
     }},
    {"add_grad",
     [](long calls) {
       const Tensor a = ones({1}, requires_grad()), b = ones({1}, requires_grad());
       repeat(calls, [&] { a + b; });
     }},
    {"add_number",
     [](long calls) {
       const Tensor a = ones({1});
       repeat(calls, [&] { a + 2; });
     }},
    {"add_backward",
     [](long calls) {
       const Tensor a = ones({1}, requires_grad()), b = ones({1}, requires_grad());
       repeat(calls, [&] { (a + b).backward(); });
     }},
    // A training step without any profile, after a profile, and within a profile.
    {"step", steps},
    {"step_unprofiled",
     [](long calls) {
       { const profiler::Profile profile; }
       steps(calls);
     }},
    {"step_profiled",
     [](long calls) {
       const profiler::Profile profile;
       steps(calls);
     }},
    // Print the peak memory, in KiB, of a program that adds.
    {"resident",
     [](long calls) {
       const Tensor a = ones({1});
       while (calls-- > 0) a + a;
       std::ifstream status("/proc/self/status");
       for (std::string line; std::getline(status, line);) {
         if (line.starts_with("VmHWM:")) std::cout << std::atol(line.c_str() + 6) << '\n';
       }
     }},
    // The part of a step that is not kernels.
    {"step_meta",
     [](long calls) {
       NetTraining training(kMeta, 4);
       repeat(calls, [&] { training.step(); });
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
