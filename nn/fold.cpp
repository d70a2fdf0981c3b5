// Fold, Unfold.
#include <ambit/nn/fold.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

void FoldImpl::reset() {}
Tensor FoldImpl::forward(const Tensor& input) { return functional::fold(input, options); }
void FoldImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(output_size={}, kernel_size={}, dilation={}, padding={}, stride={})",
                    name(), int_or_tuple(options.output_size()),
                    int_or_tuple(options.kernel_size()), int_or_tuple(options.dilation()),
                    int_or_tuple(options.padding()), int_or_tuple(options.stride()));
}

void UnfoldImpl::reset() {}
Tensor UnfoldImpl::forward(const Tensor& input) { return functional::unfold(input, options); }
void UnfoldImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(kernel_size={}, dilation={}, padding={}, stride={})", name(),
                    int_or_tuple(options.kernel_size()), int_or_tuple(options.dilation()),
                    int_or_tuple(options.padding()), int_or_tuple(options.stride()));
}

}  // namespace ambit::nn
