#include "library.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/serialize.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

#include "core/files/input_file.h"
#include "core/files/lack_of_memory.h"
#include "model_reader.h"
#include "nn/graph/onnx/writer/file_writer.h"
#include "nn/graph/onnx/writer/model_copy.h"

namespace ambit::graph::onnx {
namespace {

// The bytes of a file for protobuf's parser.
class FileStream : public google::protobuf::io::CopyingInputStream {
 public:
  explicit FileStream(const InputFile& file) : file_(file) {}
  int Read(void* buffer, int size) override {
    const auto n = static_cast<int>(
        std::min<uint64_t>(static_cast<uint64_t>(size), file_.size_bytes() - offset_));
    if (n > 0) file_.read(buffer, static_cast<size_t>(n), offset_);
    offset_ += static_cast<uint64_t>(n);
    return n;
  }

 private:
  const InputFile& file_;
  uint64_t offset_ = 0;
};

LoadedProgram read_file(const std::string& path) {
  const InputFile file(path);
  Lacking lacking;
  try {
    proto::ModelProto model;
    FileStream stream(file);
    google::protobuf::io::CopyingInputStreamAdaptor adaptor(&stream);
    constexpr uint64_t kMost = std::numeric_limits<int>::max();  // of a message
    if (file.size_bytes() > kMost || !model.ParseFromZeroCopyStream(&adaptor)) {
      fail("expected an ONNX model of at most 2 GiB, got {}", file_kind(path));
    }
    LoadedProgram loaded = read_model(path, model, lacking);
    lacking.check(path);
    return loaded;
  } catch (const SerializationError& e) {
    lacking.check(path);  // a lack is the cause of `e`, so this error is more useful
    throw SerializationError(
        fmt::format("graph::load: cannot read '{}': {}", one_line(path), one_line(e.what())));
  }
}

LoadedProgram read(const std::string& path) {
  return named_in_lack_of_memory("graph::load", path, [&] { return read_file(path); });
}

void write(const Program& program, const std::vector<Tensor>& state, std::optional<bool> training,
           const std::string& path) {
  named_in_lack_of_memory("graph::save", path, [&] {
    const auto model = program.model.empty() ? written_model : copied_model;
    write_files(model(program, state, training, path), path);
  });
}

}  // namespace
}  // namespace ambit::graph::onnx

extern "C" AMBIT_API const void* ambit_onnx() {
  static constexpr ambit::graph::onnx::Library kLibrary{ambit::graph::onnx::read,
                                                        ambit::graph::onnx::write};
  return &kLibrary;
}
