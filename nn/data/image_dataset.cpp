// Converts bytes to floats with one table lookup per pixel, directly into the batch.
#include <ambit/data/image_dataset.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>

#include <fmt/format.h>

#include <cstring>
#include <numeric>

namespace ambit::data::datasets {
namespace {

constexpr size_t kByteValues = 256;

}  // namespace

ByteImages::ByteImages(Tensor images, Tensor targets)
    : images_(std::move(images)), targets_(std::move(targets)) {
  const bool fits = images_.dim() == 4 && targets_.dim() == 1 &&
                    images_.size(0) == targets_.size(0) && images_.is_contiguous() &&
                    targets_.is_contiguous();
  if (!fits) {
    throw ShapeError(
        fmt::format("ByteImages: expected contiguous images [N,C,H,W] and targets [N], got {} and "
                    "{}",
                    ambit::str(images_.sizes()), ambit::str(targets_.sizes())));
  }
  if (!images_.is_cpu() || images_.dtype() != kUInt8 || !targets_.is_cpu() ||
      targets_.dtype() != kInt64) {
    throw DTypeError("ByteImages: expected uint8 images and int64 targets on the cpu");
  }
  for (int64_t c = 0; c < images_.size(1); ++c) {
    for (size_t v = 0; v < kByteValues; ++v) values_.push_back(static_cast<float>(v) / 255.0f);
  }
}

Example<> ByteImages::get(size_t i) const {
  Example<> one = get_stacked({&i, 1});
  return {one.data[0], one.target[0]};
}

Example<> ByteImages::get_stacked(Indices indices) const {
  const auto batch = static_cast<int64_t>(indices.size());
  const IntArrayRef s = images_.sizes();
  const int64_t image_size = s[1] * s[2] * s[3];
  Tensor data = empty({batch, s[1], s[2], s[3]}, TensorOptions(kFloat32).device(kCPU));
  Tensor target = empty({batch}, TensorOptions(kInt64).device(kCPU));
  auto* data_to = data.data_ptr<float>();
  auto* target_to = target.data_ptr<int64_t>();
  const auto* targets = targets_.data_ptr<int64_t>();
  for (const size_t i : indices) {
    if (i >= size()) {
      throw IndexError(fmt::format("dataset: expected an index below {}, got {}", size(), i));
    }
    write_image(i, data_to);
    data_to += image_size;
    *target_to++ = targets[i];
  }
  return {data, target};
}

Tensor ByteImages::all() const {
  std::vector<size_t> indices(size());
  std::iota(indices.begin(), indices.end(), size_t{0});
  return get_stacked(indices).data;
}

void ByteImages::write_image(size_t i, float* to) const {
  const auto plane = static_cast<size_t>(images_.size(2) * images_.size(3));
  const auto channels = static_cast<size_t>(images_.size(1));
  const uint8_t* from = images_.data_ptr<uint8_t>() + i * channels * plane;
  for (size_t c = 0; c < channels; ++c) {
    const float* values = values_.data() + c * kByteValues;
    size_t k = 0;
    for (; k + sizeof(uint64_t) <= plane; k += sizeof(uint64_t)) {
      uint64_t bytes;  // one load for eight pixels; little-endian
      std::memcpy(&bytes, from + k, sizeof bytes);
#pragma GCC unroll 8
      for (size_t j = 0; j < sizeof bytes; ++j) to[k + j] = values[(bytes >> (8 * j)) & 0xff];
    }
    for (; k < plane; ++k) to[k] = values[from[k]];
    from += plane;
    to += plane;
  }
}

void ByteImages::normalize(const transforms::ChannelStatistics& statistics) {
  // Normalize an image of all 256 byte values, so that the table and Normalize agree.
  const Tensor table = from_blob(values_.data(), {images_.size(1), 1, kByteValues},
                                 TensorOptions(kFloat32).device(kCPU));
  table.copy_(statistics.normalize(table));
}

}  // namespace ambit::data::datasets
