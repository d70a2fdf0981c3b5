// libtorch's checks and warnings. c10::Error is ambit::Error; what() is only the message, explain()
// has the source location.
#pragma once

#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <c10/util/StringUtil.h>
#include <torch/namespaces.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <variant>

namespace c10 {

using TypeError = ambit::DTypeError;
/// Thrown by TORCH_CHECK_VALUE only.
class ValueError : public Error {
 public:
  using Error::Error;
};

/// Source location of a macro.
struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};

namespace detail {

/// An error of class E with its source location.
template <class E>
class Located final : public E {
 public:
  Located(SourceLocation where, std::string text) : E(std::move(text)), where_(where) {}
  std::string explain() const override {
    return str(E::explain(), "\n  thrown from ", where_.function, " at ", where_.file, ':',
               where_.line);
  }

 private:
  SourceLocation where_;
};

/// Return the message of a check: the user's, or, without one, the condition.
template <class... Args>
std::string check_text(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return str("Expected ", condition, " to be true, but got false.");
  } else {
    static_cast<void>(condition);
    return str(args...);
  }
}

template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void fail(SourceLocation where, std::string text) {
  throw Located<E>(where, std::move(text));
}

}  // namespace detail

/// A warning as a handler receives it.
class Warning {
 public:
  class UserWarning {};
  class DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;

  Warning(warning_variant_t type, const SourceLocation& source_location, std::string msg,
          bool verbatim)
      : type_(type), source_location_(source_location), msg_(std::move(msg)), verbatim_(verbatim) {}

  warning_variant_t type() const { return type_; }
  const SourceLocation& source_location() const { return source_location_; }
  const std::string& msg() const { return msg_; }
  bool verbatim() const { return verbatim_; }

 private:
  warning_variant_t type_;
  SourceLocation source_location_;
  std::string msg_;
  bool verbatim_;
};

using UserWarning = Warning::UserWarning;
using DeprecationWarning = Warning::DeprecationWarning;

/// Receives warnings: process() prints them to std::cerr, unless overridden.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) {
    const SourceLocation& where = warning.source_location();
    std::cerr << "[W " << where.file << ':' << where.line << "] Warning: " << warning.msg()
              << " (function " << where.function << ")\n";
  }
};

namespace WarningUtils {

namespace detail {
inline WarningHandler& plain_handler() {
  static WarningHandler handler;
  return handler;
}
inline constinit thread_local WarningHandler* handler = nullptr;
inline constinit thread_local bool always = false;
}  // namespace detail

/// Send this thread's warnings to `handler`, which is not owned; null: to std::cerr.
inline void set_warning_handler(WarningHandler* handler) noexcept { detail::handler = handler; }
inline WarningHandler* get_warning_handler() noexcept {
  return detail::handler ? detail::handler : &detail::plain_handler();
}
/// Make TORCH_WARN_ONCE warn every time.
inline void set_warnAlways(bool on) noexcept { detail::always = on; }
inline bool get_warnAlways() noexcept { return detail::always; }

/// Set the handler for a scope.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : before_(detail::handler) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(before_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* before_;
};

/// Set set_warnAlways() for a scope.
struct WarnAlways {
  explicit WarnAlways(bool on = true) : before(get_warnAlways()) { set_warnAlways(on); }
  ~WarnAlways() { set_warnAlways(before); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;
  const bool before;
};

}  // namespace WarningUtils

/// Send a warning to this thread's handler.
inline void warn(const Warning& warning) { WarningUtils::get_warning_handler()->process(warning); }

namespace WarningUtils::detail {
// ambit's own warnings go to the same handlers.
inline void pass_on(const char* function, const char* text) {
  warn(Warning(Warning::UserWarning(), {function, "ambit", 0}, text, false));
}
inline constexpr ambit::detail::WarningSink kSink{pass_on, get_warnAlways};
inline const bool is_sink_set = (ambit::detail::set_warning_sink(&kSink), true);
}  // namespace WarningUtils::detail
}  // namespace c10

#define AMBIT_TORCH_HERE \
  ::c10::SourceLocation { __func__, __FILE__, static_cast<uint32_t>(__LINE__) }
#define AMBIT_TORCH_CHECK(type, condition, ...)                                                    \
  do {                                                                                             \
    if (!(condition)) [[unlikely]] {                                                               \
      ::c10::detail::fail<type>(AMBIT_TORCH_HERE,                                                  \
                                ::c10::detail::check_text(#condition __VA_OPT__(, ) __VA_ARGS__)); \
    }                                                                                              \
  } while (false)

/// TORCH_CHECK(condition, text...): throw an Error with the concatenated texts if the condition is
/// false.
#define TORCH_CHECK(condition, ...) \
  AMBIT_TORCH_CHECK(::c10::Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_WITH(type, condition, ...) \
  AMBIT_TORCH_CHECK(::c10::type, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  AMBIT_TORCH_CHECK(::c10::IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  AMBIT_TORCH_CHECK(::c10::ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  AMBIT_TORCH_CHECK(::c10::TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  AMBIT_TORCH_CHECK(::c10::NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...)            \
  AMBIT_TORCH_CHECK(::c10::Error, condition, #condition, \
                    " INTERNAL ASSERT FAILED. " __VA_OPT__(, ) __VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) ::c10::detail::fail<::c10::Error>(AMBIT_TORCH_HERE, ::c10::str(__VA_ARGS__))
#define AT_INDEX_ERROR(...) \
  ::c10::detail::fail<::c10::IndexError>(AMBIT_TORCH_HERE, ::c10::str(__VA_ARGS__))
#define C10_THROW_ERROR(type, text) ::c10::detail::fail<::c10::type>(AMBIT_TORCH_HERE, text)

#define AMBIT_TORCH_WARN(type, ...)                                                    \
  ::c10::warn(::c10::Warning(::c10::type(), AMBIT_TORCH_HERE, ::c10::str(__VA_ARGS__), \
                             /*verbatim=*/false))
#define TORCH_WARN(...) AMBIT_TORCH_WARN(UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) AMBIT_TORCH_WARN(DeprecationWarning, __VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                                                   \
  do {                                                                                         \
    if (::c10::WarningUtils::get_warnAlways()) {                                               \
      TORCH_WARN(__VA_ARGS__);                                                                 \
    } else {                                                                                   \
      [[maybe_unused]] static const bool ambit_torch_warned = (TORCH_WARN(__VA_ARGS__), true); \
    }                                                                                          \
  } while (false)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
