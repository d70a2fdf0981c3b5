#include "call.h"

#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ambit::shadow {
namespace {

// Bytes next to the elements of an output that are compared before and after a call.
constexpr size_t kMargin = 4096;

// Accesses the names of an op's tensor arguments, a protected member.
struct ArgumentNames : OpBase {
  static constexpr auto kList = &ArgumentNames::args_;
};

bool is(const OpBase& op, std::initializer_list<const OpBase*> ops) {
  return std::ranges::find(ops, &op) != ops.end();
}

Role role_of(const OpBase& op, size_t argument, bool is_output, bool is_list) {
  using namespace kernels;
  if (is_list) {
    const size_t updated = &op == &adam_step ? 3 : &op == &sgd_step ? 2 : 1;
    return argument < updated ? Role::updated : Role::input;
  }
  if (!is_output) return Role::input;
  if (is(op, {&scatter, &scatter_add, &scatter_reduce, &index_add, &unscale})) return Role::updated;
  return &op == &batch_norm && argument >= 3 ? Role::updated : Role::output;
}

bool is_whole_block(const Tensor& t) {
  return t.is_contiguous() && t.storage_offset() == 0 && t.nbytes() == t.storage()->size_bytes();
}

// A backend may choose a native layout for images that fill their storage.
bool may_be_native(const Tensor& t) { return t.dim() == 4; }

}  // namespace

Device shadow_device() {
  static const Device device = [] {
    try {
      const char* name = std::getenv("AMBIT_SHADOW");
      const Device named(name ? name : "");
      if (!named.is_meta()) return named;
      throw Error("meta computes nothing");
    } catch (const Error& e) {
      throw Error(fmt::format("AMBIT_SHADOW: expected a device to compare with, got an error: {}",
                              e.what()));
    }
  }();
  return device;
}

void Call::add_tensor(const Tensor& t, bool is_output) {
  const size_t i = arguments_.size();
  order_.push_back({true, i});
  Argument& a = arguments_.emplace_back();
  a.name = (op_.*ArgumentNames::kList)[i];
  a.operands.push_back(make_operand(t, a.name, role_of(op_, i, is_output, false)));
}

void Call::add(TensorList list) {
  const size_t i = arguments_.size();
  order_.push_back({true, i});
  Argument& a = arguments_.emplace_back();
  a.name = (op_.*ArgumentNames::kList)[i];
  a.is_list = true;
  const Role role = role_of(op_, i, true, true);
  for (size_t k = 0; k < list.size(); ++k) {
    a.operands.push_back(make_operand(list[k], fmt::format("{}[{}]", a.name, k), role));
  }
}

Operand Call::make_operand(const Tensor& t, std::string name, Role role) {
  Operand o;
  o.name = std::move(name);
  o.role = role;
  o.tensor = t;
  if (t.defined()) device_ = t.device();
  return o;
}

bool Call::shares_block(const Operand& o) const {
  int users = 0;
  for (const Argument& a : arguments_) {
    for (const Operand& other : a.operands) {
      users += other.is_defined() && other.tensor.storage() == o.tensor.storage();
    }
  }
  return users > 1;
}

void Call::prepare() {
  const Device shadow = shadow_device();
  for (Argument& a : arguments_) {
    for (Operand& o : a.operands) {
      const Tensor& t = o.tensor;
      if (t.defined()) {
        const bool is_whole = is_whole_block(t);
        const bool is_new = o.role == Role::output && is_whole && !shares_block(o);
        o.window = window_of(t, o.is_written() ? kMargin : 0);
        if (!is_new) o.before = read_window(t, o.window);
        if (is_new && !shadow::may_be_native(t) && t.numel() > 0) o.guarded = with_guards(t);
        o.on_shadow = mirror(t, o.window, o.before, shadow);
      }
      a.on_device.push_back(o.guarded.defined() ? o.guarded : t);
      a.on_shadow.push_back(o.on_shadow);
    }
  }
}

void Call::read_results() {
  for (Argument& a : arguments_) {
    for (Operand& o : a.operands) {
      if (!o.is_defined()) continue;
      o.after = o.guarded.defined() ? read_guarded(o.guarded) : read_window(o.tensor, o.window);
    }
  }
}

void Call::read_expected() {
  for (Argument& a : arguments_) {
    for (Operand& o : a.operands) {
      if (!o.is_defined() || !o.is_written()) continue;
      const size_t bytes = o.window.end - o.window.begin;
      o.expected = read_window(o.on_shadow, {0, bytes, o.window.first});
    }
  }
}

void Call::prepare_twins() {
  const Device shadow = shadow_device();
  for (Argument& a : arguments_) {
    for (size_t i = 0; i < a.operands.size(); ++i) {
      Operand& o = a.operands[i];
      if (!o.is_defined()) continue;
      o.on_shadow = mirror(o.tensor, o.window, o.twin, shadow);
      a.on_shadow[i] = o.on_shadow;
    }
  }
}

bool Call::may_be_native() const {
  return std::ranges::any_of(arguments_, [](const Argument& a) {
    return std::ranges::any_of(a.operands, [](const Operand& o) {
      return o.is_defined() && shadow::may_be_native(o.tensor);
    });
  });
}

void Call::prepare_again() {
  for (Argument& a : arguments_) {
    for (size_t i = 0; i < a.operands.size(); ++i) {
      const Operand& o = a.operands[i];
      if (o.is_defined()) a.on_device[i] = mirror(o.tensor, o.window, o.before, device_);
    }
  }
}

std::string Call::other_bits() const {
  for (const Argument& a : arguments_) {
    for (size_t i = 0; i < a.operands.size(); ++i) {
      const Operand& o = a.operands[i];
      if (!o.is_defined() || !o.is_written() || o.numel() == 0) continue;
      const Bytes again =
          read_window(a.on_device[i], {0, o.window.end - o.window.begin, o.window.first});
      const size_t size = element_size(o.dtype());
      for (const int64_t at : o.positions()) {
        const size_t byte = static_cast<size_t>(at) * size;
        if (std::memcmp(&again[o.window.first + byte], o.results() + byte, size) == 0) continue;
        return fmt::format(
            "{}: expected the same bits from the same call under set_deterministic(true), got "
            "others",
            o.name);
      }
    }
  }
  return {};
}

void Call::finish() {
  for (Argument& a : arguments_) {
    for (Operand& o : a.operands) {
      if (o.guarded.defined()) copy_elements(o.tensor, o.guarded);
    }
  }
}

double Call::largest(size_t argument) const {
  double largest = 0;
  for (const Operand& o : arguments_[argument].operands) {
    if (o.is_defined()) largest = std::max(largest, o.largest());
  }
  return largest;
}

}  // namespace ambit::shadow
