// Op<Sig>: one kernel op and its row of the dispatch table, indexed by device kind. This file and
// op.cpp are the whole dispatcher.
#pragma once

#include <ambit/autograd.h>
#include <ambit/detail/cpu_fallback.h>
#include <ambit/detail/kernel_event.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/upcast_call.h>
#include <ambit/tensor.h>

#include <array>
#include <atomic>
#include <concepts>
#include <span>
#include <tuple>
#include <type_traits>

namespace ambit {

/// Maximum number of device kinds in a process; registering another one is an error.
inline constexpr int kMaxDeviceKinds = 32;

/// One tensor argument of a device check, or a list of them.
struct DeviceArg {
  /// An argument without tensors, a tensor, or a list. Names and tensors must outlive it.
  /// @{
  DeviceArg() = default;
  DeviceArg(const char* n, const Tensor& t) : name(n), tensors(&t), count(1) {}
  DeviceArg(const char* n, TensorList l)
      : name(n), tensors(l.data()), count(l.size()), is_list(true) {}
  /// @}
  const char* name = nullptr;       ///< as errors show it: "weight"
  const Tensor* tensors = nullptr;  ///< the first tensor
  size_t count = 0;                 ///< number of tensors
  bool is_list = false;             ///< errors show "name[i]"
  bool may_be_on_cpu = false;  ///< like the indices of index(), whatever the device of the call
};

/// The combinations of devices that a call accepts.
enum class DeviceRule : uint8_t {
  strict,                ///< all defined tensors on one device
  elementwise,           ///< 0-dim cpu tensors allowed as inputs on any device
  in_place,              ///< strict; the first argument decides, whatever its dim
  in_place_elementwise,  ///< the first argument decides; 0-dim cpu tensors allowed
};

/// The device check of all ops. Return the device of the call. The expected device is that of the
/// first defined tensor with dim > 0; if all are 0-dim, of the first one not on cpu under
/// `elementwise`, else of the first one. Undefined tensors are skipped. Errors: DeviceMismatchError
/// for the first tensor that differs.
AMBIT_API Device check_devices(const char* op, std::span<const DeviceArg> args,
                               DeviceRule rule = DeviceRule::strict);
/// As above, with the arguments in braces.
inline Device check_devices(const char* op, std::initializer_list<DeviceArg> args,
                            DeviceRule rule = DeviceRule::strict) {
  return check_devices(op, std::span<const DeviceArg>(args.begin(), args.size()), rule);
}

/// Fast path of the device check: true if all defined tensors seen are on one device. Also collects
/// their dtypes.
class OneDevice {
 public:
  /// Look at an argument of a call; parameters and undefined tensors do not count.
  /// @{
  void add(const Tensor& t) {
    if (!t.defined()) return;
    const Device d = t.impl()->device;
    dtypes_ |= 1u << static_cast<int>(t.impl()->dtype);
    if (!seen_) device_ = d;
    seen_ = true;
    differs_ |= d != device_;
  }
  void add(TensorList l) {
    for (const Tensor& t : l) add(t);
  }
  template <class Parameter>
  void add(const Parameter&) {}
  /// @}

  /// True if there was a tensor and all are on one device.
  explicit operator bool() const { return seen_ && !differs_; }
  /// Return the device of the first tensor.
  Device operator*() const { return device_; }
  /// Return which dtypes occurred that kernels receive as other dtypes: float16, bfloat16, uint16,
  /// uint32, uint64, complex64 and complex128.
  DTypeSet converted_dtypes() const {
    constexpr DTypeSet kConverted =
        dtypes::kReducedFloating | dtypes::kWideUnsigned | dtypes::kComplex;
    return DTypeSet(DTypeBits(dtypes_ & kConverted.bits));
  }

 private:
  Device device_;
  uint32_t dtypes_ = 0;
  bool seen_ = false, differs_ = false;
};

/// A kernel of any signature; cast back before calls.
using AnyKernel = void (*)();

/// The function that runs an op on complex operands, with the signature of its kernels: it calls
/// kernels with the real and the imaginary parts, or with integers of the same bits.
template <class Signature>
struct ForComplex {
  Signature* function = nullptr;  ///< null: the op refuses complex operands
};
/// @cond
template <class Signature>
ForComplex(Signature*) -> ForComplex<Signature>;
/// @endcond

/// The type-erased part of an op, used by the registry and the coverage table.
class AMBIT_API OpBase {
 public:
  static constexpr size_t kMaxArgs = 12;  ///< maximum number of tensor arguments

  OpBase(const OpBase&) = delete;
  OpBase& operator=(const OpBase&) = delete;

  /// Return the name: "convolution".
  const char* name() const { return name_; }
  /// Return the dtypes that the op computes with. Functions of a family may support fewer
  /// (function_table.h); indices, targets and masks have dtypes of their own.
  DTypeSet dtypes() const { return dtypes_; }
  /// Return how reduced floating-point operands are handled if the kernel does not accept them.
  UpcastRule upcast_rule() const { return upcast_rule_; }
  /// Return the reduced floating-point and complex types that a backend's kernel accepts.
  DTypeSet native(DeviceKind kind) const;
  /// Return true if a backend registered so far, built-in ones included, has a kernel of that kind.
  bool has_kernel(DeviceKind kind) const;
  /// Return true if backends without a kernel run the op by its formula.
  bool has_composite() const { return has_composite_; }
  /// Switch recording of all ops' calls on or off, when a profile starts or stops.
  static void set_profiled(bool on);
  /// Rethrow the current exception: an ambit::Error unchanged, std::bad_alloc as OutOfMemoryError,
  /// any other type as BackendError that names the op (`function` of the family if not null), the
  /// kernel, its library and the device.
  [[noreturn]] void rethrow_typed(Device device, const char* function) const;
  /// Always throw NotImplementedError naming the op, the device and the backends with a kernel.
  [[noreturn]] void throw_missing(Device device) const;
  /// Always throw DTypeError naming the op, or `function` of the family unless it is negative, and
  /// the dtypes that it computes with.
  [[noreturn]] void throw_dtype(int function, DType got) const;

 protected:
  friend class Registry;
  /// args: the names of the tensor arguments, in order; all strings have static lifetime.
  constexpr OpBase(const char* name, DTypeSet dtypes, UpcastRule upcast_rule,
                   std::initializer_list<const char*> args, bool has_composite)
      : name_(name), dtypes_(dtypes), upcast_rule_(upcast_rule), has_composite_(has_composite) {
    size_t i = 0;
    for (const char* a : args) args_[i++] = a;
  }
  /// Return the kernel of a device kind, or null.
  AnyKernel find(DeviceKind kind) const {
    return kernels_[static_cast<size_t>(kind)].load(std::memory_order_acquire);
  }
  /// As find(), but null while a profile is on: all calls then use the slow path, which records
  /// them. So an inactive profiler costs nothing.
  AnyKernel find_unprofiled(DeviceKind kind) const {
    return table_[static_cast<size_t>(kind)].load(std::memory_order_acquire);
  }
  /// Register a kernel; the next calls use it.
  void set_kernel(size_t kind, AnyKernel kernel);
  /// Return true if the kernel accepts all these of OneDevice::converted_dtypes() unconverted.
  bool accepts_natively(DeviceKind kind, DTypeSet set) const {
    uint32_t native = native_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
    if (upcast_rule_ == UpcastRule::native) native |= dtypes::kReducedFloating.bits;
    return (set.bits & ~native) == 0;
  }
  /// Make the device current for this thread. Errors: Error if it does not exist.
  static void activate(Device device);

  const char* name_;                          ///< see name()
  DTypeSet dtypes_;                           ///< see dtypes()
  UpcastRule upcast_rule_;                    ///< see upcast_rule()
  std::array<const char*, kMaxArgs> args_{};  ///< names of the tensor arguments, in order
  bool has_composite_;                        ///< see has_composite()
  /// The kernels that calls use, by device kind; null while profiling. Atomic because a backend may
  /// be loaded while others compute.
  std::array<std::atomic<AnyKernel>, kMaxDeviceKinds> table_{};
  std::array<std::atomic<AnyKernel>, kMaxDeviceKinds> kernels_{};  ///< the registered kernels
  std::array<std::atomic<uint32_t>, kMaxDeviceKinds>
      native_{};  ///< see native(): bits of a DTypeSet
};

/// A kernel op by the signature of its kernels; Op<void(A...)> is the only definition.
template <class Signature>
class Op;

/// A kernel op: `kernels::linear(out, input, weight, bias)` runs the kernel of its tensors' device.
/// Outputs first, then inputs, then parameters; the caller allocates the outputs. Errors:
/// DeviceMismatchError; NotImplementedError naming the op, the device and the backends with a
/// kernel; OutOfMemoryError; BackendError if a kernel throws anything but an ambit::Error.
template <class... A>
class Op<void(A...)> final : public OpBase {
 public:
  using Signature = void(A...);  ///< outputs, inputs, parameters
  using Kernel = Signature*;     ///< the type of a backend's kernel
  /// True if an argument is a list of tensors.
  static constexpr bool kTakesLists = (std::same_as<A, TensorList> || ...);

  /// Ops of lists must have a composite: the CPU fallback cannot know which lists to copy back.
  constexpr Op(const char* name, DTypeSet dtypes, UpcastRule upcast_rule,
               std::initializer_list<const char*> args,
               ForComplex<Signature> for_complex = {}) requires(!kTakesLists)
      : OpBase(name, dtypes, upcast_rule, args, false),
        composite_(nullptr),
        for_complex_(for_complex.function) {}
  /// `composed`: the composite, run if a backend has no kernel. Two constructors, because g++ does
  /// not treat `composed != nullptr` as a constant under -fsanitize=undefined.
  constexpr Op(const char* name, DTypeSet dtypes, UpcastRule upcast_rule,
               std::initializer_list<const char*> args, Kernel composed,
               ForComplex<Signature> for_complex = {})
      : OpBase(name, dtypes, upcast_rule, args, true),
        composite_(composed),
        for_complex_(for_complex.function) {}

  /// Check the devices, upcast if needed, and run the kernel, the composite or the CPU fallback.
  /// Nothing runs for meta tensors.
  void operator()(A... args) const {
    OneDevice one;
    (one.add(args), ...);
    const Device device = one ? *one : check(args...);
    // Shapes only; calls with unsigned integers still check that the op supports them.
    if (device.is_meta() && (one.converted_dtypes().bits & dtypes::kWideUnsigned.bits) == 0) return;
    try {
      if (one.converted_dtypes() != DTypeSet() &&
          !accepts_natively(device.kind(), one.converted_dtypes())) [[unlikely]] {
        return run_converted(one.converted_dtypes(), device, args...);
      }
      if (const auto kernel = reinterpret_cast<Kernel>(find_unprofiled(device.kind()))) {
        return run_kernel(kernel, device, args...);
      }
      run_without_kernel(device, args...);
    } catch (...) {  // of any type: kernels may be third-party code
      const char* function = nullptr;
      ((function = function ? function : function_name(args)), ...);
      rethrow_typed(device, function);
    }
  }

  /// Return the composite, or null.
  Kernel composite() const { return composite_; }

 private:
  static void run_kernel(Kernel kernel, Device device, A... args) {
    if (!device.is_cpu()) activate(device);
    kernel(args...);
  }

  /// Slow path: no kernel, or a profile is on.
  [[gnu::noinline]] void run_without_kernel(Device device, A... args) const {
    const auto kernel = reinterpret_cast<Kernel>(find(device.kind()));
    std::array<DeviceArg, sizeof...(A)> tensors;
    size_t n = 0;
    (collect(tensors, n, args), ...);
    const char* function = nullptr;
    ((function = function ? function : function_name(args)), ...);
    const KernelEvent event(name_, function, device, kernel != nullptr,
                            std::span<const DeviceArg>(tensors.data(), n));
    if (kernel) return run_kernel(kernel, device, args...);
    NoGradGuard no_grad;
    if (composite_) return composite_(args...);
    run_on_cpu(device, args...);
  }

  [[gnu::noinline]] void run_converted(DTypeSet set, Device device, A... args) const {
    const DTypeSet complex(DTypeBits(set.bits & dtypes::kComplex.bits));
    if (complex != DTypeSet()) return run_complex(*complex.begin(), args...);
    // If the CPU fallback will run the call, pass the operands unconverted.
    if (!device.is_meta() && !find(device.kind()) && !composite_)
      return run_without_kernel(device, args...);
    UpcastCall call(*this);
    (call.collect(args), ...);
    call.run([&](Tensor* next) {
      // Braces, so that the operands are evaluated from left to right.
      std::tuple<decltype(call.converted(args, next))...> operands{call.converted(args, next)...};
      std::apply(*this, operands);
    });
  }

  void run_complex(DType dtype, A... args) const {
    if (!for_complex_) {
      int function = -1;
      const auto find_function = [&function]<class Parameter>(const Parameter& p) {
        if constexpr (std::is_enum_v<Parameter>) function = static_cast<int>(p);
      };
      (find_function(args), ...);
      throw_dtype(function, dtype);
    }
    const NoGradGuard no_grad;
    for_complex_(args...);
  }

  Device check(A... args) const {
    std::array<DeviceArg, sizeof...(A)> tensors;
    size_t n = 0;
    (collect(tensors, n, args), ...);
    return check_devices(name_, std::span<const DeviceArg>(tensors.data(), n));
  }

  void run_on_cpu(Device device, A... args) const {
    CpuFallback call(*this, device);
    auto host = std::make_tuple(call.to_cpu(args)...);
    std::apply(*this, host);
    std::apply([&](auto&... on_cpu) { (call.write_back(args, on_cpu), ...); }, host);
    call.finish();
  }

  /// Name of a function of a family (function_table.h), the only enumerations kernels accept.
  template <class Parameter>
  static const char* function_name(const Parameter& p) {
    if constexpr (std::is_enum_v<Parameter>) {
      return ambit::name(p);
    } else {
      return nullptr;
    }
  }

  template <size_t N>
  void collect(std::array<DeviceArg, N>& to, size_t& n, const Tensor& t) const {
    to[n] = {args_[n], t};
    ++n;
  }
  template <size_t N>
  void collect(std::array<DeviceArg, N>& to, size_t& n, TensorList l) const {
    to[n] = {args_[n], l};
    ++n;
  }
  template <size_t N, class Parameter>
  void collect(std::array<DeviceArg, N>&, size_t&, const Parameter&) const {}

  Kernel composite_;
  Kernel for_complex_;  // see ForComplex
};

/// The type of an op's kernels, for declarations: `Signature<kernels::linear> linear;`.
template <auto& op>
using Signature = typename std::remove_cvref_t<decltype(op)>::Signature;

}  // namespace ambit
