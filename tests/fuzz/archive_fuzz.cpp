// An archive in libtorch's C++ format: an error, or an archive that is written and read again.
#include <ambit/archive.h>
#include <ambit/error.h>

#include <cstdlib>
#include <string>

using namespace ambit;

namespace {

// Copies the values that can be written; `left` limits their number, because an archive can repeat
// itself.
void copy(const serialize::InputArchive& from, serialize::OutputArchive& to, int& left) {
  for (const std::string& key : from.keys()) {
    if (--left < 0) return;
    Tensor tensor;
    Value value;
    serialize::InputArchive nested;
    try {
      if (from.try_read(key, tensor)) {
        to.write(key, tensor);
      } else if (from.try_read(key, nested)) {
        serialize::OutputArchive below;
        copy(nested, below, left);
        to.write(key, below);
      } else {
        from.read(key, value);
        to.write(key, value);
      }
    } catch (const SerializationError&) {  // a key or value that libtorch would not read
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  serialize::InputArchive archive;
  std::string written;
  try {
    archive.load_from(reinterpret_cast<const char*>(data), size);
    serialize::OutputArchive again;
    int left = 1000;
    copy(archive, again, left);
    again.save_to([&](const void* bytes, size_t n) {
      written.append(static_cast<const char*>(bytes), n);
      return n;
    });
  } catch (const SerializationError&) {
    return 0;
  }
  archive.load_from(written.data(), written.size());
  return 0;
}
