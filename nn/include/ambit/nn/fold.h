// Fold, Unfold: columns of windows and images, as layers without parameters.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/vision.h>

namespace ambit::nn {

using FoldOptions = functional::FoldFuncOptions;
using UnfoldOptions = functional::UnfoldFuncOptions;

/// Add columns [N, C R S, windows] up to an image [N,C,H,W]: functional::fold, whose errors
/// forward() has.
class AMBIT_API FoldImpl : public Cloneable<FoldImpl> {
 public:
  FoldImpl(IntOrPair output_size, IntOrPair kernel_size);
  explicit FoldImpl(const FoldOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  FoldOptions options;
};
AMBIT_MODULE(Fold);

/// Copy the windows of images [N,C,H,W] to columns [N, C R S, windows]: functional::unfold, whose
/// errors forward() has.
class AMBIT_API UnfoldImpl : public Cloneable<UnfoldImpl> {
 public:
  UnfoldImpl(IntOrPair kernel_size);
  explicit UnfoldImpl(const UnfoldOptions& opts);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& os) const override;

  UnfoldOptions options;
};
AMBIT_MODULE(Unfold);

}  // namespace ambit::nn
