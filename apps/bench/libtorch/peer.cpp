// libtorch with its fastest settings: all cores, no unnecessary copies, gradients set to none.
#include <dlfcn.h>

#include "works.h"

namespace bench::libtorch {

torch::Tensor borrow(const Operand& operand) {
  if (operand.labels) {
    return torch::from_blob(const_cast<int64_t*>(operand.labels), operand.sizes, torch::kInt64);
  }
  return torch::from_blob(const_cast<float*>(operand.values), operand.sizes, torch::kFloat32);
}

void set_blas_threads(int threads) {
  // Only OpenBLAS has this function, and libblas may be another library.
  static const auto set =
      reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set) set(threads);
}

namespace {

std::unique_ptr<Work> make(const Specification& s) {
  torch::set_num_threads(s.threads);
  for (const auto family : {make_network, make_op, make_optimizer, make_data, make_compilation}) {
    if (std::unique_ptr<Work> work = family(s)) return work;
  }
  return nullptr;
}

}  // namespace
}  // namespace bench::libtorch

extern "C" __attribute__((visibility("default"))) const bench::Peer* ambit_bench_peer() {
  static const bench::Peer peer{"libtorch", "libtorch " TORCH_VERSION, bench::libtorch::make};
  return &peer;
}
