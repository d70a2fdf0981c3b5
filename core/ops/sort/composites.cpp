// Provisional.
#include <ambit/error.h>

#include "core/ops/composite.h"

namespace ambit::composite {

void cum_extremum(Tensor&, Tensor&, const Tensor&, int64_t, bool) {
  throw NotImplementedError("cum_extremum");
}
void sort(Tensor&, Tensor&, const Tensor&, int64_t, bool) { throw NotImplementedError("sort"); }
void topk(Tensor&, Tensor&, const Tensor&, int64_t, bool) { throw NotImplementedError("topk"); }
void searchsorted(Tensor&, const Tensor&, const Tensor&, bool) {
  throw NotImplementedError("searchsorted");
}
void scatter_reduce(Tensor&, const Tensor&, const Tensor&, int64_t, const ScatterOp&) {
  throw NotImplementedError("scatter_reduce");
}

}  // namespace ambit::composite
