// What the bench compares ambit with: a shared library that does the same works in another way, by
// libtorch or by hand on bare oneDNN. `ambit bench` opens it when asked, so the tool itself links
// neither. This header is all that both sides share; it knows nothing of ambit.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A tensor as both sides get it: row-major, float32, but for class labels, which are int64. The
/// values belong to the bench and outlive the work; the peer copies what it changes.
struct Operand {
  std::string name;  ///< "input", "target", "conv1.weight", ...
  std::vector<int64_t> sizes;
  const float* values = nullptr;
  const int64_t* labels = nullptr;
  bool requires_grad = false;
};

/// The equations of the rows of einsum, whose parameter says which: products of matrices, scores of
/// attention's heads, three operands, and one that is no product.
inline constexpr const char* kEinsums[] = {"bij,bjk->bik", "bihd,bjhd->bhij", "ij,jk,lk->il",
                                           "ij,j->ij"};

/// What to do, with which numbers. The same specification makes the work on every side.
struct Specification {
  std::string row;   ///< as the table shows it: "net/train/64"
  std::string what;  ///< the row without its size: "net/train"
  std::vector<Operand> operands;
  std::vector<int64_t> parameters;  ///< by `what`, as its rows say
  int threads = 1;
};

/// Something ready to run, any number of times. What is made once (copies, primitives, scratch
/// memory) is made by the constructor or the first run(). One thread calls it.
class Work {
 public:
  virtual ~Work() = default;
  /// Do it once, and wait for it. Training changes the parameters and goes on from them.
  virtual void run() = 0;
  /// Return the seconds that so many runs take, one after the other.
  virtual double seconds(long runs) {
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < runs; ++i) run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  /// Return one number that shows that the work was done and is the same on all sides: the loss
  /// that the last run() had before its update; else the sum of its output, or of a gradient. NaN:
  /// there is nothing to compare.
  virtual double result() = 0;
  /// Return which of several ways of doing it this is; empty: there is but one.
  virtual std::string way() { return {}; }
  /// Return the ways in which it is to be measured, once it has run twice: all that are about as
  /// fast as the fastest. They belong to it, and each is a work. None: it is its one way itself.
  virtual std::vector<Work*> ways() { return {}; }
  /// Return the bytes that it has needed at most, where it runs in a process of its own. NaN: it
  /// runs in this one.
  virtual double peak_bytes() { return NAN; }
  /// Return the seconds of all cores that processes of its own have spent so far.
  virtual double process_seconds() { return 0; }
};

struct Peer {
  const char* name;     ///< the column: "libtorch", "floor"
  const char* version;  ///< "libtorch 1.13.1", "oneDNN 2.6.3"
  /// Return the work, null for what the peer does not do. May throw std::exception.
  std::unique_ptr<Work> (*make)(const Specification& specification);
};

}  // namespace bench

/// The one entry of libambit_bench_<name>.so, found by dlsym.
extern "C" const bench::Peer* ambit_bench_peer();
