#include "graph.h"

#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/graph/plan.h>
#include <ambit/memory.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "../ambit/table.h"
#include "measure.h"

namespace bench {
namespace {

using namespace ambit;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Calls final : public Work {
 public:
  Calls(std::function<void()> call, Device device, bool cpu_time)
      : call_(std::move(call)), device_(device), cpu_time_(cpu_time) {}

  void run() override {
    call_();
    synchronize(device_);
  }
  double seconds(long runs) override {
    if (!cpu_time_) return Work::seconds(runs);
    const double start = cpu_seconds();
    for (long i = 0; i < runs; ++i) run();
    return cpu_seconds() - start;
  }
  double result() override { return NAN; }

 private:
  const std::function<void()> call_;
  const Device device_;
  const bool cpu_time_;
};

// Return the text up to a separator, and remove both from `text`.
std::string_view take(std::string_view& text, std::string_view separator) {
  const size_t at = std::min(text.find(separator), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(at + separator.size(), text.size()));
  return out;
}

[[noreturn]] void refuse(const std::string& expected, std::string_view name,
                         std::string_view type) {
  throw Error(fmt::format("graph bench: expected {} for the input '{}', got {}: use --in", expected,
                          name, type));
}

// type: "float32[s77, 3, 32, 32]"
Tensor example_input(std::string_view name, std::string_view type, int64_t batch) {
  std::string_view rest = type;
  const std::string_view dtype = take(rest, "[");
  if (!type.ends_with(']')) refuse("a tensor", name, type);
  rest.remove_suffix(1);
  Dims sizes;
  while (!rest.empty()) {
    const std::string_view text = take(rest, ", ");
    int64_t size = 0;
    const bool is_number =
        std::from_chars(text.data(), text.data() + text.size(), size).ec == std::errc();
    if (!is_number && !sizes.empty()) refuse("sizes that are numbers except the first", name, type);
    sizes.push_back(sizes.empty() && (batch > 0 || !is_number) ? std::max<int64_t>(batch, 1)
                                                               : size);
  }
  for (const DType d : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
    if (dtype == ambit::name(d)) return rand(sizes).to(d);
  }
  // Zeros are indices of any embedding.
  for (const DType d : {kInt64, kInt32, kUInt8, kBool}) {
    if (dtype == ambit::name(d)) return zeros(sizes, d);
  }
  refuse("another dtype", name, type);
}

std::string time_text(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} us", seconds * 1e6)
                        : fmt::format("{:.2f} ms", seconds * 1e3);
}

std::string bytes_text(size_t bytes) {
  return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::vector<Tensor> example_inputs(const graph::Graph& net, int64_t batch, Device device) {
  const std::string text = net->text();
  std::string_view line = text;
  line = take(line, "):\n");
  take(line, "(");
  const std::vector<std::string> names = net->input_names();
  std::vector<Tensor> out;
  for (size_t i = 0; i < names.size(); ++i) {
    take(line, names[i] + ": ");
    std::string_view type = line;
    type = i + 1 < names.size() ? take(type, ", " + names[i + 1] + ": ") : line;
    out.push_back(example_input(names[i], type, batch).to(device));
  }
  return out;
}

std::string graph_table(const graph::Graph& net, const std::vector<Tensor>& inputs, Device device,
                        const GraphOptions& options) {
  const NoGradGuard no_grad;
  Rows rows = {{"batch", "graph", "exact plan", "ratio", "plan", "ratio", "memory: graph",
                "exact plan", "plan"}};
  bool quiet = true;
  const std::vector<int64_t> batches =
      options.batches.empty() || !inputs.empty() ? std::vector<int64_t>{0} : options.batches;
  for (const int64_t batch : batches) {
    const std::vector<Tensor> given = inputs.empty() ? example_inputs(net, batch, device) : inputs;
    const MemoryStats before = memory_stats(device);
    net->forward(given);
    const MemoryStats after = memory_stats(device);
    const graph::Plan exact = graph::plan(net, given, {.exact = true});
    const graph::Plan plan = graph::plan(net, given);
    Calls a([&] { net->forward(given); }, device, options.cpu_time),
        b([&] { exact.run(given); }, device, options.cpu_time),
        c([&] { plan.run(given); }, device, options.cpu_time);
    const Timings t = measure({&a, &b, &c}, options.seconds);
    quiet = quiet && t.quiet;
    const auto ratio = [&](size_t i) {
      return fmt::format("{:.3f}", t.works[i].seconds / t.works[0].seconds);
    };
    const bool has_peak = after.peak_in_use > before.peak_in_use;
    const int64_t images = !given.empty() && given[0].dim() > 0 ? given[0].size(0) : 1;
    rows.push_back({std::to_string(images), time_text(t.works[0].seconds),
                    time_text(t.works[1].seconds), ratio(1), time_text(t.works[2].seconds),
                    ratio(2), has_peak ? bytes_text(after.peak_in_use - before.in_use) : "",
                    bytes_text(exact.memory_bytes()), bytes_text(plan.memory_bytes())});
  }
  std::string out = plain_table(rows);
  if (!quiet && !options.cpu_time) {
    out += "Other processes used the cores during all runs of some batch.\n";
  }
  return out;
}

}  // namespace bench
