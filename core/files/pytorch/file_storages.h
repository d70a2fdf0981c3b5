// The storages of a file: where each tensor's elements go. Private to core.
#pragma once

#include <ambit/value.h>

#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pickle.h"
#include "zip_writer.h"

namespace ambit {

/// What several tensors share is written whole, and so is memory that is no larger than its tensor:
/// their strides are kept. A tensor alone in larger memory is written contiguous and by itself.
class FileStorages {
 public:
  /// Find all tensors in a value. Errors: SerializationError for one without values.
  void plan(const Value& value);
  const pickle::Place& place_of(const Tensor& t) const { return places_.at(t.impl()); }
  /// Write them as entries, brought to the cpu one by one.
  void write(ZipWriter& zip) const;

 private:
  void place_in_whole(const Tensor& t);
  void place_alone(const Tensor& t);

  std::unordered_map<const TensorImpl*, pickle::Place> places_;
  std::map<std::pair<const StorageImpl*, DType>, size_t> whole_;
  std::vector<Tensor> sources_;
};

}  // namespace ambit
