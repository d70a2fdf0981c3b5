// Dropout.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/options.h>

namespace ambit::nn {

/// Options of Dropout. p: the probability to be zeroed, default 0.5; inplace: while training
/// overwrite the input and return it, default false.
class DropoutOptions : public Options<DropoutOptions> {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}
  DropoutOptions& p(double v) { return set(p_, v); }
  DropoutOptions& inplace(bool on) { return set(inplace_, on); }
  double p() const { return p_; }
  bool inplace() const { return inplace_; }

 private:
  double p_;
  bool inplace_ = false;
};

/// While training zero each element with probability p and scale the rest by 1 / (1 - p); in
/// evaluation pass the input on. Any shape, floating point; see dropout().
/// Errors: Error for p outside [0, 1]; of forward DTypeError.
class AMBIT_API DropoutImpl : public Cloneable<DropoutImpl> {
 public:
  explicit DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
  explicit DropoutImpl(const DropoutOptions& opts = {});
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  DropoutOptions options;
};
AMBIT_MODULE(Dropout);

}  // namespace ambit::nn
