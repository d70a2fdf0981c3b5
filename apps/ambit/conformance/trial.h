// Calls of one kernel, on the device and on `reference`, with the same operands. Each operand is a
// view into a larger buffer that is filled with a pattern, so that after the call one can see
// whether the kernel wrote where it must not.
#pragma once

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
  std::vector<int64_t> positions_;  // of the elements in the buffer
  Bytes before_, got_, expected_;   // of the whole buffer
  ambit::Tensor views_[2];
};

/// One call at a time: begin, make the operands in any order, run, expect.
class Trial {
 public:
  Trial(ambit::Device device, const std::string& case_name);

  /// Forget the last call's operands. `parameters` is for the text of a failure: "dim 1".
  void begin(std::string parameters = "");

  /// Names are those that kernels.h gives the operands.
  Operand& input(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes,
                 Layout layout = Layout::contiguous, const Values& values = any());
  /// An output whose elements the kernel must all write.
  Operand& output(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes,
                  Layout layout = Layout::contiguous);
  /// An output that the kernel also reads, or writes in part.
  Operand& updated(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes,
                   Layout layout = Layout::contiguous, const Values& values = any());
  /// An undefined tensor: a bias that is not there.
  Operand& absent();

  /// Call the kernel with the operands of each side, `reference` first, and wait for the device.
  /// Under set_deterministic(true) the device is called twice, from the same operands.
  /// Errors: Failure where anything but an output's elements has changed, and where the second call
  /// gives other bits than the first.
  void run(const std::function<void(Side)>& call);
  /// Check an output against the reference's. Errors: Failure with all there is to say.
  void expect(Operand& output, const Bound& bound = {});

  /// Call a kernel whose operands hold bad data, on the device: it throws an E (named `error`)
  /// before it writes anything, or the wait after it throws one. Errors: Failure, also where
  /// anything but an output's elements has changed.
  template <class E>
  void expect_refusal(const char* error, const std::function<void(Side)>& call);
  /// Check that the elements of an output from `first` on are as they were.
  void expect_kept(const Operand& output, size_t first);

  Random& random() { return random_; }

 private:
  Operand& add(const char* name, ambit::DType dtype, ambit::IntArrayRef sizes, Layout layout);
  void place(Operand& operand);
  void call_device(const std::function<void(Side)>& call);
  void expect_same_bits(const Operand& output, const std::vector<std::byte>& first);
  void check_surroundings();
  /// Element `at` of an operand's buffer was not to be written.
  Failure strayed(const Operand& operand, int64_t at) const;
  void expect_unwritten();
  /// `what` with all operands and parameters.
  Failure failure(const std::string& what) const;

  ambit::Device device_, reference_;
  Random random_;
  std::string parameters_;
  std::deque<Operand> operands_;  // references to them stay
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

/// Make a case of calls of a kernel; the name begins with the op's: "where/float32/odd".
Case kernel_case(const std::string& name, std::function<void(Trial&)> check);
/// The same under set_deterministic(true), for which kernels may have a way of their own:
/// ".../deterministic".
Case deterministic_case(const std::string& name, std::function<void(Trial&)> check);

}  // namespace conformance
