// Requests are queued like events, so that a flush follows all events that were added before it. An
// error remains until close() has thrown it; until then nothing is queued.
#include "event_writer.h"

#include <ambit/error.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

namespace ambit::tensorboard {

using Clock = std::chrono::steady_clock;

EventWriter::EventWriter(std::filesystem::path folder, size_t max_queue, double flush_secs)
    : folder_(std::move(folder)),
      max_queue_(max_queue),
      flush_interval_(flush_secs),
      process_(getpid()) {
  files_.try_emplace("", folder_);
  thread_ = std::thread(&EventWriter::run, this);
}

EventWriter::~EventWriter() {
  const bool known = error_thrown_;
  try {
    close();
  } catch (const std::exception& e) {
    if (!known) std::fprintf(stderr, "ambit: %s\n", e.what());
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void EventWriter::add(std::string run, std::string event) {
  expect_own_process();
  std::unique_lock lock(mutex_);
  handled_.wait(lock, [this] { return queue_.size() < max_queue_ || !error_.empty(); });
  if (!error_.empty()) {
    error_thrown_ = true;
    throw Error(error_);
  }
  push({Request::event, std::move(run), std::move(event)});
  ++added_events_;
}

void EventWriter::flush() {
  expect_own_process();
  std::unique_lock lock(mutex_);
  push_and_wait(Request::flush, lock);
  if (error_.empty()) return;
  error_thrown_ = true;
  throw Error(error_);
}

void EventWriter::close() {
  expect_own_process();
  std::unique_lock lock(mutex_);
  push_and_wait(Request::close, lock);
  if (error_.empty()) return;
  error_thrown_ = false;
  throw Error(std::exchange(error_, {}));
}

void EventWriter::push(Item item) {
  queue_.push_back(std::move(item));
  ++pushed_count_;
  wake_.notify_one();
}

void EventWriter::push_and_wait(Request request, std::unique_lock<std::mutex>& lock) {
  if (!error_.empty()) return;
  push({request, {}, {}});
  const uint64_t ticket = pushed_count_;
  handled_.wait(lock, [&] { return handled_count_ >= ticket; });
}

bool EventWriter::is_first_mention(const std::string& tag) {
  const std::lock_guard lock(mutex_);
  return mentioned_.insert(tag).second;
}

bool EventWriter::is_forked() const { return getpid() != process_; }

void EventWriter::expect_own_process() const {
  if (!is_forked()) return;
  throw Error("SummaryWriter: expected the process that created it, got a forked child");
}

void EventWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_item(lock);
    if (queue_.empty() && stopping_) return;
    Item item;  // stays empty if the flush interval is over
    const bool popped = !queue_.empty();
    if (popped) {
      item = std::move(queue_.front());
      queue_.pop_front();
      handled_.notify_all();
    }
    lock.unlock();
    std::string why;
    try {
      handle(item);
    } catch (const std::exception& e) {
      why = e.what();
    }
    lock.lock();
    if (popped) ++handled_count_;
    if (!why.empty()) fail(why);
    handled_.notify_all();
  }
}

void EventWriter::wait_for_item(std::unique_lock<std::mutex>& lock) {
  const auto ready = [this] { return stopping_ || !queue_.empty(); };
  if (due_) {
    wake_.wait_until(lock, *due_, ready);
  } else {
    wake_.wait(lock, ready);
  }
}

void EventWriter::handle(const Item& item) {
  if (item.request == Request::event) append(item);
  const bool is_due = due_ && Clock::now() >= *due_;
  if (item.request == Request::flush || is_due) write_out();
  if (item.request == Request::close) close_files();
}

void EventWriter::append(const Item& item) {
  EventFile& file = files_.try_emplace(item.run, folder_ / item.run).first->second;
  written_events_ += file.append(item.event);
  if (!due_) due_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(flush_interval_);
}

void EventWriter::write_out() {
  for (auto& [run, file] : files_) written_events_ += file.write_out();
  due_.reset();
}

void EventWriter::close_files() {
  for (auto& [run, file] : files_) written_events_ += file.close();
  files_.clear();
  due_.reset();
}

// Drop the files, with the contents of their buffers, and the queue. Requires mutex_.
void EventWriter::fail(const std::string& why) {
  const uint64_t lost = added_events_ - std::exchange(written_events_, added_events_);
  error_ = fmt::format("{}; lost {} unwritten event{}", why, lost, lost == 1 ? "" : "s");
  files_.clear();
  due_.reset();
  queue_.clear();
  handled_count_ = pushed_count_;
}

}  // namespace ambit::tensorboard
