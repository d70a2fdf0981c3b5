// One kernel call on the program's device and on the shadow: its operands, its parameters, and the
// steps of the comparison.
#pragma once

#include <ambit/backend/op.h>

#include <any>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "operand.h"
#include "source_text.h"

namespace ambit::shadow {

/// Return the device that $AMBIT_SHADOW names. Errors: Error naming the known backends.
Device shadow_device();

/// A tensor argument, or a list of them.
struct Argument {
  std::string name;
  bool is_list = false;
  std::vector<Operand> operands;
  std::vector<Tensor> on_device, on_shadow;  // passed to the kernels
};

/// A parameter: its value, and the function that writes it as an expression in C++.
struct Parameter {
  std::any value;
  std::string (*text)(const std::any&);
};

class Call {
 public:
  explicit Call(const OpBase& op) : op_(op) {}

  /// Add the next argument of the kernel.
  void add(Tensor& t) { add_tensor(t, true); }
  void add(const Tensor& t) { add_tensor(t, false); }
  void add(TensorList list);
  template <class P>
  void add(const P& p) {
    order_.push_back({false, parameters_.size()});
    parameters_.push_back(
        {std::any(p), [](const std::any& value) { return source_text(std::any_cast<P>(value)); }});
  }

  /// Copy all operands to the host and the inputs to the shadow; make guard zones.
  void prepare();
  /// Copy the outputs to the host after the kernel of the device. Errors: those of its work.
  void read_results();
  /// Copy the shadow's results to the host.
  void read_expected();
  /// Give the shadow the values of the twins for a further call.
  void prepare_twins();
  /// Return true if a kernel may use a native layout, on which its roundings may depend.
  bool may_be_native() const;
  /// Make new operands on the program's device for the same call.
  void prepare_again();
  /// Return what differs in the results of that call; empty if they have the same bits.
  std::string other_bits() const;
  /// Copy guarded outputs to the program's tensors.
  void finish();

  /// Return the operands of the device or of the shadow, for argument `i` of the kernel.
  template <class A>
  A argument(size_t i, bool of_shadow) {
    const auto [is_tensor, at] = order_[i];
    if constexpr (std::is_same_v<A, TensorList>) {
      Argument& a = arguments_[at];
      return TensorList(of_shadow ? a.on_shadow : a.on_device);
    } else if constexpr (std::is_same_v<std::remove_cvref_t<A>, Tensor>) {
      Argument& a = arguments_[at];
      return of_shadow ? a.on_shadow[0] : a.on_device[0];
    } else {
      return *std::any_cast<std::remove_cvref_t<A>>(&parameters_[at].value);
    }
  }

  const OpBase& op() const { return op_; }
  Device device() const { return device_; }
  std::vector<Argument>& arguments() { return arguments_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Return the arguments in the kernel's order: (true, index of an argument) or (false, index of a
  /// parameter).
  const std::vector<std::pair<bool, size_t>>& order() const { return order_; }

  // --- used by the bounds
  /// Return the only operand of an argument.
  const Operand& operand(size_t argument) const { return arguments_[argument].operands[0]; }
  template <class P>
  const P& parameter(size_t i) const {
    return *std::any_cast<P>(&parameters_[i].value);
  }
  /// Return the largest finite magnitude in an argument; 0 if it is absent.
  double largest(size_t argument) const;

 private:
  void add_tensor(const Tensor& t, bool is_output);
  Operand make_operand(const Tensor& t, std::string name, Role role);
  bool shares_block(const Operand& o) const;

  const OpBase& op_;
  Device device_;
  std::vector<Argument> arguments_;
  std::vector<Parameter> parameters_;
  std::vector<std::pair<bool, size_t>> order_;
};

}  // namespace ambit::shadow
