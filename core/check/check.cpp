// The kernels that record their calls, and the entry of libambit_check.so.
#include <ambit/backend/kernels.h>
#include <ambit/detail/check.h>
#include <ambit/error.h>
#include <ambit/tensor.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "blocks.h"
#include "events.h"
#include "origins.h"
#include "record.h"
#include "source.h"
#include "watched_backend.h"

namespace ambit::check {
namespace {

// The parts of a kernel call that are recorded.
class Call {
 public:
  void add(Tensor& t) { add_tensor(t, true); }
  void add(const Tensor& t) { add_tensor(t, false); }
  // Lists come first in kernels that update parameters: they write the first one.
  void add(TensorList list) {
    for (const Tensor& t : list) add_tensor(t, is_first_);
    is_first_ = false;
  }
  template <class P>
  void add(const P&) {
    is_first_ = false;
  }

  /// The device of the first tensor, an output: indices may be on another one.
  Device device() const { return device_; }

  /// Call it before the kernel.
  void record_writes() const {
    if (!device_.is_cpu() || !Recorder::writes()) return;
    for (const Tensor* t : operands_.written) {
      int64_t elements = t->numel() == 0 ? 0 : 1;  // from the first one to the last one
      for (int64_t d = 0; elements > 0 && d < t->dim(); ++d) {
        elements += (t->size(d) - 1) * t->stride(d);
      }
      const auto* block = static_cast<const char*>(t->storage()->native_data());
      host_written(block + t->storage_offset() * t->element_size(),
                   static_cast<size_t>(elements * t->element_size()));
    }
  }
  /// Call it after the kernel, when the blocks contain its results.
  void record_call() const {
    record([&] {
      Blocks::get().computed(operands_);
      if (device_.is_cpu() || !Recorder::writes()) return;
      const std::string device = device_.str();
      Recorder::get().add({.kind = "kernel",
                           .key = device,
                           .facts =
                               [&] {
                                 return nlohmann::json{{"device", device}};
                               }},
                          {});
    });
  }

 private:
  void add_tensor(const Tensor& t, bool is_written) {
    if (is_written) is_first_ = false;
    if (!t.defined()) return;
    if (operands_.written.empty() && operands_.read.empty()) device_ = t.device();
    (is_written ? operands_.written : operands_.read).push_back(&t);
  }

  Device device_;
  Operands operands_;
  bool is_first_ = true;
};

// The kernels that Recorded replaces, by device kind. Each is stored before its replacement is
// registered.
template <auto& op>
std::array<std::atomic<AnyKernel>, kMaxDeviceKinds> originals{};

template <auto& op, class Signature>
struct Recorded;

template <auto& op, class... A>
struct Recorded<op, void(A...)> {
  static void run(A... args) {
    Call call;
    (call.add(args), ...);
    const auto kind = static_cast<size_t>(call.device().kind());
    call.record_writes();
    reinterpret_cast<void (*)(A...)>(originals<op>[kind].load(std::memory_order_acquire))(args...);
    call.record_call();
  }
};

template <auto& op>
AnyKernel wrap_kernel(size_t kind, AnyKernel kernel) {
  originals<op>[kind].store(kernel, std::memory_order_release);
  return reinterpret_cast<AnyKernel>(&Recorded<op, Signature<op>>::run);
}

AnyKernel wrap(const OpBase& op, size_t kind, AnyKernel kernel) {
#define AMBIT_WRAP(name) \
  if (&op == &kernels::name) return wrap_kernel<kernels::name>(kind, kernel);
  AMBIT_KERNELS(AMBIT_WRAP)
#undef AMBIT_WRAP
  return kernel;
}

std::mutex watched_mutex;
auto* const self_watched = new std::set<const Backend*>;  // guarded by it; leaked: used until exit

void watches_itself(const Backend& backend) noexcept {
  record([&] {
    const std::lock_guard lock(watched_mutex);
    self_watched->insert(&backend);
  });
}

// Wrap only ambit's own backends: kernels of other backends may cast the registered backend to
// their class. Drop a backend without devices, so that a mistake is reported at the same line for
// any set of plugins: Device("cuda") throws if no such backend is registered, but not if a backend
// without devices is.
std::unique_ptr<Backend> watch(std::unique_ptr<Backend> backend) noexcept {
  record([&] {
    if (Recorder::writes() && backend->device_count() == 0) {
      backend.reset();
      return;
    }
    const std::lock_guard lock(watched_mutex);
    constexpr std::array kOwn{"cpu", "reference", "cuda", "opencl"};
    const std::string name = backend->name();
    if (self_watched->contains(backend.get())) return;
    if (std::ranges::find(kOwn, name) == kOwn.end()) return;
    backend = std::make_unique<WatchedBackend>(std::move(backend));
  });
  return backend;
}

void operands(std::span<const DeviceArg> args) noexcept {
  record([&] { next_operands(args); });
}

void mismatch(const DeviceMismatchError& error) noexcept {
  record([&] {
    keep_origins(error);
    if (!Recorder::writes()) return;
    const auto facts = [&] {
      const std::string details = error.explain();
      return nlohmann::json{{"op", error.op()},
                            {"argument", error.argument()},
                            {"device", error.actual().str()},
                            {"text", error.what()},
                            {"maker", json_of(maker_on_host(error))},
                            {"details", details.substr(details.find('\n') + 1)}};
    };
    Recorder::get().add({.kind = "mismatch", .key = error.op() + error.what(), .facts = facts},
                        current_stack());
  });
}

void copied(const DeviceMismatchError& from, const DeviceMismatchError& to) noexcept {
  record([&] { copy_origins(from, to); });
}

void destroyed(const DeviceMismatchError& error) noexcept {
  record([&] { drop_origins(error); });
}

void missing_device(const std::string& text) noexcept {
  record([&] {
    if (!Recorder::writes()) return;
    const Stack stack = current_stack();
    if (is_query(stack)) return;
    Recorder::get().add({.kind = "missing",
                         .key = text,
                         .facts =
                             [&] {
                               return nlohmann::json{{"text", text}};
                             }},
                        stack);
  });
}

constexpr CheckLibrary kLibrary{
    .wrap = wrap,
    .watch = watch,
    .operands = operands,
    .mismatch = mismatch,
    .copied = copied,
    .destroyed = destroyed,
    .missing_device = missing_device,
    .watches_itself = watches_itself,
    .allocated = allocated,
    .freed = freed,
    .host_copy = host_copy,
    .device_copy = device_copy,
    .waited = waited,
    .origins = origins_of,
    .source_calls = source_calls,
};

}  // namespace
}  // namespace ambit::check

extern "C" AMBIT_API const void* ambit_check() { return &ambit::check::kLibrary; }
