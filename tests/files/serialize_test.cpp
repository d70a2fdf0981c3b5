// Saving and loading: written values are read again; errors name the path and keep the old file.
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/serialize.h>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// A safetensors file: the header's length, the header, the data.
std::string file_bytes(const std::string& header, const std::string& data = "") {
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i));
  return length + header + data;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every dtype is read again from a file on every device") {
  const TemporaryFolder folder;
  for_each_device([&](Device device) {
    StateDict saved;
    for (const DType dtype : dtypes::kStored) {
      if (dtype == kComplexDouble) continue;  // safetensors lacks it
      saved.emplace_back(name(dtype), arange(-3, 4).to(dtype).to(device));
    }
    save(saved, folder / "all.safetensors");
    const StateDict loaded = load(folder / "all.safetensors", device);
    REQUIRE(loaded.size() == saved.size());
    for (size_t i = 0; i < saved.size(); ++i) {
      CHECK(loaded[i].first == saved[i].first);
      CHECK(loaded[i].second.dtype() == saved[i].second.dtype());
      CHECK(loaded[i].second.device() == device);
      CHECK(loaded[i].second.cpu().equal(saved[i].second.cpu()));
    }
  });
}

TEST_CASE("strided, 0-dim, empty and gradient-requiring tensors are saved by value") {
  const TemporaryFolder folder;
  const std::string path = folder / "t.safetensors";
  const Tensor matrix = arange(12.).view({3, 4});
  for (const Tensor& t :
       {matrix.t(), matrix.slice(1, 0, 4, 2), matrix.select(0, 1), tensor(2.5).expand({2, 3}),
        tensor(7), empty({0}), empty({2, 0, 3}), ones({2}).requires_grad_()}) {
    save(t, path);
    Tensor back;
    load(back, path);
    CHECK(back.sizes() == t.sizes());
    CHECK(back.is_contiguous());
    CHECK_FALSE(back.requires_grad());
    CHECK(back.equal(t.detach()));
  }
}

TEST_CASE("a file without tensors is saved and loaded") {
  const TemporaryFolder folder;
  save(StateDict{}, folder / "none.safetensors");
  CHECK(load(folder / "none.safetensors").empty());
}

TEST_CASE("the written bytes have the format's layout, aligned") {
  const TemporaryFolder folder;
  save({{"a", tensor({1, 2}, kUInt8)}, {"b", tensor(1.5, kFloat32)}}, folder / "f");
  // The float is first in the data, where it is aligned; 105 bytes of JSON are padded to 112.
  CHECK(read_bytes(folder / "f") ==
        file_bytes(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},)"
                   R"("b":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}       )",
                   std::string("\x00\x00\xc0\x3f\x01\x02", 6)));
}

TEST_CASE("a file of the Python library loads, with any order and metadata") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"__metadata__":{"format":"pt"}, "w.é\n":{"data_offsets":[2,10],"shape":[1,2],)"
      R"("dtype":"F32"},"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}     )";
  const std::string data("\x01\x00\x00\x00\x80\x3f\x00\x00\x00\xc0", 10);
  const StateDict loaded = load(folder.write("py.safetensors", file_bytes(header, data)));
  REQUIRE(loaded.size() == 2);
  CHECK(loaded[0].first == "w.é\n");
  CHECK(loaded[0].second.equal(tensor({{1., -2.}})));
  CHECK(loaded[1].second.equal(tensor({true, false})));
}

TEST_CASE("names with quotes and other scripts are read again") {
  const TemporaryFolder folder;
  save({{"a \"b\"\\\n\t", ones({1})}, {"层.权重", ones({1})}, {"", ones({1})}}, folder / "f");
  const StateDict loaded = load(folder / "f");
  REQUIRE(loaded.size() == 3);
  CHECK(loaded[0].first == "a \"b\"\\\n\t");
  CHECK(loaded[1].first == "层.权重");
  CHECK(loaded[2].first == "");
}

TEST_CASE("save refuses names that a file cannot contain, and keeps the old file") {
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  save(ones({2}), path);
  const std::string before = read_bytes(path);
  const Tensor one = ones({1});
  CHECK_THROWS_AS(save({{"x", one}, {"x", one}}, path), SerializationError);
  CHECK_THROWS_AS(save({{"x", Tensor()}}, path), SerializationError);
  CHECK_THROWS_AS(save({{"x", ones({1}, "meta")}}, path), SerializationError);
  CHECK_THROWS_AS(save({{"__metadata__", one}}, path), SerializationError);
  CHECK_THROWS_AS(save({{"\xff\xfe", one}}, path), SerializationError);
  CHECK(read_bytes(path) == before);
}

TEST_CASE("an error of save has the path and the reason") {
  const TemporaryFolder folder;
  const auto error = [](const std::string& path) {
    try {
      save(ones({2}), path);
    } catch (const SerializationError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string lost = folder / "no/such/folder/f";
  CHECK(contains(error(lost), lost));
  CHECK(contains(error(lost), "No such file or directory"));
  CHECK(contains(error(folder.path().string()), "Is a directory"));
  // A device is written directly, never replaced by rename; this one is always full.
  CHECK(contains(error("/dev/full"), "No space left on device"));
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("a save that fails keeps the old file and leaves no other") {
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  save(ones({2}), path);
  const std::string before = read_bytes(path);
  // The limit on a file's size acts as a full disk.
  struct rlimit old_limit {};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 4096, old_limit.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(save(ones({10000}), path), SerializationError);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  CHECK(read_bytes(path) == before);
  const std::filesystem::directory_iterator files(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("save replaces the target of a symbolic link, not the link") {
  const TemporaryFolder folder;
  save(ones({2}), folder / "real");
  std::filesystem::create_symlink("real", folder / "link");
  save(zeros({3}), folder / "link");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  Tensor back;
  load(back, folder / "real");
  CHECK(back.equal(zeros({3})));
}

TEST_CASE("an error of load has the path and the reason") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(load(folder / "missing"), SerializationError);
  CHECK_THROWS_AS(load(folder.path().string()), SerializationError);
  CHECK_THROWS_AS(load("/dev/zero"), SerializationError);
  Tensor kept = ones({2});
  save({{"other", ones({3})}}, folder / "other");
  CHECK_THROWS_AS(load(kept, folder / "other"), SerializationError);
  CHECK(kept.equal(ones({2})));
}

TEST_CASE("PyTorch's reference checkpoints load") {
  const char* reference = std::getenv("AMBIT_REFERENCE");
  if (!reference) {
    MESSAGE("skipped: no data (AMBIT_REFERENCE is not set)");
    return;
  }
  const StateDict net = load(std::string(reference) + "/net_init.safetensors");
  REQUIRE(net.size() == 10);
  for (const auto& [name, t] : net) {
    CHECK(t.dtype() == kFloat32);
    if (name == "conv1.weight") CHECK(t.sizes() == IntArrayRef{6, 3, 5, 5});
    if (name == "fc3.bias") CHECK(t.sizes() == IntArrayRef{10});
  }
  const TemporaryFolder folder;
  save(net, folder / "copy");
  const StateDict copy = load(folder / "copy");
  for (size_t i = 0; i < net.size(); ++i) CHECK(copy[i].second.equal(net[i].second));
}
