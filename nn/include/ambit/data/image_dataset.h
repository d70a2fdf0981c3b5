// Labelled images in memory, stored as bytes (an eighth of the size of floats and int64 targets)
// and converted to floats batch by batch with a lookup table, which can include normalisation for
// free.
#pragma once

#include <ambit/data/dataset.h>

#include <optional>
#include <utility>
#include <vector>

namespace ambit::data::datasets {

/// Part of a dataset: training or test images.
enum class Mode { kTrain, kTest };

/// Images of one size and their classes.
class AMBIT_API ByteImages {
 public:
  /// images uint8 [N,C,H,W], targets int64 [N], both contiguous and on cpu. Errors: ShapeError,
  /// DTypeError otherwise.
  ByteImages(Tensor images, Tensor targets);

  /// Return image i as float32 [C,H,W], byte / 255 or normalised, and its class as a 0-dim int64.
  /// Errors: IndexError.
  Example<> get(size_t i) const;
  /// Return several images as float32 [B,C,H,W] and classes as int64 [B]. Errors: IndexError.
  Example<> get_stacked(Indices indices) const;
  /// Return all images as float32 [N,C,H,W].
  Tensor all() const;
  /// Make get() and get_stacked() return (x - mean) / stddev per channel. Errors: ShapeError for a
  /// different number of channels.
  void normalize(const transforms::ChannelStatistics& statistics);

  /// Return the bytes, uint8 [N,C,H,W].
  const Tensor& images() const { return images_; }
  /// Return the classes, int64 [N].
  const Tensor& targets() const { return targets_; }
  /// Return the number of images, N.
  size_t size() const { return static_cast<size_t>(images_.size(0)); }

 private:
  void write_image(size_t i, float* to) const;

  Tensor images_, targets_;
  std::vector<float> values_;  // [C][256]: float value of each byte; initially byte / 255
};

/// Base of datasets that store ByteImages: samples are float32 [C,H,W] in [0, 1], and an int64
/// class. map(Normalize) changes the lookup table, so it costs nothing per sample.
template <class Self>
class ImageDataset : public Dataset<Self> {
 public:
  using Mode = datasets::Mode;

  /// Hold the images. mode: the result of is_train().
  explicit ImageDataset(ByteImages images, Mode mode = Mode::kTrain)
      : images_(std::move(images)), mode_(mode) {}

  /// Return image `index`, float32 [C,H,W], and its class, a 0-dim int64. Errors: IndexError.
  Example<> get(size_t index) override { return images_.get(index); }
  /// Return the same batch as map(Stack<>()), written directly into one tensor.
  Example<> get_stacked(Indices indices) const { return images_.get_stacked(indices); }
  /// Return the number of images.
  std::optional<size_t> size() const override { return images_.size(); }
  /// Return whether these are the training images.
  bool is_train() const noexcept { return mode_ == Mode::kTrain; }

  /// Return all images as get() does: a new tensor float32 [N,C,H,W].
  Tensor images() const { return images_.all(); }
  /// Return all classes: int64 [N].
  const Tensor& targets() const { return images_.targets(); }
  /// Return the stored images: uint8 [N,C,H,W].
  const Tensor& raw_images() const { return images_.images(); }

  /// Normalise the results of get(). The bytes are unchanged and shared by copies. Errors:
  /// ShapeError for a different number of channels.
  void take_over(const transforms::Normalize<>& normalize) {
    images_.normalize(normalize.statistics());
  }

 private:
  ByteImages images_;
  Mode mode_;
};

}  // namespace ambit::data::datasets
