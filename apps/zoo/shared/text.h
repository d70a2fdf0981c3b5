// Text as numbers, for the programs that learn to write.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace zoo {

/// A text, its characters (bytes) numbered from 0 in their order.
class Text {
 public:
  /// Read a file or, if `path` is empty, this project's own README files. The last tenth is held
  /// out. Errors: ambit::Error for a file that cannot be read or is too short.
  explicit Text(const std::string& path);

  /// Draw `size` pieces of `length` characters from the training part, by the CPU's generator:
  /// (characters, those behind them), int64 [size,length] each.
  std::pair<ambit::Tensor, ambit::Tensor> batch(int64_t size, int64_t length) const;
  /// Return the first `size` pieces of the part that is held out, fewer where it ends, in the same
  /// form.
  std::pair<ambit::Tensor, ambit::Tensor> held_out(int64_t size, int64_t length) const;

  /// Characters -> int64 [n]. Errors: ambit::Error for one that the text does not have.
  ambit::Tensor encode(const std::string& text) const;
  std::string decode(const ambit::Tensor& ids) const;
  int64_t vocabulary() const { return static_cast<int64_t>(characters_.size()); }
  int64_t size() const { return train_.size(0) + held_out_.size(0); }
  const std::string& source() const { return source_; }  ///< for people

 private:
  std::string source_, characters_;
  ambit::Tensor train_, held_out_;  // int64 [n]
};

/// Write on from `start`: `count` characters, each drawn from the softmax of the logits /
/// temperature that `logits` gives for the text so far, int64 [1,n] -> [1,vocabulary].
std::string write_on(const Text& text, const std::string& start, int64_t count, double temperature,
                     const std::function<ambit::Tensor(const ambit::Tensor&)>& logits);

}  // namespace zoo
