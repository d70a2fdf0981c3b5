// Random fills with the numbers of philox.h, the same on every backend.
#include <ambit/backend/philox.h>
#include <ambit/backend/reference.h>

#include "runs.h"

namespace ambit::reference {

void random(Tensor& y, const RandomParams& p) {
  count_run();
  visit(y.dtype(), [&]<class T>() {
    T* py = y.data_ptr<T>();
    for (int64_t i = 0; i < y.numel(); ++i) {
      py[i] = philox::element<T>(p, static_cast<uint64_t>(i));
    }
  });
}

}  // namespace ambit::reference
