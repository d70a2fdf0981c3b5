// Operands in the memory of a GPU: every byte checked, and copied to and from plain lists that the
// loops of the emulations work on.
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
  /// Bytes from the first element to the end of the last.
  size_t extent_bytes() const;
};

/// Return the elements in row-major order, as a T that holds them: float, of float64 double. Called
/// by queued work: what is read is checked.
template <class T>
std::vector<T> load(const Operand& from);

/// Write all elements, which come in row-major order, each rounded once to the nearest, of two the
/// even one. Called by queued work, checked as well.
template <class T>
void store(const Operand& to, const std::vector<T>& values);

/// Make sure that what a kernel writes does not overlap what it reads. Misuse: it does.
void expect_apart(const std::string& call, const Operand& written, const Operand& read);

/// Make sure that no two elements of what a kernel writes share a place. Misuse: they may.
void expect_no_overlap(const std::string& call, const Operand& written);

/// Use a workspace as a kernel would: leave it full of other values.
void scribble(void* workspace, size_t bytes);

/// Return x as an element in memory keeps it.
template <class T>
T rounded(T x, Element element);

/// Return x as tensor cores take a float32: rounded to 10 bits of mantissa, ties away from zero.
float round_to_tf32(float x);

}  // namespace ambit::cuda::host
