// Generates a program step by step: each step runs on `reference`, so that the next one can choose
// suitable operands. All devices must agree on the values: either every op computes them exactly,
// or they are rounded, and used only where a rounding error stays bounded.
#pragma once

#include <ambit/dtype.h>

#include <optional>
#include <string_view>

#include "program.h"

namespace fuzz {

/// SplitMix64. Source: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators".
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// Return an integer in [low, high], or low if that is empty.
  int64_t between(int64_t low, int64_t high) {
    if (high <= low) return low;
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }
  template <class T>
  const T& choose(const std::vector<T>& from) {
    return from[static_cast<size_t>(between(0, static_cast<int64_t>(from.size()) - 1))];
  }

 private:
  uint64_t state_;
};

/// Properties of a slot's values.
struct Values {
  bool exact = true;     ///< few bits, so sums and products are exact
  double tolerance = 0;  ///< 0 if exact
  int depth = 0;         ///< number of roundings so far
};

using Tensors = std::vector<ambit::Tensor>;
using Sizes = std::vector<int64_t>;

class Generator {
 public:
  explicit Generator(uint64_t seed);
  Program make();

  // Building blocks of calls with new operands (calls.h). All operands of one call have the same
  // floating-point dtype, random layouts, and the same requires_grad.
  /// Values of floating-point operands; all have few bits. special: includes infinities, NaN and
  /// -0; distinct: no two elements are equal; unit: in (0, 1).
  enum class Fill { few, distinct, positive, unit, special };
  Random& random() { return random_; }
  ambit::DType dtype_of_call() const { return dtype_of_call_; }
  bool wants_grad() const { return wants_grad_; }
  /// Append a new operand; return its slot. Occasionally one of its sizes is changed.
  int operand(Sizes shape, Fill fill = Fill::few);
  /// As above, without a gradient.
  int constant(const Sizes& shape, Fill fill);
  /// Let the tolerance allow for roundings in this dtype, if it is less precise than the result's.
  /// Functions of integers compute in the default dtype, float32.
  void compute_in(ambit::DType dtype) { computes_in_ = dtype; }
  /// Append an operand of `dtype` with integers in [least, most], or 0 and 1 for bool.
  int integers(const Sizes& shape, int64_t least, int64_t most, ambit::DType dtype = ambit::kInt64);
  /// Do not change sizes of this call's operands, for functions whose sizes PyTorch does not check.
  void keep_sizes() { keeps_sizes_ = true; }
  /// Append an operand with these numbers.
  int numbers(const std::vector<double>& values, ambit::DType dtype);
  /// Append a call: $0, $1, ... in `python` are the operands, -1 an undefined one. roundings:
  /// tolerance of the result in units in the last place of the largest element; 0: exact. Then
  /// append the gradients of its operands, and the second gradients.
  void call(std::string python, const std::vector<int>& operands,
            const std::function<ambit::Tensor(const Tensors&)>& run, double roundings = 64);
  /// Return random sizes of at most 4 per dim, rarely 0, and sizes that broadcast to them.
  Sizes small_sizes(int64_t least_dims, int64_t most_dims);
  Sizes broadcastable(const Sizes& to);
  /// Return a dim of a tensor of `ndim`, possibly negative; occasionally out of range.
  int64_t dim_of(int64_t ndim);

 private:
  using Run = std::function<ambit::Tensor(State&)>;
  using Pick = std::function<bool(int slot)>;
  /// exact: exact operands give an exact result. smooth: the result is rounded.
  enum class Kind { exact, smooth };

  /// Run and append a step with a new result; return its slot. add() occasionally uses autocast.
  int add_plain(const std::string& python, const Run& run, Kind kind,
                const std::vector<int>& operands);
  int add(const std::string& python, const Run& run, Kind kind, const std::vector<int>& operands);
  /// As above, for a step that writes slot `target`.
  void add_in_place(const std::string& python, const Run& run, Kind kind, int target,
                    const std::vector<int>& operands);
  void append(Step step, Kind kind, const std::vector<int>& operands);
  Values values_of(const ambit::Tensor& result, Kind kind, const std::vector<int>& operands) const;

  /// Return a slot that satisfies `fits`, or -1; occasionally only `safe`, to provoke an error.
  int pick(const Pick& safe, const Pick& fits);
  int pick_any() { return pick(usable(), nullptr); }
  /// Slots with values for any smooth op: not too large, and not rounded too often.
  Pick usable() const;
  /// Slots without roundings, for discontinuous ops.
  Pick exact() const;
  Pick floating() const;
  /// Usable slots of magnitudes up to 4, whose exponentials are small.
  Pick small() const;
  /// Floating-point slots without infinities and NaN.
  Pick finite_floats(const Pick& among) const;
  Pick of_dtype(ambit::DType dtype) const;

  const ambit::Tensor& at(int slot) const { return state_.slots[static_cast<size_t>(slot)]; }
  ambit::Dims sizes(int64_t most_dims);
  ambit::DType dtype();
  /// Return a number of few bits, formatted equally in Python.
  double number() { return static_cast<double>(random_.between(-12, 12)) * 0.25; }

  // Each function appends a step, or none if no operand is suitable. <subject>_steps.cpp has the
  // functions of a subject.
  void create();
  void create_index();
  void convert();
  void unary();
  void unary_in_place();
  void binary();
  void binary_in_place();
  void binary_number();
  void compare();
  void choose();
  void view();
  void reshape();
  void join();
  void write_view();
  void index();
  void scatter();
  void reduce();
  void reduce_exact();
  void scan();
  void product();
  void layer();
  void image();
  void loss();
  void of_one();
  void of_two();
  void of_index();
  void of_matrix();
  void of_image();
  void of_sequence();
  void own_operands();
  int value_step(const std::vector<double>& values, ambit::DType dtype, const Sizes& shape,
                 bool grad);
  void leaf();
  void detach();
  void backward();
  void grad();
  void move();

  Random random_;
  State state_;
  std::vector<Values> values_;
  ambit::DType dtype_of_call_ = ambit::kFloat32;
  std::optional<ambit::DType> computes_in_;
  bool wants_grad_ = false, keeps_sizes_ = false;
  bool mixes_16_bits_ = false;  // in steps too, some with autocast
  Program program_;
};

/// Return the rounding unit of a floating-point dtype, 0 for others.
double epsilon(ambit::DType d);
bool is_16_bit(ambit::DType d);
/// Return a step that runs with autocast to bfloat16; below, the corresponding Python.
std::function<ambit::Tensor(State&)> with_autocast(std::function<ambit::Tensor(State&)> run);
extern const char* const kWithAutocast;

// Helpers to format lines of Python.
std::string slot_text(int slot);
std::string list_text(ambit::IntArrayRef v);
std::string number_text(double v);
const char* bool_text(bool v);
std::string dtype_text(ambit::DType d);

/// Return true if all elements are infinite, NaN, or of few bits.
bool has_few_bits(const ambit::Tensor& t);
/// Largest and smallest magnitude of the finite elements.
struct Magnitudes {
  double least, most;
};
Magnitudes magnitudes(const ambit::Tensor& t);

}  // namespace fuzz
