// Interface of a peer that the bench compares ambit with: a shared library that implements the same
// workloads with libtorch, or by hand with bare oneDNN. `ambit bench` loads it on demand, so the
// tool itself links neither. This header is shared by both sides and does not depend on ambit.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A tensor as both sides receive it: row-major, float32, except for class labels, which are int64.
/// The values belong to the bench and outlive the work; a peer copies the values that it modifies.
struct Operand {
  std::string name;  ///< "input", "target", "conv1.weight", ...
  std::vector<int64_t> sizes;
  const float* values = nullptr;
  const int64_t* labels = nullptr;
  bool requires_grad = false;
};

/// The equations of the einsum rows, selected by the parameter: batched matrix product, attention
/// scores, three operands, and a product without a sum.
inline constexpr const char* kEinsums[] = {"bij,bjk->bik", "bihd,bjhd->bhij", "ij,jk,lk->il",
                                           "ij,j->ij"};

/// Description of a workload. The same specification gives the same work on every side.
struct Specification {
  std::string row;   ///< as in the table: "net/train/64"
  std::string what;  ///< the row without its size: "net/train"
  std::vector<Operand> operands;
  std::vector<int64_t> parameters;  ///< meaning depends on `what`
  int threads = 1;
};

/// A workload that can be run any number of times. One-time setup (copies, primitives, scratch
/// memory) is done by the constructor or the first run(). It is called from one thread.
class Work {
 public:
  virtual ~Work() = default;
  /// Run once, and wait for completion. Training updates the parameters and continues from them.
  virtual void run() = 0;
  /// Return the seconds of `runs` consecutive runs.
  virtual double seconds(long runs) {
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < runs; ++i) run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  /// Return a number that is equal on all sides if the work was done: the loss of the last run()
  /// before its update; else the sum of the output, or of a gradient. NaN means that there is
  /// nothing to compare.
  virtual double result() = 0;
  /// Return the name of this variant; empty if there is only one.
  virtual std::string way() { return {}; }
  /// Return the variants to measure, after two runs: all that are about as fast as the fastest.
  /// They are owned by this work. Empty: the work itself is the only variant.
  virtual std::vector<Work*> ways() { return {}; }
  /// Return the peak memory in bytes of a workload that runs in a separate process. NaN: it runs in
  /// this process.
  virtual double peak_bytes() { return NAN; }
  /// Return the CPU seconds, over all cores, of its separate processes so far.
  virtual double process_seconds() { return 0; }
};

struct Peer {
  const char* name;     ///< the column: "libtorch", "floor"
  const char* version;  ///< "libtorch 1.13.1", "oneDNN 2.6.3"
  /// Return the work, null if the peer does not support it. May throw std::exception.
  std::unique_ptr<Work> (*make)(const Specification& specification);
};

}  // namespace bench

/// The entry point of libambit_bench_<name>.so, found by dlsym.
extern "C" const bench::Peer* ambit_bench_peer();
