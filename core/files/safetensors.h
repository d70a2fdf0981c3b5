// The header of a safetensors file: from text that nobody vouches for to entries that hold, and
// back. Private to core. Format: huggingface.co/docs/safetensors#format.
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

/// The header's length stands before it, in 8 bytes.
inline constexpr size_t kLengthBytes = 8;
/// Longest header that files may have: the limit of the format's own library.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

/// A dtype of the format; ambit lacks some.
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

/// Parse a header. The entries returned, in the header's order, are sound: every size agrees with
/// its dtype and shape, and together they cover `data_bytes` without gap or overlap.
/// Errors: SerializationError naming what is wrong; the caller adds the file.
Header parse_header(std::string_view text, uint64_t data_bytes);

/// Return the format's name for a dtype.
const ElementType& element_type(DType dtype);
/// Write a header, padded so that the data behind it start at a multiple of 8 bytes.
/// Errors: SerializationError for text that is not UTF-8, and beyond kMaxHeaderBytes.
std::string format_header(const std::vector<Entry>& entries, const Metadata& metadata);

}  // namespace ambit::safetensors
