// The floor: the bench's workloads written by hand with bare oneDNN primitives that are created
// once. It does not use ambit.
#include <omp.h>

#include "lessons.h"
#include "ops.h"
#include "recurrent.h"

namespace bench::floor {
namespace {

std::unique_ptr<Work> make(const Specification& s) {
  omp_set_num_threads(s.threads);  // primitives are created for this number of threads
  if (s.what == "net/train") return std::make_unique<Training>(Lesson::net, s);
  if (s.what == "net/infer") return std::make_unique<Inference>(Lesson::net, s);
  if (s.what == "tudui/train") return std::make_unique<Training>(Lesson::tudui, s);
  if (s.what == "tudui/infer") return std::make_unique<Inference>(Lesson::tudui, s);
  if (s.what == "conv2d" || s.what == "conv2d_grad") return std::make_unique<Convolution>(s);
  if (s.what == "matmul") return std::make_unique<Product>(s);
  if (s.what == "lstm_layers" || s.what == "lstm_layers_grad") return std::make_unique<Lstm>(s);
  if (s.what == "gru_layers" || s.what == "gru_layers_grad") return std::make_unique<Gru>(s);
  return nullptr;
}

}  // namespace
}  // namespace bench::floor

extern "C" __attribute__((visibility("default"))) const bench::Peer* ambit_bench_peer() {
  static const std::string version = [v = dnnl_version()] {
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
  }();
  static const bench::Peer peer{"floor", version.c_str(), bench::floor::make};
  return &peer;
}
