// Makes a program step by step: it runs each on `reference`, so that the next can choose operands
// that fit. Values are kept such that devices must agree on them: numbers that every op computes
// exactly, or rounded ones, which go only where a rounding cannot grow into something else.
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
  /// Return an integer of [low, high], or low where that is empty.
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

/// What is known of a slot's values.
struct Values {
  bool exact = true;     ///< few bits: sums and products of them round nowhere
  double tolerance = 0;  ///< 0 where exact
  int depth = 0;         ///< roundings behind it
};

using Tensors = std::vector<ambit::Tensor>;
using Sizes = std::vector<int64_t>;

class Generator {
 public:
  explicit Generator(uint64_t seed);
  Program make();

  // What calls with operands of their own are made of (calls.h). All operands of one call have one
  // floating-point dtype, random layouts, and want gradients or do not.
  /// What floating-point operands hold: few bits all. special: infinities, NaN and -0 among them;
  /// distinct: no two elements are equal; unit: in (0, 1).
  enum class Fill { few, distinct, positive, unit, special };
  Random& random() { return random_; }
  ambit::DType dtype_of_call() const { return dtype_of_call_; }
  bool wants_grad() const { return wants_grad_; }
  /// Append a new operand; return its slot. Now and then one of its sizes is another.
  int operand(Sizes shape, Fill fill = Fill::few);
  /// The same without a gradient.
  int constant(const Sizes& shape, Fill fill);
  /// Bound roundings by those of a coarser dtype: what comes of integers is of the default one.
  void compute_in(ambit::DType dtype) { computes_in_ = dtype; }
  /// Append one of `dtype`, integers of [least, most], or for bool 0 and 1.
  int integers(const Sizes& shape, int64_t least, int64_t most, ambit::DType dtype = ambit::kInt64);
  /// Let no operand of this call have another size: what PyTorch does not look at.
  void keep_sizes() { keeps_sizes_ = true; }
  /// Append a list of these numbers.
  int numbers(const std::vector<double>& values, ambit::DType dtype);
  /// Append a call: $0, $1, ... in `python` are the operands, -1 an undefined one. roundings: how
  /// many units in the last place, of the largest element, its result may be off by; 0: none. Then
  /// append the gradients of its operands, and of those.
  void call(std::string python, const std::vector<int>& operands,
            const std::function<ambit::Tensor(const Tensors&)>& run, double roundings = 64);
  /// Return random sizes of at most 4 elements a dim, seldom 0, and such that broadcast to them.
  Sizes small_sizes(int64_t least_dims, int64_t most_dims);
  Sizes broadcastable(const Sizes& to);
  /// Return a dim of a tensor of `ndim`, negative ones too; now and then one out of range.
  int64_t dim_of(int64_t ndim);

 private:
  using Run = std::function<ambit::Tensor(State&)>;
  using Pick = std::function<bool(int slot)>;
  /// exact: exact operands give an exact result. smooth: it is rounded. free: never differs.
  enum class Kind { exact, smooth };

  /// Run and append a step whose result is new; return its slot. add() now and then with autocast.
  int add_plain(const std::string& python, const Run& run, Kind kind,
                const std::vector<int>& operands);
  int add(const std::string& python, const Run& run, Kind kind, const std::vector<int>& operands);
  /// The same for one that writes slot `target`.
  void add_in_place(const std::string& python, const Run& run, Kind kind, int target,
                    const std::vector<int>& operands);
  void append(Step step, Kind kind, const std::vector<int>& operands);
  Values values_of(const ambit::Tensor& result, Kind kind, const std::vector<int>& operands) const;

  /// Return a slot that fits, or -1; now and then one that fits `safe` alone, for an error.
  int pick(const Pick& safe, const Pick& fits);
  int pick_any() { return pick(usable(), nullptr); }
  /// Slots whose values any smooth op may take: not too large, not rounded too often.
  Pick usable() const;
  /// Slots without roundings, for ops with jumps.
  Pick exact() const;
  Pick floating() const;
  /// Usable ones of magnitudes up to 4, whose exponentials are small.
  Pick small() const;
  /// Floats of which none is infinite or NaN.
  Pick finite_floats(const Pick& among) const;
  Pick of_dtype(ambit::DType dtype) const;

  const ambit::Tensor& at(int slot) const { return state_.slots[static_cast<size_t>(slot)]; }
  ambit::Dims sizes(int64_t most_dims);
  ambit::DType dtype();
  /// A number of few bits, as Python writes it too.
  double number() { return static_cast<double>(random_.between(-12, 12)) * 0.25; }

  // Each appends a step, or nothing where no operand fits; by subject, in <subject>_steps.cpp.
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
  bool mixes_16_bits_ = false;  // so do its steps, and some run with autocast
  Program program_;
};

/// The rounding of a floating-point dtype; 0 of others.
double epsilon(ambit::DType d);
bool is_16_bit(ambit::DType d);
/// Let a step run with autocast to bfloat16, and its line of Python.
std::function<ambit::Tensor(State&)> with_autocast(std::function<ambit::Tensor(State&)> run);
extern const char* const kWithAutocast;

// What lines of Python are made of.
std::string slot_text(int slot);
std::string list_text(ambit::IntArrayRef v);
std::string number_text(double v);
const char* bool_text(bool v);
std::string dtype_text(ambit::DType d);

/// Whether all elements are infinite, NaN, or of few bits.
bool has_few_bits(const ambit::Tensor& t);
/// The largest and the smallest magnitude of the finite elements.
struct Magnitudes {
  double least, most;
};
Magnitudes magnitudes(const ambit::Tensor& t);

}  // namespace fuzz
