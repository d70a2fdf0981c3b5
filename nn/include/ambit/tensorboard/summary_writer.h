// SummaryWriter: curves, histograms, images and text of a training run, for TensorBoard.
//   tensorboard::SummaryWriter writer("logs_train");
//   writer.add_scalar("train_loss", loss, step);
// then `tensorboard --logdir logs_train`. Names and file contents are those of PyTorch's
// torch.utils.tensorboard.
#pragma once

#include <ambit/nn/options.h>
#include <ambit/scalar.h>
#include <ambit/tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ambit::tensorboard {

class EventWriter;

/// Options of SummaryWriter. Errors of its constructor: max_queue 0; flush_secs outside [0, 1e9].
class SummaryWriterOptions : public nn::Options<SummaryWriterOptions> {
 public:
  /// Maximum number of events in the queue of the writing thread; add_* waits while it is full.
  /// Default: 10.
  SummaryWriterOptions& max_queue(size_t n) { return set(max_queue_, n); }
  /// How long an event may stay in memory, in seconds. Default: 120.
  SummaryWriterOptions& flush_secs(double v) { return set(flush_secs_, v); }

  size_t max_queue() const { return max_queue_; }
  double flush_secs() const { return flush_secs_; }

 private:
  size_t max_queue_ = 10;
  double flush_secs_ = 120;
};

/// Writes event files into a folder from a background thread. Each add_* copies its arguments
/// (tensors of any device to cpu) and returns. The files contain the data after flush(), close() or
/// the destructor, at the latest after flush_secs, so that TensorBoard can show a running training.
///
/// Errors: a call with a wrong argument throws and adds nothing. An error of the disk (full, folder
/// removed) is thrown by the next call, as an Error with the file, the reason and the number of
/// lost events, and by every further call until close(); calls after close() start new files. Any
/// call in a forked process throws Error.
/// Thread safety: any thread may call anything but the destructor.
class AMBIT_API SummaryWriter {
 public:
  /// Create the folder if it does not exist, and an event file in it.
  /// Errors: Error naming the file and the system's reason, or for options that are out of range.
  explicit SummaryWriter(std::string log_dir, SummaryWriterOptions options = {});
  /// Close. If that fails, print the number of lost events and the reason on stderr, unless a call
  /// has already thrown that error.
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  /// Add a point to the curve `tag`, kept as float32; NaN and infinities too.
  void add_scalar(const std::string& tag, const Scalar& value, int64_t step = 0);
  /// Add the value of a one-element tensor. Errors: ShapeError.
  void add_scalar(const std::string& tag, const Tensor& value, int64_t step = 0);

  /// Add points to several curves of one diagram. Each curve is a run in its own folder,
  /// log_dir/<main_tag>_<tag> (slashes of main_tag become underscores), with the tag main_tag.
  void add_scalars(const std::string& main_tag,
                   const std::vector<std::pair<std::string, Scalar>>& tag_values, int64_t step = 0);

  /// Add the distribution of all elements, in TensorFlow's bins, whose edges are 0 and
  /// +-1e-12 * 1.1^k up to 1e20. Elements outside count in min, max and sums only. NaN and
  /// infinities are omitted; for the first time per tag, a line on stderr gives their number.
  /// Errors: Error if no element is finite, or none is within the bins.
  void add_histogram(const std::string& tag, const Tensor& values, int64_t step = 0);

  /// Add an image [C,H,W] of 1 (grey), 3 (RGB) or 4 (RGBA) channels: uint8, or floats that are
  /// clamped to [0, 1], NaN to 0.
  /// Errors: DTypeError; ShapeError; Error if the image is too large for PNG.
  void add_image(const std::string& tag, const Tensor& image, int64_t step = 0);

  /// Add a text. TensorBoard renders it as Markdown.
  void add_text(const std::string& tag, const std::string& text, int64_t step = 0);

  /// Wait until all added data is in the files.
  void flush();
  /// Flush and close the files. Later calls of add_* start new files in the same folder.
  void close();

  /// Return the folder, as it was given.
  const std::string& log_dir() const { return log_dir_; }

 private:
  std::string log_dir_;
  std::unique_ptr<EventWriter> events_;
};

}  // namespace ambit::tensorboard
