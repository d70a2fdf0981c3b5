// TORCH_CHECK_EQ(a, b) << "text": throw an Error if a and b differ. Also operator<< for vectors,
// maps, sets and pairs. There is no logging.
#pragma once

#include <c10/util/Exception.h>

#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

namespace c10::detail {

/// Collects the text streamed after a failed check, and throws at the end of the statement.
class FailedCheck {
 public:
  FailedCheck(SourceLocation where, std::string text) : where_(where), text_(std::move(text)) {}
  FailedCheck(const FailedCheck&) = delete;
  FailedCheck& operator=(const FailedCheck&) = delete;
  [[noreturn]] ~FailedCheck() noexcept(false) { fail<Error>(where_, std::move(text_)); }
  template <class T>
  FailedCheck& operator<<(const T& value) {
    text_ += str(value);
    return *this;
  }

 private:
  SourceLocation where_;
  std::string text_;
};

}  // namespace c10::detail

#define AMBIT_TORCH_CHECK_OP(a, b, op) \
  if ((a)op(b)) {                      \
  } else /* NOLINT */                  \
    ::c10::detail::FailedCheck(        \
        AMBIT_TORCH_HERE,              \
        ::c10::str("Check failed: " #a " " #op " " #b " (", a, " vs. ", b, "). "))
#define TORCH_CHECK_EQ(a, b) AMBIT_TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) AMBIT_TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LT(a, b) AMBIT_TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_LE(a, b) AMBIT_TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_GT(a, b) AMBIT_TORCH_CHECK_OP(a, b, >)
#define TORCH_CHECK_GE(a, b) AMBIT_TORCH_CHECK_OP(a, b, >=)
/// Return the pointer, or throw if it is null.
#define TORCH_CHECK_NOTNULL(p)                                                               \
  ([](auto&& pointer, ::c10::SourceLocation where) -> decltype(auto) {                       \
    if (pointer == nullptr) {                                                                \
      ::c10::detail::fail<::c10::Error>(where, "Check failed: '" #p "' must be non NULL. "); \
    }                                                                                        \
    return static_cast<decltype(pointer)>(pointer);                                          \
  }(p, AMBIT_TORCH_HERE))

// Standard containers are printed as by libtorch's logging: at most 100 elements, separated by
// spaces. In namespace std, as in libtorch, so that programs in any namespace find them.
namespace std {

template <class First, class Second>
std::ostream& operator<<(std::ostream& os, const std::pair<First, Second>& p);

#define AMBIT_PRINT_CONTAINER(container)                                       \
  template <class... Types>                                                    \
  std::ostream& operator<<(std::ostream& os, const container<Types...>& all) { \
    int count = 0;                                                             \
    for (const auto& each : all) {                                             \
      if (count > 0) os << ' ';                                                \
      if (count++ == 100) return os << "...";                                  \
      os << each;                                                              \
    }                                                                          \
    return os;                                                                 \
  }
AMBIT_PRINT_CONTAINER(std::vector)
AMBIT_PRINT_CONTAINER(std::map)
AMBIT_PRINT_CONTAINER(std::set)
#undef AMBIT_PRINT_CONTAINER

template <class First, class Second>
std::ostream& operator<<(std::ostream& os, const std::pair<First, Second>& p) {
  return os << '(' << p.first << ", " << p.second << ')';
}

}  // namespace std
