#include "alone.h"

#include <cmath>
#include <fstream>

#include "child_process.h"
#include "peers.h"

namespace bench {
namespace {

// Return a field of /proc/self/status such as "VmRSS:  12345 kB", see proc(5), in bytes; 0 if
// missing.
double status_bytes(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) return 1024 * std::stod(line.substr(field.size() + 1));
  }
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

std::unique_ptr<Work> make_work(const std::string& side, const Row& row, const Inputs& inputs) {
  if (side == "ambit") return row.make(inputs, ambit::kCPU);
  return open_peer(side).make(specification_of(row, inputs));
}

}  // namespace

double run_alone(const std::string& side, const Row& row) {
  constexpr int kRuns = 5;  // enough to allocate everything that is kept between runs
  const Inputs inputs = row.inputs();
  if (side != "ambit") open_peer(side);
  forget_peak();
  const double before = status_bytes("VmRSS");
  const std::unique_ptr<Work> work = make_work(side, row, inputs);
  if (!work) return 0;
  for (int i = 0; i < kRuns; ++i) work->run();
  if (const double bytes = work->peak_bytes(); !std::isnan(bytes)) return bytes;
  return status_bytes("VmHWM") - before;
}

double peak_bytes(const std::string& side, const std::string& row, int threads) {
  std::vector<std::string> command;
  if (threads > 0) command = {"env", "OMP_NUM_THREADS=" + std::to_string(threads)};
  command.insert(command.end(), {own_file(), "bench", "--alone", side, "--filter", row});
  return std::stod(output_of(command));
}

}  // namespace bench
