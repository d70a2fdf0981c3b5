// Reading the files of datasets, compressed or not. Private to data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ambit::data {

/// Read a file, unpacking it if it is gzip's, up to `most` bytes and one more, by which the caller
/// sees that there are more. Never allocates ahead of what is there.
/// Errors: SerializationError naming `what`, the path and the reason.
std::vector<uint8_t> read_file(const char* what, const std::string& path, size_t most);

}  // namespace ambit::data
