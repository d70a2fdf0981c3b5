#include "fault.h"

#include <ambit/dtype.h>
#include <ambit/error.h>
#include <fmt/format.h>

namespace ambit::cuda {
namespace {

// Return the lowest value of a signed integer type.
int64_t least(DType dtype) { return -(int64_t{1} << (8 * element_size(dtype) - 2)) * 2; }

}  // namespace

void throw_fault(const Fault& f) {
  switch (f.kind) {
    case FaultKind::index:
      throw IndexError(
          fmt::format("{}: expected an index in [0, {}), got {}", f.op, f.limit, f.got));
    case FaultKind::target:
      throw IndexError(
          fmt::format("{}: expected a target in [0, {}), got {}", f.op, f.limit, f.got));
    case FaultKind::pivot:
      throw IndexError(fmt::format("{}: expected pivots in [1, {}], got {}", f.op, f.limit, f.got));
    case FaultKind::quotient: {
      const auto dtype = static_cast<DType>(f.limit);
      throw Error(fmt::format("{}: expected a quotient that fits {}, got {} / -1", f.op,
                              name(dtype), least(dtype)));
    }
    case FaultKind::claim:
      throw Error(f.op);
    case FaultKind::divisor:
    case FaultKind::none:
      break;
  }
  throw Error(fmt::format("{}: expected a divisor other than 0, got 0", f.op));
}

}  // namespace ambit::cuda
