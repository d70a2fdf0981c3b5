// `ambit accuracy`: measures the errors of maps on a device.
#include <ambit/autograd.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "../commands.h"
#include "../table.h"
#include "maps.h"
#include "measure.h"
#include "terminal/numbers.h"

namespace {

using namespace ambit;
using namespace accuracy;

const char* const kFooter =
    R"(Each row has the largest error of a map, or of its gradient (map'), in units in the last place of
the exact result, with its input; rounding alone causes up to 0.5. Exact values are computed
in double for at most 32 bits, in long double for float64 (omitted if that is the same type).
Faults: wrong infinities (inf), NaN (nan) and signs (sign), results out of the function's range
(range), of an odd function with f(-x) != -f(x) (odd), and adjacent results of a monotone function
in the wrong order (order).

Exit codes: 0 within the bound, 1 an error exceeds --bound or there are faults, 2 wrong usage.)";

struct Options {
  std::string device = "cpu", results;
  std::vector<std::string> maps, dtypes{"float32"};
  int64_t every = 61;
  bool all = false, gradients = false;
  std::string format = "table";
  double bound = INFINITY;
};

DType dtype_of_name(const std::string& text) {
  for (const DType d : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    if (text == name(d)) return d;
  }
  throw Error("accuracy: expected a floating-point dtype, got \"" + text + "\"");
}

Tensor gradient_of(const Map& map, const Tensor& x) {
  const Tensor leaf = x.detach().requires_grad_();
  const Tensor y = map.call(leaf);
  y.backward(ones_like(y));
  return leaf.grad();
}

/// Results that another library has written to a file, in the order of the inputs.
Tensor read_results(const std::string& path, const Tensor& x, int64_t first) {
  std::ifstream file(path, std::ios::binary);
  const auto size = static_cast<int64_t>(element_size(x.dtype()));
  Tensor y = empty_like(x);
  file.seekg(first * size);
  file.read(static_cast<char*>(y.data_ptr()), y.numel() * size);
  if (!file) {
    throw Error(
        fmt::format("accuracy: expected {} results after {} in {}", y.numel(), first, path));
  }
  return y;
}

Results results_of(const Options& options, const Map& map, bool gradient, DType dtype) {
  if (!options.results.empty()) {
    const std::string path =
        fmt::format("{}/{}{}.{}", options.results, map.name, gradient ? "_grad" : "", name(dtype));
    if (!std::filesystem::exists(path)) return {};
    return [path](const Tensor& x, int64_t first) { return read_results(path, x, first); };
  }
  return [&map, gradient, device = Device(options.device)](const Tensor& x, int64_t) {
    const Tensor there = x.to(device);
    return (gradient ? gradient_of(map, there) : map.call(there)).cpu();
  };
}

std::vector<const Map*> chosen(const Options& options) {
  std::vector<const Map*> maps;
  for (const Map& map : all_maps()) {
    if (options.maps.empty()) maps.push_back(&map);
  }
  for (const std::string& wanted : options.maps) {
    const auto all = all_maps();
    const auto found = std::ranges::find_if(all, [&](const Map& m) { return wanted == m.name; });
    if (found == all.end()) throw Error("accuracy: expected a map, got \"" + wanted + "\"");
    maps.push_back(&*found);
  }
  return maps;
}

std::string text_of_faults(const Figures& f) {
  std::string text;
  const auto add = [&](const char* what, int64_t count) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add("inf", f.infinities);
  add("nan", f.nans);
  add("sign", f.signs);
  add("range", f.out_of_range);
  add("odd", f.not_odd);
  add("order", f.disorders);
  return text;
}

int run(const Options& options) {
  Rows rows{{"map", "dtype", "inputs", "ulp", "input", "result", "exact", "faults"}};
  bool fails = false;
  const auto add = [&](const Map& map, bool gradient, DType dtype) {
    const Results results = results_of(options, map, gradient, dtype);
    if (!results) return;
    const Figures f = measure(map, gradient, dtype, options.all ? 1 : options.every, results);
    fails = fails || f.error > options.bound || (std::isfinite(options.bound) && f.faults() > 0);
    rows.push_back({map.name + std::string(gradient ? "'" : ""), name(dtype),
                    fmt::format("{}", f.inputs), fmt::format("{:.4g}", f.error),
                    fmt::format("{:.17g}", f.input), fmt::format("{:.9g}", f.got),
                    fmt::format("{:.9g}", f.exact), text_of_faults(f)});
  };
  for (const std::string& text : options.dtypes) {
    const DType dtype = dtype_of_name(text);
    if (dtype == kFloat64 && sizeof(long double) == sizeof(double)) continue;
    for (const Map* map : chosen(options)) {
      if (!options.gradients) add(*map, false, dtype);
      if (options.gradients && map->derivative != nullptr) add(*map, true, dtype);
    }
  }
  fmt::print("{}", options.format == "md" ? markdown_table(rows) : plain_table(rows));
  return fails ? 1 : 0;
}

}  // namespace

void add_accuracy(CLI::App& tool, int& exit_code) {
  const auto options = std::make_shared<Options>();
  CLI::App& c =
      *tool.add_subcommand("accuracy", "Measure the errors of maps (unary functions) on a device");
  c.footer(kFooter);
  c.add_option("maps", options->maps, "The maps, such as: exp tanh (default: all)");
  c.add_option("--device", options->device, "The device to measure")->capture_default_str();
  c.add_option("--dtype", options->dtypes, "float32, float64, float16, bfloat16")->delimiter(',');
  c.add_option("--every", options->every,
               "Every N-th number of float32; 2^24 / N random numbers of float64")
      ->check(terminal::whole_number(1, 1 << 20))
      ->capture_default_str();
  c.add_flag("--all", options->all, "All 2^32 numbers of float32: the same as --every 1");
  c.add_flag("--gradients", options->gradients, "Measure gradients instead of results");
  c.add_option("--bound", options->bound, "Exit with 1 above this error, or if there are faults");
  c.add_option("--results", options->results,
               "Measure another library: a folder of its results, tests/accuracy/torch_results.py");
  c.add_option("--format", options->format, "table (the default) or md")
      ->check(CLI::IsMember({"table", "md"}));
  c.callback([options, &exit_code] { exit_code = run(*options); });
}
