// Names of the entries in PyTorch's zip files: "<folder>/data.pkl", the pickled value, and
// "<folder>/data/<key>", the bytes of each storage. Private to core.
#pragma once

#include <cstdint>
#include <string_view>

namespace ambit::pytorch_file {

inline constexpr std::string_view kFolder = "archive/";  // torch.save's; any is read
inline constexpr std::string_view kPickle = "data.pkl";
inline constexpr std::string_view kByteOrder =
    "byteorder";  // "little" or "big"; absent in older files
inline constexpr std::string_view kVersion = "version", kVersionText = "3\n";
inline constexpr std::string_view kData = "data/";
inline constexpr std::string_view kExtra = "extra/";  // metadata, as in TorchScript

// Additional entries of TorchScript files, which libtorch's C++ writes.
inline constexpr std::string_view kConstants = "constants.pkl";  // a tuple; we write an empty one
inline constexpr std::string_view kConstantData = "constants/";  // its storages
inline constexpr std::string_view kConstantsPickle{"\x80\x02).", 4};
inline constexpr std::string_view kCodeFolder = "code/";
inline constexpr std::string_view kCode = "code/__torch__.py";  // the classes' declarations

/// Maximum length of a pickle: a state dict needs some 120 bytes for each tensor. pickle::Budget
/// bounds the memory of its values.
inline constexpr uint64_t kMaxPickleBytes = 1 << 24;

}  // namespace ambit::pytorch_file
