// IntOrPair from braces.
#include <ambit/error.h>
#include <ambit/nn/options.h>

#include <fmt/format.h>

namespace ambit::nn {

IntOrPair::IntOrPair(std::initializer_list<int64_t> sizes) {
  if (sizes.size() != 1 && sizes.size() != 2) {
    throw Error(fmt::format("options: expected one size or two, got {}", sizes.size()));
  }
  pair_ = {*sizes.begin(), *(sizes.end() - 1)};
}

}  // namespace ambit::nn
