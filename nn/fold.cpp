// Fold, Unfold.
#include <ambit/nn/fold.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

FoldImpl::FoldImpl(const FoldOptions& opts) : options(opts) {}
FoldImpl::FoldImpl(IntOrPair output_size, IntOrPair kernel_size)
    : FoldImpl(FoldOptions(output_size, kernel_size)) {}
void FoldImpl::reset() {}
Tensor FoldImpl::forward(const Tensor& input) { return functional::fold(input, options); }
void FoldImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(output_size={}, kernel_size={}, dilation={}, padding={}, stride={})",
                    name(), int_or_tuple(options.output_size()),
                    int_or_tuple(options.kernel_size()), int_or_tuple(options.dilation()),
                    int_or_tuple(options.padding()), int_or_tuple(options.stride()));
}

UnfoldImpl::UnfoldImpl(const UnfoldOptions& opts) : options(opts) {}
UnfoldImpl::UnfoldImpl(IntOrPair kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}
void UnfoldImpl::reset() {}
Tensor UnfoldImpl::forward(const Tensor& input) { return functional::unfold(input, options); }
void UnfoldImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(kernel_size={}, dilation={}, padding={}, stride={})", name(),
                    int_or_tuple(options.kernel_size()), int_or_tuple(options.dilation()),
                    int_or_tuple(options.padding()), int_or_tuple(options.stride()));
}

}  // namespace ambit::nn
