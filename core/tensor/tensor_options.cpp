// TensorOptions: checks and printing.
#include <ambit/error.h>
#include <ambit/tensor_options.h>

#include <ostream>

namespace ambit {

void TensorOptions::check(Layout layout) {
  if (layout != kStrided) {
    throw NotImplementedError("TensorOptions: expected strided tensors, got sparse ones");
  }
}

std::ostream& operator<<(std::ostream& os, const TensorOptions& options) {
  const auto note = [](bool said) { return said ? "" : " (default)"; };
  os << "TensorOptions(dtype=" << options.dtype() << note(options.has_dtype())
     << ", device=" << options.device() << note(options.has_device())
     << ", layout=" << options.layout()
     << ", requires_grad=" << (options.requires_grad() ? "true" : "false")
     << ", pinned_memory=" << (options.pinned_memory() ? "true" : "false") << ", memory_format=";
  const auto format = options.memory_format_opt();
  return (format ? os << *format : os << "Contiguous (default)") << ')';
}

}  // namespace ambit
