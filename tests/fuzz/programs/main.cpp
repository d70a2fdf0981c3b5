// Random programs on every device, compared with `reference`:
//   ambit_program_fuzz --count 10000               seeds 1 to 10000, as CI does
//   ambit_program_fuzz --first 1000 --seconds 3600 new ones, for an hour
//   ambit_program_fuzz --seed 17                   one, its lines printed
//   ambit_program_fuzz --count 500 --python FILE   for torch_oracle.py, which compares with PyTorch
#include <ambit/device.h>
#include <ambit/error.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "compare.h"

namespace {

struct Options {
  uint64_t first = 1, count = 100;
  double seconds = 0;
  bool prints = false;
  std::string python;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--first") o.first = std::stoull(value);
    if (key == "--count") o.count = std::stoull(value);
    if (key == "--seconds") o.seconds = std::stod(value), o.count = UINT64_MAX - o.first;
    if (key == "--seed") o.first = std::stoull(value), o.count = 1, o.prints = true;
    if (key == "--python") o.python = value;
  }
  return o;
}

std::vector<ambit::Device> devices() {
  std::vector<ambit::Device> all;
  for (const ambit::Device d : ambit::all_devices()) {
    if (d != ambit::Device("reference")) all.push_back(d);
  }
  all.push_back(ambit::kMeta);
  return all;
}

/// Return the number of devices that differ from `reference`.
int check(const fuzz::Program& program) {
  int found = 0;
  for (const ambit::Device device : devices()) {
    const std::vector<bool> all(program.steps.size());
    if (fuzz::compare(program, all, device).empty()) continue;
    std::cout << "seed " << program.seed << " on " << device.str() << ":\n"
              << fuzz::shrink(program, device) << "\n\n"
              << std::flush;
    ++found;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::ofstream python;
  if (!options.python.empty()) python.open(options.python);
  const auto start = std::chrono::steady_clock::now();
  uint64_t programs = 0, steps = 0;
  int found = 0;
  for (uint64_t seed = options.first; programs < options.count && found < 20; ++seed, ++programs) {
    const std::chrono::duration<double> past = std::chrono::steady_clock::now() - start;
    if (options.seconds > 0 && past.count() > options.seconds) break;
    const fuzz::Program program = fuzz::generate(seed);
    steps += program.steps.size();
    if (options.prints) {
      for (const fuzz::Step& step : program.steps) std::cout << step.python << '\n';
    }
    found += check(program);
    if (python.is_open()) fuzz::write_python(program, python);
  }
  std::cout << programs << " programs of " << steps << " steps, " << found << " differences\n";
  return found == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
