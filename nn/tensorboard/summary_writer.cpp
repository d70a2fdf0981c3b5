// Each add_* checks its arguments and encodes the event, so that errors are thrown by the call that
// caused them; EventWriter's thread only writes.
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/tensorboard/summary_writer.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "encoder/encoder.h"
#include "event_writer.h"
#include "histogram.h"
#include "image.h"
#include "wall_time.h"

namespace ambit::tensorboard {
namespace {

constexpr double kMostFlushSecs = 1e9;  // 30 years; much larger values would overflow the clock

// Readers refuse the whole event if one string is not UTF-8.
void expect_utf8(const char* op, const char* what, const std::string& text) {
  try {
    nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error(fmt::format("{}: expected a {} in UTF-8, got another encoding", op, what));
  }
}

EventHead head(const char* op, const std::string& tag, int64_t step) {
  expect_utf8(op, "tag", tag);
  return {wall_time_s(), step, tag};
}

// As in torch.utils.tensorboard, slashes in the diagram's tag become underscores, and those in a
// curve's tag create folders, unless these would be outside of the log's folder.
std::string run_name(const std::string& main_tag, const std::string& tag) {
  std::string name = main_tag, curve = tag;
  std::replace(name.begin(), name.end(), '/', '_');
  const bool leads_out = (tag + "/").find("/../") != tag.npos;
  if (leads_out) std::replace(curve.begin(), curve.end(), '/', '_');
  return name + "_" + curve;
}

}  // namespace

SummaryWriter::SummaryWriter(std::string log_dir, SummaryWriterOptions options)
    : log_dir_(std::move(log_dir)) {
  if (options.max_queue() == 0) {
    throw Error("SummaryWriter: expected max_queue of at least 1, got 0");
  }
  if (!(options.flush_secs() >= 0 && options.flush_secs() <= kMostFlushSecs)) {
    throw Error(fmt::format("SummaryWriter: expected flush_secs from 0 to {}, got {}",
                            kMostFlushSecs, options.flush_secs()));
  }
  events_ = std::make_unique<EventWriter>(log_dir_, options.max_queue(), options.flush_secs());
}

SummaryWriter::~SummaryWriter() {
  // A forked process has no thread to join, and the lock may be held forever: leak everything.
  if (events_->is_forked()) [[maybe_unused]]
    const auto* leaked = events_.release();
}

void SummaryWriter::add_scalar(const std::string& tag, const Scalar& value, int64_t step) {
  events_->add("", encoder().scalar(head("add_scalar", tag, step), value.to<float>()));
}

void SummaryWriter::add_scalar(const std::string& tag, const Tensor& value, int64_t step) {
  add_scalar(tag, value.item(), step);
}

void SummaryWriter::add_scalars(const std::string& main_tag,
                                const std::vector<std::pair<std::string, Scalar>>& tag_values,
                                int64_t step) {
  const EventHead at = head("add_scalars", main_tag, step);
  for (const auto& [tag, value] : tag_values) expect_utf8("add_scalars", "tag", tag);
  for (const auto& [tag, value] : tag_values) {
    events_->add(run_name(main_tag, tag), encoder().scalar(at, value.to<float>()));
  }
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, int64_t step) {
  const EventHead at = head("add_histogram", tag, step);
  size_t left_out = 0;
  const Histogram histogram = make_histogram(values, left_out);
  if (left_out > 0 && events_->is_first_mention(tag)) {
    std::fprintf(stderr,
                 "ambit: add_histogram: left out %zu of %lld values of '%s' that are not finite; "
                 "later ones of this tag are not mentioned\n",
                 left_out, static_cast<long long>(values.numel()), printable(tag).c_str());
  }
  events_->add("", encoder().histogram(at, histogram));
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& image, int64_t step) {
  const EventHead at = head("add_image", tag, step);
  events_->add("", encoder().image(at, make_image(image)));
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, int64_t step) {
  expect_utf8("add_text", "text", text);
  events_->add("", encoder().text(head("add_text", tag, step), text));
}

void SummaryWriter::flush() { events_->flush(); }

void SummaryWriter::close() { events_->close(); }

}  // namespace ambit::tensorboard
