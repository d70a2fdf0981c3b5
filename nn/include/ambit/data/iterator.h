// Iterator over the batches of a loader: `for (auto& batch : *loader)`.
#pragma once

#include <ambit/api.h>

#include <cstddef>
#include <iterator>
#include <optional>

namespace ambit::data {

/// Base of loaders; holds the current batch for their iterators.
template <class Batch>
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// Replace the current batch by the next one.
  virtual void advance() = 0;

 protected:
  template <class B>
  friend class Iterator;
  std::optional<Batch> current_;  ///< nullopt at the end, and if making it failed
  bool is_at_end_ = true;         ///< there are no more batches
  size_t iterators_ = 0;          ///< number of iterators created, without copies
};

/// Throw Error: iterator past the end.
[[noreturn]] AMBIT_API void throw_past_the_end(const char* what);
/// Throw Error: iterator at a batch that could not be made.
[[noreturn]] AMBIT_API void throw_failed_batch();

/// Points at a loader's current batch, which all its iterators share, or at the end. Must not
/// outlive the loader. Errors of all functions except ==: Error at the end.
template <class Batch>
class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;

  /// The end iterator of any loader.
  Iterator() = default;
  /// Point at the current batch of a loader.
  explicit Iterator(BatchSource<Batch>* source) : source_(source), number_(++source->iterators_) {}

  /// Return the batch. Errors: also Error if making this batch failed; that exception was thrown
  /// before.
  Batch& operator*() const {
    if (is_at_end()) throw_past_the_end("dereference");
    if (!source_->current_) throw_failed_batch();
    return *source_->current_;
  }
  /// Access a member of the batch. Errors: those of *.
  Batch* operator->() const { return &**this; }
  /// Advance to the next batch. Errors: also the exception that making the batch threw; the next ++
  /// then skips that batch.
  Iterator& operator++() {
    if (is_at_end()) throw_past_the_end("increment");
    source_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  /// An iterator equals its copies, and at the end the end iterator of any loader. Iterators of two
  /// begin() calls are never equal.
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
