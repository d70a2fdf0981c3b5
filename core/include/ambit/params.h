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
  Scalar value;        ///< the number
  bool first = false;  ///< op(value, x), else op(x, value)
};

/// An activation of kActivations applied to the result of a product. The profiler names such a call
/// after the product's kernel; for a kernel that receives a plain UnaryOp, after the function.
struct ActivationParams {
  /// Converts from and to the function, so that either can be passed.
  /// @{
  constexpr ActivationParams(UnaryOp function) : op(function) {}
  constexpr operator UnaryOp() const { return op; }
  /// @}
  UnaryOp op;  ///< one of kActivations
};

/// Parameters of a random fill: element i uses lane i of the Philox stream (seed, offset + ...), as
/// defined in backend/philox.h, so that all backends produce the same numbers.
struct RandomParams {
  /// The distribution.
  enum class Kind : uint8_t {
    uniform,    ///< [low, high), floating point
    normal,     ///< mean `low`, standard deviation `high`, floating point
    integer,    ///< [low, high), any dtype
    bernoulli,  ///< 1 with probability `low`, else 0, any dtype
  };
  Kind kind = Kind::uniform;  ///< the distribution
  double low = 0;             ///< its first parameter, see Kind
  double high = 1;            ///< its second parameter
  uint64_t seed = 0;          ///< seed of the stream
  uint64_t offset = 0;        ///< start in the stream, in blocks of four 32-bit words
};

/// (h, w); {5} is (5, 5).
struct Pair {
  int64_t h = 0;  ///< height, the first spatial dim
  int64_t w = h;  ///< width, the last one

  /// Element 0 is h, 1 is w.
  /// @{
  constexpr int64_t& operator[](size_t i) { return i == 0 ? h : w; }
  constexpr int64_t operator[](size_t i) const { return i == 0 ? h : w; }
  /// @}
  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

/// A Pair from 5, {5} or {h, w}; libtorch's ExpandingArray<2>.
class IntOrPair {
 public:
  /// One number is used for both dims. Errors: Error unless there are one or two numbers.
  /// @{
  constexpr IntOrPair(int64_t both) : pair_{both, both} {}
  constexpr IntOrPair(const Pair& pair) : pair_(pair) {}
  AMBIT_API IntOrPair(IntArrayRef sizes);
  IntOrPair(std::initializer_list<int64_t> sizes) : IntOrPair(IntArrayRef(sizes)) {}
  /// @}
  /// The numbers, (h, w).
  constexpr operator const Pair&() const { return pair_; }

 private:
  Pair pair_;
};

/// One number for each spatial dim, in order: {5} (for all dims), {h, w} or {d, h, w}.
class PerAxis {
 public:
  static constexpr size_t kMost = 3;  ///< the maximum number of spatial dims

  /// 1 for all dims.
  constexpr PerAxis() = default;
  /// Errors: Error unless there are one to three numbers.
  constexpr PerAxis(std::initializer_list<int64_t> sizes) { assign(sizes); }
  /// Not constructible from a plain number, so that {3, 2} is not read as parameters with stride
  /// {3} and padding {2}.
  template <std::convertible_to<IntArrayRef> List>
  requires(!std::is_arithmetic_v<List>) constexpr PerAxis(const List& sizes) { assign(sizes); }

  /// The number of dim i < kMost; a single number is that of all dims. Not checked.
  /// @{
  constexpr int64_t& operator[](size_t i) { return values_[i]; }
  constexpr int64_t operator[](size_t i) const { return values_[i]; }
  /// @}
  /// Return how many numbers were given.
  constexpr size_t size() const { return count_; }
  /// Return true if the numbers fit that many dims.
  constexpr bool fits(size_t dims) const { return count_ == 1 || count_ == dims; }
  /// Return one number for each of so many dims.
  constexpr IntArrayRef of(size_t dims) const { return {values_, dims}; }
  /// The numbers that were given.
  constexpr operator IntArrayRef() const { return {values_, count_}; }
  /// True for equal numbers, as many; {2} differs from {2, 2}.
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
/// resolution cannot tell a class with a list constructor from those. An empty {} means parameters.
struct PerAxisList {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();  ///< not given
  /// The first number, which must be given.
  struct Given {
    /// Any integer type, without narrowing in braces.
    template <std::integral Number>
    constexpr Given(Number n) : value(static_cast<int64_t>(n)) {}
    int64_t value;  ///< the number
  };
  Given first;             ///< number of the first spatial dim, or of all
  int64_t second = kNone;  ///< number of the second spatial dim
  int64_t third = kNone;   ///< number of the third spatial dim
};

/// A PerAxis as a function argument, also from a plain number: conv2d(x, w, b, 2, {1, 0}).
class PerAxisArgument : public PerAxis {
 public:
  /// Errors: Error unless there are one to three numbers. A bool is not a number here.
  /// @{
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
  /// @}
};
/// Types that convert to a PerAxisArgument.
template <class T>
concept PerAxisNumbers = std::convertible_to<const T&, PerAxisArgument>;

/// Parameters of convolutions in one to three spatial dims: x [N,C,...], w [K,C/groups,...], y
/// [N,K,...].
struct ConvParams {
  PerAxis stride{1};    ///< distance in x between neighbouring elements of y, >= 1
  PerAxis padding{0};   ///< zeros added at both ends of each spatial dim
  PerAxis dilation{1};  ///< distance in x between neighbouring elements of w
  int64_t groups = 1;   ///< divides C and K; each group of channels has its own convolution

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
  PerAxis kernel{1};              ///< the window's size
  PerAxis stride = kernel;        ///< default: the kernel size, as in libtorch
  PerAxis padding{0};             ///< in elements, added at both ends of each dim
  PerAxis dilation{1};            ///< distance between a window's elements; 1 for averages
  bool ceil_mode = false;         ///< round sizes up: see ops/pool.h
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
  /// How an element of y depends on those of x around its position.
  enum class Mode : uint8_t {
    nearest,        ///< the element at floor(i / scale)
    nearest_exact,  ///< the nearest element, floor((i + 0.5) / scale)
    linear,         ///< two elements per dim
    cubic,          ///< four elements per dim
  };
  Mode mode = Mode::nearest;   ///< selects the elements
  bool align_corners = false;  ///< linear and cubic: map the outermost elements onto each other
  std::array<double, PerAxis::kMost> scale{};  ///< out / in of each dim; 0: computed from the sizes
};

/// Parameters of embedding_bag.
struct EmbeddingBagParams {
  /// The reduction of the rows of a bag.
  enum class Mode : uint8_t {
    sum,   ///< 0 for an empty bag
    mean,  ///< 0 for an empty bag
    max,   ///< elementwise; 0 for an empty bag
  };
  Mode mode = Mode::sum;  ///< the reduction
  int64_t padding = -1;   ///< an index that is ignored
};

/// Parameters of batch_norm: x [N,C,...].
struct BatchNormParams {
  bool training = true;   ///< normalise by the batch's statistics, else by the running ones
  double momentum = 0.1;  ///< weight of the new statistics in the running ones
  double eps = 1e-5;      ///< added to the variance
  friend bool operator==(const BatchNormParams&, const BatchNormParams&) = default;
};

/// Parameters of attention: softmax(scale * q k^T + mask) v.
struct AttentionParams {
  double scale = 1;     ///< factor of the scores
  bool causal = false;  ///< query i attends only to keys up to i
};

/// Parameters of triangular_solve: the triangle of A to use, and how.
struct TriangularParams {
  bool upper = true;           ///< the upper triangle, else the lower one
  bool transpose = false;      ///< solve with A^T; `upper` refers to A itself
  bool unitriangular = false;  ///< use 1 as the diagonal without reading it
};

/// Parameters of a step of optim::SGD.
struct SgdParams {
  double lr = 0;            ///< factor of the update
  double momentum = 0;      ///< factor of the previous momentum buffer; 0: no buffer
  double dampening = 0;     ///< the gradient enters the buffer times 1 - dampening
  double weight_decay = 0;  ///< factor of the parameter in the gradient
  bool nesterov = false;    ///< add momentum times the new buffer to the gradient
  bool first_step = false;  ///< the momentum buffer is uninitialised: set it to the gradient
};

/// Parameters of a step of optim::Adam or AdamW.
struct AdamParams {
  double lr = 1e-3;         ///< factor of the update
  double beta1 = 0.9;       ///< decay of the first moment, the mean of the gradient
  double beta2 = 0.999;     ///< decay of the second moment, the mean of its square
  double eps = 1e-8;        ///< added to the square root of the second moment
  double weight_decay = 0;  ///< factor of the parameter in the gradient, or see decoupled
  bool decoupled = false;   ///< AdamW: decay the parameter itself, not through the gradient
  int64_t step = 1;         ///< t in the formulas, from 1

  /// Return lr / (1 - beta1^t), the factor of the first moment.
  AMBIT_API double step_size() const;
  /// Return 1 / sqrt(1 - beta2^t), the factor of the square root of the second moment.
  AMBIT_API double root_scale() const;
};

}  // namespace ambit
