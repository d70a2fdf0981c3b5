// What every kernel runs inside: the frame between core's dispatcher and a kernel of this backend.
// It names the op for errors, finds the thread's stream and orders it behind the streams that used
// the operands before. Kernels then just ask for Call::stream().
#pragma once

#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>

#include <mutex>
#include <type_traits>

#include "gpu.h"

namespace ambit::cuda {

/// One kernel or copy being queued by the calling thread. Never nested: kernels call each other's
/// functions, not ops.
class Call {
 public:
  /// `op` is a name that stays. Makes the GPU current.
  Call(const char* op, Gpu& gpu);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Order this call behind all work on the block of memory that holds `p`, if it is this GPU's.
  void order_behind(const void* p);
  /// The same for the memory of an argument of the kernel; parameters have none.
  template <class Argument>
  void use(const Argument& argument) {
    if constexpr (std::is_same_v<Argument, Tensor>) {
      if (argument.defined()) order_behind(argument.storage()->data());
    } else if constexpr (std::is_same_v<Argument, TensorList>) {
      for (const Tensor& t : argument) use(t);
    }
  }
  /// Copies from and to the host may take long: let other threads queue work meanwhile. Their
  /// memory is in no other work, or the host waits for them.
  void let_others_queue() { launching_.unlock(); }
  /// Under AMBIT_SYNC=1 wait for the work, so that what fails in it bears this op's name.
  void finish();
  /// Wait for the stream of this call. Errors: what failed in its work.
  void wait();

  /// Return the stream of the call at work in this thread. Requires: there is one.
  static Stream& stream();
  /// Return the name of the op at work in this thread, "cuda" outside of any.
  static const char* op() noexcept;

 private:
  const char* const op_;
  Stream& stream_;
  std::unique_lock<std::mutex> launching_;
};

/// The GPU of a kernel's first defined tensor.
inline Gpu* gpu_of(const Tensor& t) { return t.defined() ? &gpu(t.device().index()) : nullptr; }
inline Gpu* gpu_of(TensorList list) { return list.empty() ? nullptr : gpu_of(list[0]); }
template <class Parameter>
Gpu* gpu_of(const Parameter&) {
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
    (call.use(args), ...);
    kernel(args...);
    call.finish();
  }
};

/// Add a kernel to the backend that was added last: add<kernels::conv2d, conv2d>(registry).
template <auto& op, auto kernel>
void add(Registry& registry) {
  registry.add(op, Framed<op, kernel>::run);
}

}  // namespace ambit::cuda
