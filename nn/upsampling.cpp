// Upsample.
#include <ambit/nn/upsampling.h>

#include <ostream>

#include "print.h"

namespace ambit::nn {
namespace {

// Format as a Python tuple: "(4, 5)", "(2.0,)".
std::string tuple(const std::vector<std::string>& items) {
  return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

}  // namespace

UpsampleImpl::UpsampleImpl(const UpsampleOptions& opts) : options(opts) {}
void UpsampleImpl::reset() {}

Tensor UpsampleImpl::forward(const Tensor& input) {
  return functional::interpolate(input, functional::InterpolateFuncOptions()
                                            .size(options.size())
                                            .scale_factor(options.scale_factor())
                                            .mode(options.mode())
                                            .align_corners(options.align_corners()));
}

void UpsampleImpl::pretty_print(std::ostream& os) const {
  std::vector<std::string> items;
  if (options.scale_factor()) {
    for (const double scale : *options.scale_factor()) items.push_back(number(scale));
  } else if (options.size()) {
    for (const int64_t n : *options.size()) items.push_back(std::to_string(n));
  }
  os << fmt::format("{}({}={}, mode={})", name(), options.scale_factor() ? "scale_factor" : "size",
                    items.empty() ? "None" : tuple(items), name_of(options.mode()));
}

}  // namespace ambit::nn
