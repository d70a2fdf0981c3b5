// Kernels of the CUDA backend compared with the reference: layer and RMS normalisation.
#include "gpu_kernels.h"

using namespace ambit;
using namespace gpu_kernels;

TEST_CASE("gpu: layer norm and its gradient, by threads, warps and blocks") {
  if (!has_gpu()) return;
  manual_seed(3);
  struct Rows {
    int64_t count, length;
  };
  // A row is processed by a thread, by a warp, or, beyond 2048 elements, by a block.
  for (const Rows r : {Rows{3, 1}, Rows{31, 7}, Rows{700, 64}, Rows{2, 5000}}) {
    for (const DType dtype : dtypes::kFloating) {
      for (const bool centered : {true, false}) {
        for (const bool affine : {true, false}) {
          INFO("rows ", r.count, " of ", r.length, " ", std::string(name(dtype)));
          const Tensor x = normal({r.count, r.length}, dtype),
                       dy = normal({r.count, r.length}, dtype);
          const Tensor w = affine ? normal({r.length}, dtype) : Tensor();
          const Tensor b = affine ? normal({r.length}, dtype) : Tensor();
          const auto like = [&](IntArrayRef sizes) { return empty(sizes, x.options()); };
          Tensor y = like(x.sizes()), mean = like({r.count}), invstd = like({r.count});
          kernels::layer_norm(y, mean, invstd, x, w, b, 1e-2, centered);
          Tensor want = copy_if(y), want_mean = copy_if(mean), want_invstd = copy_if(invstd);
          kernels::layer_norm(want, want_mean, want_invstd, copy_if(x), copy_if(w), copy_if(b),
                              1e-2, centered);
          // u, its product and its sum with numbers below 32 are each rounded.
          check_close(mean, want_mean, 1, r.length);
          check_close(invstd, want_invstd, 1, r.length);
          check_close(y, want, 3, r.length);

          Tensor dx = like(x.sizes()), dw = like({r.length}), db = like({r.length});
          kernels::layer_norm_grad(dx, dw, db, dy, x, w, mean, invstd, centered);
          Tensor want_dx = copy_if(dx), want_dw = copy_if(dw), want_db = copy_if(db);
          kernels::layer_norm_grad(want_dx, want_dw, want_db, copy_if(dy), copy_if(x), copy_if(w),
                                   copy_if(mean), copy_if(invstd), centered);
          check_close(dx, want_dx, 1, 2 * r.length);
          check_close(dw, want_dw, 1, r.count);
          check_close(db, want_db, 1, r.count);
        }
      }
    }
  }
}
