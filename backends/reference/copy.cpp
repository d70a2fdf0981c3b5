// Copies between any two dtypes and layouts, and fills.
#include <ambit/backend/reference.h>

#include "convert.h"
#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

template <class Y, class X>
void copy_as(Tensor& y, const Tensor& x) {
  Y* py = y.data_ptr<Y>();
  const X* px = x.data_ptr<X>();
  strided_loop(y.sizes(), {y.strides(), x.strides()},
               [&](int64_t i, int64_t j) { py[i] = convert<Y>(px[j]); });
}

}  // namespace

void copy(Tensor& y, const Tensor& x) {
  count_run();
  visit<dtypes::kEvery>(y.dtype(), [&]<class Y>() {
    visit<dtypes::kEvery>(x.dtype(), [&]<class X>() { copy_as<Y, X>(y, x); });
  });
}

void fill(Tensor& y, const Scalar& value) {
  count_run();
  visit(y.dtype(), [&]<class Y>() {
    const Y v = element_of<Y>(value);
    Y* py = y.data_ptr<Y>();
    strided_loop(y.sizes(), {y.strides()}, [&](int64_t i) { py[i] = v; });
  });
}

}  // namespace ambit::reference
