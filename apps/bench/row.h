// One row of the table: a work, its numbers, and ambit's way of doing it.
#pragma once

#include <ambit/device.h>
#include <ambit/tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peer.h"

namespace bench {

/// A tensor on the cpu, float32 or int64, under the name that peers know it by.
struct Input {
  std::string name;
  ambit::Tensor value;
  bool requires_grad = false;
};
using Inputs = std::vector<Input>;

/// What no implementation can do without, and thus what the floor is made of; 0: not known.
struct Cost {
  double bytes = 0;  ///< read and written, each once
  double flops = 0;  ///< in float32; a multiply-add is two
};

struct Row {
  std::string what;  ///< "net/train"
  std::string size;  ///< "64"
  std::vector<int64_t> parameters{};
  Cost cost{};
  double amount = 0;      ///< of `unit`, in one run; 0: the rate says nothing
  const char* unit = "";  ///< "images", "GB", "GFLOP"
  bool memory = false;    ///< whether its peak memory is worth a process
  /// How far the results of its sides may be apart, relatively. They add in different orders, which
  /// moves a sum or a loss of float32 by a millionth; another work moves it by more than this.
  double tolerance = 1e-3;
  /// Make the tensors, the same each time.
  std::function<Inputs()> inputs = [] { return Inputs(); };
  /// Make ambit's work on a device.
  std::function<std::unique_ptr<Work>(const Inputs&, ambit::Device)> make{};
  /// Make the same in float32, where that is in 16 bits.
  std::function<std::unique_ptr<Work>(const Inputs&, ambit::Device)> make_float32{};
  /// Make the floor, where it is none of moving `cost`.
  std::function<std::unique_ptr<Work>(const Inputs&)> make_floor{};
  /// Make the work of the peer of that name here, where the peer itself cannot.
  std::function<std::unique_ptr<Work>(const std::string&)> make_peer{};

  std::string name() const { return what + "/" + size; }
  /// Have it made by `make`, which takes whether to compute in bfloat16, and in float32 as well if
  /// it does.
  template <class Make>
  void set_make(bool amp, Make of) {
    make = [=](const Inputs& in, ambit::Device device) { return of(in, device, amp); };
    if (!amp) return;
    make_float32 = [=](const Inputs& in, ambit::Device device) { return of(in, device, false); };
  }
};

/// Return what peers need to know. The inputs must outlive it.
Specification specification_of(const Row& row, const Inputs& inputs);

}  // namespace bench
