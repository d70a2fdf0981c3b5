// CIFAR-10 in torchvision's format: pickles of Python 2, written by the test.
#include <ambit/data/data.h>
#include <ambit/error.h>
#include <ambit/ops/elementwise.h>

#include <doctest/doctest.h>
#include <zlib.h>

#include <filesystem>
#include <string>

#include "tests/files/pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using data::datasets::CIFAR10;
using data::datasets::Mode;

namespace {

// Planes with one value each.
std::string planes(int red, int green, int blue) {
  std::string out;
  for (const int value : {red, green, blue}) out += std::string(1024, static_cast<char>(value));
  return out;
}

// A str of Python 2.
std::string text(const std::string& s) {
  return "U" + std::string(1, static_cast<char>(s.size())) + s;
}

// Like the official files: a pickle of protocol 2, with strings. One byte of `labels` for each
// image.
std::string batch(const std::string& labels, const std::string& pixels) {
  std::string list = "](";
  for (const char label : labels) list += std::string("K") + label;
  const std::string array = "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K" +
                            std::string(1, '\0') + "t" + text("b") + "tR(K\x01(K" +
                            std::string(1, static_cast<char>(labels.size())) +
                            std::string("M\x00\x0c", 3) + "tcnumpy\ndtype\n(" + text("u1") +
                            std::string("K\0K\1tR(K\3", 9) + text("|") +
                            std::string("NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89T", 19) +
                            little_endian(pixels.size(), 4) + pixels + "tb";
  return "\x80\x02}(" + text("batch_label") + text("training batch 1 of 5") + text("labels") +
         list + "e" + text("data") + array + text("filenames") + "]u.";
}

std::string gzip(const std::string& bytes) {
  const TemporaryFolder folder;
  const gzFile file = gzopen((folder / "f").c_str(), "wb9");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return read_bytes(folder / "f");
}

}  // namespace

TEST_CASE("CIFAR10 reads torchvision's folder of Python pickles") {
  const TemporaryFolder folder;
  const std::string root = "cifar-10-batches-py/";
  CHECK_FALSE(CIFAR10::exists(folder.path()));
  for (int i = 1; i <= 5; ++i) {
    folder.write(root + "data_batch_" + std::to_string(i),
                 batch({static_cast<char>(i), static_cast<char>(i + 1)},
                       planes(0, 51, 255) + planes(i, i, i)));
  }
  folder.write(root + "test_batch", batch("\x09", planes(255, 0, 0)));
  CHECK(CIFAR10::exists(folder.path()));
  std::string records;
  for (char i = 1; i <= 5; ++i) {
    records += i + planes(0, 51, 255) + static_cast<char>(i + 1) + planes(i, i, i);
  }
  const auto check = [&](Mode mode, const std::string& as_records) {
    const CIFAR10 images(folder.path(), mode),
        expected({reinterpret_cast<const uint8_t*>(as_records.data()), as_records.size()});
    CHECK(images.raw_images().equal(expected.raw_images()));
    CHECK(images.targets().equal(expected.targets()));
  };
  check(Mode::kTrain, records);
  check(Mode::kTest, "\x09" + planes(255, 0, 0));
  // In files written by Python 3, keys may be bytes.
  std::string again = batch("\x03", planes(7, 8, 9));
  for (const std::string key : {"labels", "data"}) {
    again.replace(again.find(text(key)), 1, "C");
  }
  folder.write(root + "test_batch", again);
  check(Mode::kTest, "\x03" + planes(7, 8, 9));

  const auto error = [&](const std::string& bytes) {
    folder.write(root + "test_batch", bytes);
    try {
      CIFAR10(folder.path(), Mode::kTest);
    } catch (const SerializationError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string pixels = planes(1, 2, 3);
  CHECK(error(batch("\x0a", pixels)).find("classes 0 to 9") != std::string::npos);
  CHECK(error(batch("\x01\x02", pixels)).find("expected 6144 bytes") != std::string::npos);
  CHECK(error(batch("", "")).find("expected images") != std::string::npos);
  CHECK(error("\x80\x02}.").find("expected 'data' in the dict") != std::string::npos);
  CHECK(error("\x80\x02N.").find("expected a dict") != std::string::npos);
  CHECK(error("\x80\x02"
              "cos\nsystem\n.")
            .find("'os.system'") != std::string::npos);
  CHECK(error(gzip(batch("\x01", pixels))).find("a compressed file") != std::string::npos);
  const std::string whole = batch("\x01", pixels);
  CHECK(error(whole.substr(0, whole.size() / 2)).find("an end before") != std::string::npos);
  std::filesystem::remove(folder / (root + "test_batch"));
  CHECK_THROWS_WITH_AS(CIFAR10(folder.path(), Mode::kTest),
                       doctest::Contains("or test_batch in cifar-10-batches-py"),
                       SerializationError);
}
