// Text as integers, for the language models.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace zoo {

/// A text whose distinct characters (bytes) are numbered from 0 in sorted order.
class Text {
 public:
  /// Read a file or, if `path` is empty, this project's README files. The last tenth is held out.
  /// Errors: ambit::Error for a file that cannot be read or is too short.
  explicit Text(const std::string& path);

  /// Draw `size` sequences of `length` characters from the training part with the CPU generator:
  /// (characters, next characters), int64 [size,length] each.
  std::pair<ambit::Tensor, ambit::Tensor> batch(int64_t size, int64_t length) const;
  /// Return the first `size` sequences of the held-out part, or fewer at its end, in the same form.
  std::pair<ambit::Tensor, ambit::Tensor> held_out(int64_t size, int64_t length) const;

  /// Convert characters to int64 [n]. Errors: ambit::Error for a character that the text does not
  /// contain.
  ambit::Tensor encode(const std::string& text) const;
  std::string decode(const ambit::Tensor& ids) const;
  int64_t vocabulary() const { return static_cast<int64_t>(characters_.size()); }
  int64_t size() const { return train_.size(0) + held_out_.size(0); }
  const std::string& source() const { return source_; }  ///< description of the text, to print

 private:
  std::string source_, characters_;
  ambit::Tensor train_, held_out_;  // int64 [n]
};

/// Continue `start` by `count` characters, each drawn from softmax(logits / temperature), where
/// `logits` maps the text so far, int64 [1,n], to [1,vocabulary].
std::string write_on(const Text& text, const std::string& start, int64_t count, double temperature,
                     const std::function<ambit::Tensor(const ambit::Tensor&)>& logits);

}  // namespace zoo
