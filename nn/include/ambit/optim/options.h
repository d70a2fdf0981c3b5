// Base classes of optimizers' options: common setters, and a list of the options that reading,
// writing, inheriting and checking use.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/optim/optimizer.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace ambit::optim {

/// Setters that the options of most optimizers have; they return the derived class `Self`.
template <class Self>
class OptimizerSetters : public nn::Options<Self> {
 public:
  /// Read the learning rate from a tensor: OptimizerOptions::bind_lr().
  Self& lr(const Tensor& lr) {
    self().bind_lr(lr);
    return self();
  }
  /// Maximise the loss: use -g instead of each gradient g. Default: false.
  Self& maximize(bool on) {
    self().set_maximize(on);
    return self();
  }
  bool maximize() const { return self().maximizes(); }
  /// See OptimizerOptions::keeps_master_weights().
  Self& master_weights(bool on) {
    self().keep_master_weights(on);
    return self();
  }
  bool master_weights() const { return self().keeps_master_weights(); }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

/// A pair of numbers, such as betas.
using NumberPair = std::tuple<double, double>;

/// One option in the list of an optimizer's options.
struct OptionEntry {
  /// Values of a number, or of each of a pair, that check() accepts; none accepts NaN but `any`.
  enum class Range : uint8_t {
    any,
    not_negative,
    below_one,  ///< in [0, 1)
    up_to_one,  ///< in [0, 1]
  };
  const char* name;  ///< name in PyTorch's state dict
  /// Pointer to the field in the options.
  std::variant<double*, bool*, int64_t*, NumberPair*, std::tuple<double, double, double>*,
               std::optional<std::string>*>
      field;
  /// Values that check() accepts.
  Range range = Range::any;
};

/// Options that list their fields once, in entries().
class AMBIT_API ListedOptions : public OptimizerOptions {
 public:
  double get_lr() const override;
  void set_lr(double v) override;
  std::optional<double> get_momentum() const override;
  void set_momentum(double v) override;
  /// Errors: Error naming the first option that is out of its range.
  void check() const override;
  Value::Dict values() const override;
  void set_values(const Value& dict) override;
  void inherit(const OptimizerOptions& defaults) override;

 protected:
  /// Return the optimizer's name, for errors.
  virtual const char* optimizer() const = 0;
  /// Return the options in PyTorch's order, the first one "lr".
  virtual std::vector<OptionEntry> entries() = 0;
  /// Return options with the defaults of the constructor.
  virtual std::unique_ptr<ListedOptions> constructed() const = 0;

 private:
  std::vector<OptionEntry> entries() const;
  double* momentum() const;
};

/// The base of a class `Self` of listed options.
template <class Self>
class ListedOptionsOf : public ListedOptions {
 public:
  /// Return a copy of these options.
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Self>(static_cast<const Self&>(*this));
  }

 protected:
  /// Return options with the defaults of Self's constructor.
  std::unique_ptr<ListedOptions> constructed() const override { return std::make_unique<Self>(); }
};

}  // namespace ambit::optim
