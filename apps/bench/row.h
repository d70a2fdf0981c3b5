// One row of the table: a workload, its operands, and ambit's implementation.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peer.h"

namespace bench {

/// A tensor on the cpu, float32 or int64, with the name that peers use.
struct Input {
  std::string name;
  ambit::Tensor value;
  bool requires_grad = false;
};
using Inputs = std::vector<Input>;

/// The minimum cost of any implementation, from which the floor is computed; 0: unknown.
struct Cost {
  double bytes = 0;  ///< read and written, each once
  double flops = 0;  ///< in float32; a multiply-add is two
};

struct Row {
  std::string what;  ///< "net/train"
  std::string size;  ///< "64"
  std::vector<int64_t> parameters{};
  Cost cost{};
  double amount = 0;      ///< of `unit`, per run; 0: do not show a rate
  const char* unit = "";  ///< "images", "GB", "GFLOP"
  bool memory = false;    ///< also measure peak memory, in a separate process
  /// Largest relative difference between the sides' results. Different summation orders change a
  /// float32 sum or loss by about 1e-6; different work changes it by more than this.
  double tolerance = 1e-3;
  /// Create the tensors, equal each time.
  std::function<Inputs()> inputs = [] { return Inputs(); };
  /// Create ambit's work on a device.
  std::function<std::unique_ptr<Work>(const Inputs&, ambit::Device)> make{};
  /// Create the same work in float32, if `make` uses a reduced floating-point type.
  std::function<std::unique_ptr<Work>(const Inputs&, ambit::Device)> make_float32{};
  /// Create the floor, if it is not derived from `cost`.
  std::function<std::unique_ptr<Work>(const Inputs&)> make_floor{};
  /// Create the work of a peer that cannot do so itself, given the peer's name.
  std::function<std::unique_ptr<Work>(const std::string&)> make_peer{};

  std::string name() const { return what + "/" + size; }
  /// Set `make` from a function with a parameter `amp`, which selects bfloat16; with amp also set
  /// make_float32.
  template <class Make>
  void set_make(bool amp, Make of) {
    make = [=](const Inputs& in, ambit::Device device) { return of(in, device, amp); };
    if (!amp) return;
    make_float32 = [=](const Inputs& in, ambit::Device device) { return of(in, device, false); };
  }
};

/// Return the specification for peers. It refers to the inputs, which must outlive it.
Specification specification_of(const Row& row, const Inputs& inputs);

}  // namespace bench
