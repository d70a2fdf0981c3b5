// Writes an archive as a TorchScript module without functions. Private to core.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/files/archive_entry.h"
#include "zip_writer.h"

namespace ambit {

/// The content of a file except the elements of its tensors. Errors of all: SerializationError.
class ArchiveFile {
 public:
  explicit ArchiveFile(const std::vector<serialize::ArchiveEntry>& entries);
  ~ArchiveFile();
  ArchiveFile(const ArchiveFile&) = delete;
  ArchiveFile& operator=(const ArchiveFile&) = delete;

  /// Pass the bytes of the file to `sink`, in order.
  void write(const ZipWriter::Sink& sink) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

/// Return TorchScript's name of a value's type: "Tensor", "List[int]". Errors: SerializationError
/// for a dict, and for a list of several types.
std::string script_type(const Value& value);

}  // namespace ambit
