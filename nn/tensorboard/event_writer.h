// The thread that writes the files of a SummaryWriter, and its queue.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "event_file.h"

namespace ambit::tensorboard {

/// Errors of all functions: Error for an earlier failure of the thread, and in a forked process.
class EventWriter {
 public:
  /// Start the file of the run "", directly in the folder.
  EventWriter(std::filesystem::path folder, size_t max_queue, double flush_secs);
  /// Close. Print an error on stderr if no call has thrown it.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Append an event to the file of a run, in folder/<run>. Wait while the queue is full.
  void add(std::string run, std::string event);
  void flush();
  void close();
  /// Return true for the first call with a tag. Used for messages that appear once per tag.
  bool is_first_mention(const std::string& tag);
  /// Return true in a forked process, which does not have the thread.
  bool is_forked() const;

 private:
  enum class Request { event, flush, close };
  struct Item {
    Request request = Request::flush;
    std::string run, event;
  };

  // Called by the user's threads; push and push_and_wait require mutex_.
  void push(Item item);
  void push_and_wait(Request request, std::unique_lock<std::mutex>& lock);
  void expect_own_process() const;

  // Called by the writer's thread.
  void run();
  void wait_for_item(std::unique_lock<std::mutex>& lock);
  void handle(const Item& item);
  void append(const Item& item);
  void write_out();
  void close_files();
  void fail(const std::string& why);

  const std::filesystem::path folder_;
  const size_t max_queue_;
  const std::chrono::duration<double> flush_interval_;
  const pid_t process_;

  std::mutex mutex_;
  std::condition_variable wake_;     // for the thread: an item is queued, or stopping_
  std::condition_variable handled_;  // for callers: the thread has removed or handled an item
  // Guarded by mutex_.
  std::deque<Item> queue_;
  uint64_t pushed_count_ = 0, handled_count_ = 0;  // items
  uint64_t added_events_ = 0;
  std::string error_;  // empty: none
  bool error_thrown_ = false;
  std::set<std::string> mentioned_;  // tags
  bool stopping_ = false;

  // Only used by the writer's thread.
  std::map<std::string, EventFile> files_;  // one for each run
  uint64_t written_events_ = 0;
  std::optional<std::chrono::steady_clock::time_point> due_;  // time of the next flush, if needed

  std::thread thread_;  // the last member, because it uses all others
};

}  // namespace ambit::tensorboard
