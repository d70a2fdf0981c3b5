// The CRC-32 of zip files. Private to the reader of zip files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ambit {

/// Continue `crc` (0 for no bytes) with `count` more bytes and return the result. With AVX-512's
/// VPCLMULQDQ it takes 0.7 times as long as libdeflate 1.14.
uint32_t zip_crc(uint32_t crc, const void* data, size_t count);

}  // namespace ambit
