// A check for users' tests: a call with tensors on two devices throws DeviceMismatchError.
#pragma once

#include <ambit/error.h>
#include <ambit/memory.h>
#include <ambit/tensor.h>
#include <ambit/testing/report.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ambit::test {

/// Bytes in use by tensors on each device, after all queued work.
class MemoryInUse {
 public:
  /// Wait for all devices and record their bytes in use.
  MemoryInUse() {
    for (const Device device : all_devices()) {
      synchronize(device);
      bytes_.emplace_back(device, memory_stats(device).in_use);
    }
  }
  /// Return "8 bytes on cpu, ...": the increase since then; "" for none.
  std::string grown() const {
    std::string text;
    for (const auto& [device, before] : bytes_) {
      synchronize(device);
      const size_t now = memory_stats(device).in_use;
      if (now <= before) continue;
      text +=
          (text.empty() ? "" : ", ") + std::to_string(now - before) + " bytes on " + device.str();
    }
    return text;
  }

 private:
  std::vector<std::pair<Device, size_t>> bytes_;
};

/// A tensor's earlier state: device, sizes, version, bytes, and whether it had a gradient.
class TensorState {
 public:
  /// Record the state of t, which may be undefined.
  explicit TensorState(Tensor t) : tensor_(std::move(t)) {
    if (!tensor_.defined()) return;
    device_ = tensor_.device();
    sizes_ = tensor_.sizes().vec();
    version_ = tensor_.version();
    has_grad_ = tensor_.grad().defined();
    bytes_ = bytes();
  }
  /// Return the differences: "its version is 2, was 1"; "" for none.
  std::string changed() const {
    if (!tensor_.defined()) return "";
    if (tensor_.device() != device_) {
      return "it is on " + tensor_.device().str() + ", was on " + device_.str();
    }
    if (tensor_.sizes().vec() != sizes_) return "its sizes differ";
    if (tensor_.version() != version_) {
      return "its version is " + std::to_string(tensor_.version()) + ", was " +
             std::to_string(version_);
    }
    if (tensor_.grad().defined() != has_grad_) return "its gradient was added or removed";
    return bytes() == bytes_ ? "" : "its values differ";
  }

 private:
  std::string bytes() const {
    if (tensor_.is_meta()) return "";
    const Tensor host = tensor_.detach().cpu().contiguous();
    return {static_cast<const char*>(host.data_ptr()), host.nbytes()};
  }

  Tensor tensor_;
  Device device_;
  std::vector<int64_t> sizes_;
  uint32_t version_ = 0;
  bool has_grad_ = false;
  std::string bytes_;
};

/// Append the tensors of a tensor, of a module or its holder (parameters and buffers), or of a
/// range of these.
template <class T>
void append_tensors(const T& from, std::vector<Tensor>& to) {
  const auto all = [&to](const auto& range) {
    for (const auto& element : range) append_tensors(element, to);
  };
  if constexpr (std::is_convertible_v<const T&, Tensor>) {
    to.push_back(from);
  } else if constexpr (requires { from->named_parameters(); }) {
    all(from->parameters());
    all(from->buffers());
  } else if constexpr (requires { from.named_parameters(); }) {
    all(from.parameters());
    all(from.buffers());
  } else {
    all(from);
  }
}

/// Return "" if `call` fails as expected, else the reason; `text` names the call in the report.
/// `watched`: tensors, modules, or vectors of these.
///   - It throws a DeviceMismatchError whose expected() and actual() are these; "cuda" is "cuda:0".
///   - Tensors use no more memory on any device than before. If they do, the call is repeated: a
///     cache grows once, a leak each time.
///   - The device, sizes, version, bytes and gradient of each watched tensor are unchanged. Writes
///     to other tensors are not detected: watch the module and all tensors that the call could
///     write.
/// Errors: those of memory_stats() and synchronize(); exceptions of `call` are caught.
inline std::string device_mismatch(const std::string& text, const std::function<void()>& call,
                                   std::string_view expected, std::string_view actual,
                                   const std::vector<Tensor>& watched) {
  const auto full = [](std::string_view name) {
    const bool has_index = name == "cpu" || name == "meta" || name.find(':') != name.npos;
    return std::string(name) + (has_index ? "" : ":0");
  };
  const std::string wanted =
      "expected device " + full(expected) + " but got device " + full(actual);
  const auto attempt = [&]() -> std::string {
    try {
      call();
    } catch (const DeviceMismatchError& e) {
      return e.what() == wanted ? "" : "\"" + e.explain() + "\"";
    } catch (const std::exception& e) {
      return std::string("another error: ") + e.what();
    } catch (...) {
      return "an exception of another type";
    }
    return "no error";
  };
  std::vector<TensorState> states;
  for (const Tensor& t : watched) states.emplace_back(t);

  std::string grown;
  for (int i = 0; i < 2; ++i) {
    const MemoryInUse memory;
    const std::string got = attempt();
    if (!got.empty()) return text + ": expected \"" + wanted + "\", got " + got;
    grown = memory.grown();
    if (grown.empty()) break;
  }
  if (!grown.empty()) return text + ": expected no memory to be kept, got " + grown;
  for (size_t i = 0; i < states.size(); ++i) {
    const std::string changed = states[i].changed();
    if (changed.empty()) continue;
    const std::string name = watched[i].name();
    return text + ": expected no change, but of watched tensor " + std::to_string(i) +
           (name.empty() ? "" : " (" + name + ")") + " " + changed;
  }
  return "";
}

/// device_mismatch() with the watched tensors, modules and ranges as arguments.
template <class... Watched>
std::string device_mismatch_of(const std::string& text, const std::function<void()>& call,
                               std::string_view expected, std::string_view actual,
                               const Watched&... watched) {
  std::vector<Tensor> tensors;
  (append_tensors(watched, tensors), ...);
  return device_mismatch(text, call, expected, actual, tensors);
}

}  // namespace ambit::test

/// Check that the expression throws DeviceMismatchError with these two devices, keeps no memory and
/// changes none of the tensors and modules that follow; see test::device_mismatch().
///   CHECK_DEVICE_MISMATCH(net->forward(x), "cuda:0", "cpu", net, x);
#define CHECK_DEVICE_MISMATCH(expression, ...)  \
  CHECK_REPORT(ambit::test::device_mismatch_of( \
      #expression, [&] { static_cast<void>(expression); }, __VA_ARGS__))
