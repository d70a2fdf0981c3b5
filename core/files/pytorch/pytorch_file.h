// The entries of PyTorch's files: a zip of "<folder>/data.pkl", the pickled value, and
// "<folder>/data/<key>", the bytes of each storage. Private to core.
#pragma once

#include <cstdint>
#include <string_view>

namespace ambit::pytorch_file {

inline constexpr std::string_view kFolder = "archive/";  // torch.save's; others are read too
inline constexpr std::string_view kPickle = "data.pkl";
inline constexpr std::string_view kByteOrder = "byteorder";  // "little"; older files have none
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kData = "data/";
inline constexpr std::string_view kExtra = "extra/";  // metadata, where TorchScript has its own

/// A state dict needs some 120 bytes for each tensor. What a pickle takes in memory is bounded by
/// pickle::Budget.
inline constexpr uint64_t kMaxPickleBytes = 1 << 24;

}  // namespace ambit::pytorch_file
