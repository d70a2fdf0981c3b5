// The entries of PyTorch's files: a zip of "<folder>/data.pkl", the pickled value, and
// "<folder>/data/<key>", the bytes of each storage. Private to core.
#pragma once

#include <cstdint>
#include <string_view>

namespace ambit::pytorch_file {

inline constexpr std::string_view kFolder = "archive/";  // torch.save's; others are read too
inline constexpr std::string_view kPickle = "data.pkl";
inline constexpr std::string_view kByteOrder = "byteorder";  // "little"; older files have none
inline constexpr std::string_view kVersion = "version", kVersionText = "3\n";
inline constexpr std::string_view kData = "data/";
inline constexpr std::string_view kExtra = "extra/";  // metadata, where TorchScript has its own

// What TorchScript has beside them; files of libtorch's C++ are such.
inline constexpr std::string_view kConstants = "constants.pkl";  // a tuple, of ours an empty one
inline constexpr std::string_view kConstantData = "constants/";  // the storages of that
inline constexpr std::string_view kConstantsPickle{"\x80\x02).", 4};
inline constexpr std::string_view kCodeFolder = "code/";
inline constexpr std::string_view kCode = "code/__torch__.py";  // the classes' declarations

/// A state dict needs some 120 bytes for each tensor. What a pickle takes in memory is bounded by
/// pickle::Budget.
inline constexpr uint64_t kMaxPickleBytes = 1 << 24;

}  // namespace ambit::pytorch_file
