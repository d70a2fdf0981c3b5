// TORCH_LIBRARY(myops, m) { m.def("scale(Tensor x, float by) -> Tensor", &scale); }: registers
// custom operators by name, which C++ calls through c10::Dispatcher. TORCH_LIBRARY_IMPL(myops,
// CUDA, m) { m.impl("scale", &scale_cuda); } adds kernels. Schemas are not parsed, except for the
// name and the number of arguments; kernels are typed C++ functions.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ambit/device.h>
#include <ambit/error.h>
#include <c10/core/DeviceType.h>
#include <c10/macros/Macros.h>
#include <torch/lacks.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

/// A function as an argument of def() and impl().
#define TORCH_FN(function) (&function)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

namespace at {
/// Properties of an operator for libtorch's compilers; ignored.
enum class Tag {
  core,
  cudagraph_unsafe,
  data_dependent_output,
  dynamic_output_shape,
  flexible_layout,
  generated,
  inplace,
  inplace_view,
  maybe_aliasing_or_mutating,
  needs_contiguous_strides,
  needs_exact_strides,
  needs_fixed_stride_order,
  nondeterministic_bitwise,
  nondeterministic_seeded,
  out,
  out_variant,
  pointwise,
  pt2_compliant_tag,
  reduction,
  view_copy,
};
}  // namespace at

namespace torch {

/// A kernel: a function, or an object with one operator(), and a key if dispatch() gave one.
template <class = void>
class CppFunctionOf {
 public:
  template <class F>
  requires requires(F f) { std::function{std::move(f)}; }
  explicit CppFunctionOf(F f) : CppFunctionOf(std::function{std::move(f)}, 0) {}
  /// No kernel: dispatch tries the next one.
  static CppFunctionOf makeFallthrough() { return {}; }

 private:
  template <class>
  friend class LibraryOf;
  template <class F>
  friend CppFunctionOf<> dispatch(c10::DispatchKey key, F&& f);

  CppFunctionOf() = default;
  template <class R, class... Args>
  CppFunctionOf(std::function<R(Args...)> f, int)
      : kernel_{&typeid(R(Args...)), sizeof...(Args),
                std::make_shared<const std::function<R(Args...)>>(std::move(f))} {}

  std::optional<c10::DispatchKey> key_;
  c10::detail::Kernel kernel_;
};
using CppFunction = CppFunctionOf<>;

template <class F>
CppFunction dispatch(c10::DispatchKey key, F&& f) {
  CppFunction function(std::forward<F>(f));
  function.key_ = key;
  return function;
}
/// Return `f` for the key of the device's kind; PrivateUse1 for kinds without a key.
template <class F>
CppFunction dispatch(c10::DeviceType type, F&& f) {
  using enum c10::DispatchKey;
  constexpr std::pair<c10::DeviceType, c10::DispatchKey> kKeys[] = {
      {c10::kCPU, CPU}, {c10::kCUDA, CUDA}, {c10::kMeta, Meta}, {c10::kXPU, XPU},
      {c10::kMPS, MPS}, {c10::kHIP, HIP},   {c10::kHPU, HPU},   {c10::kXLA, XLA}};
  c10::DispatchKey key = PrivateUse1;
  for (const auto& [known, its] : kKeys) {
    if (known == type) key = its;
  }
  return dispatch(key, std::forward<F>(f));
}

/// The schema of an operator, for def().
inline std::string schema(const char* text, bool /*allow_typevars*/ = false) { return text; }

/// The operators and kernels of one TORCH_LIBRARY block. They are removed when it is destroyed.
/// Names are "name" or "name.overload"; schemas "name.overload(Tensor x, *, float by=1) -> Tensor".
/// Errors of its members: Error for a namespace in the name that is not the library's; for an
/// operator that is defined already; for a key that has a kernel already; for a kernel whose
/// signature differs from the others', or whose number of arguments differs from the schema.
template <class = void>
class LibraryOf {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };

  /// Errors: Error for a second library of the kind DEF with that namespace.
  LibraryOf(Kind kind, std::string ns, std::optional<c10::DispatchKey> key, const char* /*file*/,
            uint32_t /*line*/)
      : kind_(kind), ns_(std::move(ns)), key_(key.value_or(c10::DispatchKey::CatchAll)) {
    if (kind != DEF) return;
    const std::scoped_lock lock(operators().mutex);
    if (!defined_namespaces().insert(ns_).second) {
      throw ambit::Error("TORCH_LIBRARY: expected one library of a namespace, got a second of " +
                         ns_ + "; use TORCH_LIBRARY_FRAGMENT");
    }
  }
  LibraryOf(LibraryOf&& other) noexcept
      : kind_(std::exchange(other.kind_, IMPL)),
        ns_(other.ns_),
        key_(other.key_),
        defined_(std::exchange(other.defined_, {})),
        kernels_(std::exchange(other.kernels_, {})) {}
  LibraryOf& operator=(LibraryOf&&) = delete;
  ~LibraryOf() {
    const std::scoped_lock lock(operators().mutex);
    for (const auto& [op, key] : kernels_) op->kernels.erase(key);
    for (c10::detail::Operator* const op : defined_) op->schema.clear();
    if (kind_ == DEF) defined_namespaces().erase(ns_);
  }

  /// Define an operator without a kernel.
  LibraryOf& def(const std::string& schema, const std::vector<at::Tag>& /*tags*/ = {}) {
    const std::scoped_lock lock(operators().mutex);
    define(schema);
    return *this;
  }
  /// Define an operator, by a schema or a name, with a kernel: of dispatch()'s key, or
  /// CompositeImplicitAutograd's.
  template <class F>
  requires requires(F f) { CppFunction(std::forward<F>(f)); }
  LibraryOf& def(const std::string& name_or_schema, F&& f,
                 const std::vector<at::Tag>& /*tags*/ = {}) {
    CppFunction function(std::forward<F>(f));
    const std::scoped_lock lock(operators().mutex);
    add(define(name_or_schema), std::move(function));
    return *this;
  }
  /// Add a kernel: of dispatch()'s key, or of the library's. The operator may be defined later.
  template <class F>
  LibraryOf& impl(const std::string& name, F&& f) {
    CppFunction function(std::forward<F>(f));
    const std::scoped_lock lock(operators().mutex);
    add(find(name), std::move(function));
    return *this;
  }
  template <class KeyOrType, class F>
  LibraryOf& impl(const std::string& name, KeyOrType key, F&& f) {
    return impl(name, dispatch(key, std::forward<F>(f)));
  }
  /// Only for CppFunction::makeFallthrough(), which has no effect. Errors: NotImplementedError for
  /// a kernel of all operators, which would be boxed.
  LibraryOf& fallback(const CppFunction& f) {
    if (!f.kernel_.function) return *this;
    throw ambit::NotImplementedError("fallback: expected makeFallthrough(), got a kernel");
  }
  LibraryOf& set_python_module(const char* /*module*/, const char* /*context*/ = "") {
    return *this;
  }
  LibraryOf& impl_abstract_pystub(const char* module, const char* /*context*/ = "") {
    return set_python_module(module);
  }
  template <class T>
  AMBIT_TORCH_LACKS("ambit runs no TorchScript, which alone uses custom classes")
  LibraryOf& class_(const std::string& name);

 private:
  using Operator = c10::detail::Operator;
  static c10::detail::Operators& operators() { return c10::detail::Operators::get(); }
  static std::set<std::string>& defined_namespaces() {
    static std::set<std::string>* const all = new std::set<std::string>;
    return *all;
  }

  Operator& find(std::string_view name) {
    if (const size_t colons = name.find("::"); colons != name.npos) {
      if (name.substr(0, colons) != ns_) {
        throw ambit::Error("TORCH_LIBRARY: expected an operator of " + ns_ + ", got " +
                           std::string(name));
      }
      name.remove_prefix(colons + 2);
    }
    const size_t dot = std::min(name.find('.'), name.size());
    c10::OperatorName full{ns_ + "::" + std::string(name.substr(0, dot)),
                           std::string(name.substr(std::min(dot + 1, name.size())))};
    std::unique_ptr<Operator>& op = operators().all[full];
    if (!op) op = std::make_unique<Operator>(Operator{.name = std::move(full)});
    return *op;
  }

  Operator& define(const std::string& schema) {
    const size_t open = std::min(schema.find('('), schema.size());
    Operator& op = find(std::string_view(schema).substr(0, open));
    if (!op.schema.empty()) {
      throw ambit::Error("TORCH_LIBRARY: expected a new operator, got " + toString(op.name) +
                         " a second time");
    }
    op.arguments = arguments_of(std::string_view(schema).substr(open));
    for (const auto& [key, kernel] : op.kernels) check_arguments(op, kernel);
    defined_.push_back(&op);
    op.schema = schema;
    return op;
  }

  void add(Operator& op, CppFunction&& f) {
    if (!f.kernel_.function) return;
    if (!op.kernels.empty() && *op.kernels.begin()->second.signature != *f.kernel_.signature) {
      c10::detail::throw_signature(op);
    }
    check_arguments(op, f.kernel_);
    const c10::DispatchKey key = f.key_.value_or(key_);
    if (op.kernels.contains(key)) {
      throw ambit::Error(toString(op.name) + ": expected one kernel for a key, got a second");
    }
    kernels_.emplace_back(&op, key);
    op.kernels.emplace(key, std::move(f.kernel_));
  }

  /// Return the number of arguments in "(Tensor x, int[2] size=[1, 2], *, float by) -> Tensor".
  static std::optional<size_t> arguments_of(std::string_view schema) {
    if (schema.empty()) return std::nullopt;
    int depth = 0;
    size_t count = 0;
    bool in_argument = false;
    for (const char c : schema) {
      if (c == ')' && depth == 1) break;
      depth += (c == '(' || c == '[') - (c == ')' || c == ']');
      if (c == ',' && depth == 1) {
        in_argument = false;
      } else if (c != ' ' && c != '*' && c != '(' && !in_argument) {
        in_argument = true;
        ++count;
      }
    }
    return count;
  }
  static void check_arguments(const Operator& op, const c10::detail::Kernel& kernel) {
    if (!op.arguments || *op.arguments == kernel.arguments) return;
    throw ambit::Error(toString(op.name) + ": expected a function of " +
                       std::to_string(*op.arguments) + " arguments, as in its schema, got one of " +
                       std::to_string(kernel.arguments));
  }

  Kind kind_;
  std::string ns_;
  c10::DispatchKey key_;
  std::vector<Operator*> defined_;
  std::vector<std::pair<Operator*, c10::DispatchKey>> kernels_;
};
using Library = LibraryOf<>;

namespace detail {

/// Fills a library before main().
template <class = void>
class TorchLibraryInitOf {
 public:
  TorchLibraryInitOf(typename LibraryOf<>::Kind kind, void (*fill)(Library&), const char* ns,
                     std::optional<c10::DispatchKey> key, const char* file, uint32_t line)
      : library_(kind, ns, key, file, line) {
    fill(library_);
  }

 private:
  Library library_;
};
using TorchLibraryInit = TorchLibraryInitOf<>;

}  // namespace detail
}  // namespace torch

#define AMBIT_TORCH_LIBRARY(kind, ns, key, m, uid)                                             \
  static void C10_CONCATENATE(ambit_torch_library_##ns##_, uid)(::torch::Library&);            \
  static const ::torch::detail::TorchLibraryInit C10_CONCATENATE(                              \
      ambit_torch_library_of_##ns##_, uid)(::torch::Library::kind,                             \
                                           &C10_CONCATENATE(ambit_torch_library_##ns##_, uid), \
                                           #ns, key, __FILE__, __LINE__);                      \
  static void C10_CONCATENATE(ambit_torch_library_##ns##_,                                     \
                              uid)([[maybe_unused]] ::torch::Library & m)
/// Define operators of the namespace ns; once for each namespace.
#define TORCH_LIBRARY(ns, m) AMBIT_TORCH_LIBRARY(DEF, ns, ::std::nullopt, m, C10_UID)
/// Define further ones.
#define TORCH_LIBRARY_FRAGMENT(ns, m) AMBIT_TORCH_LIBRARY(FRAGMENT, ns, ::std::nullopt, m, C10_UID)
/// Add kernels of a key.
#define TORCH_LIBRARY_IMPL(ns, key, m) \
  AMBIT_TORCH_LIBRARY(IMPL, ns, ::c10::DispatchKey::key, m, C10_UID)
#define MAKE_TORCH_LIBRARY(ns) \
  ::torch::Library(::torch::Library::DEF, #ns, ::std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, key) \
  ::torch::Library(::torch::Library::IMPL, #ns, ::c10::DispatchKey::key, __FILE__, __LINE__)
