// Assigns tensors to the storages of a file. Private to core.
#pragma once

#include <ambit/value.h>

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pickle.h"
#include "zip_writer.h"

namespace ambit {

/// A storage is written whole, and strides are kept, if several tensors share it or if it is not
/// larger than its tensor. Otherwise only the tensor is written, contiguous.
class FileStorages {
 public:
  /// Place all tensors of a value. Errors: SerializationError for undefined and meta tensors.
  void plan(const Value& value);
  const pickle::Place& place_of(const Tensor& t) const { return places_.at(t.impl()); }
  /// Write the storages as entries, copied to the cpu one at a time.
  void write(ZipWriter& zip) const;
  /// As above, with names that consist of `prefix` and the storage's key.
  void write(ZipWriter& zip, const std::string& prefix) const;

 private:
  void place_in_whole(const Tensor& t);
  void place_alone(const Tensor& t);

  std::unordered_map<const TensorImpl*, pickle::Place> places_;
  std::map<std::pair<const StorageImpl*, DType>, size_t> whole_;
  std::vector<Tensor> sources_;
};

}  // namespace ambit
