// Iterator: over the batches of a loader, `for (auto& batch : *loader)`.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <iterator>
#include <optional>

namespace ambit::data {

/// Where a loader's iterators find its batches.
template <class Batch>
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual void advance() = 0;

 protected:
  template <class B>
  friend class Iterator;
  std::optional<Batch> current_;  // none at the end, and where making one has failed
  bool is_at_end_ = true;
  size_t iterators_ = 0;  // how many were made, apart from copies
};

// Errors: always, Error saying that there is no batch behind the last, or in the place of one that
// could not be made.
[[noreturn]] AMBIT_API void throw_past_the_end(const char* what);
[[noreturn]] AMBIT_API void throw_failed_batch();

/// At a loader's current batch, which all its iterators share, or at the end. It lives no longer
/// than the loader. Errors of all but ==: Error at the end.
template <class Batch>
class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;

  /// The end of any loader.
  Iterator() = default;
  explicit Iterator(BatchSource<Batch>* source) : source_(source), number_(++source->iterators_) {}

  /// Errors also: Error where this batch could not be made, and the error was thrown before.
  Batch& operator*() const {
    if (is_at_end()) throw_past_the_end("dereference");
    if (!source_->current_) throw_failed_batch();
    return *source_->current_;
  }
  Batch* operator->() const { return &**this; }
  /// Go to the next batch. Errors also: what making it threw; then going on skips it.
  Iterator& operator++() {
    if (is_at_end()) throw_past_the_end("increment");
    source_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  /// An iterator equals its copies, and the end of any loader when it is at the end. Those of two
  /// calls of begin() are never equal.
  bool operator==(const Iterator& other) const {
    if (!source_ || !other.source_) return is_at_end() && other.is_at_end();
    return source_ == other.source_ && number_ == other.number_;
  }

 private:
  bool is_at_end() const { return !source_ || source_->is_at_end_; }

  BatchSource<Batch>* source_ = nullptr;
  size_t number_ = 0;
};

}  // namespace ambit::data
