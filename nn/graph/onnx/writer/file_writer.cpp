// Source of the format: protobuf.dev/programming-guides/encoding, and docs/ExternalData.md of ONNX.
#include "file_writer.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <optional>

#include "core/files/atomic_file.h"
#include "core/files/fail.h"
#include "emitter.h"

namespace ambit::graph::onnx {
namespace {

constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - 1;  // of a message
constexpr uint64_t kLeastExternal = 1024, kAlignment = 4096;

// Numbers of fields in onnx.proto.
constexpr int kGraphOfModel = 7, kInitializerOfGraph = 5, kRawData = 9;

std::string varint(uint64_t v) {
  std::string out;
  for (; v >= 128; v >>= 7) out += static_cast<char>(v | 128);
  return out + static_cast<char>(v);
}

// Return the start of a field that has `bytes` bytes.
std::string begin_of(int field, uint64_t bytes) {
  constexpr uint64_t kLengthDelimited = 2;
  return varint(static_cast<uint64_t>(field) << 3 | kLengthDelimited) + varint(bytes);
}

// An initializer, whose elements are written from the tensor.
struct Field {
  Tensor tensor;
  std::string head;  // header of the message and of its field raw_data
  bool is_external = false;
  uint64_t offset = 0;

  uint64_t bytes() const { return tensor.nbytes(); }
};

void add_entry(proto::TensorProto& t, const char* key, const std::string& value) {
  proto::StringStringEntryProto& entry = *t.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

class Files {
 public:
  Files(const WrittenModel& model, const std::string& path) : path_(path) {
    proto::ModelProto rest = model.model;
    graph_ = rest.graph().SerializeAsString();
    rest.clear_graph();
    rest_ = rest.SerializeAsString();
    plan(model, false);
    if (size() > kMostBytes) plan(model, true);
    if (size() > kMostBytes) {
      fail_about_file(fmt::format(
          "graph::save: cannot write '{}': expected at most 2 GiB without parameters, got {} bytes",
          one_line(path), size()));
    }
  }

  void write() const {
    // Write the data first, so that a model never refers to missing data.
    if (has_data_) write_data();
    AtomicFile file(path_);
    const auto put = [&](const std::string& text) { file.write(text.data(), text.size()); };
    put(rest_);
    put(begin_of(kGraphOfModel, graph_bytes_));
    put(graph_);
    for (const Field& f : fields_) {
      put(f.head);
      if (!f.is_external) write_elements(file, f);
    }
    file.commit();
  }

 private:
  std::string data_path() const { return path_ + ".data"; }

  uint64_t size() const { return rest_.size() + graph_bytes_ + 16; }

  void plan(const WrittenModel& model, bool external) {
    const size_t slash = path_.rfind('/');
    const std::string location = data_path().substr(slash == path_.npos ? 0 : slash + 1);
    fields_.clear();
    graph_bytes_ = graph_.size();
    uint64_t offset = 0;
    for (const Initializer& i : model.initializers) {
      Field f{i.tensor, {}};
      f.is_external = external && f.bytes() >= kLeastExternal;
      proto::TensorProto t;
      for (const int64_t size : i.tensor.sizes()) t.add_dims(size);
      t.set_data_type(code_of(i.tensor.dtype()));
      t.set_name(i.name);
      if (f.is_external) {
        offset = (offset + kAlignment - 1) / kAlignment * kAlignment;
        f.offset = offset;
        offset += f.bytes();
        add_entry(t, "location", location);
        add_entry(t, "offset", std::to_string(f.offset));
        add_entry(t, "length", std::to_string(f.bytes()));
        t.set_data_location(1);
        has_data_ = true;
      }
      std::string content = t.SerializeAsString();
      if (!f.is_external) content += begin_of(kRawData, f.bytes());
      const uint64_t inside = content.size() + (f.is_external ? 0 : f.bytes());
      f.head = begin_of(kInitializerOfGraph, inside) + content;
      graph_bytes_ += f.head.size() + (f.is_external ? 0 : f.bytes());
      fields_.push_back(std::move(f));
    }
  }

  void write_data() const {
    AtomicFile file(data_path());
    uint64_t at = 0;
    for (const Field& f : fields_) {
      if (!f.is_external) continue;
      const std::string zeros(f.offset - at, '\0');
      file.write(zeros.data(), zeros.size());
      write_elements(file, f);
      at = f.offset + f.bytes();
    }
    file.commit();
  }

  static void write_elements(AtomicFile& file, const Field& f) {
    const Tensor x = f.tensor.detach().to(kCPU).contiguous();
    file.write(x.data_ptr(), x.nbytes());
  }

  std::string path_, rest_, graph_;
  std::vector<Field> fields_;
  uint64_t graph_bytes_ = 0;
  bool has_data_ = false;
};

}  // namespace

void write_files(const WrittenModel& model, const std::string& path) { Files(model, path).write(); }

}  // namespace ambit::graph::onnx
