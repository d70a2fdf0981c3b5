#include <ambit/detail/warning.h>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

namespace ambit::detail {
namespace {

constinit std::atomic<const WarningSink*> the_sink{nullptr};  // release publishes the sink's data
// Relaxed: exchange alone lets one thread print.
constinit std::array<std::atomic<bool>, 6> warned{};

std::string text_of(Warning warning, const char* function) {
  switch (warning) {
    case Warning::byte_index:
      return "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
             "instead.";
    case Warning::byte_condition:
      return "where received a uint8 condition tensor. This behavior is deprecated and will be "
             "removed in a future version of PyTorch. Use a boolean condition instead.";
    case Warning::grad_of_non_leaf:
      return "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
             ".grad attribute won't be populated during autograd.backward(). If you indeed want "
             "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
             "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
             "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more "
             "information.";
    case Warning::create_graph:
      return "Using backward() with create_graph=True will create a reference cycle between the "
             "parameter and its gradient which can cause a memory leak. We recommend using "
             "autograd.grad when creating the graph to avoid this. If you have to use this "
             "function, make sure to reset the .grad fields of your parameters to None after use "
             "to break the cycle and avoid the leak.";
    case Warning::degrees_of_freedom:
      return fmt::format(
          "{}(): degrees of freedom is <= 0. Correction should be strictly less than the "
          "reduction factor (input numel divided by output numel).",
          function);
    case Warning::covariance:
      return fmt::format(
          "{}(): degrees of freedom is <= 0. Correction should be strictly less than the number "
          "of observations.",
          function);
  }
  return {};
}

}  // namespace

void set_warning_sink(const WarningSink* sink) noexcept {
  the_sink.store(sink, std::memory_order_release);
}

void warn(Warning warning, const char* function) {
  const WarningSink* sink = the_sink.load(std::memory_order_acquire);
  const bool again = warned[static_cast<size_t>(warning)].exchange(true, std::memory_order_relaxed);
  if (again && !(sink && sink->wants_all())) return;
  const std::string text = text_of(warning, function);
  if (sink) return sink->process(function, text.c_str());
  std::fprintf(stderr, "[W ambit] Warning: %s (function %s)\n", text.c_str(), function);
}

}  // namespace ambit::detail
