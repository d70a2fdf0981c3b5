// Fold, Unfold: convert between images and columns of windows; modules without parameters.
#pragma once

#include <ambit/nn/cloneable.h>
#include <ambit/nn/functional/vision.h>

namespace ambit::nn {

using FoldOptions = functional::FoldFuncOptions;
using UnfoldOptions = functional::UnfoldFuncOptions;

/// Sum columns [N, C R S, windows] of windows into images [N,C,H,W]; see functional::fold, also for
/// errors.
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

/// Copy the windows of images [N,C,H,W] into columns [N, C R S, windows]; see functional::unfold,
/// also for errors.
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
