// Checks that a function gives the same results on every device and uses only that device.
#pragma once

#include <ambit/finfo.h>
#include <ambit/memory.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <ambit/profiler.h>
#include <ambit/random.h>
#include <ambit/tensor.h>
#include <ambit/testing/devices.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ambit::test {

/// Options of expect_device_independent().
struct IndependenceOptions {
  /// Maximum number of copies between the device and another one or the host; for example 1 for a
  /// loss that the function reads with item().
  int64_t copies = 0;
  /// Seed of ambit's generators, set before each run. During a run the device draws from the cpu's
  /// generator, so that random numbers are the same for every device.
  uint64_t seed = 0;
};

/// The results of a run.
using Tensors = std::vector<Tensor>;
/// The monitored part of a run, which returns the results.
using Work = std::function<Tensors()>;

/// Return one result, or several, as a list.
/// @{
inline Tensors tensors_of(Tensor t) { return {std::move(t)}; }
inline Tensors tensors_of(Tensors t) { return t; }
/// @}

/// Return the monitored part of `fn` for a device.
template <class F>
Work work_on(const F& fn, Device device) {
  using Result = std::invoke_result_t<const F&, Device>;
  if constexpr (std::is_invocable_v<Result&>) {
    return [run = fn(device)]() mutable { return tensors_of(run()); };
  } else {
    return [&fn, device] { return tensors_of(fn(device)); };
  }
}

/// The results of one run, and the recorded side effects.
struct DeviceRun {
  Tensors results;            ///< on the cpu, detached
  int64_t kernels = 0;        ///< number run, including composites
  std::string other_devices;  ///< uses of other devices; "" if none
  std::string error;          ///< message of its exception; "" if none
};

/// Names with their counts: "copy_to_host (2), item".
inline std::string listed(const std::map<std::string, int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + name;
    if (count > 1) text += " (" + std::to_string(count) + ")";
  }
  return text;
}

/// Return a profile's events on devices other than `device`, and its copies above the limit.
inline std::string other_devices(const profiler::Profile& profile, Device device, int64_t copies,
                                 int64_t& kernels) {
  std::map<std::string, int64_t> moved, elsewhere;
  int64_t moves = 0;
  for (const profiler::FunctionEventAvg& e : profile.key_averages()) {
    if (e.kind == profiler::EventKind::copy) {
      moved[e.key] += e.count;
      moves += e.count;
    }
    if (e.kind != profiler::EventKind::op) continue;
    kernels += e.count;
    if (e.device != device) elsewhere[e.key + " on " + e.device.str()] += e.count;
  }
  std::string text;
  if (!elsewhere.empty()) text += "; it ran " + listed(elsewhere);
  if (moves > copies) {
    text +=
        "; it copied between devices: " + listed(moved) + "; allowed: " + std::to_string(copies);
  }
  return text;
}

/// During its lifetime, the device draws from the cpu's generator, so that random numbers (such as
/// a module's parameters on the cpu and an input on the device) are the same for every device.
class SharedGenerator {
 public:
  /// Replace the device's generator.
  explicit SharedGenerator(Device device)
      : generator_(default_generator(device)),
        before_(std::exchange(generator_, default_generator(kCPU))) {}
  /// Restore the device's generator.
  ~SharedGenerator() { generator_ = before_; }
  SharedGenerator(const SharedGenerator&) = delete;
  SharedGenerator& operator=(const SharedGenerator&) = delete;

 private:
  Generator& generator_;
  Generator before_;
};

/// Call `make`, then run and monitor the work that it returns.
inline DeviceRun run_on(Device device, const std::function<Work(Device)>& make,
                        const IndependenceOptions& options) {
  const SharedGenerator shared(device);
  manual_seed(options.seed);
  const Work work = make(device);
  std::vector<std::pair<Device, size_t>> before;  // total bytes allocated elsewhere
  for (const Device other : all_devices()) {
    synchronize(other);
    if (other != device) before.emplace_back(other, memory_stats(other).allocated);
  }
  DeviceRun run;
  profiler::Profile profile;
  Tensors results = work();
  synchronize(device);
  profile.stop();
  run.other_devices = other_devices(profile, device, options.copies, run.kernels);
  for (const auto& [other, bytes] : before) {
    const size_t made = memory_stats(other).allocated - bytes;
    // An allowed copy to the host allocates a tensor there.
    if (made == 0 || (options.copies > 0 && other.is_cpu())) continue;
    run.other_devices +=
        "; it made tensors of " + std::to_string(made) + " bytes on " + other.str();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) {
      run.results.emplace_back();
      continue;
    }
    if (results[i].device() != device) {
      run.other_devices += "; result " + std::to_string(i) + " is on " + results[i].device().str();
    }
    run.results.push_back(results[i].is_meta() ? results[i] : results[i].detach().cpu());
  }
  return run;
}

/// Return the largest element; 0 if there is none.
inline double largest(const Tensor& t) { return t.numel() == 0 ? 0 : t.max().item<double>(); }

/// The bound of differences between results: see expect_device_independent().
struct ResultBound {
  double noise = 0;      ///< largest difference between cpu and reference
  double scale = 0;      ///< largest magnitude
  double bound = 0;      ///< maximum difference of an element
  std::string enlarges;  ///< the reason why results cannot be compared; "" if they can
};

/// Return the bound of one floating-point result of a run with so many kernels.
inline ResultBound bound_of(const Tensor& cpu, const Tensor& reference, int64_t kernels) {
  ResultBound b;
  const double eps = finfo(cpu.dtype()).eps;
  const Tensor x = cpu.to(kFloat64), y = reference.to(kFloat64);
  const Tensor finite = isfinite(x) & isfinite(y);
  b.noise = largest(where(finite, (x - y).abs(), 0));
  b.scale = largest(where(finite, x.abs(), 0));
  b.bound = 8 * b.noise + 4 * static_cast<double>(kernels) * eps * b.scale;
  if (b.noise > std::sqrt(eps) * b.scale) {
    std::ostringstream text;
    text << "expected cpu and reference to agree in half of their digits, got results up to "
         << b.scale << " that are " << b.noise
         << " apart: the function amplifies rounding errors too much to compare devices";
    b.enlarges = text.str();
  }
  return b;
}

/// Return "" if `got` equals `want` within the bound, else the first element that differs.
inline std::string difference(const Tensor& want, const Tensor& got, const ResultBound& b) {
  if (want.defined() != got.defined()) return "one is undefined";
  if (!want.defined()) return "";
  if (want.sizes() != got.sizes() || want.dtype() != got.dtype()) {
    return "expected " + std::string(name(want.dtype())) + str(want.sizes()) + ", got " +
           std::string(name(got.dtype())) + str(got.sizes());
  }
  const Tensor x = want.reshape({-1}).to(kFloat64), y = got.reshape({-1}).to(kFloat64);
  const Tensor same = (x == y) | (isnan(x) & isnan(y));
  const Tensor near = isfinite(x) & isfinite(y) & ((x - y).abs() <= b.bound);
  const Tensor wrong = (same | near).logical_not();
  const int64_t count = wrong.sum().item<int64_t>();
  if (count == 0) return "";
  const int64_t first = wrong.to(kInt64).argmax().item<int64_t>();
  std::ostringstream text;
  text.precision(9);
  text << count << " of " << x.numel() << " elements differ; element " << first << " is "
       << y.select(0, first).item<double>() << ", on cpu " << x.select(0, first).item<double>()
       << "; allowed " << b.bound;
  return text.str();
}

/// Run `make` on the device; an exception becomes the error of the result.
inline DeviceRun try_on(Device device, const std::function<Work(Device)>& make,
                        const IndependenceOptions& options) {
  DeviceRun run;
  try {
    return run_on(device, make, options);
  } catch (const Error& e) {
    run.error = e.explain();
  } catch (const std::exception& e) {
    run.error = e.what();
  }
  return run;
}

/// Return bounds for the results. If they cannot be compared, append the reasons to `report`.
inline std::vector<ResultBound> bounds_of(const DeviceRun& cpu, const DeviceRun& reference,
                                          std::string& report) {
  if (!cpu.error.empty()) report += "\n  cpu: it threw " + cpu.error;
  if (!reference.error.empty()) report += "\n  reference:0: it threw " + reference.error;
  if (report.empty() && cpu.results.size() != reference.results.size()) {
    report = "\n  reference:0: a different number of results";
  }
  std::vector<ResultBound> bounds(cpu.results.size());
  for (size_t i = 0; i < bounds.size() && report.empty(); ++i) {
    const Tensor &x = cpu.results[i], &y = reference.results[i];
    if (!x.defined() || !y.defined() || !x.is_floating_point()) continue;
    if (x.sizes() != y.sizes() || x.dtype() != y.dtype()) continue;
    bounds[i] = bound_of(x, y, cpu.kernels);
    if (bounds[i].enlarges.empty()) continue;
    report = "\n  reference:0: result " + std::to_string(i) + ": " + bounds[i].enlarges;
  }
  return bounds;
}

/// Return the errors of a run; "" if there are none.
inline std::string wrong_of(const DeviceRun& run, const DeviceRun& cpu,
                            const std::vector<ResultBound>& bounds) {
  if (!run.error.empty()) return "it threw " + run.error;
  std::string wrong = run.other_devices;
  if (run.results.size() != cpu.results.size()) wrong += "; a different number of results";
  for (size_t i = 0; i < std::min(run.results.size(), cpu.results.size()); ++i) {
    const std::string d = difference(cpu.results[i], run.results[i], bounds[i]);
    if (!d.empty()) wrong += "; result " + std::to_string(i) + ": " + d;
  }
  return wrong.empty() ? "" : wrong.substr(2);
}

/// expect_device_independent() for a function that returns the monitored part for a device.
inline std::string device_independence(const std::function<Work(Device)>& make,
                                       const IndependenceOptions& options) {
  const DeviceRun cpu = try_on(kCPU, make, options);
  const DeviceRun reference = try_on(Device("reference"), make, options);
  std::string report;
  const std::vector<ResultBound> bounds = bounds_of(cpu, reference, report);
  const bool comparable = report.empty();
  for (const Device device : devices()) {
    const bool known = device.is_cpu() || device == Device("reference");
    if (known && !comparable) continue;  // it is in the report
    const DeviceRun run = device.is_cpu() ? cpu : known ? reference : try_on(device, make, options);
    // Without a bound, report only exceptions of the run.
    const std::string wrong = comparable || !run.error.empty() ? wrong_of(run, cpu, bounds) : "";
    if (!wrong.empty()) report += "\n  " + device.str() + ": " + wrong;
  }
  return report.empty()
             ? ""
             : "expect_device_independent: expected the same on every device, got" + report;
}

/// Return "" if `fn` gives the same results on each of devices() and uses only that device, else a
/// line per device. `fn(device)` returns its results, a Tensor or a std::vector<Tensor> of any
/// shapes and dtypes; or it creates modules and inputs on the device and returns a function without
/// arguments that returns the results: then only that function is monitored.
///   expect_device_independent([](Device device) {
///     Net net = Net().to(device);
///     const Tensor x = randn({8, 3}, device);
///     return [=] { return net->forward(x); };
///   });
/// It checks that the results are on the device, that all kernels run there, that nothing is
/// copied between it and another device or the host (a profile's events of kind copy; `copies` of
/// them are allowed), and that no tensor is allocated on another device. Factories whose numbers
/// the host computes, such as arange() and tensor(), copy them, so call them in the part that is
/// not monitored.
///
/// Values are compared with those of the cpu. Integers, bools, NaN and infinities must be equal.
/// Other elements of a result may differ by at most
///     8 noise + 4 kernels eps scale
/// where noise is the largest difference between cpu and reference, scale the largest magnitude,
/// eps the dtype's, and kernels the number of kernels that ran. Derivation: cpu and reference sum
/// in different orders and use different code for exp and tanh, so their difference is a sample,
/// for each element of the result, of rounding errors as this function amplifies them; the factor
/// 8 is a margin for another device's sample, even if the result has one element. If both round
/// alike, a kernel of the other device may still have an error of 4 ulp. Smaller errors
/// are not detected. If cpu and reference differ in more than half of the digits, by sqrt(eps)
/// scale, that is reported instead.
///
/// Exceptions of fn are reported, not thrown; only a lack of host memory for the report throws. fn
/// always runs on cpu and reference, too. An active profile of the program is an error of the run.
template <class F>
std::string expect_device_independent(const F& fn, const IndependenceOptions& options = {}) {
  return device_independence([&fn](Device device) { return work_on(fn, device); }, options);
}

}  // namespace ambit::test

/// Check that a function of a device gives the same results on each of test::devices() and uses
/// only that device; see test::expect_device_independent().
#define CHECK_DEVICE_INDEPENDENT(...) \
  CHECK_REPORT(ambit::test::expect_device_independent(__VA_ARGS__))
