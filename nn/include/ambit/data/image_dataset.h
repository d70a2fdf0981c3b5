// Labelled images in memory: kept as bytes, an eighth of what floats and int64 targets would take,
// and turned into floats batch by batch through a table, into which normalisation goes at no cost.
#pragma once

#include <ambit/data/dataset.h>

#include <optional>
#include <utility>
#include <vector>

namespace ambit::data::datasets {

/// Which part of a dataset: its training or its test images.
enum class Mode { kTrain, kTest };

/// Images of one size and their classes.
class AMBIT_API ByteImages {
 public:
  /// images uint8 [N,C,H,W], targets int64 [N], both contiguous and on the cpu. Errors: ShapeError,
  /// DTypeError where they are not.
  ByteImages(Tensor images, Tensor targets);

  /// Return image i as float32 [C,H,W], byte / 255 or normalised, and its class as a 0-dim int64.
  /// Errors: IndexError.
  Example<> get(size_t i) const;
  /// Return several as float32 [B,C,H,W] and int64 [B]. Errors: IndexError.
  Example<> get_stacked(Indices indices) const;
  /// Return all of them as get_stacked() does: float32 [N,C,H,W].
  Tensor all() const;
  /// Make get() and get_stacked() return (x - mean) / stddev per channel. Errors: ShapeError for
  /// another number of channels.
  void normalize(const transforms::ChannelStatistics& statistics);

  const Tensor& images() const { return images_; }
  const Tensor& targets() const { return targets_; }
  size_t size() const { return static_cast<size_t>(images_.size(0)); }

 private:
  void write_image(size_t i, float* to) const;

  Tensor images_, targets_;
  std::vector<float> values_;  // [C][256]: what each byte stands for; at first byte / 255
};

/// Base of the datasets that hold ByteImages: samples are float32 [C,H,W] in [0, 1], and an int64
/// class. Mapped by Normalize they are normalised as they are read, at no cost.
template <class Self>
class ImageDataset : public Dataset<Self> {
 public:
  using Mode = datasets::Mode;

  explicit ImageDataset(ByteImages images, Mode mode = Mode::kTrain)
      : images_(std::move(images)), mode_(mode) {}

  Example<> get(size_t index) override { return images_.get(index); }
  /// Return a batch as map(Stack<>()) does, written straight into one tensor.
  Example<> get_stacked(Indices indices) const { return images_.get_stacked(indices); }
  std::optional<size_t> size() const override { return images_.size(); }
  /// Return whether these are the training images.
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }

  /// Return all images as get() gives them: float32 [N,C,H,W], made for the call.
  Tensor images() const { return images_.all(); }
  /// Return all classes: int64 [N].
  const Tensor& targets() const { return images_.targets(); }
  /// Return the images as they are kept: uint8 [N,C,H,W].
  const Tensor& raw_images() const { return images_.images(); }

  /// Normalise what get() gives. The bytes stay, and copies share them. Errors: ShapeError for
  /// another number of channels.
  void take_over(const transforms::Normalize<>& normalize) {
    images_.normalize(normalize.statistics());
  }

 private:
  ByteImages images_;
  Mode mode_;
};

}  // namespace ambit::data::datasets
