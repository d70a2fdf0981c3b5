// libtorch's namespaces: what is ambit's is theirs. All headers of this folder build on this one.
#pragma once

#include <memory>

namespace ambit {}

namespace c10 {
using namespace ambit;

/// What programs hold process groups and works by: a std::shared_ptr here, as in libtorch's older
/// programs. Not the pointer of that name by which ambit holds tensors' memory.
template <class T>
using intrusive_ptr = std::shared_ptr<T>;
}  // namespace c10

namespace at {
using namespace c10;
}

namespace torch {
using namespace at;
}
