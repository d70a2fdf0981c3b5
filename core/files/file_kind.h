// Detects the kind of a file by its first bytes, not its name. Private to core.
#pragma once

#include <ambit/value.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "input_file.h"

namespace ambit {

struct FileKind {
  enum class Format { other, safetensors, zip, legacy };

  Format format = Format::other;
  std::string_view name = "an unknown file";
  std::string_view advice{};  ///< how to read the tensors in it

  bool is_pytorch() const { return format == Format::zip || format == Format::legacy; }
  bool is_known() const { return format != Format::other || name != FileKind().name; }
  /// Return the error of reading tensors from a file of this kind, with the name and the advice.
  std::string refusal() const;
};

/// Return the first bytes of a file that kind_of_bytes() needs, or all of a shorter file.
std::string begin_of(const InputFile& file);
/// Return the kind of a file of `size_bytes` that begins with `begin`.
FileKind kind_of_bytes(std::string_view begin, uint64_t size_bytes);

/// Return true for a safetensors file. Errors: SerializationError if it cannot be read.
bool is_safetensors_file(const std::string& path);

/// Read a safetensors file as a dict of tensors; a tensor of a dtype that ambit lacks becomes an
/// opaque value. Errors: those of load().
Value read_safetensors(const std::string& path, Device device, Metadata* metadata);

}  // namespace ambit
