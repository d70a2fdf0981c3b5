// CIFAR-10 and MNIST: files written by the test, invalid ones, and the real ones in AMBIT_DATA.
#include <ambit/data/data.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/reduce.h>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>

#include "tests/temporary_folder.h"

using namespace ambit;
namespace transforms = ambit::data::transforms;
using data::Example;
using data::datasets::CIFAR10;
using data::datasets::MNIST;
using data::datasets::Mode;

namespace {

// A CIFAR-10 record: class, then planes with one value each.
std::string record(int label, int red, int green, int blue) {
  std::string out(1, static_cast<char>(label));
  for (const int value : {red, green, blue}) out += std::string(1024, static_cast<char>(value));
  return out;
}

void write_cifar(const TemporaryFolder& folder, const std::string& prefix) {
  for (int i = 1; i <= 5; ++i) {
    folder.write(prefix + "data_batch_" + std::to_string(i) + ".bin",
                 record(i, 0, 51, 255) + record(i + 1, i, i, i));
  }
  folder.write(prefix + "test_batch.bin", record(9, 255, 0, 0));
}

std::string big_endian(uint32_t v) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(v >> shift);
  return out;
}

std::string idx_images(uint32_t n, uint32_t h, uint32_t w, const std::string& bytes) {
  return big_endian(2051) + big_endian(n) + big_endian(h) + big_endian(w) + bytes;
}

std::string idx_labels(const std::string& labels) {
  return big_endian(2049) + big_endian(static_cast<uint32_t>(labels.size())) + labels;
}

std::string from_hex(const std::string& digits) {
  std::string out;
  for (size_t i = 0; i < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return out;
}

// Two images of 1 x 3 pixels and their labels; packed: python3's gzip.compress(..., mtime=0).
const std::string kImages = idx_images(2, 1, 3, std::string("\x00\x33\xff\x00\xff\x33", 6));
const std::string kLabels = idx_labels("\x07\x02");
const std::string kPackedImages =
    from_hex("1f8b08000000000002036360e0606660606002624620666630fecff0df1800f4cd34da16000000");
const std::string kPackedLabels =
    from_hex("1f8b08000000000002036360e0606460606062670200f25bd3340a000000");

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK);
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

// Return the peak memory of the process in KiB since the last call of the second function.
size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  FAIL("no VmHWM in /proc/self/status");
  return 0;
}
size_t start_of_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << 5;  // proc(5)
  return peak_memory();
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Return the folder of real data, empty if there is none.
std::string real_data() {
  const char* folder = std::getenv("AMBIT_DATA");
  if (!folder) MESSAGE("skipped: no data (AMBIT_DATA is not set)");
  return folder ? folder : "";
}

}  // namespace

TEST_CASE("CIFAR10 reads all images of its files") {
  for (const std::string prefix : {"", "cifar-10-batches-bin/", "cifar-10-sample/"}) {
    const TemporaryFolder folder;
    write_cifar(folder, prefix);
    CIFAR10 train(folder.path().string());
    CHECK(train.size() == 10);
    CHECK(train.targets().equal(tensor({1, 2, 2, 3, 3, 4, 4, 5, 5, 6})));
    const Example<> first = train.get(0);
    CHECK(first.data.sizes() == IntArrayRef{3, 32, 32});
    CHECK(first.data[0].equal(zeros({32, 32})));
    CHECK(first.data[1].equal(full({32, 32}, 0.2f)));  // 51 / 255
    CHECK(first.data[2].equal(ones({32, 32})));
    CHECK(first.target.dim() == 0);
    CIFAR10 test(folder.path().string(), Mode::kTest);
    CHECK(test.size() == 1);
    CHECK(test.get(0).target.item<int64_t>() == 9);
  }
}

TEST_CASE("batches stacked and normalised in one step equal those normalised one by one") {
  std::string records;
  for (int i = 0; i < 10; ++i) records += record(i, 10 * i, 255 - i, i);
  const CIFAR10 images(std::span(reinterpret_cast<const uint8_t*>(records.data()), records.size()));
  const std::vector<double> mean{0.1, 0.2, 0.3}, stddev{0.4, 0.5, 0.6};
  const std::vector<size_t> indices{7, 0, 7, 3};
  auto fused = images.map(transforms::Normalize(mean, stddev)).map(transforms::Stack<>());
  // Because the chain contains a lambda, the transforms are not fused into one step.
  auto stepwise = CIFAR10(images)
                      .map(transforms::TensorLambda<>([](Tensor t) { return t; }))
                      .map(transforms::Normalize(mean, stddev))
                      .map(transforms::Stack<>());
  const Example<> a = fused.get_batch(indices), b = stepwise.get_batch(indices);
  CHECK(a.data.sizes() == IntArrayRef{4, 3, 32, 32});
  CHECK(a.data.equal(b.data));
  CHECK(a.target.equal(tensor({7, 0, 7, 3})));
  CHECK(b.target.equal(a.target));
  using data::datasets::MapDataset;
  static_assert(
      std::is_same_v<decltype(fused), MapDataset<MapDataset<CIFAR10, transforms::Normalize<>>,
                                                 transforms::Stack<>>>);
  CIFAR10 source = fused.dataset().dataset();
  CHECK(source.get(7).data.equal(CIFAR10(images).get(7).data));  // unchanged
  auto normalised = images.map(transforms::Normalize(mean, stddev));
  CHECK(normalised.get_batch(indices)[1].data.equal(a.data[1]));
  CHECK(fused.size() == 10);
  CHECK_THROWS_AS(images.map(transforms::Normalize({0.5, 0.5}, std::vector{1.0, 1.0})), ShapeError);
}

TEST_CASE("an image index beyond the dataset is refused") {
  const std::string one = record(0, 1, 2, 3);
  CIFAR10 images(std::span(reinterpret_cast<const uint8_t*>(one.data()), one.size()));
  CHECK_THROWS_AS(images.get(1), IndexError);
}

TEST_CASE("CIFAR10 refuses files that are missing, truncated or have an invalid class") {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  const auto error = [&] { return error_of([&] { CIFAR10 images(root); }); };
  CHECK(contains(error(), root));
  write_cifar(folder, "");
  CHECK(error() == "");
  const std::string third = folder.write("data_batch_3.bin", record(1, 2, 3, 4).substr(1));
  CHECK(contains(error(), "expected images of 3073 bytes in '" + third + "', got 3072"));
  folder.write("data_batch_3.bin", record(0, 1, 1, 1) + record(10, 1, 1, 1));
  CHECK(contains(error(), "expected classes 0 to 9 in '" + third + "', got 10 in image 1"));
  std::filesystem::remove(third);
  CHECK(contains(error(), third));
  std::filesystem::create_directory(third);
  CHECK(contains(error(), "Is a directory"));
}

TEST_CASE("MNIST reads idx files, compressed or not") {
  for (const bool packed : {false, true}) {
    const TemporaryFolder folder;
    if (packed) {
      folder.write("mnist/t10k-images-idx3-ubyte.gz", kPackedImages);
      folder.write("mnist/t10k-labels-idx1-ubyte.gz", kPackedLabels);
    } else {
      folder.write("t10k-images-idx3-ubyte", kImages);
      folder.write("t10k-labels-idx1-ubyte", kLabels);
    }
    MNIST test(folder.path().string(), Mode::kTest);
    CHECK(test.size() == 2);
    CHECK(test.get(0).data.equal(tensor({{{0.f, 0.2f, 1.f}}}, kFloat32)));
    CHECK(test.targets().equal(tensor({7, 2})));
    CHECK_THROWS_AS(MNIST(folder.path().string(), Mode::kTrain), SerializationError);
  }
}

TEST_CASE("MNIST is found in torchvision's folder") {
  const TemporaryFolder folder;
  CHECK_FALSE(MNIST::exists(folder.path().string(), Mode::kTest));
  folder.write("MNIST/raw/t10k-images-idx3-ubyte", kImages);
  folder.write("MNIST/raw/t10k-labels-idx1-ubyte", kLabels);
  CHECK(MNIST::exists(folder.path().string(), Mode::kTest));
  CHECK(MNIST(folder.path().string(), Mode::kTest).targets().equal(tensor({7, 2})));
}

TEST_CASE("MNIST returns its mode, and its images as floats") {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", kImages);
  folder.write("train-labels-idx1-ubyte", kLabels);
  folder.write("t10k-images-idx3-ubyte", kImages);
  folder.write("t10k-labels-idx1-ubyte", kLabels);
  const MNIST train(folder.path().string()), test(folder.path().string(), MNIST::Mode::kTest);
  CHECK(train.is_train());
  CHECK_FALSE(test.is_train());
  CHECK(train.images().equal(train.raw_images().to(kFloat32) / 255));
  CHECK(train.images().sizes() == IntArrayRef{2, 1, 1, 3});
  CHECK(train.targets().equal(tensor({7, 2})));
  CHECK(CIFAR10::Mode::kTest == MNIST::Mode::kTest);
}

TEST_CASE("MNIST refuses files that are truncated or have wrong headers") {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  const std::string good_images = idx_images(1, 2, 2, "abcd"), good_labels = idx_labels("\x01");
  const auto error = [&](const std::string& images, const std::string& labels) {
    folder.write("train-images-idx3-ubyte", images);
    folder.write("train-labels-idx1-ubyte", labels);
    return error_of([&] { MNIST mnist(root); });
  };
  CHECK(error(good_images, good_labels) == "");
  for (size_t n = 0; n < good_images.size(); ++n) {
    CHECK(error(good_images.substr(0, n), good_labels) != "");
  }
  CHECK(contains(error(good_images + "x", good_labels), "expected 20 bytes for [1, 2, 2]"));
  CHECK(contains(error(idx_labels("0123456789"), good_labels), "magic number 2051"));
  CHECK(contains(error(good_images, idx_labels("\x01\x02")), "expected 1 labels"));
  CHECK(contains(error(good_images, idx_labels("\x0a")), "expected labels 0 to 9"));
  CHECK(error(idx_images(0xffffffff, 0xffffffff, 0xffffffff, "abcd"), good_labels) != "");
}

TEST_CASE("a compressed file that is truncated or damaged is refused") {
  const TemporaryFolder folder;
  folder.write("train-labels-idx1-ubyte", kLabels);
  const auto error = [&](const std::string& bytes) {
    folder.write("train-images-idx3-ubyte.gz", bytes);
    return error_of([&] { MNIST mnist(folder.path().string()); });
  };
  CHECK(error(kPackedImages) == "");
  for (size_t n = 0; n < kPackedImages.size(); ++n) {
    INFO(n);
    CHECK(error(kPackedImages.substr(0, n)) != "");
  }
  std::string damaged = kPackedImages;
  damaged[kPackedImages.size() - 6] ^= 1;  // the checksum
  CHECK(error(damaged) != "");
}

TEST_CASE("pipes and devices instead of files are refused without waiting") {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  const std::string pipe = folder / "train-images-idx3-ubyte";
  folder.write("train-labels-idx1-ubyte", kLabels);
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(error_of([&] { MNIST mnist(root); }) ==
        "MNIST: cannot read '" + pipe + "': expected a file, got a pipe or a device");
  std::filesystem::remove(pipe);
  std::filesystem::create_symlink("/dev/zero", pipe);
  CHECK(contains(error_of([&] { MNIST mnist(root); }), "a pipe or a device"));
  REQUIRE(::mkfifo((folder / "data_batch_1.bin").c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { CIFAR10 images(root); }), "a pipe or a device"));
}

TEST_CASE("sizes larger than the file are refused before an allocation") {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  folder.write("train-labels-idx1-ubyte", kLabels);
  const auto error = [&](const std::string& name, const std::string& images) {
    const std::string path = folder.write(name, images);
    const std::string text = error_of([&] { MNIST mnist(root); });
    std::filesystem::remove(path);
    return text;
  };
  const std::string plain = "train-images-idx3-ubyte", packed = plain + ".gz";
  CHECK(contains(error(plain, idx_images(60000, 28, 28, "")), "for [60000, 28, 28]"));
  CHECK(contains(error(plain, idx_images(2'000'000, 28, 28, "")), "at most 1073741824 bytes"));
  CHECK(contains(error(plain, idx_images(1 << 16, 1 << 16, 1 << 31, "")), "at most 1073741824"));
  CHECK(contains(error(plain, idx_images(0, 0xffffffff, 0xffffffff, "")), "at most 1073741824"));
  CHECK(contains(error(packed, gzip(idx_images(60000, 28, 28, ""))),
                 "expected 47040016 bytes for [60000, 28, 28]"));
}

// 256 MB after the two images of the header: a quarter of a megabyte of compressed data.
TEST_CASE("data after the images in a compressed file is not decompressed") {
  const TemporaryFolder folder;
  folder.write("train-labels-idx1-ubyte", kLabels);
  const gzFile bomb = ::gzopen((folder / "train-images-idx3-ubyte.gz").c_str(), "wb9");
  const std::string megabyte(1 << 20, '\0');
  ::gzwrite(bomb, kImages.data(), static_cast<unsigned>(kImages.size()));
  for (int i = 0; i < 256; ++i) ::gzwrite(bomb, megabyte.data(), 1 << 20);
  REQUIRE(::gzclose(bomb) == Z_OK);
  const size_t before_kib = start_of_peak_memory();
  CHECK(contains(error_of([&] { MNIST mnist(folder.path().string()); }),
                 "expected 22 bytes for [2, 1, 3] in"));
  CHECK(peak_memory() - before_kib < 64 * 1024);
}

TEST_CASE("CIFAR10 reads no compressed files, and no absurdly large ones") {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  write_cifar(folder, "");
  const std::string second = folder.write("data_batch_2.bin", gzip(record(1, 2, 3, 4)));
  const auto error = [&] { return error_of([&] { CIFAR10 images(root); }); };
  CHECK(error() ==
        "CIFAR10: expected an uncompressed file in '" + second + "', got a compressed file");
  folder.write("data_batch_2.bin", "");
  std::filesystem::resize_file(second, uint64_t{3073} << 20);  // sparse
  CHECK(contains(error(), "expected at most 1073741824 bytes in '" + second + "'"));
}

TEST_CASE("the real CIFAR-10 sample has its published shape") {
  const std::string root = real_data();
  if (root.empty()) return;
  // README of the sample: 10,000 training images, 200 per class and file, and 2,000 test images.
  const CIFAR10 train(root), test(root, Mode::kTest);
  CHECK(test.size() == 2000);
  CHECK(train.size() == 10000);
  for (int64_t c = 0; c < 10; ++c) CHECK((train.targets() == c).sum().item<int64_t>() == 1000);
}

TEST_CASE("the real MNIST has its published statistics") {
  const std::string root = real_data();
  if (root.empty()) return;
  const MNIST train(root), test(root, Mode::kTest);
  CHECK(train.size() == 60000);
  CHECK(test.size() == 10000);
  CHECK(train.targets().slice(0, 0, 5).equal(tensor({5, 0, 4, 1, 9})));
  CHECK(test.targets().slice(0, 0, 5).equal(tensor({7, 2, 1, 0, 4})));
  const Tensor pixels = train.raw_images().to(kFloat64) / 255;
  // The published numbers have four digits: their error is half a unit of the last one.
  CHECK(pixels.mean().item<double>() == doctest::Approx(0.1307).epsilon(0.00005 / 0.1307));
  CHECK(pixels.std().item<double>() == doctest::Approx(0.3081).epsilon(0.00005 / 0.3081));
}
