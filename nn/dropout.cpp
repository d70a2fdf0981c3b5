// Dropout.
#include <ambit/nn/dropout.h>
#include <ambit/nn/functional.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {

DropoutImpl::DropoutImpl(const DropoutOptions& opts) : options(opts) {
  if (!(opts.p() >= 0 && opts.p() <= 1)) {
    throw Error(fmt::format("Dropout: expected p in [0, 1], got {}", opts.p()));
  }
}

void DropoutImpl::reset() {}

Tensor DropoutImpl::forward(const Tensor& input) {
  return functional::dropout(input, options.p(), is_training(), options.inplace());
}

void DropoutImpl::pretty_print(std::ostream& os) const {
  os << fmt::format("{}(p={}, inplace={})", name(), options.p(), truth(options.inplace()));
}

}  // namespace ambit::nn
