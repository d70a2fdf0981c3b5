// Save tensors by name. The extension chooses the format when saving: ".pth" and ".pt" are
// PyTorch's files (checkpoint.h, which also has nested values), all others safetensors, the
// preferred format: simple, fast, without code or device. Loading detects the format from the
// content. from_file() maps a file as memory. Format: huggingface.co/docs/safetensors: u64 header
// length, JSON header, little-endian data.
#pragma once

#include <ambit/tensor.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ambit {

/// Tensors by name, in order.
using StateDict = std::vector<std::pair<std::string, Tensor>>;
/// String metadata stored in a file with the tensors.
using Metadata = std::map<std::string, std::string>;

/// Write a file: to a temporary file next to it, fsync, rename; so `path` holds the old or the new
/// file, never a part of one. A symbolic link is followed; a replaced file keeps its mode, and a
/// write-protected one is not replaced. Tensors may be on any device and strided. Errors:
/// SerializationError naming the path and the cause (no folder, disk full, a duplicate name);
/// OutOfMemoryError. The old file is then unchanged, unless the error says that "the folder" could
/// not be flushed.
AMBIT_API void save(const StateDict& tensors, const std::string& path,
                    const Metadata& metadata = {});
/// Read a file with all tensors on `device`. Tensors of a dtype that ambit lacks are skipped, and a
/// line on stderr names them. Errors: SerializationError for a file that cannot be read, is
/// truncated, or is inconsistent with its size, and for any other format, which the error names; no
/// more memory is allocated than the file's size. OutOfMemoryError.
AMBIT_API StateDict load(const std::string& path, Device device = {}, Metadata* metadata = nullptr);
/// Return the names in a safetensors file, in order, including tensors of dtypes that ambit lacks.
/// Errors: those of load().
AMBIT_API std::vector<std::string> tensor_names(const std::string& path);
/// Read a single tensor of a safetensors file. Errors: those of load(); SerializationError for a
/// missing name; DTypeError for a dtype that ambit lacks.
AMBIT_API Tensor load_tensor(const std::string& path, const std::string& name, Device device = {});
/// Return the kind of a file, detected by its first bytes: "a safetensors file", "a Git LFS
/// pointer", "an HTML page"; "an unknown file". Errors: SerializationError for a file that cannot
/// be read.
AMBIT_API std::string file_kind(const std::string& path);
/// Check that save() could write `path`: create and remove a file next to it. Errors: as save().
AMBIT_API void check_writable(const std::string& path);
/// Map a file of raw elements, row-major and without a header, as a tensor of `size` elements, or
/// of all if size is 0. Its memory is the file's pages, read on access. shared: writes to the
/// tensor go to the file, which is created or extended if it is too short; otherwise the file does
/// not change. Options: dtype, pinned_memory false, cpu. Errors: SerializationError for a file that
/// cannot be mapped or is too short; Error for a device other than cpu; ShapeError for a negative
/// size.
AMBIT_API Tensor from_file(std::string_view filename, std::optional<bool> shared = {},
                           std::optional<int64_t> size = 0, const TensorOptions& options = {});
/// As above, but write into `out`, with its dtype.
AMBIT_API Tensor& from_file_out(Tensor& out, std::string_view filename,
                                std::optional<bool> shared = {}, std::optional<int64_t> size = 0);
/// Save a single tensor; in a safetensors file its name is "tensor". A template, as the
/// other save() of libtorch's types, so that torch::save(), which writes another format, is the
/// better match for unqualified calls in libtorch programs.
template <int = 0>
AMBIT_API void save(const Tensor& tensor, const std::string& path);
/// Load the single tensor of a file; a defined `tensor` keeps its identity and device. Errors:
/// those of load(path); SerializationError unless the file holds one tensor of that name.
AMBIT_API void load(Tensor& tensor, const std::string& path);

}  // namespace ambit
