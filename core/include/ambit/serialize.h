// Saving tensors by name. The extension chooses the format: ".pth" and ".pt" are PyTorch's files
// (checkpoint.h, which also has nested values), everything else is a safetensors file, which is the
// better one: simple, quick, and without code or device. Files are read by what they hold, whatever
// their name. And from_file(): a file as memory.
// Format: huggingface.co/docs/safetensors: u64 header length, JSON header, little-endian data.
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
/// Notes that a file holds beside the tensors.
using Metadata = std::map<std::string, std::string>;

/// Write a file: to a temporary file beside it, fsync, rename; so `path` holds the old or the new
/// file, never half of one. A link is followed; a file that is replaced keeps its mode, and one
/// that is write-protected is not replaced. Tensors may be on any device and strided. Errors:
/// SerializationError naming the path and the cause (no folder, disk full, a name twice);
/// OutOfMemoryError. The old file is then as it was, but where "the folder" could not be flushed.
AMBIT_API void save(const StateDict& tensors, const std::string& path,
                    const Metadata& metadata = {});
/// Read a file onto `device`, whatever device the tensors were on. Tensors of a dtype that ambit
/// lacks are left out, and a line on stderr names them. Errors: SerializationError for a file that
/// cannot be read, is truncated, or does not agree with its size, and for a file of another format,
/// which the error names; nothing is allocated beyond it. OutOfMemoryError.
AMBIT_API StateDict load(const std::string& path, Device device = {}, Metadata* metadata = nullptr);
/// Return the names in a safetensors file, in order, those of dtypes that ambit lacks too. Errors:
/// those of load().
AMBIT_API std::vector<std::string> tensor_names(const std::string& path);
/// Read one tensor of a safetensors file, and no other. Errors: those of load(); for a name that is
/// not there; DTypeError for a dtype that ambit lacks.
AMBIT_API Tensor load_tensor(const std::string& path, const std::string& name, Device device = {});
/// Return what a file is by its first bytes: "a safetensors file", "a Git LFS pointer", "an HTML
/// page"; "an unknown file". Errors: SerializationError for a file that cannot be read.
AMBIT_API std::string file_kind(const std::string& path);
/// Find out whether save() could write `path`, before there is something to save: make a file
/// beside it and remove it. Errors: those of save(), where it could not.
AMBIT_API void check_writable(const std::string& path);
/// Make a tensor of the elements that lie in a file, row-major and without a header: of `size` of
/// them, or of all if size is 0. Its memory is the file's pages, read when they are touched.
/// shared: what is written into the tensor is written into the file, which is made or grown where
/// it is too short; else the file stays as it is. Options: dtype, pinned_memory false, cpu. Errors:
/// SerializationError for a file that cannot be mapped or is too short; Error for a device other
/// than cpu; ShapeError for a negative size.
AMBIT_API Tensor from_file(std::string_view filename, std::optional<bool> shared = {},
                           std::optional<int64_t> size = 0, const TensorOptions& options = {});
/// The same written into out, of its dtype.
AMBIT_API Tensor& from_file_out(Tensor& out, std::string_view filename,
                                std::optional<bool> shared = {}, std::optional<int64_t> size = 0);
/// One tensor alone; in a safetensors file under the name "tensor".
AMBIT_API void save(const Tensor& tensor, const std::string& path);
AMBIT_API void load(Tensor& tensor, const std::string& path);

}  // namespace ambit
