// Calls of one kernel, on the device and on `reference`, with equal operands. Each operand is a
// view into a larger buffer filled with a pattern, so that writes outside of the operand can be
// detected.
#pragma once

#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "bound.h"
#include "case.h"
#include "layout.h"
#include "values.h"

namespace conformance {

enum class Side { reference, device };

/// A tensor of a call, on both sides.
class Operand {
 public:
  bool is_defined() const { return views_[0].defined(); }
  ambit::Tensor& operator[](Side side) { return views_[static_cast<size_t>(side)]; }

 private:
  friend class Trial;
  using Bytes = std::vector<std::byte>;

  std::string name_;
  bool is_output_ = false;
  ambit::DType dtype_{};
  Geometry geometry_;
  std::vector<int64_t> positions_;  // positions of the elements in the buffer
  Bytes before_, got_, expected_;   // contents of the whole buffer
  ambit::Tensor views_[2];
};

/// An operand of a function: a tensor or a number.
class Term {
 public:
  Term(const Operand& operand) : operand_(&operand) {}
  Term(const ambit::Scalar& number) : number_(number.to<double>()) {}

 private:
  friend class Trial;
  const Operand* operand_ = nullptr;
  double number_ = 0;
};

/// Tests one call at a time: begin, create the operands in any order, run, expect.
class Trial {
 public:
  Trial(ambit::Device device, const std::string& case_name);

  /// Discard the last call's operands. `parameters` is used in failure messages: "dim 1".
  void begin(std::string parameters = "");

  /// Names are those of the operands in kernels.h.
  Operand& input(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes,
                 Layout layout = Layout::contiguous, const Values& values = any());
  /// An output of which the kernel must write every element.
  Operand& output(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes,
                  Layout layout = Layout::contiguous);
  /// An output that the kernel also reads, or writes partially.
  Operand& updated(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes,
                   Layout layout = Layout::contiguous, const Values& values = any());
  /// An undefined tensor, for example an omitted bias.
  Operand& absent();

  /// Call the kernel with the operands of each side, `reference` first, and wait for the device. In
  /// deterministic mode the device is called twice, with the same operands. Errors: Failure if
  /// anything but an output's elements has changed, or if the second call gives different bits.
  void run(const std::function<void(Side)>& call);
  /// Compare an output with the reference's. Errors: Failure with all details.
  void expect(Operand& output, const Bound& bound = {});
  /// As above for a function of single elements, with its operands in the function's order.
  void expect(Operand& output, const ambit::ErrorBound& bound, const std::vector<Term>& operands);

  /// Call a kernel with invalid data on the device: the call throws an E (named `error`) before it
  /// writes anything, or the following wait throws one. Errors: Failure, also if anything but an
  /// output's elements has changed.
  template <class E>
  void expect_refusal(const char* error, const std::function<void(Side)>& call);
  /// Check that the elements of an output from index `first` on are unchanged.
  void expect_kept(const Operand& output, size_t first);

  Random& random() { return random_; }

 private:
  /// Return the elements of an input as numbers, in row-major order.
  static std::vector<double> values_of(const Term& term, size_t n);
  Operand& add(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes, Layout layout);
  void place(Operand& operand);
  void call_device(const std::function<void(Side)>& call);
  void expect_same_bits(const Operand& output, const std::vector<std::byte>& first);
  void check_surroundings();
  /// Return the failure for a write to element `at` of an operand's buffer.
  Failure unexpected_write(const Operand& operand, int64_t at) const;
  void expect_unwritten();
  /// Return a failure: `what` with all operands and parameters.
  Failure failure(const std::string& what) const;

  ambit::Device device_, reference_;
  Random random_;
  std::string parameters_;
  std::deque<Operand> operands_;  // a deque, so that references stay valid
};

template <class E>
void Trial::expect_refusal(const char* error, const std::function<void(Side)>& call) {
  bool returned = false;
  try {
    call(Side::device);
    returned = true;
    ambit::synchronize(device_);
  } catch (const E&) {
    check_surroundings();
    if (!returned) expect_unwritten();
    return;
  } catch (const std::exception& e) {
    throw failure(std::string("expected ") + error + ", got another error: " + e.what());
  }
  throw failure(std::string("expected ") + error + ", got no error");
}

/// Make a case from calls of a kernel; its name begins with the op's name: "where/float32/odd".
Case kernel_case(const std::string& name, std::function<void(Trial&)> check);
/// As above, for a case ".../deterministic" in deterministic mode, for which kernels may have a
/// separate implementation.
Case deterministic_case(const std::string& name, std::function<void(Trial&)> check);

}  // namespace conformance
