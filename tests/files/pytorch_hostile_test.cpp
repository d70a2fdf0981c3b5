// Broken and hostile PyTorch files give values or a SerializationError, without harm.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <ambit/parallel.h>
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <string>

#include "load_error.h"
#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

std::string small_file() {
  const TemporaryFolder folder;
  save_checkpoint(Value::dict({{"weight", arange(3.)}, {"epoch", 3}, {"done", false}}),
                  folder / "f.pth");
  return read_bytes(folder / "f.pth");
}

// Compress with deflate, without zlib's header.
std::string deflated(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

TEST_CASE("a PyTorch file truncated anywhere is refused") {
  const std::string whole = small_file();
  for (size_t n = 0; n < whole.size(); ++n) {
    INFO(n);
    CHECK(load_error(whole.substr(0, n)) != "");
  }
  CHECK(load_error(whole) == "");
}

TEST_CASE("a flipped bit in a PyTorch file gives an error or a value") {
  const std::string whole = small_file();
  size_t refused = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    refused += load_error(flipped) != "";
  }
  CHECK(refused > 0);
  std::string changed = whole;  // only the CRC detects a change: in a number of the storage, 1.0
  changed[whole.find(std::string("\0\0\x80\x3f", 4))] = 1;
  CHECK(contains(load_error(changed), "CRC error"));
}

// Large storages are read in parts, by several threads, without libzip.
TEST_CASE("every bit of a large storage is checked, and the file must contain all of it") {
  const int threads = get_num_threads();
  const Tensor large = arange(1'300'001, kInt32), small = arange(3.);
  const TemporaryFolder folder;
  save_checkpoint(Value::dict({{"small", small}, {"large", large}, {"again", large.slice(0, 5)}}),
                  folder / "f.pth");
  const std::string whole = read_bytes(folder / "f.pth");
  const std::string third{"\3\0\0\0\4\0\0\0\5\0\0\0", 12};
  const size_t begin = whole.find(third) - 12, size = large.nbytes();
  for (const int n : {1, 2, 3, 7}) {
    set_num_threads(n);
    const Value loaded = load_checkpoint(folder / "f.pth");
    CHECK(equal(loaded["large"].to_tensor(), large));
    CHECK(equal(loaded["again"].to_tensor(), large.slice(0, 5)));
    CHECK(equal(loaded["small"].to_tensor(), small));
    for (const size_t at : {size_t{0}, size / 3, size / 2, size - 1}) {
      std::string changed = whole;
      changed[begin + at] = static_cast<char>(changed[begin + at] ^ 0x10);
      CHECK(contains(load_error(changed), "'archive/data/1': CRC error"));
    }
    CHECK(load_error(whole.substr(0, begin + size / 2)) != "");
  }
  set_num_threads(threads);
}

// As with torch.serialization.set_crc32_options(False) of PyTorch 2.15: CRCs are 0.
TEST_CASE("a zip entry without a checksum is read, and one with a wrong checksum is not") {
  const Tensor large = arange(100'000.);
  const TemporaryFolder folder;
  save_checkpoint(Value::dict({{"large", large}, {"small", arange(3.)}}), folder / "f.pth");
  const std::string whole = read_bytes(folder / "f.pth");
  const auto with_crc = [&](const auto& change) {
    std::string bytes = whole;
    for (size_t at = 0; (at = bytes.find("PK", at)) != bytes.npos; ++at) {
      if (bytes.compare(at, 4, "PK\x03\x04") == 0) change(bytes, at + 14);
      if (bytes.compare(at, 4, "PK\x01\x02") == 0) change(bytes, at + 16);
    }
    return bytes;
  };
  const std::string none =
      with_crc([](std::string& b, size_t at) { b.replace(at, 4, std::string(4, '\0')); });
  REQUIRE(none != whole);
  const Value value = load_checkpoint(folder.write("none.pth", none));
  CHECK(value["large"].to_tensor().equal(large));
  CHECK(value["small"].to_tensor().equal(arange(3.)));
  const std::string wrong =
      with_crc([](std::string& b, size_t at) { b[at] = static_cast<char>(b[at] ^ 1); });
  CHECK(contains(load_error(wrong), "CRC error"));
}

TEST_CASE("tensors that exceed their storage are refused") {
  const auto error = [](const PickledTensor& t) {
    return load_error(pytorch_bytes(pickled(t), {std::string(16, '\0')}));
  };
  const int64_t most = INT64_MAX, big = int64_t{1} << 32;
  CHECK(error({.numel = 4, .sizes = {2, 2}, .strides = {2, 1}}) == "");
  CHECK(error({.numel = 4, .offset = 4, .sizes = {0}, .strides = {1}}) == "");
  CHECK(error({.numel = 4, .sizes = {5}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = 1, .sizes = {4}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = -1, .sizes = {4}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = most, .sizes = {4}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .offset = 5, .sizes = {0}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .sizes = {2, 2}, .strides = {3, 1}}) != "");
  CHECK(error({.numel = 4, .sizes = {2}, .strides = {most}}) != "");
  CHECK(error({.numel = 4, .sizes = {3, 3}, .strides = {most, most}}) != "");
  CHECK(error({.numel = 4, .offset = 3, .sizes = {2}, .strides = {-1}}) != "");
  CHECK(error({.numel = 4, .sizes = {-1}, .strides = {1}}) != "");
  CHECK(error({.numel = 4, .sizes = {2}, .strides = {1, 1}}) != "");
  CHECK(contains(error({.numel = 4, .sizes = {big, big}, .strides = {0, 0}}), "memory can hold"));
  CHECK(contains(error({.numel = 4, .sizes = {0, big, big}, .strides = {0, 0, 0}}), "can hold"));
  CHECK(contains(error({.numel = 4, .sizes = {most / 2}, .strides = {0}}), "can hold"));
  CHECK(error({.numel = 4,
               .sizes = std::vector<int64_t>(65, 1),
               .strides = std::vector<int64_t>(65, 1)}) != "");
}

TEST_CASE("storages that differ from the pickle are refused") {
  const auto error = [](const PickledTensor& t, const std::string& bytes) {
    return load_error(pytorch_bytes(pickled(t), {bytes}));
  };
  const std::string four(4, '\0');
  CHECK(error({.numel = 1}, four) == "");
  CHECK(error({.numel = 2}, four) != "");
  CHECK(error({.numel = -1}, four) != "");
  CHECK(error({.numel = (int64_t{1} << 62) + 1}, four) != "");  // 4 bytes, if the size overflowed
  CHECK(error({.numel = 1}, four + "x") != "");
  CHECK(error({.type = "DoubleStorage", .numel = 1}, four) != "");
  CHECK(error({.key = "1", .numel = 1}, four) != "");
  CHECK(error({.key = "../data/0", .numel = 1}, four) != "");
  CHECK(error({.key = "/etc/passwd", .numel = 1}, four) != "");
  CHECK(error({.type = "QInt32Storage"}, four) == "");  // opaque, and not read
  CHECK(error({.type = "ComplexFloatStorage", .numel = 1}, four) != "");
  CHECK(error({.type = "ComplexFloatStorage", .numel = 1}, four + four) == "");
  CHECK(error({.type = "ComplexDoubleStorage", .numel = 1}, four + four) != "");
  CHECK(contains(error({.type = "StrangeStorage"}, four), "'torch.StrangeStorage'"));
  CHECK(contains(error({.type = "BoolStorage", .numel = 4, .sizes = {4}, .strides = {1}},
                       std::string("\0\1\2\1", 4)),
                 "bytes 0 and 1"));
  const std::string two = "(" + pickled(PickledTensor{.numel = 1}) +
                          pickled(PickledTensor{.type = "IntStorage", .numel = 1}) + "t";
  CHECK(contains(load_error(pytorch_bytes(two, {four})), "one type and size"));
}

// As written by Python's zipfile and `zip`, and read by PyTorch.
TEST_CASE("deflated entries are read, and checked") {
  const std::string pickle =
      "\x80\x02" + pickled(PickledTensor{.numel = 2'000, .sizes = {2'000}, .strides = {1}}) + ".";
  const Tensor numbers = arange(2'000.);
  const std::string storage(static_cast<const char*>(numbers.data_ptr()), numbers.nbytes());
  const std::string packed = deflated(storage);
  const auto file = [&](const std::string& data, const std::string& in_file) {
    return zip_bytes({{"x/data.pkl", pickle, 8, -1, deflated(pickle)},
                      {"x/data/0", data, 8, -1, in_file},
                      {"x/byteorder", "little", 8, -1, deflated("little")}});
  };
  const TemporaryFolder folder;
  const Value value = load_checkpoint(folder.write("f.pth", file(storage, packed)));
  CHECK(value.to_tensor().equal(numbers));
  // An empty storage, incompressible bytes, and one byte too few and too many.
  CHECK(
      load_error(zip_bytes(
          {{"x/data.pkl", "\x80\x02" + pickled(PickledTensor{.sizes = {0}, .strides = {1}}) + "."},
           {"x/data/0", "", 8, -1, deflated("")}})) == "");
  CHECK(contains(load_error(file(storage.substr(1), packed)), "in storage"));
  CHECK(contains(load_error(file(storage, deflated(storage.substr(1)))), "in deflate's format"));
  CHECK(contains(load_error(file(storage, deflated(storage + "a"))), "in deflate's format"));
  CHECK(contains(load_error(file(storage, packed + "a")), "in deflate's format"));
  CHECK(contains(load_error(file(storage, packed.substr(0, 1000))), "in deflate's format"));
  std::string changed = storage;
  changed[7] = 1;
  CHECK(contains(load_error(file(changed, packed)), "'x/data/0': CRC error"));
  for (size_t i = 0; i < packed.size(); i += 97) {  // an error or a value
    std::string wrong = packed;
    wrong[i] = static_cast<char>(wrong[i] ^ 4);
    CHECK(load_error(file(storage, wrong)) != "");
  }
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N.", 12}})), "another method"));
}

TEST_CASE("zip bombs are refused before anything is decompressed") {
  const std::string pickle = std::string("\x80\x02N.");
  // An entry deflated to less than a thousandth, with correct sizes.
  CHECK(contains(load_error(zip_bytes(
                     {{"x/data.pkl", pickle}, {"x/data/0", std::string(100, 'a'), 8, 1 << 30}})),
                 "to unpack to at most 1032 times its 100 bytes, got 1073741824 bytes"));
  // A stored entry that is longer than the file.
  CHECK(load_error(zip_bytes({{"x/data.pkl", pickle, 0, 1 << 30}})) != "");
  // Many entries with the same bytes.
  CHECK(load_error(zip_bytes({{"x/data.pkl", pickle}, {"x/data.pkl", pickle}})) != "");
}

TEST_CASE("entries with names that lead elsewhere are refused") {
  const std::string pickle = std::string("\x80\x02N.");
  for (const std::string name :
       {"../data/0", "x/../../etc/passwd", "/etc/passwd", "y/data/0", "data", "", "x/..", "x"}) {
    INFO(name);
    CHECK(load_error(zip_bytes({{"x/data.pkl", pickle}, {name, "data"}})) != "");
    CHECK(load_error(zip_bytes({{name, "data"}, {"x/data.pkl", pickle}})) != "");
  }
  CHECK(load_error(zip_bytes({{"/data.pkl", pickle}})) != "");
  CHECK(load_error(zip_bytes({{"data.pkl", pickle}})) != "");
}

TEST_CASE("files of other formats are refused with their kind") {
  const std::string old("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  CHECK(contains(load_error(old), "before PyTorch 1.6: expected a pickle that ends with STOP"));
  CHECK(contains(load_error("{}"), "expected a file of safetensors or torch.save(), got"));
  CHECK(contains(load_error(""), "torch.save(), got an empty file"));
  CHECK(contains(load_error("PK"), "valid zip file"));
  CHECK(contains(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N."}, {"x/byteorder", "pdp"}})),
                 "got 'pdp'"));
  CHECK(load_error(zip_bytes({{"x/data.pkl", "\x80\x02N."}, {"x/byteorder", "little"}})) == "");
  CHECK_THROWS_AS(load_checkpoint("/dev/zero"), SerializationError);
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.pth").c_str(), 0600) == 0);
  CHECK_THROWS_AS(load_checkpoint(folder / "pipe.pth"), SerializationError);
}
