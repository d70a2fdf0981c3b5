// Warnings of libambit: cases that PyTorch warns of too, in its words.
#pragma once

#include <ambit/api.h>

#include <cstdint>

namespace ambit::detail {

/// The cases. Each is reported once in a process, unless the sink asks for all.
enum class Warning : uint8_t {
  byte_index,
  byte_condition,
  grad_of_non_leaf,
  create_graph,
  degrees_of_freedom,
  covariance,
};

/// Receives warnings, on the thread that causes them. May throw.
struct WarningSink {
  void (*process)(const char* function, const char* text);
  bool (*wants_all)();  ///< true: report each case every time
};

/// Send warnings to `sink`, which must remain valid until the process ends; null, the default: to
/// stderr. The libtorch headers set their warning handlers. Thread-safe.
AMBIT_API void set_warning_sink(const WarningSink* sink) noexcept;

/// Report a case in `function`, a public op.
void warn(Warning warning, const char* function);

}  // namespace ambit::detail
