// A .pt2 file of PyTorch's torch.export.save(): a zip file with the JSON of a program and the bytes
// of its tensors. Private to nn/graph.
#pragma once

#include <ambit/tensor.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files/input_file.h"
#include "core/files/pytorch/zip_reader.h"

namespace ambit::graph {

/// Errors of all members: SerializationError; the caller adds the path.
class Pt2File {
 public:
  explicit Pt2File(const InputFile& file);

  /// Return the name of the only model in the file.
  const std::string& model() const { return model_; }
  /// Return the content of an entry, by its name in the file's folder.
  std::string text(std::string_view name) const;
  /// Return memory for the elements of an entry, one-dimensional and on the cpu. Called twice for
  /// an entry, it returns the same tensor.
  Tensor elements(const std::string& name, DType dtype);
  /// Read the elements of all tensors that elements() has returned.
  void fill();

 private:
  size_t find(std::string_view name) const;

  std::unique_ptr<ZipReader> zip_;
  std::map<std::string, size_t, std::less<>> entries_;  // positions by name in the folder
  std::map<std::string, Tensor> read_;
  std::vector<ZipReader::Read> unread_;
  std::string model_;
};

}  // namespace ambit::graph
