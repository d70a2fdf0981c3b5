// Makes PyTorch's files by hand, so that tests can make wrong ones: zip files of stored entries and
// the pieces of pickles.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

struct ZipEntry {
  std::string name, data;
  uint16_t method = 0;                ///< 0: stored; 8: deflated
  int64_t pretended_size_bytes = -1;  ///< instead of the size of the data
  std::string packed{};               ///< the bytes in the file, if not the data
};

inline std::string little_endian(uint64_t n, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(n >> (8 * i));
  return out;
}

inline uint32_t crc32_of(const std::string& data) {
  uint32_t crc = 0xffffffff;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

/// Return the bytes of a zip file in its old, 32-bit form, which PyTorch writes.
inline std::string zip_bytes(const std::vector<ZipEntry>& entries) {
  std::string file, directory;
  for (const ZipEntry& e : entries) {
    const bool honest = e.pretended_size_bytes < 0;
    const auto size = honest ? e.data.size() : static_cast<uint64_t>(e.pretended_size_bytes);
    const std::string& content = e.packed.empty() ? e.data : e.packed;
    // version, flags, method, time, date, CRC, size in the file, size, length of the name and extra
    const std::string both =
        little_endian(20, 2) + little_endian(0, 2) + little_endian(e.method, 2) +
        little_endian(0x210000, 4) + little_endian(crc32_of(e.data), 4) +
        little_endian(e.method ? content.size() : size, 4) + little_endian(size, 4) +
        little_endian(e.name.size(), 2) + little_endian(0, 2);
    // comment, disk, attributes, offset of the entry
    directory += "PK\x01\x02" + little_endian(20, 2) + both + std::string(10, '\0') +
                 little_endian(file.size(), 4) + e.name;
    file += "PK\x03\x04" + both + e.name + content;
  }
  return file + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(file.size(), 4) + little_endian(0, 2);
}

/// Return a PyTorch file: a pickle (between its first opcode, PROTO, and its last, STOP) and the
/// bytes of the storages 0, 1, ...
inline std::string pytorch_bytes(const std::string& pickle,
                                 const std::vector<std::string>& storages = {}) {
  std::vector<ZipEntry> entries{{"x/data.pkl", "\x80\x02" + pickle + "."}};
  for (const std::string& bytes : storages) {
    entries.push_back({"x/data/" + std::to_string(entries.size() - 1), bytes});
  }
  return zip_bytes(entries);
}

// --- parts of pickles; each pushes one item

inline std::string pickled(const std::string& text) {
  return "X" + little_endian(text.size(), 4) + text;
}
inline std::string pickled(int64_t n) {
  return "\x8a\x08" + little_endian(static_cast<uint64_t>(n), 8);
}
inline std::string pickled(const std::vector<int64_t>& tuple) {
  std::string out = "(";
  for (const int64_t n : tuple) out += pickled(n);
  return out + "t";
}
inline std::string pickled_global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

struct PickledTensor {
  std::string type = "FloatStorage", key = "0";
  int64_t numel = 0, offset = 0;
  std::vector<int64_t> sizes{}, strides{};
};
inline std::string pickled(const PickledTensor& t) {
  return pickled_global("torch._utils", "_rebuild_tensor_v2") + "((" + pickled("storage") +
         pickled_global("torch", t.type) + pickled(t.key) + pickled("cuda:0") + pickled(t.numel) +
         "tQ" + pickled(t.offset) + pickled(t.sizes) + pickled(t.strides) + "\x89" +
         pickled_global("collections", "OrderedDict") + ")RtR";
}

inline const std::string kBytesType = pickled_global("torch.storage", "UntypedStorage");

/// A tensor uint16[2] as torch.save() writes it: the storage has bytes, and the tensor names its
/// dtype. `numel` is the storage's; `metadata` is empty or a pickled dict.
inline std::string pickled_uint16(const std::string& key, int64_t numel,
                                  const std::string& storage_type = kBytesType,
                                  const std::string& metadata = "") {
  return pickled_global("torch._utils", "_rebuild_tensor_v3") + "((" + pickled("storage") +
         storage_type + pickled(key) + pickled("cpu") + pickled(numel) + "tQ" + pickled(0) +
         pickled(std::vector<int64_t>{2}) + pickled(std::vector<int64_t>{1}) + "\x89" +
         pickled_global("collections", "OrderedDict") + ")R" + pickled_global("torch", "uint16") +
         metadata + "tR";
}
