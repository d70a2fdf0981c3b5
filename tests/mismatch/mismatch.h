// Shared by the tests of DeviceMismatchError: two devices that count their calls, and the check of
// a call that fails. There are two checks that no kernel has run: the counting devices count every
// kernel, allocation and copy; for other devices (such as cpu) no memory was allocated, and the
// operands, which a kernel could have written without an allocation, are unchanged.
#pragma once

#include <ambit/backend/backend.h>
#include <ambit/backend/caching_allocator.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/testing/mismatch.h>
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/function_ref.h"

namespace mismatch {

/// Devices in host memory whose kernels do nothing: every call of the backend increments `asked`.
class CountingBackend final : public ambit::Backend {
 public:
  explicit CountingBackend(std::string name) : name_(std::move(name)), memory_(host_, name_) {}

  static inline std::atomic<size_t> asked = 0;
  static inline std::atomic<size_t> kernels = 0;  // number of calls of these kernels
  // The devices exist only during a test that uses them, so that no other test finds a device that
  // computes nothing.
  static inline std::atomic<bool> present = false;

  std::string name() const override { return name_; }
  int device_count() const noexcept override { return present ? 1 : 0; }
  void* allocate(int, size_t bytes) override {
    ++asked;
    return memory_.allocate(bytes);
  }
  void free(int, void* p, size_t bytes) noexcept override { memory_.free(p, bytes); }
  ambit::MemoryStats memory_stats(int) const override { return memory_.stats(); }
  void copy(int, void* to, int, const void* from, size_t n) override { copy_bytes(to, from, n); }
  void copy_from_host(int, void* to, const void* from, size_t n, bool) override {
    copy_bytes(to, from, n);
  }
  void copy_to_host(int, void* to, const void* from, size_t n, bool) override {
    copy_bytes(to, from, n);
  }

 private:
  static void copy_bytes(void* to, const void* from, size_t n) {
    ++asked;
    std::memcpy(to, from, n);
  }

  std::string name_;
  ambit::HostMemory host_;
  ambit::CachingAllocator memory_;
};

template <class... A>
void add_counting_kernel(ambit::Registry& registry, ambit::Op<void(A...)>& op) {
  registry.add(op, [](A...) {
    ++CountingBackend::asked;
    ++CountingBackend::kernels;
  });
}

/// During its lifetime "counted_a" and "counted_b" have one device each.
class CountingDevices {
 public:
  CountingDevices() {
    static const bool registered = [] {
      ambit::Registry registry("mismatch tests");
      for (const char* name : {"counted_a", "counted_b"}) {
        registry.add_backend(std::make_unique<CountingBackend>(name));
        std::apply([&](auto&... op) { (add_counting_kernel(registry, op), ...); },
                   ambit::kernels::all);
      }
      registry.commit();
      return true;
    }();
    static_cast<void>(registered);
    CountingBackend::present = true;
  }
  ~CountingDevices() { CountingBackend::present = false; }
  CountingDevices(const CountingDevices&) = delete;
  CountingDevices& operator=(const CountingDevices&) = delete;
};

struct TwoDevices {
  ambit::Device here, there;
};

/// Pairs of different devices, in both orders: cpu and others, two of one kind, meta, and the two
/// that count.
inline std::vector<TwoDevices> device_pairs() {
  std::vector<std::pair<std::string, std::string>> names{{"cpu", "reference"},
                                                         {"cpu", "sim"},
                                                         {"cpu", "meta"},
                                                         {"counted_a", "counted_b"},
                                                         {"cpu", "counted_a"}};
  if (ambit::device_count("cuda") > 0) names.emplace_back("cpu", "cuda:0");
  if (ambit::device_count("cuda") > 1) names.emplace_back("cuda:0", "cuda:1");
  std::vector<TwoDevices> pairs;
  for (const auto& [a, b] : names) {
    pairs.push_back({ambit::Device(a), ambit::Device(b)});
    pairs.push_back({ambit::Device(b), ambit::Device(a)});
  }
  return pairs;
}

/// Records the calls of devices since its construction.
class Watch {
 public:
  explicit Watch(const std::vector<ambit::Device>& devices) {
    for (const ambit::Device device : devices) {
      if (device.is_meta()) continue;
      synchronize(device);
      // With as much memory in use as at the peak, one more allocation creates a new peak. Powers
      // of two are not rounded up, which would raise the peak by itself.
      const ambit::MemoryStats stats = stats_of(device);
      for (size_t gap = stats.peak_in_use - stats.in_use; gap > 0; gap -= std::bit_floor(gap)) {
        ballast_.push_back(ambit::empty({static_cast<int64_t>(std::bit_floor(gap))},
                                        ambit::TensorOptions(ambit::kUInt8).device(device)));
      }
      REQUIRE(stats_of(device).in_use == stats.peak_in_use);
      peaks_.emplace_back(device, stats.peak_in_use);
    }
    asked_ = CountingBackend::asked;
  }
  bool is_quiet() const {
    if (CountingBackend::asked != asked_) return false;
    for (const auto& [device, peak] : peaks_) {
      if (stats_of(device).peak_in_use != peak) return false;
    }
    return true;
  }

 private:
  static ambit::MemoryStats stats_of(ambit::Device device) {
    return ambit::backend_of(device).memory_stats(device.index());
  }
  std::vector<ambit::Tensor> ballast_;
  std::vector<std::pair<ambit::Device, size_t>> peaks_;
  size_t asked_ = 0;
};

/// The expected error of a call: its op, its tensor arguments by name, in order, including
/// undefined ones, and which of them sets the expected device and which has another one.
struct Complaint {
  std::string op;
  std::vector<std::string> names;
  std::vector<ambit::Tensor> arguments;
  size_t expected, actual;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Return the line of explain() for argument i: "#0 self float32[2, 3] cpu sets expected".
inline std::vector<std::string> expected_words(const Complaint& c, size_t i) {
  const ambit::Tensor& t = c.arguments[i];
  std::string line = "#" + std::to_string(i) + " " + c.names[i] + " ";
  if (!t.defined()) return words_of(line + "undefined");
  line += name(t.dtype()) + str(t.sizes()) + " " + t.device().str();
  std::string note = i == c.expected ? " sets expected" : "";
  if (t.device() != c.arguments[c.expected].device()) note = " differs";
  if (!t.name().empty()) note += (note.empty() ? " parameter " : "; parameter ") + t.name();
  return words_of(line + note);
}

inline void check_words(const ambit::DeviceMismatchError& e, const Complaint& c) {
  const ambit::Device expected = c.arguments[c.expected].device();
  const ambit::Device actual = c.arguments[c.actual].device();
  const std::string what = "expected device " + expected.str() + " but got device " + actual.str();
  CHECK(std::string(e.what()) == what);
  CHECK(e.op() == c.op);
  CHECK(e.argument() == c.names[c.actual]);
  CHECK(e.expected() == expected);
  CHECK(e.actual() == actual);
  INFO(e.explain());
  const auto lines = lines_of(e.explain());
  REQUIRE(lines.size() == c.arguments.size() + 2);
  CHECK(lines.front() == c.op + ": " + what);
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    CHECK(words_of(lines[i + 1]) == expected_words(c, i));
  }
  CHECK(lines.back().starts_with("  try: "));
}

/// Check that `call` throws the documented error with the parts in `c`, that no device was called,
/// and that the arguments and `others` are unchanged.
inline void check_refused(FunctionRef<void()> call, const Complaint& c,
                          const std::vector<ambit::Tensor>& others = {}) {
  std::vector<ambit::Tensor> all = c.arguments;
  all.insert(all.end(), others.begin(), others.end());
  const std::vector<ambit::test::TensorState> before(all.begin(), all.end());
  std::vector<ambit::Device> devices;
  for (const ambit::Tensor& t : all) {
    if (t.defined()) devices.push_back(t.device());
  }
  const Watch watch(devices);
  bool thrown = false, quiet = false;
  try {
    call();
    quiet = watch.is_quiet();
  } catch (const ambit::DeviceMismatchError& e) {
    quiet = watch.is_quiet();
    thrown = true;
    check_words(e, c);
  } catch (const std::exception& e) {
    INFO(std::string(e.what()));
    CHECK_MESSAGE(thrown, "another error");
    return;
  }
  CHECK(thrown);
  CHECK(quiet);
  for (size_t i = 0; i < before.size(); ++i) {
    INFO("operand ", i);
    CHECK(before[i].changed() == "");
  }
}

}  // namespace mismatch
