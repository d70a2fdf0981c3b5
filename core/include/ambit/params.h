// Parameters of ops and kernels: one struct shared by the public op and all backends, with its
// shape arithmetic.
#pragma once

#include <ambit/function_table.h>
#include <ambit/scalar.h>
#include <ambit/shape.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

namespace ambit {

/// A scalar operand of a binary op on a tensor.
struct ScalarOperand {
  Scalar value;
  bool first = false;  ///< op(value, x), else op(x, value)
};

/// An activation of kActivations applied to the result of a product. The profiler names such a call
/// after the product's kernel; for a kernel that receives a plain UnaryOp, after the function.
struct ActivationParams {
  constexpr ActivationParams(UnaryOp function) : op(function) {}
  constexpr operator UnaryOp() const { return op; }
  UnaryOp op;
};

/// Parameters of a random fill: element i uses lane i of the Philox stream (seed, offset + ...), as
/// defined in backend/philox.h, so that all backends produce the same numbers.
struct RandomParams {
  enum class Kind : uint8_t {
    uniform,    ///< [low, high), floating point
    normal,     ///< mean `low`, standard deviation `high`, floating point
    integer,    ///< [low, high), any dtype
    bernoulli,  ///< 1 with probability `low`, else 0, any dtype
  };
  Kind kind = Kind::uniform;
  double low = 0, high = 1;
  uint64_t seed = 0, offset = 0;  ///< offset in blocks of four 32-bit words
};

/// (h, w); {5} is (5, 5).
struct Pair {
  int64_t h = 0, w = h;

  constexpr int64_t& operator[](size_t i) { return i == 0 ? h : w; }
  constexpr int64_t operator[](size_t i) const { return i == 0 ? h : w; }
  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

/// A Pair from 5, {5} or {h, w}; libtorch's ExpandingArray<2>.
class IntOrPair {
 public:
  constexpr IntOrPair(int64_t both) : pair_{both, both} {}
  constexpr IntOrPair(const Pair& pair) : pair_(pair) {}
  /// Errors: Error unless there are one or two numbers.
  AMBIT_API IntOrPair(IntArrayRef sizes);
  IntOrPair(std::initializer_list<int64_t> sizes) : IntOrPair(IntArrayRef(sizes)) {}
  constexpr operator const Pair&() const { return pair_; }

 private:
  Pair pair_;
};

/// One number for each spatial dim, in order: {5} (for all dims), {h, w} or {d, h, w}.
class PerAxis {
 public:
  static constexpr size_t kMost = 3;

  constexpr PerAxis() = default;
  /// Errors: Error unless there are one to three numbers.
  constexpr PerAxis(std::initializer_list<int64_t> sizes) { assign(sizes); }
  /// Not constructible from a plain number, so that {3, 2} is not read as parameters with stride
  /// {3} and padding {2}.
  template <std::convertible_to<IntArrayRef> List>
  requires(!std::is_arithmetic_v<List>) constexpr PerAxis(const List& sizes) { assign(sizes); }

  constexpr int64_t& operator[](size_t i) { return values_[i]; }
  constexpr int64_t operator[](size_t i) const { return values_[i]; }
  /// Return how many numbers were given.
  constexpr size_t size() const { return count_; }
  /// Return true if the numbers fit that many dims.
  constexpr bool fits(size_t dims) const { return count_ == 1 || count_ == dims; }
  /// Return one number for each of so many dims.
  constexpr IntArrayRef of(size_t dims) const { return {values_, dims}; }
  /// The numbers that were given.
  constexpr operator IntArrayRef() const { return {values_, count_}; }
  friend constexpr bool operator==(const PerAxis&, const PerAxis&) = default;

 private:
  constexpr void assign(IntArrayRef sizes) {
    count_ = sizes.size();
    if (count_ < 1 || count_ > kMost) refuse(count_);
    for (size_t i = 0; i < kMost; ++i) values_[i] = sizes[i < count_ ? i : count_ - 1];
  }
  [[noreturn]] AMBIT_API static void refuse(size_t size);

  int64_t values_[kMost] = {1, 1, 1};
  size_t count_ = 1;
};

/// {2, 1} as an argument that could also be parameters in braces, {.stride = {2, 1}}: overload
/// resolution cannot tell a class with a list constructor from those. {} is parameters.
struct PerAxisList {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  struct Given {
    template <std::integral Number>
    constexpr Given(Number n) : value(static_cast<int64_t>(n)) {}
    int64_t value;
  };
  Given first;
  int64_t second = kNone, third = kNone;
};

/// A PerAxis as a function argument, also from a plain number: conv2d(x, w, b, 2, {1, 0}).
class PerAxisArgument : public PerAxis {
 public:
  constexpr PerAxisArgument(std::initializer_list<int64_t> sizes) : PerAxis(sizes) {}
  template <std::convertible_to<IntArrayRef> List>
  requires(!std::is_arithmetic_v<List>) constexpr PerAxisArgument(const List& sizes)
      : PerAxis(sizes) {}
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) constexpr PerAxisArgument(Number all)
      : PerAxis({static_cast<int64_t>(all)}) {}
  constexpr explicit PerAxisArgument(const PerAxisList& l)
      : PerAxis(l.second == PerAxisList::kNone  ? PerAxis{l.first.value}
                : l.third == PerAxisList::kNone ? PerAxis{l.first.value, l.second}
                                                : PerAxis{l.first.value, l.second, l.third}) {}
};
template <class T>
concept PerAxisNumbers = std::convertible_to<const T&, PerAxisArgument>;

/// Parameters of convolutions in one to three spatial dims: x [N,C,...], w [K,C/groups,...], y
/// [N,K,...].
struct ConvParams {
  PerAxis stride{1}, padding{0}, dilation{1};  ///< in elements
  int64_t groups = 1;

  /// Return y's sizes, (x + 2 padding - dilation (w - 1) - 1) / stride + 1 in each spatial dim.
  /// Errors: ShapeError if the shapes do not match.
  AMBIT_API Dims out_sizes(const char* op, IntArrayRef input, IntArrayRef weight) const;
  /// Return the output sizes [N,K,...] of a transposed convolution of x [N,C,...] with w
  /// [C,K/groups,...]: (x - 1) stride - 2 padding + dilation (w - 1) + 1 + output_padding. Errors:
  /// ShapeError if the shapes do not match.
  AMBIT_API Dims transposed_sizes(const char* op, IntArrayRef input, IntArrayRef weight,
                                  const PerAxis& output_padding) const;
  /// Return the total padding of both sides that keeps x's sizes with stride 1: dilation (w - 1) in
  /// each spatial dim. Errors: ShapeError if the shapes do not match.
  AMBIT_API Dims same_padding(const char* op, IntArrayRef weight) const;
};

/// Parameters of pooling in one to three dims: x [N,C,in...], y [N,C,out...].
struct PoolParams {
  PerAxis kernel{1};
  PerAxis stride = kernel;          ///< default: the kernel size, as in libtorch
  PerAxis padding{0}, dilation{1};  ///< in elements, as kernel and stride
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< averages only: the divisor includes padding
  int64_t divisor = 0;            ///< averages only: divisor of the sums; 0: the window's size
  /// Window i of n over `size` elements is [floor(i size / n), ceil((i + 1) size / n)): the caller
  /// chooses y's sizes, and of the fields above only divisor is used.
  bool adaptive = false;

  /// Return y's sizes, unless adaptive. Errors: ShapeError if the shapes do not match.
  AMBIT_API Dims out_sizes(const char* op, IntArrayRef input) const;
};

/// Parameters of interpolate: x [N,C,in...], y [N,C,out...]; semantics: backend/interpolation.h.
struct InterpolateParams {
  enum class Mode : uint8_t { nearest, nearest_exact, linear, cubic };
  Mode mode = Mode::nearest;
  bool align_corners = false;  ///< linear and cubic: map the outermost elements onto each other
  std::array<double, PerAxis::kMost> scale{};  ///< by dim: out / in; 0: computed from the sizes
};

/// Parameters of embedding_bag.
struct EmbeddingBagParams {
  enum class Mode : uint8_t { sum, mean, max };
  Mode mode = Mode::sum;
  int64_t padding = -1;  ///< an index that is ignored
};

/// Parameters of batch_norm: x [N,C,...].
struct BatchNormParams {
  bool training = true;
  double momentum = 0.1;  ///< weight of the new statistics in the running ones
  double eps = 1e-5;      ///< added to the variance
  friend bool operator==(const BatchNormParams&, const BatchNormParams&) = default;
};

/// Parameters of attention: softmax(scale * q k^T + mask) v.
struct AttentionParams {
  double scale = 1;
  bool causal = false;  ///< query i attends only to keys up to i
};

/// Parameters of triangular_solve: the triangle of A to use, and how.
struct TriangularParams {
  bool upper = true;
  bool transpose = false;      ///< solve with A^T; `upper` refers to A itself
  bool unitriangular = false;  ///< take the diagonal as 1 without reading it
};

/// Parameters of a step of optim::SGD.
struct SgdParams {
  double lr = 0, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
  bool first_step = false;  ///< the momentum buffer is uninitialised: set it to the gradient
};

/// Parameters of a step of optim::Adam or AdamW.
struct AdamParams {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;  ///< added to the square root of the second moment
  double weight_decay = 0;
  bool decoupled = false;  ///< AdamW: decay the parameter itself, not through the gradient
  int64_t step = 1;        ///< t in the formulas, from 1

  /// Return lr / (1 - beta1^t), the factor of the first moment.
  AMBIT_API double step_size() const;
  /// Return 1 / sqrt(1 - beta2^t), the factor of the square root of the second moment.
  AMBIT_API double root_scale() const;
};

}  // namespace ambit
