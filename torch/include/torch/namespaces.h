// libtorch's namespaces, as aliases of ambit's. All headers of this folder include this one.
#pragma once

#include <memory>

namespace ambit {}

namespace c10 {
using namespace ambit;

/// Smart pointer for process groups and their Work objects: std::shared_ptr, as in older libtorch
/// programs. Not ambit's internal pointer of the same name for tensor memory.
template <class T>
using intrusive_ptr = std::shared_ptr<T>;
}  // namespace c10

namespace at {
using namespace c10;
}

namespace torch {
using namespace at;
namespace headeronly {
using namespace c10;
}
}  // namespace torch
