// SummaryWriter's event files, read by our own reader (event_files.h) and, if Python has it, by
// TensorBoard.
#include <ambit/ambit.h>
#include <doctest/doctest.h>
#include <png.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "event_files.h"
#include "tests/devices.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using tensorboard::SummaryWriter;

namespace {

struct Pixels {
  png_uint_32 height = 0, width = 0;
  std::vector<uint8_t> rgba;
};

Pixels decode(const std::string& bytes) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  REQUIRE_MESSAGE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()), png.message);
  png.format = PNG_FORMAT_RGBA;
  Pixels out{png.height, png.width, std::vector<uint8_t>(PNG_IMAGE_SIZE(png))};
  REQUIRE_MESSAGE(png_image_finish_read(&png, nullptr, out.rgba.data(), 0, nullptr), png.message);
  return out;
}

// Writes one event with a new writer and reads it.
Event written(const std::function<void(SummaryWriter&)>& add) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  add(writer);
  writer.close();
  const std::vector<Event> events = read_events(folder.path());
  REQUIRE(events.size() == 2);
  return events[1];
}

Pixels written_image(const Tensor& image) {
  const Event event = written([&](SummaryWriter& w) { w.add_image("x", image); });
  return decode(event.value().message(4).text(4));
}

}  // namespace

TEST_CASE("the reader's checksum is CRC-32C, masked") {
  // RFC 3720, B.4: 32 bytes of 0 give 0x8a9136aa.
  CHECK(record_checksum(std::string(32, '\0')) == std::rotr(0x8a9136aaU, 15) + 0xa282ead8U);
}

TEST_CASE("an event file has the name and the first event that TensorBoard expects") {
  const TemporaryFolder folder;
  const std::string runs = folder / "runs/deep";
  const SummaryWriter writer(runs);
  CHECK(writer.log_dir() == runs);
  const std::vector<std::string> files = event_files(runs);
  REQUIRE(files.size() == 1);
  const std::string name = std::filesystem::path(files[0]).filename();
  const std::regex form(R"(events\.out\.tfevents\.\d{10}\..+\.)" + std::to_string(getpid()) +
                        R"(\.\d+)");
  CHECK_MESSAGE(std::regex_match(name, form), name);
  const std::vector<Event> events = read_events(runs);  // while the writer is open
  REQUIRE(events.size() == 1);
  CHECK(events[0].file_version() == "brain.Event:2");
  CHECK(events[0].wall_time() > 1.7e9);  // after 2023: seconds since 1970, not since boot
}

TEST_CASE("add_scalar writes tag, step and value, in order") {
  const TemporaryFolder folder;
  {
    SummaryWriter writer(folder.path());
    writer.add_scalar("train/损失", 0.1, 7);
    writer.add_scalar("train/损失", 3, int64_t{1} << 40);
    writer.add_scalar("nan", std::nan(""), -1);
    writer.add_scalar("infinite", -std::numeric_limits<double>::infinity());
  }  // the destructor flushes
  const std::vector<Event> events = read_events(folder.path());
  REQUIRE(events.size() == 5);
  CHECK(events[1].tag() == "train/损失");
  CHECK(events[1].step() == 7);
  CHECK(events[1].scalar() == 0.1F);
  CHECK(events[2].step() == int64_t{1} << 40);
  CHECK(events[2].scalar() == 3);
  CHECK(std::isnan(events[3].scalar()));
  CHECK(events[3].step() == -1);
  CHECK(events[4].scalar() == -std::numeric_limits<float>::infinity());
  for (size_t i = 1; i < events.size(); ++i) CHECK(events[i].wall_time() > 1.7e9);
}

TEST_CASE("add_scalar accepts a tensor of one element on any device, and no other") {
  for_each_device([](Device device) {
    const Tensor loss = tensor({0.5, 1.0}, device).requires_grad_().mean();
    const Event event = written([&](SummaryWriter& w) { w.add_scalar("loss", loss, 1); });
    CHECK(event.scalar() == 0.75F);
  });
  const TemporaryFolder folder;
  CHECK_THROWS_AS(SummaryWriter(folder.path()).add_scalar("loss", zeros({2})), ShapeError);
}

TEST_CASE("add_scalars creates a run for each curve") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  for (int step = 0; step < 2; ++step) {
    writer.add_scalars("loss/all", {{"train", step}, {"x/y", 0.5}, {"z/../../w", 0.25}}, step);
  }
  writer.flush();
  const std::vector<Event> train = read_events(folder / "loss_all_train");
  REQUIRE(train.size() == 3);
  CHECK(train[0].file_version() == "brain.Event:2");
  CHECK(train[2].tag() == "loss/all");
  CHECK(train[2].scalar() == 1);
  CHECK(train[2].step() == 1);
  // The folders are those of torch.utils.tensorboard in PyTorch 2.15, except that none may be
  // outside of the writer's folder.
  CHECK(read_events(folder / "loss_all_x/y")[1].scalar() == 0.5F);
  CHECK(read_events(folder / "loss_all_z_.._.._w")[1].scalar() == 0.25F);
  CHECK(read_events(folder.path()).size() == 1);
}

TEST_CASE("add_histogram fills TensorFlow's bins as PyTorch does") {
  // Limits and counts: torch.utils.tensorboard.summary.make_histogram of PyTorch 1.13.
  for_each_device([](Device device) {
    const Tensor values = tensor({-1.0, 0.0, 0.5, 0.5, 2.0}, device);
    const Event event = written([&](SummaryWriter& w) { w.add_histogram("h", values, 3); });
    CHECK(event.tag() == "h");
    CHECK(event.step() == 3);
    const Message value = event.value(), histogram = value.message(5);
    CHECK(histogram.float64(1) == -1);
    CHECK(histogram.float64(2) == 2);
    CHECK(histogram.float64(3) == 5);
    CHECK(histogram.float64(4) == 2);
    CHECK(histogram.float64(5) == 5.5);
    const std::vector<double> limits = histogram.packed_float64(6);
    const std::vector<double> counts = histogram.packed_float64(7);
    REQUIRE(limits.size() == 591);
    REQUIRE(counts.size() == 591);
    CHECK(limits[0] == -1.0089710279437536);
    CHECK(limits[1] == -0.917246389039776);
    CHECK(limits[292] == 1e-12);
    CHECK(limits[575] == 0.5177616740489182);
    CHECK(limits[590] == 2.1628190051144287);
    std::vector<double> expected(591);
    expected[1] = expected[292] = expected[590] = 1;
    expected[575] = 2;
    CHECK(counts == expected);
  });
}

TEST_CASE("add_histogram accepts every dtype, and leaves out values beyond the bins") {
  const auto histogram = [](const Tensor& values) {
    const Event event = written([&](SummaryWriter& w) { w.add_histogram("h", values); });
    const Message value = event.value(), h = value.message(5);
    return std::vector{h.float64(1), h.float64(2), h.float64(3), h.packed_float64(6).back(),
                       h.packed_float64(7).back()};
  };
  for (const DType dtype :
       {kBool, kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat32, kFloat64}) {
    CHECK(histogram(zeros({3}, dtype)) == std::vector{0.0, 0.0, 3.0, 1e-12, 3.0});
  }
  // As in PyTorch, there is one bin, which contains 1.
  CHECK(histogram(tensor({1e21, 1.0, -1e30}, kFloat64)) ==
        std::vector{-1e30, 1e21, 3.0, 1.0089710279437536, 1.0});
}

TEST_CASE("add_histogram leaves out NaN and infinities") {
  const Tensor finite = tensor({-1., 0.5, 0.5}),
               all = tensor({-1., NAN, 0.5, INFINITY, 0.5, -INFINITY});
  const auto written_of = [](const Tensor& values) {
    return written([&](SummaryWriter& w) { w.add_histogram("h", values, 3); }).value().text(5);
  };
  CHECK(written_of(all) == written_of(finite));
}

TEST_CASE("add_histogram refuses tensors without a distribution") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  CHECK_THROWS_WITH_AS(writer.add_histogram("h", zeros({0})),
                       "add_histogram: expected at least one element, got none", Error);
  CHECK_THROWS_WITH_AS(writer.add_histogram("h", tensor({INFINITY, std::nan("")})),
                       "add_histogram: expected a finite element, got none among 2", Error);
  CHECK_THROWS_WITH_AS(
      writer.add_histogram("h", tensor({1e25})),
      "add_histogram: expected a value of at most 9.92e+19 in size, got none among 1", Error);
  writer.close();
  CHECK(read_events(folder.path()).size() == 1);  // nothing was added
}

TEST_CASE("add_image writes a PNG of the pixels") {
  for_each_device([](Device device) {
    const Tensor image = arange(24).reshape({4, 2, 3}).to(kUInt8).to(device);  // channel stride 6
    const Event event = written([&](SummaryWriter& w) { w.add_image("x", image, 5); });
    const Message value = event.value(), out = value.message(4);
    CHECK(out.integer(1) == 2);
    CHECK(out.integer(2) == 3);
    CHECK(out.integer(3) == 4);
    CHECK(out.text(4).substr(0, 8) == "\x89PNG\r\n\x1a\n");
    const Pixels rgba = decode(out.text(4));
    CHECK(rgba.height == 2);
    CHECK(rgba.width == 3);
    CHECK(rgba.rgba == std::vector<uint8_t>{0, 6, 12, 18, 1, 7,  13, 19, 2, 8,  14, 20,
                                            3, 9, 15, 21, 4, 10, 16, 22, 5, 11, 17, 23});
  });
}

TEST_CASE("add_image accepts grey and RGB, uint8 and floats") {
  CHECK(written_image(tensor({7, 9}).to(kUInt8).reshape({1, 1, 2})).rgba ==
        std::vector<uint8_t>{7, 7, 7, 255, 9, 9, 9, 255});
  // 0.5 * 255 = 127.5 is truncated; values outside of [0, 1] are clamped.
  const std::vector<uint8_t> expected{127, 255, 0, 255, 255, 0, 1, 255};
  for (const DType dtype : {kFloat32, kFloat64}) {
    const Tensor image = tensor({{0.5, 1.0}, {1.5, -0.5}, {std::nan(""), 1.0 / 255}}, dtype);
    CHECK(written_image(image.reshape({3, 1, 2})).rgba == expected);
  }
  const Tensor wide = zeros({3, 4, 4}).slice(2, 0, 4, 2);  // strided
  CHECK(written_image(wide).width == 2);
}

TEST_CASE("tensors of float16 and bfloat16 are written as their exact values") {
  const Tensor tenth = tensor(0.1),
               ones = full({5000}, 0.1);  // the sum exceeds the precision of both dtypes
  const Tensor image = (arange(256, kFloat32) / 255).view({1, 16, 16});
  for (const DType dtype : dtypes::kReducedFloating) {
    CAPTURE(name(dtype));
    const double rounded = tenth.to(dtype).item<double>();
    REQUIRE(rounded != 0.1F);
    CHECK(written([&](SummaryWriter& w) { w.add_scalar("x", tenth.to(dtype)); }).scalar() ==
          rounded);
    const Event event = written([&](SummaryWriter& w) { w.add_histogram("h", ones.to(dtype)); });
    const Message value = event.value(), histogram = value.message(5);
    CHECK(histogram.float64(1) == rounded);
    CHECK(histogram.float64(2) == rounded);
    // 5000 additions in float64, each of which rounds by 2^-53 of at most the whole.
    CHECK(histogram.float64(4) == doctest::Approx(5000 * rounded).epsilon(5000 * 0x1p-53));
    CHECK(histogram.float64(5) ==
          doctest::Approx(5000 * rounded * rounded).epsilon(5000 * 0x1p-53));
    // 255 times such a number would be rounded before it is truncated.
    CHECK(written_image(image.to(dtype)).rgba == written_image(image.to(dtype).to(kFloat32)).rgba);
  }
}

TEST_CASE("add_image refuses tensors that are not images") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  CHECK_THROWS_WITH_AS(writer.add_image("x", zeros({3, 2, 2}, kInt64)),
                       "add_image: expected uint8 or a float dtype, got int64", DTypeError);
  for (const Tensor& image : {zeros({2, 2}), zeros({2, 4, 4}), zeros({3, 0, 4}), zeros({})}) {
    CHECK_THROWS_AS(writer.add_image("x", image), ShapeError);
  }
  CHECK_THROWS_WITH_AS(
      writer.add_image("x", zeros({2, 4, 4})),
      "add_image: expected [C,H,W] with 1, 3 or 4 channels and at least one pixel, got [2, 4, 4]",
      ShapeError);
  // libpng's limit is a million pixels per side.
  CHECK_THROWS_AS(writer.add_image("x", zeros({1, 1, 1'000'001}, kUInt8)), Error);
  writer.add_scalar("still", 1);
  writer.close();
  CHECK(read_events(folder.path()).size() == 2);
}

TEST_CASE("add_text writes a string tensor of the text plugin") {
  const Event event = written([](SummaryWriter& w) { w.add_text("note", "**卷积** net", 2); });
  CHECK(event.tag() == "note/text_summary");
  CHECK(event.step() == 2);
  const Message value = event.value();
  const Message metadata = value.message(9), plugin = metadata.message(1);
  CHECK(plugin.text(1) == "text");
  const Message text = value.message(8);
  CHECK(text.integer(1) == 7);  // DT_STRING
  const Message shape = text.message(2);
  CHECK(shape.message(2).integer(1) == 1);
  CHECK(text.text(8) == "**卷积** net");
}

TEST_CASE("tags and texts are UTF-8") {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  const std::string latin1 =
      "Stra\xdf"
      "e";
  CHECK_THROWS_WITH_AS(writer.add_scalar(latin1, 1),
                       "add_scalar: expected a tag in UTF-8, got another encoding", Error);
  CHECK_THROWS_AS(writer.add_scalars("a", {{"b", 1}, {latin1, 1}}), Error);
  CHECK_THROWS_AS(writer.add_histogram(latin1, ones({1})), Error);
  CHECK_THROWS_AS(writer.add_image(latin1, ones({1, 1, 1})), Error);
  CHECK_THROWS_AS(writer.add_text(latin1, "x"), Error);
  CHECK_THROWS_WITH_AS(writer.add_text("x", latin1),
                       "add_text: expected a text in UTF-8, got another encoding", Error);
  writer.close();
  CHECK(read_events(folder.path()).size() == 1);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("TensorBoard reads every scalar, histogram, image and text") {
  const char* chosen = std::getenv("AMBIT_PYTHON");
  const std::string python = chosen && *chosen ? chosen : "python3";
  if (std::system(("'" + python + "' -c 'import tensorboard' 2>/dev/null").c_str()) != 0) {
    MESSAGE("skipped: no TensorBoard");
    return;
  }
  const TemporaryFolder folder;
  {
    SummaryWriter writer(folder / "run");
    for (int step = 0; step < 50; ++step) writer.add_scalar("train/loss", 1.0 / (1 + step), step);
    writer.add_scalar("nan", std::nan(""));
    writer.add_scalars("accuracy", {{"train", 0.5}, {"test", 0.25}}, 4);
    writer.add_histogram("weights", tensor({-1.0, 0.0, 0.5, 0.5, 2.0}), 3);
    writer.add_image("picture", arange(24).reshape({3, 2, 4}).to(kUInt8), 9);
    writer.add_text("note", "**卷积**", 1);
  }
  const std::string json = folder / "read.json";
  REQUIRE(std::system(("'" + python + "' '" AMBIT_READ_EVENTS "' '" + folder.path().string() +
                       "' > '" + json + "'")
                          .c_str()) == 0);
  const auto runs = nlohmann::json::parse(read_bytes(json));
  REQUIRE(runs.size() == 3);
  CHECK(runs["run/accuracy_train"]["scalars"] == nlohmann::json{{"accuracy", {{4, 0.5}}}});
  CHECK(runs["run/accuracy_test"]["scalars"] == nlohmann::json{{"accuracy", {{4, 0.25}}}});
  const auto& run = runs["run"];
  CHECK(run["scalars"].size() == 2);
  const auto& losses = run["scalars"]["train/loss"];
  REQUIRE(losses.size() == 50);
  for (int step = 0; step < 50; ++step) {
    CHECK(losses[step] == nlohmann::json{step, static_cast<float>(1.0 / (1 + step))});
  }
  CHECK(run["scalars"]["nan"] == nlohmann::json{{0, "nan"}});
  const auto& histogram = run["histograms"]["weights"][0];
  CHECK(histogram["step"] == 3);
  CHECK(histogram["totals"] == nlohmann::json{-1.0, 2.0, 5.0, 2.0, 5.5});
  CHECK(histogram["filled"] == nlohmann::json{{-0.917246389039776, 1.0},
                                              {1e-12, 1.0},
                                              {0.5177616740489182, 2.0},
                                              {2.1628190051144287, 1.0}});
  const auto& image = run["images"]["picture"][0];
  CHECK(image["step"] == 9);
  CHECK(image["size"] == nlohmann::json{4, 2});
  std::vector<uint8_t> png = image["png"];
  CHECK(decode({png.begin(), png.end()}).rgba ==
        std::vector<uint8_t>{0, 8,  16, 255, 1, 9,  17, 255, 2, 10, 18, 255, 3, 11, 19, 255,
                             4, 12, 20, 255, 5, 13, 21, 255, 6, 14, 22, 255, 7, 15, 23, 255});
  CHECK(run["texts"] == nlohmann::json{{"note/text_summary", {{1, "**卷积**"}}}});
}
