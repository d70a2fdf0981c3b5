// Passes a report to the framework of a test. The framework is determined where a macro is used,
// not where this header is included, so that the order of includes does not matter: if a macro of
// the framework is not defined there, its name refers to one of the functions below.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ambit::test {

/// Thrown by the macros if none of doctest, GoogleTest and Catch2 is used.
class Failure : public std::runtime_error {
 public:
  /// A failure with this message.
  using std::runtime_error::runtime_error;
};

/// The current device of for_each_device() or FOR_EACH_DEVICE in this thread; "": none.
inline std::string& current_device_name() {
  thread_local std::string name;
  return name;
}

/// A text for the framework.
struct Message {
  std::string text;  ///< "" if there is no error
};
/// Print the text.
inline std::ostream& operator<<(std::ostream& os, const Message& message) {
  return os << message.text;
}
/// Return the report with the current device of a loop over devices; empty for an empty report.
inline Message message_of(std::string report) {
  if (report.empty() || current_device_name().empty()) return {std::move(report)};
  return {"on " + current_device_name() + ": " + report};
}

/// The name of a source file, in the form that GoogleTest requires.
struct File {
  const char* name;  ///< the name, as __FILE__ gives it
  /// The name.
  operator const char*() const { return name; }
};

/// Used if the macros of the same name are not defined: they do nothing. Names are in parentheses,
/// since they may be macros.
/// @{
inline void(FAIL_CHECK)(const Message&) {}
inline void(INFO)(const Message&) {}
inline void(SCOPED_TRACE)(const Message&) {}
inline std::ostream&(ADD_FAILURE_AT)(File, int) {
  static std::ostream nowhere(nullptr);
  return nowhere;
}
/// @}

/// Throw Failure with the place and the message.
[[noreturn]] inline void fail(const Message& message, const char* file, int line) {
  throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + message.text);
}

}  // namespace ambit::test

/// @cond
#define AMBIT_TESTING_TEXT(...) #__VA_ARGS__
#define AMBIT_TESTING_EXPANDED(...) AMBIT_TESTING_TEXT(__VA_ARGS__)
/// @endcond
/// True if the test's framework has FAIL_CHECK (doctest, Catch2) or ADD_FAILURE_AT (GoogleTest).
#define AMBIT_TESTING_HAS_FRAMEWORK                                              \
  (std::string_view(AMBIT_TESTING_EXPANDED(FAIL_CHECK(0))) != "FAIL_CHECK(0)" || \
   std::string_view(AMBIT_TESTING_EXPANDED(ADD_FAILURE_AT(0, 0))) != "ADD_FAILURE_AT(0, 0)")

/// Fail the test, but continue it, with the report that the expression returns, unless it is empty:
/// CHECK_REPORT(test::gradcheck(f, {x})). Without a framework throws test::Failure.
#define CHECK_REPORT(...)                                                                     \
  do {                                                                                        \
    if (const ambit::test::Message ambit_message = ambit::test::message_of(__VA_ARGS__);      \
        !ambit_message.text.empty()) {                                                        \
      FAIL_CHECK(ambit_message);                                                              \
      ADD_FAILURE_AT(ambit::test::File{__FILE__}, __LINE__) << ambit_message;                 \
      if (!AMBIT_TESTING_HAS_FRAMEWORK) ambit::test::fail(ambit_message, __FILE__, __LINE__); \
    }                                                                                         \
  } while (false)
