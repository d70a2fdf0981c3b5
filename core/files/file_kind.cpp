// Sources: the formats' specifications; the magic database of `file`; _legacy_save of PyTorch.
#include "file_kind.h"

#include <ambit/serialize.h>

#include <algorithm>

#include "lack_of_memory.h"
#include "safetensors.h"

namespace ambit {
namespace {

using namespace std::string_view_literals;

struct Beginning {
  size_t offset;
  std::string_view bytes, name, advice{};
};

constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kConvert = "save its tensors as a safetensors file";
constexpr std::string_view kPickle = "a pickle without torch.save()'s zip file around it";
constexpr std::string_view kSaveAgain = "load it in Python and write it with torch.save()";

constexpr Beginning kBeginnings[] = {
    {0, "version https://git-lfs.github.com/spec"sv, "a Git LFS pointer",
     "fetch the file itself with 'git lfs pull'"},
    {0, "\x1f\x8b"sv, "a gzip file", kUnpack},
    {0, "BZh"sv, "a bzip2 file", kUnpack},
    {0, "\xfd\x37zXZ\0"sv, "an xz file", kUnpack},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd file", kUnpack},
    {257, "ustar"sv, "a tar file",
     "unpack it first, or, if torch.save() before PyTorch 0.2 wrote it, load it there and save it "
     "again"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", kConvert},
    {0, "GGUF"sv, "a GGUF file", kConvert},
    {0, "\x93NUMPY"sv, "an array of NumPy", kConvert},
    {4, "TFL3"sv, "a TensorFlow Lite model", kConvert},
    {4, "PTMF"sv, "a PyTorch Mobile flatbuffer"},
    {0, "\x08\x01\x12"sv, "a TensorFlow model", kConvert},
    // An empty key, then the first field of BundleHeaderProto.
    {0, "\0\0\x06\x08"sv, "the index of a TensorFlow checkpoint", kConvert},
    {0, "\x7f\x45LF"sv, "a program or a shared library"},
    {0, "%PDF"sv, "a PDF file"},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xff\xd8\xff"sv, "a JPEG image"},
    // Protocols 0 and 1: a dict, a list, an object, a tuple.
    {0, "(dp"sv, kPickle, kSaveAgain},
    {0, "}q\0"sv, kPickle, kSaveAgain},
    {0, "(lp"sv, kPickle, kSaveAgain},
    {0, "]q\0"sv, kPickle, kSaveAgain},
    {0, "ccollections\n"sv, kPickle, kSaveAgain},
    {0, "ccopy_reg\n"sv, kPickle, kSaveAgain},
    {0, "ctorch"sv, kPickle, kSaveAgain},
    {0, "cnumpy"sv, kPickle, kSaveAgain},
    {0, "(cnumpy"sv, kPickle, kSaveAgain},
    {0, "(ccollections\n"sv, kPickle, kSaveAgain},
};

// The LONG1 opcode with PyTorch's magic number, 0x1950a86a20f9469cfc6c.
constexpr std::string_view kLegacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
constexpr size_t kBeginBytes = 512;

bool is_safetensors(std::string_view begin, uint64_t size_bytes) {
  constexpr size_t kLength = safetensors::kLengthBytes;
  if (begin.size() <= kLength) return false;
  uint64_t length = 0;
  for (size_t i = 0; i < kLength; ++i) {
    length |= uint64_t{static_cast<unsigned char>(begin[i])} << (8 * i);
  }
  const size_t text = begin.find_first_not_of(" \t\r\n", kLength);
  return length <= size_bytes - kLength && text != begin.npos && begin[text] == '{';
}

// Core ML's Model: a version, then a ModelDescription that begins with its field 1, a message.
bool is_core_ml(std::string_view begin) {
  if (begin.size() < 6 || begin[0] != 0x08 || begin[2] != 0x12) return false;
  size_t at = 3;  // position of the message's length, 7 bits per byte
  while (at + 1 < begin.size() && (begin[at] & 0x80) != 0) ++at;
  return at + 1 < begin.size() && begin[at + 1] == 0x0a;
}

// ModelProto's ir_version, a small number, then a string or a message.
bool is_onnx(std::string_view begin) {
  return begin.size() > 2 && begin[0] == 0x08 && begin[1] > 1 && begin[1] < 32 &&
         (begin[2] == 0x12 || begin[2] == 0x1a || begin[2] == 0x3a || begin[2] == 0x42);
}

// GraphDef's first node: its length, then the node's name and op. All lengths are below 128.
bool is_graph_def(std::string_view begin) {
  if (begin.size() < 5 || begin[0] != 0x0a || begin[2] != 0x0a) return false;
  const size_t op = 4 + static_cast<unsigned char>(begin[3]);
  return op < begin.size() && begin[op] == 0x12;
}

// Return the name of a zip file's first entry.
std::string_view first_entry(std::string_view begin) {
  constexpr size_t kName = 30;  // offset of the name in the entry's header
  if (begin.size() < kName) return {};
  const auto length = static_cast<size_t>(static_cast<unsigned char>(begin[26])) |
                      static_cast<size_t>(static_cast<unsigned char>(begin[27])) << 8;
  return begin.substr(kName, length);
}

FileKind kind_of_zip(std::string_view begin) {
  FileKind kind{FileKind::Format::zip, "a zip file"};
  const std::string_view entry = first_entry(begin);
  if (entry.ends_with(".npy")) return {.name = "an .npz file of NumPy", .advice = kConvert};
  if (entry.ends_with("/archive_format") || entry.find("/data/weights/") != entry.npos) {
    return {.name = "a .pt2 file of torch.export",
            .advice =
                "load the network with graph::load(), or save the state_dict() of its "
                "module with torch.save()"};
  }
  // TorchScript's first entry is a storage.
  for (const std::string_view part :
       {"/data.pkl", "/version", "/byteorder", "/data/0", "/constants/0", "/.format_version"}) {
    if (entry.ends_with(part)) kind.name = "a file of torch.save() or TorchScript";
  }
  return kind;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

FileKind kind_of_text(std::string_view begin) {
  if (begin.starts_with("\xef\xbb\xbf")) begin.remove_prefix(3);  // byte order mark of UTF-8
  begin.remove_prefix(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
  const std::string text = lower(begin.substr(0, 64));
  for (const char* const tag : {"<!doctype html", "<html", "<head", "<body", "<script", "<meta"}) {
    if (text.starts_with(tag)) {
      return {.name = "an HTML page", .advice = "download the file itself"};
    }
  }
  if (text.starts_with("<!--")) return {.name = "an HTML page or an XML document"};
  if (text.starts_with("<?xml")) return {.name = "an XML document"};
  if (text.starts_with("{") || text.starts_with("[")) return {.name = "a JSON text"};
  return {};
}

}  // namespace

std::string FileKind::refusal() const {
  std::string out = "expected a file of safetensors or torch.save(), got ";
  out.append(name);
  if (!advice.empty()) out.append("; ").append(advice);
  return out;
}

std::string begin_of(const InputFile& file) {
  std::string begin(std::min<uint64_t>(file.size_bytes(), kBeginBytes), '\0');
  file.read(begin.data(), begin.size(), 0);
  return begin;
}

FileKind kind_of_bytes(std::string_view begin, uint64_t size_bytes) {
  using Format = FileKind::Format;
  begin = begin.substr(0, kBeginBytes);
  if (begin.empty()) return {.name = "an empty file"};
  if (is_safetensors(begin, size_bytes)) return {Format::safetensors, "a safetensors file"};
  if (begin.starts_with("PK\x03\x04")) return kind_of_zip(begin);
  if (begin.starts_with("PK")) return {Format::zip, "a zip file"};
  if (begin[0] == '\x80' && begin.size() > 2 && begin[1] >= 2 && begin[1] <= 5) {
    if (begin.substr(2, 24).find(kLegacyMagic) != begin.npos) {
      return {Format::legacy, "a file of torch.save() before PyTorch 1.6"};
    }
    return {.name = kPickle, .advice = kSaveAgain};
  }
  for (const Beginning& known : kBeginnings) {
    if (begin.size() > known.offset && begin.substr(known.offset).starts_with(known.bytes)) {
      return {.name = known.name, .advice = known.advice};
    }
  }
  if (is_core_ml(begin)) return {.name = "a Core ML model", .advice = kConvert};
  if (is_graph_def(begin)) return {.name = "a TensorFlow model", .advice = kConvert};
  if (is_onnx(begin)) {
    return {.name = "an ONNX model", .advice = "load the network with graph::load()"};
  }
  return kind_of_text(begin);
}

std::string file_kind(const std::string& path) {
  return named_in_lack_of_memory("file_kind", path, [&] {
    const InputFile file(path);
    return std::string(kind_of_bytes(begin_of(file), file.size_bytes()).name);
  });
}

}  // namespace ambit
