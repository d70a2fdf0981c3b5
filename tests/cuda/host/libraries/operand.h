// Operands in GPU memory: every byte is checked, and copied to and from the host arrays that the
// emulations compute on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ambit::cuda::host {

enum class Element : uint8_t { float16, bfloat16, float32, float64 };

constexpr size_t bytes_of(Element e) {
  return e == Element::float64 ? 8 : e == Element::float32 ? 4 : 2;
}

/// An array in GPU memory; strides in elements.
struct Operand {
  void* data;
  Element element;
  std::vector<int64_t> sizes, strides;

  int64_t numel() const;
  /// Return the bytes from the first element to the end of the last.
  size_t extent_bytes() const;
};

/// Return the elements in row-major order as T: float, or double for float64. Called by queued
/// work; reads are checked.
template <class T>
std::vector<T> load(const Operand& from);

/// Write all elements, given in row-major order, each rounded once to nearest even. Called by
/// queued work; writes are checked.
template <class T>
void store(const Operand& to, const std::vector<T>& values);

/// Check that a kernel's output does not overlap its input. Misuse: it does.
void expect_apart(const std::string& call, const Operand& written, const Operand& read);

/// Check that the elements of an output have distinct addresses. Misuse: two elements may overlap.
void expect_no_overlap(const std::string& call, const Operand& written);

/// Overwrite a workspace, as a kernel would.
void scribble(void* workspace, size_t bytes);

/// Return x rounded to the element type.
template <class T>
T rounded(T x, Element element);

/// Return x rounded as by tensor cores for float32: to 10 bits of mantissa, ties away from zero.
float round_to_tf32(float x);

}  // namespace ambit::cuda::host
