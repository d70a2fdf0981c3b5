// Computes the CRC-32 of a zip file's entry on several threads. Private to core.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <vector>

#include "core/files/in_parts.h"

namespace ambit {

/// Return the CRC of `bytes` bytes; crc_of(begin, end) returns that of a piece and is called
/// concurrently. Errors: the first that it throws.
template <class F>
uint32_t crc_in_parts(uint64_t bytes, const F& crc_of) {
  struct Piece {
    uint32_t crc;
    uint64_t bytes;
  };
  std::vector<Piece> pieces(parts_of(bytes));
  in_parts(pieces.size(), bytes, [&](size_t i, uint64_t begin, uint64_t end) {
    pieces[i] = {crc_of(begin, end), end - begin};
  });
  uint32_t crc = pieces[0].crc;
  for (size_t i = 1; i < pieces.size(); ++i) {
    const auto length = static_cast<z_off_t>(pieces[i].bytes);
    crc = static_cast<uint32_t>(crc32_combine(crc, pieces[i].crc, length));
  }
  return crc;
}

}  // namespace ambit
