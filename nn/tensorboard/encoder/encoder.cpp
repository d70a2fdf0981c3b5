// Encodes events as protobuf messages with the same fields as torch.utils.tensorboard writes.
#include "encoder.h"

#include <ambit/error.h>

#include "event.pb.h"
#include "png_bytes.h"

namespace ambit::tensorboard {
namespace {

std::string serialize(const proto::Event& event) {
  std::string bytes;
  if (!event.SerializeToString(&bytes)) {
    throw Error("SummaryWriter: expected an event of at most 2 GiB, got a larger one");
  }
  return bytes;
}

// Start an event of one value, and return the value for the caller to fill in.
proto::Summary::Value* start(proto::Event& event, const EventHead& head) {
  event.set_wall_time(head.wall_time_s);
  event.set_step(head.step);
  proto::Summary::Value* value = event.mutable_summary()->add_value();
  value->set_tag(head.tag);
  return value;
}

std::string file_version(double wall_time_s) {
  proto::Event event;
  event.set_wall_time(wall_time_s);
  event.set_file_version("brain.Event:2");
  return serialize(event);
}

std::string scalar(const EventHead& head, float value) {
  proto::Event event;
  start(event, head)->set_simple_value(value);
  return serialize(event);
}

std::string histogram(const EventHead& head, const Histogram& h) {
  proto::Event event;
  proto::HistogramProto* out = start(event, head)->mutable_histo();
  out->set_min(h.min);
  out->set_max(h.max);
  out->set_num(h.count);
  out->set_sum(h.sum);
  out->set_sum_squares(h.sum_squares);
  out->mutable_bucket_limit()->Add(h.limits.begin(), h.limits.end());
  out->mutable_bucket()->Add(h.counts.begin(), h.counts.end());
  return serialize(event);
}

std::string image(const EventHead& head, const Image& image) {
  proto::Event event;
  proto::Summary::Image* out = start(event, head)->mutable_image();
  out->set_height(image.height);
  out->set_width(image.width);
  out->set_colorspace(image.channels);
  out->set_encoded_image_string(png_bytes(image));
  return serialize(event);
}

// A string tensor [1], marked for the text plugin. The plugin's own data is a message with version
// 0, which protobuf encodes as no bytes.
std::string text(const EventHead& head, const std::string& text) {
  proto::Event event;
  proto::Summary::Value* value = start(event, head);
  value->set_tag(head.tag + "/text_summary");
  value->mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
  proto::TensorProto* tensor = value->mutable_tensor();
  tensor->set_dtype(proto::DT_STRING);
  tensor->mutable_tensor_shape()->add_dim()->set_size(1);
  tensor->add_string_val(text);
  return serialize(event);
}

}  // namespace
}  // namespace ambit::tensorboard

extern "C" AMBIT_API const void* ambit_tensorboard() {
  using namespace ambit::tensorboard;
  static constexpr Encoder kEncoder{file_version, scalar, histogram, image, text};
  return &kEncoder;
}
