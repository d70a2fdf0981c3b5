// The scope around every kernel, between core's dispatcher and this backend. It names the op for
// errors, selects the thread's stream and orders it after the streams that used the operands.
// Kernels get the stream from Call::stream().
#pragma once

#include <ambit/backend/kernels.h>

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu.h"

namespace ambit::cuda {

/// Types of kernel arguments other than tensors. They are listed explicitly, so that a type that
/// holds memory is not mistaken for a parameter, whose memory would not be ordered.
template <class T>
concept Parameter = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, Scalar> ||
    std::same_as<T, std::optional<Scalar>> || std::same_as<T, ScalarOperand> ||
    std::same_as<T, ActivationParams> || std::same_as<T, RandomParams> ||
    std::same_as<T, ScanParams> || std::same_as<T, ConvParams> || std::same_as<T, PoolParams> ||
    std::same_as<T, InterpolateParams> || std::same_as<T, EmbeddingBagParams> ||
    std::same_as<T, BatchNormParams> || std::same_as<T, AttentionParams> ||
    std::same_as<T, TriangularParams> || std::same_as<T, SgdParams> || std::same_as<T, AdamParams>;

/// The memory that one call uses, derived from its argument types: Tensor& is written, const
/// Tensor& is read, lists may be written.
class Accesses {
 public:
  void add(Tensor& output) { add(output, true); }
  void add(const Tensor& input) { add(input, false); }
  void add(TensorList list) {
    for (const Tensor& t : list) add(t, true);
  }
  template <Parameter T>
  void add(const T&) {}

  operator std::span<const Access>() const { return list_; }

 private:
  void add(const Tensor& t, bool writes) {
    if (t.defined()) list_.push_back({t.storage()->data(), writes});
  }
  std::vector<Access> list_;
};

/// Return the memory that a kernel with these arguments uses.
template <class... Arguments>
Accesses accesses_of(Arguments&... arguments) {
  Accesses all;
  (all.add(arguments), ...);
  return all;
}
/// For batch_norm: in eval mode running statistics are only read, as weights are, so that threads
/// that share a model do not wait for each other.
inline Accesses accesses_of(Tensor& y, Tensor& mean, Tensor& invstd, Tensor& running_mean,
                            Tensor& running_var, const Tensor& x, const Tensor& w, const Tensor& b,
                            const BatchNormParams& p) {
  if (p.training) {
    return accesses_of(y, mean, invstd, running_mean, running_var, x, w, b);
  }
  return accesses_of(y, mean, invstd, std::as_const(running_mean), std::as_const(running_var), x, w,
                     b);
}

/// A kernel or copy that the calling thread is queueing. Not nested, except in copies between two
/// GPUs: kernels call each other's functions, not ops.
class Call {
 public:
  /// `op`: a name with static lifetime. Makes the GPU current.
  Call(const char* op, Gpu& gpu);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Order this call after all earlier work on the operands of a kernel, where required.
  template <class... Arguments>
  void use(Arguments&... arguments) {
    if (stream_.capture) return capture(accesses_of(arguments...));
    if (allocator().is_alone(stream_.clock)) return;
    allocator().use(accesses_of(arguments...), stream_.clock);
  }
  /// As above, for the memory of a copy. Ignores memory that is not on this GPU.
  void use(std::initializer_list<Access> accesses) {
    const std::span<const Access> all(accesses.begin(), accesses.size());
    if (stream_.capture) return capture(all);
    allocator().use(all, stream_.clock);
  }
  /// As above, for a copy between two GPUs, which is a call on both.
  static void use(Call& reader, const void* from, Call& writer, void* to);

  /// Mark all work as queued. Unblocks waiting calls; they are ordered after this one.
  void queued() { stream_.clock.end(); }
  /// Under AMBIT_SYNC=1 wait for the work, so that its errors name this op.
  void finish();
  /// Wait for the stream of this call. Errors: the error of its work.
  void wait();

  /// Return the stream of the current call of this thread. Requires a current call.
  static GpuStream& stream();
  /// If the current call is being captured, invalidate the graph and throw a BackendError with the
  /// op's name and `what`, which cannot be captured. Requires a current call.
  static void expect_no_capture(const char* what);
  /// Return the name of this thread's current op, "cuda" if there is none.
  static const char* op() noexcept;

 private:
  BlockAllocator& allocator() { return stream_.gpu.allocator(); }
  void capture(std::span<const Access> accesses) {
    allocator().use_in(*stream_.clock.graph, accesses);
  }

  GpuStream& stream_;
  const Work outer_;
};

/// Return the GPU of a tensor, or null; used for a kernel's first defined tensor.
inline Gpu* gpu_of(const Tensor& t) { return t.defined() ? &gpu(t.device().index()) : nullptr; }
inline Gpu* gpu_of(TensorList list) { return list.empty() ? nullptr : gpu_of(list[0]); }
template <Parameter T>
Gpu* gpu_of(const T&) {
  return nullptr;
}

template <auto& op, auto kernel, class Signature = decltype(kernel)>
struct Framed;
template <auto& op, auto kernel, class... A>
struct Framed<op, kernel, void (*)(A...)> {
  static void run(A... args) {
    Gpu* where = nullptr;
    ((where = where ? where : gpu_of(args)), ...);
    Call call(op.name(), *where);
    call.use(args...);
    kernel(args...);
    call.finish();
  }
};

}  // namespace ambit::cuda
