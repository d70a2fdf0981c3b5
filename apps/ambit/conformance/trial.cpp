#include "trial.h"

#include <ambit/backend/registry.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/settings.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

namespace conformance {
namespace {

using namespace ambit;

/// The seed depends only on the case, not on its position in the list.
uint64_t seed_of(const std::string& case_name) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : case_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash ^ seed();
}

/// Return the byte that surrounds the elements of operand i. It differs between operands, so that a
/// copy of one guard over another is detected; as floats these bytes are NaN or huge, which any sum
/// reveals.
std::byte pattern(size_t i) { return static_cast<std::byte>(0xff - i); }

/// Return the start of the buffer that contains a view.
std::byte* buffer_of(const Tensor& view, const Geometry& g) {
  return static_cast<std::byte*>(view.data_ptr()) -
         static_cast<size_t>(g.offset) * element_size(view.dtype());
}

/// Copy bytes directly with the backend, without kernels.
void upload(Device device, const Tensor& view, const Geometry& g,
            const std::vector<std::byte>& bytes) {
  backend_of(device).copy_from_host(device.index(), buffer_of(view, g), bytes.data(), bytes.size(),
                                    false);
}
std::vector<std::byte> download(Device device, const Tensor& view, const Geometry& g) {
  std::vector<std::byte> bytes(static_cast<size_t>(g.length) * element_size(view.dtype()));
  backend_of(device).copy_to_host(device.index(), bytes.data(), buffer_of(view, g), bytes.size(),
                                  false);
  return bytes;
}

/// Deterministic mode for a scope.
class Deterministic {
 public:
  Deterministic() { set_deterministic(true); }
  ~Deterministic() { set_deterministic(before_); }
  Deterministic(const Deterministic&) = delete;
  Deterministic& operator=(const Deterministic&) = delete;

 private:
  const bool before_ = is_deterministic();
};

/// Copy elements of `size` bytes: the i-th from `from(i)` to `to(i)`, positions in elements.
template <class To, class From>
void copy_elements(size_t size, size_t n, std::byte* y, To to, const std::byte* x, From from) {
  const auto copy =
      [&](auto bytes) {  // sizeof(bytes) is constant, so that each copy is a single instruction
        for (size_t i = 0; i < n; ++i) std::memcpy(y + to(i) * bytes, x + from(i) * bytes, bytes);
      };
  if (size == 1) return copy(std::integral_constant<size_t, 1>());
  if (size == 2) return copy(std::integral_constant<size_t, 2>());
  if (size == 4) return copy(std::integral_constant<size_t, 4>());
  copy(std::integral_constant<size_t, 8>());
}

std::string index_text(int64_t i, IntArrayRef sizes) {
  Dims index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) index[d] = i % sizes[d];
  return str(index);
}

}  // namespace

Trial::Trial(Device device, const std::string& case_name)
    : device_(device), reference_("reference"), random_(seed_of(case_name)) {}

void Trial::begin(std::string parameters) {
  parameters_ = std::move(parameters);
  operands_.clear();
}

Operand& Trial::add(const char* name, DType dtype, IntArrayRef sizes, Layout layout) {
  Operand& o = operands_.emplace_back();
  o.name_ = name;
  o.dtype_ = dtype;
  o.geometry_ = laid_out(sizes, layout);
  o.positions_ = o.geometry_.positions();
  o.before_.assign(static_cast<size_t>(o.geometry_.length) * element_size(dtype),
                   pattern(operands_.size()));
  return o;
}

void Trial::place(Operand& o) {
  const Geometry& g = o.geometry_;
  for (Side side : {Side::reference, Side::device}) {
    const Device device = side == Side::device ? device_ : reference_;
    const Tensor buffer = empty({g.length}, TensorOptions(o.dtype_).device(device));
    o[side] = buffer.as_strided(g.sizes, g.strides, g.offset);
    upload(device, o[side], g, o.before_);
  }
}

Operand& Trial::input(const char* name, DType dtype, IntArrayRef sizes, Layout layout,
                      const Values& values) {
  Operand& o = add(name, dtype, sizes, layout);
  const size_t size = element_size(dtype), n = o.positions_.size();
  std::vector<std::byte> elements(n * size);
  values(random_, dtype, elements.data(), static_cast<int64_t>(n));
  const auto place_of = [&](size_t i) { return static_cast<size_t>(o.positions_[i]); };
  copy_elements(size, n, o.before_.data(), place_of, elements.data(), std::identity());
  place(o);
  return o;
}

Operand& Trial::output(const char* name, DType dtype, IntArrayRef sizes, Layout layout) {
  Operand& o = add(name, dtype, sizes, layout);
  o.is_output_ = true;
  place(o);
  return o;
}

Operand& Trial::updated(const char* name, DType dtype, IntArrayRef sizes, Layout layout,
                        const Values& values) {
  Operand& o = input(name, dtype, sizes, layout, values);
  o.is_output_ = true;
  return o;
}

Operand& Trial::absent() { return operands_.emplace_back(); }

void Trial::run(const std::function<void(Side)>& call) {
  call(Side::reference);
  call_device(call);
  if (!is_deterministic()) return;
  std::vector<std::vector<std::byte>> first;
  for (const Operand& o : operands_) first.push_back(o.got_);
  for (Operand& o : operands_) {
    if (o.is_defined()) upload(device_, o[Side::device], o.geometry_, o.before_);
  }
  call_device(call);
  for (size_t i = 0; i < first.size(); ++i) expect_same_bits(operands_[i], first[i]);
}

void Trial::call_device(const std::function<void(Side)>& call) {
  call(Side::device);
  synchronize(device_);
  check_surroundings();
}

void Trial::expect_same_bits(const Operand& o, const std::vector<std::byte>& first) {
  const size_t size = element_size(o.dtype_);
  for (size_t i = 0; i < o.positions_.size(); ++i) {
    const auto at = static_cast<size_t>(o.positions_[i]) * size;
    if (std::memcmp(&o.got_[at], &first[at], size) == 0) continue;
    throw failure(
        fmt::format("{}{}: expected the same bits from a repeated call with "
                    "set_deterministic(true), got others",
                    o.name_, index_text(static_cast<int64_t>(i), o.geometry_.sizes)));
  }
}

void Trial::expect_unwritten() {
  for (const Operand& o : operands_) expect_kept(o, 0);
}

void Trial::check_surroundings() {
  for (Operand& o : operands_) {
    if (!o.is_defined()) continue;
    o.got_ = download(device_, o[Side::device], o.geometry_);
    const size_t size = element_size(o.dtype_);
    std::vector<std::byte> allowed = o.before_;
    if (o.is_output_) {
      const auto place_of = [&](size_t i) { return static_cast<size_t>(o.positions_[i]); };
      copy_elements(size, o.positions_.size(), allowed.data(), place_of, o.got_.data(), place_of);
    }
    if (std::memcmp(o.got_.data(), allowed.data(), allowed.size()) == 0) continue;
    const auto [first, same] = std::ranges::mismatch(o.got_, allowed);
    throw unexpected_write(o, (first - o.got_.begin()) / static_cast<int64_t>(size));
  }
}

Failure Trial::unexpected_write(const Operand& o, int64_t at) const {
  const auto [low, high] = std::ranges::minmax_element(o.positions_);
  const bool empty = o.positions_.empty();
  if (!empty && at > *high) {
    return failure(
        fmt::format("wrote past the end of {}: element {} after its last", o.name_, at - *high));
  }
  if (empty || at < *low) {
    return failure(fmt::format("wrote before the start of {}: element {} before its first", o.name_,
                               o.geometry_.offset - at));
  }
  return failure(fmt::format("{} {}: element {} after its first",
                             o.is_output_ ? "wrote between the elements of" : "changed its input",
                             o.name_, at - o.geometry_.offset));
}

void Trial::expect(Operand& o, const Bound& bound) {
  o.expected_ = download(reference_, o[Side::reference], o.geometry_);
  const Difference d = compare(o.dtype_, o.got_.data(), o.expected_.data(), o.positions_, bound);
  note_error(d.error);
  if (d.count == 0) return;
  throw failure(fmt::format(
      "{}{}: expected {}, got {} ({} of {} elements differ)\n  bound: {:g} ulp + {:g}; {}", o.name_,
      index_text(d.first, o.geometry_.sizes), d.expected, d.got, d.count, o.positions_.size(),
      bound.ulps, bound.absolute_of(static_cast<size_t>(d.first)), bound.why));
}

std::vector<double> Trial::values_of(const Term& term, size_t n) {
  std::vector<double> values(n, term.number_);
  if (!term.operand_) return values;
  const Operand& o = *term.operand_;
  visit<dtypes::kEvery>(o.dtype_, [&]<class T>() {
    const T* elements = reinterpret_cast<const T*>(o.before_.data());
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<double>(elements[o.positions_[i]]);
  });
  return values;
}

void Trial::expect(Operand& y, const ErrorBound& bound, const std::vector<Term>& operands) {
  Bound of_elements{bound.ulps, bound.absolute, bound.why};
  if (bound.each) {
    const size_t n = y.positions_.size();
    std::vector<double> values[3];
    for (size_t k = 0; k < 3; ++k) {
      values[k] = values_of(k < operands.size() ? operands[k] : Term(Scalar(0)), n);
    }
    of_elements.each.resize(n);
    for (size_t i = 0; i < n; ++i) {
      of_elements.each[i] =
          bound.each(values[0][i], values[1][i], values[2][i]) * epsilon(y.dtype_);
    }
  }
  expect(y, of_elements);
}

void Trial::expect_kept(const Operand& output, size_t first) {
  const size_t size = element_size(output.dtype_);
  for (size_t i = first; i < output.positions_.size(); ++i) {
    const auto at = static_cast<size_t>(output.positions_[i]) * size;
    if (std::memcmp(&output.got_[at], &output.before_[at], size) == 0) continue;
    throw failure(
        fmt::format("{}{}: expected no change by the call with invalid data, but it changed",
                    output.name_, index_text(static_cast<int64_t>(i), output.geometry_.sizes)));
  }
}

Failure Trial::failure(const std::string& what) const {
  std::string text = what;
  if (!parameters_.empty()) text += "\n  with " + parameters_;
  for (const Operand& o : operands_) {
    if (!o.is_defined()) continue;
    const Geometry& g = o.geometry_;
    text += fmt::format("\n  {:<12} {:<20} strides {}", o.name_,
                        fmt::format("{}{}", name(o.dtype_), str(g.sizes)), str(g.strides));
    if (o.positions_.empty()) continue;
    const size_t bytes = static_cast<size_t>(g.offset) * element_size(o.dtype_);
    if (bytes % 64 != 0) text += fmt::format(", {} bytes off alignment", bytes % 64);
  }
  return Failure(text);
}

Case kernel_case(const std::string& name, std::function<void(Trial&)> check) {
  return {name, name.substr(0, name.find('/')), [name, check = std::move(check)](Device device) {
            Trial trial(device, name);
            check(trial);
          }};
}

Case deterministic_case(const std::string& name, std::function<void(Trial&)> check) {
  return kernel_case(name + "/deterministic", [check = std::move(check)](Trial& trial) {
    const Deterministic all_of_it;
    check(trial);
  });
}

}  // namespace conformance
