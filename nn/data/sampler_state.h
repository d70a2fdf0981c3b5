// Positions of samplers in archives, in the format of libtorch's samplers. Private to data.
#pragma once

#include <ambit/archive.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ambit::data::samplers {

/// Write a count as a 0-dim int64 tensor.
void write_count(serialize::OutputArchive& archive, const std::string& key, size_t count);
/// Read a count. Errors: SerializationError unless it is a number in [0, most].
size_t read_count(serialize::InputArchive& archive, const std::string& key,
                  size_t most = SIZE_MAX / 2);
/// Write 64-bit numbers as an int64 tensor.
void write_words(serialize::OutputArchive& archive, const std::string& key,
                 const std::vector<uint64_t>& words);
/// Read `count` 64-bit numbers; none if the key is missing. Errors: SerializationError.
std::vector<uint64_t> read_words(serialize::InputArchive& archive, const std::string& key,
                                 size_t count);
/// Return the positions in an int tensor. Errors: SerializationError unless it has each of
/// 0 ... size - 1 once.
std::vector<size_t> checked_order(const Tensor& order);
/// Return n positions for `sampler` to fill. Errors: OutOfMemoryError.
std::vector<size_t> allocate_order(const char* sampler, size_t n);

}  // namespace ambit::data::samplers
