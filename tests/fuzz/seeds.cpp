// Writes the fuzzer's first inputs, a folder for each target: ambit_fuzz_seeds FOLDER.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "graph_parts.h"
#include "onnx_parts.h"
#include "tests/files/pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;
namespace fs = std::filesystem;

namespace {

fs::path root;

void write(const std::string& target, const std::string& bytes) {
  const fs::path folder = root / target;
  fs::create_directories(folder);
  const auto count = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  std::ofstream(folder / ("seed" + std::to_string(count)), std::ios::binary) << bytes;
}

std::string pickle_of(const std::string& checkpoint) {
  // Stored, and the first entry: it begins with PROTO and ends at the next header.
  const size_t begin = checkpoint.find("\x80\x02"), end = checkpoint.find("PK\x03\x04", begin);
  return checkpoint.substr(begin, end - begin);
}

std::string gzip(const std::string& bytes) {
  const TemporaryFolder folder;
  const gzFile file = gzopen((folder / "f").c_str(), "wb9");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return read_bytes(folder / "f");
}

std::string numpy_dtype() {
  return pickled_global("numpy", "dtype") + pickled("i2") + "\x89\x88\x87R(K\x03" + pickled("<") +
         "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + std::string(1, '\0') + "tb";
}

std::string numpy_array() {
  return pickled_global("numpy.core.multiarray", "_reconstruct") + "(" +
         pickled_global("numpy", "ndarray") + ")U\1btR(K\1" + pickled(std::vector<int64_t>{1, 2}) +
         numpy_dtype() + "\x89U\4abcdtb";
}

void tensors_and_checkpoints() {
  const TemporaryFolder folder;
  StateDict all;
  for (const DType dtype : {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
    all.emplace_back(name(dtype), arange(6).to(dtype).view({2, 3}));
  }
  const Metadata notes{{"note", "value"}};
  for (const StateDict& state : {all, StateDict{}, StateDict{{"x", tensor(1.5)}}}) {
    save(state, folder / "f.safetensors", notes);
    write("safetensors", read_bytes(folder / "f.safetensors"));
    save(state, folder / "f.pth", notes);
    const std::string bytes = read_bytes(folder / "f.pth");
    write("checkpoint", bytes);
    write("zip", bytes);
    write("pickle", pickle_of(bytes));
  }
  const Value nested = Value::dict(
      {{"list", Value::list({1, -1, 70000, int64_t{1} << 40, 2.5, "text", Value(), true})},
       {"tuple", Value::tuple({Value::dict({{1, "one"}}), Value::ordered_dict({})})},
       {"tensor", arange(4.)}});
  save_checkpoint(nested, folder / "n.pth");
  write("checkpoint", read_bytes(folder / "n.pth"));
  write("pickle", pickle_of(read_bytes(folder / "n.pth")));
  const PickledTensor t{.numel = 4, .sizes = {2, 2}, .strides = {2, 1}};
  write("checkpoint", pytorch_bytes(pickled(t), {std::string(16, '\0')}));
  write("zip", zip_bytes({{"x/a", "abc"}, {"x/b", ""}}));
  const std::string deflated("\x4b\x4c\x4a\x06\0", 5);
  write("zip", zip_bytes({{"x/a", "abc", 8, -1, deflated}}));
  // Opcodes that ambit reads but does not write.
  const std::string negated = pickled(t);
  const std::string global = pickled("torch") + pickled("Size") + "\x93";
  const std::string parameter = pickled_global("torch.nn.parameter", "Parameter");
  const size_t arguments = negated.find("((") + 1;
  const std::string storage_and_sizes =
      "(" + negated.substr(arguments, negated.find("\x89") - arguments) + "t";
  for (const std::string& opcodes : std::vector<std::string>{
           std::string("]\x94(K\x01M\x01\x02N\x85\x86\x87h\0e", 15), "}\x94(\x8c\x01xNu",
           "\x95" + std::string(8, '\0') + global + ")\x85R", pickled(t) + "\x94N\x89\x87",
           std::string("\x8d\x01\0\0\0\0\0\0\0xr\1\0\0\0j\1\0\0\0\x86", 21),
           "\x8f(K\x01\x90(\x91"
           "C\x01\xff\x87",
           "\x8a\x09" + std::string(9, '\1'),
           pickled_global("torch", "device") + pickled("cpu") + "\x85R",
           "}(" + pickled_global("torch", "float32") + "K\x01NK\x02G" + std::string(8, '?') + "Nu",
           pickled(PickledTensor{.type = "ComplexFloatStorage", .numel = 1}),
           negated.substr(0, negated.size() - 2) + "}" + pickled("neg") + "\x88stR",
           // Before PyTorch 0.4.
           parameter + ")\x81(" + pickled(t) + "N}\x88\x89tb",
           parameter + pickled(t) + "\x85R\x88\x89}\x87" + "b",
           pickled_global("torch", "FloatTensor") + ")R" + storage_and_sizes + "b",
           "}q\1(K\1]q\2(h\1h\2eh\2h\1u", pickled("a\xed\xa0\x80z"), numpy_array(),
           pickled_global("numpy._core.multiarray", "scalar") + numpy_dtype() + "C\2ab\x86R"}) {
    write("pickle", "\x80\x02" + opcodes + ".");
  }
  // The format before PyTorch 1.6.
  std::string old = pickled(t);
  old.insert(old.find("tQ"), "N");
  const std::string magic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  std::string file;
  for (const std::string& opcodes :
       {magic, std::string("M\xe9\x03"), std::string("}"), old, "](" + pickled("0") + "e"}) {
    file += "\x80\x02" + opcodes + ".";
  }
  write("checkpoint", file + little_endian(4, 8) + std::string(16, '\0'));
}

void archives() {
  serialize::OutputArchive archive, nested;
  nested.write("x", arange(4.).view({2, 2}).t());
  nested.write("buffer", ones({1}), true);
  archive.write("nested", nested);
  archive.write("leaf", ones({2}).requires_grad_());
  archive.write("number", Value(2.5));
  archive.write("list", Value::list({1, 2}));
  archive.write("tuple", Value::tuple({"text", Value()}));
  std::ostringstream stream;
  archive.save_to(stream);
  for (const char* target : {"archive", "checkpoint", "zip"}) write(target, stream.str());
  write("pickle", pickle_of(stream.str()));
  // With libtorch's lists and compressed code.
  const std::string object = "c__torch__\nModule\n)\x81";
  const std::string pickle = "\x80\x02" + object + "}(" + pickled("a") +
                             "ctorch.jit._pickle\nbuild_intlist\n(](K\1K\2etRub.";
  write("archive", zip_bytes({{"x/data.pkl", pickle},
                              {"x/code/__torch__.py", "packed", 8},
                              {"x/constants.pkl", "\x80\x02)."}}));
  write("pickle", pickle);
}

void datasets() {
  std::string record(3073, '\x11');
  record[0] = 3;
  write("cifar", record);
  write("cifar", record + record);
  write("cifar", gzip(record));
  std::string array = numpy_array();  // of 1 image
  array.replace(array.find(pickled(int64_t{2})), 10, pickled(int64_t{3072}));
  array.replace(array.find("i2"), 2, "u1");
  array.replace(array.find("U\4abcd"), 6, "T" + little_endian(3072, 4) + record.substr(1));
  write("cifar", "\x80\x02}(" + pickled("labels") + "]K\3a" + pickled("data") + array + "u.");
  const auto big_endian = [](uint32_t n) {
    std::string bytes = little_endian(n, 4);
    std::reverse(bytes.begin(), bytes.end());
    return bytes;
  };
  const std::string images =
      big_endian(2051) + big_endian(2) + big_endian(1) + big_endian(3) + "abcdef";
  const std::string labels = big_endian(2049) + big_endian(2) + std::string("\7\2", 2);
  for (const bool packed : {false, true}) {
    const std::string first = packed ? gzip(images) : images;
    const std::string second = packed ? gzip(labels) : labels;
    write("mnist", std::string{'\0', static_cast<char>(first.size())} + first + second);
  }
}

// A record of step 3 with the tag "loss"; checksums, which the reader skips, are 0.
void event_files() {
  const std::string value = "\x0a\4loss\x15" + little_endian(0x3f800000, 4);
  const std::string summary = std::string("\x0a") + static_cast<char>(value.size()) + value;
  const std::string event = std::string("\x10\3\x2a") + static_cast<char>(summary.size()) + summary;
  const std::string record =
      little_endian(event.size(), 8) + std::string(4, '\0') + event + std::string(4, '\0');
  write("events", record);
  write("events", record + record);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  root = argv[1];
  tensors_and_checkpoints();
  archives();
  datasets();
  event_files();
  write("graph", std::string(kGraphModel));
  write("graph", std::string(kGraphModel) + '\0' + std::string(kGraphWeights));
  for (const std::string& model : onnx_model::all_models()) write("onnx", model);
  for (const char* name : {"cpu", "cpu:0", "meta", "reference:0", "npu:3", "a_b1:2147483647"}) {
    write("device", name);
  }
  for (char dtype = 0; dtype < 8; ++dtype) {
    const std::string head{dtype, 2, 3, 4, 5, 6, dtype, 0};
    write("print", head + std::string(96, static_cast<char>(0x3f + dtype)));
  }
  // The head of a library, with everything that its headers refer to.
  const std::string self = read_bytes("/proc/self/exe");
  write("library", self.substr(0, 4096));
  write("library", self.substr(0, 64));
  return 0;
}
