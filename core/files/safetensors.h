// Parses and validates untrusted headers of safetensors files, and writes headers. Private to core.
// Format: huggingface.co/docs/safetensors#format.
#pragma once

#include <ambit/dtype.h>
#include <ambit/serialize.h>
#include <ambit/shape.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ambit::safetensors {

/// Size of the field before the header that holds the header's length.
inline constexpr size_t kLengthBytes = 8;
/// Maximum length of a header: the limit of the official library.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

/// A dtype of the format; `dtype` is empty if ambit lacks it.
struct ElementType {
  const char* name;
  std::optional<DType> dtype;
  int bits;
};

/// One tensor: bytes [begin, end) after the header.
struct Entry {
  std::string name;
  const ElementType* type = nullptr;
  Dims sizes{};
  uint64_t begin = 0, end = 0;
};

struct Header {
  std::vector<Entry> entries;
  Metadata metadata;
};

/// Parse a header. The entries returned, in the header's order, are valid: every size matches its
/// dtype and shape, and together they cover `data_bytes` without gap or overlap.
/// Errors: SerializationError naming what is wrong; the caller adds the file.
Header parse_header(std::string_view text, uint64_t data_bytes);

/// Return the format's type for a dtype.
const ElementType& element_type(DType dtype);
/// Return a header, padded so that the data after it start at a multiple of 8 bytes.
/// Errors: SerializationError for text that is not UTF-8 and a header above kMaxHeaderBytes.
std::string format_header(const std::vector<Entry>& entries, const Metadata& metadata);

}  // namespace ambit::safetensors
