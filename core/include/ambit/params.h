// Parameters of ops and kernels, one struct shared by the public op and all backends. Each owns the
// shape arithmetic that follows from it.
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

/// A number as an operand beside a tensor.
struct ScalarOperand {
  Scalar value;
  bool first = false;  ///< op(value, x), else op(x, value)
};

/// A function of kActivations behind a product. A call of the kernel bears the product's name;
/// where a kernel takes a function as it is, UnaryOp say, that is the name of the call.
struct ActivationParams {
  constexpr ActivationParams(UnaryOp function) : op(function) {}
  constexpr operator UnaryOp() const { return op; }
  UnaryOp op;
};

/// Parameters of a random fill: element i takes lane i of the Philox stream (seed, offset + ...),
/// as backend/philox.h defines it, so that every backend makes the same numbers.
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

/// A Pair as programs write it, also 5 or {5}; libtorch's ExpandingArray<2>.
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

/// A number for each spatial dim in their order, as {5}, {h, w} or {d, h, w}; one is for all of
/// them.
class PerAxis {
 public:
  static constexpr size_t kMost = 3;

  constexpr PerAxis() = default;
  /// Errors: Error unless there are one to three numbers.
  constexpr PerAxis(std::initializer_list<int64_t> sizes) { assign(sizes); }
  /// None of a number, so that no {3, 2} is taken for parameters of stride {3} and padding {2}.
  template <std::convertible_to<IntArrayRef> List>
  requires(!std::is_arithmetic_v<List>) constexpr PerAxis(const List& sizes) { assign(sizes); }

  constexpr int64_t& operator[](size_t i) { return values_[i]; }
  constexpr int64_t operator[](size_t i) const { return values_[i]; }
  /// Return how many numbers were given.
  constexpr size_t size() const { return count_; }
  /// Whether those are for so many dims.
  constexpr bool fits(size_t dims) const { return count_ == 1 || count_ == dims; }
  /// The numbers of so many dims.
  constexpr IntArrayRef of(size_t dims) const { return {values_, dims}; }
  /// Those that were given.
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

/// {2, 1} as an argument that might also be parameters in braces, {.stride = {2, 1}}: no class that
/// takes a list can be told from those. {} is parameters.
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

/// The same as an argument, which may be a bare number: conv2d(x, w, b, 2, {1, 0}).
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

/// Of convolutions in one to three spatial dims: x [N,C,...], w [K,C/groups,...], y [N,K,...].
struct ConvParams {
  PerAxis stride{1}, padding{0}, dilation{1};  ///< in elements
  int64_t groups = 1;

  /// Return y's sizes, in each spatial dim (x + 2 padding - dilation (w - 1) - 1) / stride + 1.
  /// Errors: ShapeError for anything that does not fit.
  AMBIT_API Dims out_sizes(const char* op, IntArrayRef input, IntArrayRef weight) const;
  /// Return the sizes [N,K,...] that a transposed convolution makes of x [N,C,...] with w
  /// [C,K/groups,...]: (x - 1) stride - 2 padding + dilation (w - 1) + 1 + output_padding.
  /// Errors: ShapeError for anything that does not fit.
  AMBIT_API Dims transposed_sizes(const char* op, IntArrayRef input, IntArrayRef weight,
                                  const PerAxis& output_padding) const;
  /// Return how much padding, before and behind together, lets x keep its sizes where stride is 1:
  /// dilation (w - 1) in each spatial dim. Errors: ShapeError for anything that does not fit.
  AMBIT_API Dims same_padding(const char* op, IntArrayRef weight) const;
};

/// Of pooling in one to three dims: x [N,C,in...], y [N,C,out...].
struct PoolParams {
  PerAxis kernel{1};
  PerAxis stride = kernel;          ///< as libtorch: windows side by side where it is not given
  PerAxis padding{0}, dilation{1};  ///< in elements, as kernel and stride
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< averages only: padding counts in the divisor
  int64_t divisor = 0;            ///< averages only: what sums are divided by; 0: by their windows
  /// Window i of n over `size` elements is floor(i size / n) up to ceil((i + 1) size / n), which is
  /// not in it: y's sizes are free, and of what is above only divisor counts.
  bool adaptive = false;

  /// Return y's sizes, unless they are free. Errors: ShapeError for anything that does not fit.
  AMBIT_API Dims out_sizes(const char* op, IntArrayRef input) const;
};

/// Of interpolate: x [N,C,in...], y [N,C,out...]; what it means is in backend/interpolation.h.
struct InterpolateParams {
  enum class Mode : uint8_t { nearest, nearest_exact, linear, cubic };
  Mode mode = Mode::nearest;
  bool align_corners = false;  ///< linear and cubic: the outermost elements keep their places
  std::array<double, PerAxis::kMost> scale{};  ///< by dim: out / in; the sizes' own unless above 0
};

/// Of embedding_bag.
struct EmbeddingBagParams {
  enum class Mode : uint8_t { sum, mean, max };
  Mode mode = Mode::sum;
  int64_t padding = -1;  ///< an index that counts in no bag
};

/// Of batch_norm: x [N,C,...].
struct BatchNormParams {
  bool training = true;
  double momentum = 0.1;  ///< weight of the new statistics in the running ones
  double eps = 1e-5;      ///< added to the variance
  friend bool operator==(const BatchNormParams&, const BatchNormParams&) = default;
};

/// Of attention: softmax(scale * q k^T + mask) v.
struct AttentionParams {
  double scale = 1;
  bool causal = false;  ///< query i sees keys up to i alone
};

/// Of triangular_solve: which triangle of A there is, and what of it.
struct TriangularParams {
  bool upper = true;
  bool transpose = false;      ///< solve with A^T; `upper` tells of A itself
  bool unitriangular = false;  ///< the diagonal is 1, whatever A has there
};

/// A step of SGD, by the options of optim::SGD.
struct SgdParams {
  double lr = 0, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false;
  bool first_step = false;  ///< the momentum buffer is still empty: it becomes the gradient
};

/// A step of Adam or AdamW, by the options of optim::Adam.
struct AdamParams {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;  ///< added to the square root of the second moment
  double weight_decay = 0;
  bool decoupled = false;  ///< AdamW's decay: of the parameter itself, not through its gradient
  int64_t step = 1;        ///< t of the formulas

  /// Return lr / (1 - beta1^t), which the first moment is multiplied by.
  AMBIT_API double step_size() const;
  /// Return 1 / sqrt(1 - beta2^t), which the root of the second moment is.
  AMBIT_API double root_scale() const;
};

}  // namespace ambit
