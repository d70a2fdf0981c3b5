// A reader of TensorBoard's event files that shares no code with the writer: TFRecord frames with
// checksums, and protobuf's wire format. Source: protobuf.dev, "Encoding".
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/temporary_folder.h"

/// Reads bytes from the front of a text. Errors: std::runtime_error if there are too few.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}
  bool done() const { return left_.empty(); }
  std::string_view take(uint64_t size) {
    if (size > left_.size()) throw std::runtime_error("event file: ends too early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T take() {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  uint64_t take_varint() {
    for (uint64_t value = 0, shift = 0; shift < 64; shift += 7) {
      const auto byte = take<uint8_t>();
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("event file: a number does not end");
  }

 private:
  std::string_view left_;
};

/// One message: its fields by number. Missing fields read as 0 or empty, as in protobuf.
class Message {
 public:
  explicit Message(std::string_view bytes) {
    for (ByteReader in(bytes); !in.done();) {
      const uint64_t key = in.take_varint();
      Field field{key >> 3, 0, {}};
      switch (key & 7) {
        case 0:
          field.number = in.take_varint();
          break;
        case 1:
          field.bytes = in.take(8);
          break;
        case 2:
          field.bytes = in.take(in.take_varint());
          break;
        case 5:
          field.bytes = in.take(4);
          break;
        default:
          throw std::runtime_error("event file: a field of an unknown kind");
      }
      fields_.push_back(field);
    }
  }
  bool has(uint64_t id) const { return !all(id).empty(); }
  int64_t integer(uint64_t id) const { return static_cast<int64_t>(last(id).number); }
  std::string text(uint64_t id) const { return std::string(last(id).bytes); }
  Message message(uint64_t id) const { return Message(last(id).bytes); }
  float float32(uint64_t id) const {
    return has(id) ? ByteReader(last(id).bytes).take<float>() : 0;
  }
  double float64(uint64_t id) const {
    return has(id) ? ByteReader(last(id).bytes).take<double>() : 0;
  }
  std::vector<double> packed_float64(uint64_t id) const {
    std::vector<double> values;
    for (ByteReader in(last(id).bytes); !in.done();) values.push_back(in.take<double>());
    return values;
  }

 private:
  struct Field {
    uint64_t id, number;
    std::string_view bytes;
  };
  std::vector<Field> all(uint64_t id) const {
    std::vector<Field> found;
    std::copy_if(fields_.begin(), fields_.end(), std::back_inserter(found),
                 [&](const Field& f) { return f.id == id; });
    return found;
  }
  Field last(uint64_t id) const { return has(id) ? all(id).back() : Field{id, 0, {}}; }

  std::vector<Field> fields_;
};

/// Return the masked CRC-32C of the TFRecord format, computed bit by bit.
inline uint32_t record_checksum(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
  }
  return std::rotr(~crc, 15) + 0xa282ead8;
}

/// Return the records of a TFRecord file. Errors: std::runtime_error for a corrupt or truncated
/// file.
inline std::vector<std::string> read_records(const std::string& path) {
  const std::string file = read_bytes(path);
  std::vector<std::string> records;
  for (ByteReader in(file); !in.done();) {
    const std::string_view length = in.take(8);
    if (in.take<uint32_t>() != record_checksum(length)) throw std::runtime_error("bad length");
    const std::string_view record = in.take(ByteReader(length).take<uint64_t>());
    if (in.take<uint32_t>() != record_checksum(record)) throw std::runtime_error("bad record");
    records.emplace_back(record);
  }
  return records;
}

/// Return the event files of a folder, without subfolders, sorted by name.
inline std::vector<std::string> event_files(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// One event, with at most one value. Messages are views of the record: keep the event alive.
struct Event {
  explicit Event(std::string bytes) : record(std::move(bytes)) {}
  Message event() const { return Message(record); }
  double wall_time() const { return event().float64(1); }
  int64_t step() const { return event().integer(2); }
  std::string file_version() const { return event().text(3); }
  Message value() const { return event().message(5).message(1); }
  std::string tag() const { return value().text(1); }
  float scalar() const { return value().float32(2); }

  std::string record;
};

/// Return the events of a folder's only event file, the version event first.
inline std::vector<Event> read_events(const std::filesystem::path& folder) {
  const std::vector<std::string> files = event_files(folder);
  if (files.size() != 1) throw std::runtime_error("expected one event file in " + folder.string());
  std::vector<Event> events;
  for (std::string& record : read_records(files[0])) events.emplace_back(std::move(record));
  return events;
}
