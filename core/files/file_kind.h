// The kind of a file by its first bytes, whatever its name. Private to core.
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
  std::string_view advice{};  ///< how to get at the tensors in it

  bool is_pytorch() const { return format == Format::zip || format == Format::legacy; }
  bool is_known() const { return format != Format::other || name != FileKind().name; }
  /// The name, and the advice after it.
  std::string text() const;
};

/// Return the bytes at a file's beginning that tell its kind, or all of a short one.
std::string begin_of(const InputFile& file);
/// Return the kind of a file of that size that begins so.
FileKind kind_of_bytes(std::string_view begin, uint64_t size_bytes);

/// Return whether a file is safetensors. Errors: SerializationError where it cannot be read.
bool is_safetensors_file(const std::string& path);

/// Read a safetensors file: a dict of tensors, and of opaque values for those of a dtype that ambit
/// lacks. Errors: those of load().
Value read_safetensors(const std::string& path, Device device, Metadata* metadata);

}  // namespace ambit
