#include "engines/embedded/journal/segment_files.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/limits.h"
#include "storage/memory_storage.h"
#include "support/embedded/journal.h"

namespace tarry::embedded {
namespace {

// Counts reads of a file.
class CountingFile final : public storage::File {
 public:
  CountingFile(std::unique_ptr<storage::File> file, std::size_t& read)
      : file_(std::move(file)), read_(&read) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    return file_->write_at(offset, bytes);
  }
  Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) override {
    return file_->write_at(offset, pieces);
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const override {
    auto got = file_->read_at(offset, into);
    if (got) *read_ += *got;
    return got;
  }
  Result<void> sync_data() override { return file_->sync_data(); }
  Result<void> allocate(std::uint64_t size) override { return file_->allocate(size); }
  Result<void> truncate(std::uint64_t size) override { return file_->truncate(size); }
  Result<std::uint64_t> size() const override { return file_->size(); }
  void will_need(std::uint64_t offset, std::uint64_t length) const override {
    file_->will_need(offset, length);
  }

 private:
  std::unique_ptr<storage::File> file_;
  std::size_t* read_;
};

class SegmentFilesTest : public testing::Test {
 protected:
  // Writes a file with the record, after some bytes that are no record.
  Position write(const PutRecord& record) {
    std::string bytes(kAt, 'x');
    append_record(bytes, record);
    const Position position(kSegment, kAt, bytes.size() - kAt);
    if (!directory_) directory_ = disk_.root();
    test::write_all(*directory_, "segment", bytes);
    auto file = directory_->open("segment", storage::OpenMode::read_write);
    files_.add(kSegment, std::make_shared<CountingFile>(std::move(*file), read_));
    return position;
  }
  void damage(std::uint64_t at) {
    std::string bytes = test::read_all(*directory_, "segment");
    bytes.at(at) = static_cast<char>(bytes[at] ^ 1);
    test::write_all(*directory_, "segment", bytes);
  }

  static constexpr std::uint64_t kSegment = 7;
  static constexpr std::uint64_t kAt = 100;
  storage::MemoryDisk disk_;
  std::unique_ptr<storage::Directory> directory_;
  SegmentFiles files_;
  std::size_t read_ = 0;
  std::string buffer_;
};

TEST_F(SegmentFilesTest, AHeadIsReadWithoutItsPayload) {
  const std::string payload(1 << 20, 'p');
  PutRecord record = test::put(3, 9, "key", payload);
  record.headers = "\x01\x00n\x01\x00v";
  const Position position = write(record);
  const auto head = read_put_head(files_, kSegment, position, buffer_);
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_LE(read_, 4096u);
  EXPECT_EQ(head->record.ref, record.ref);
  EXPECT_EQ(head->record.key, "key");
  EXPECT_EQ(head->record.headers, record.headers);
  EXPECT_EQ(head->payload_bytes, payload.size());
  EXPECT_EQ(read_payload(files_, *head).value(), payload);
}

TEST_F(SegmentFilesTest, OneWithLongHeadersIsReadInASecondLook) {
  const std::string headers(core::kMaxHeaders, 'h');
  const std::string payload(1 << 20, 'p');
  PutRecord record = test::put(3, 9, "key", payload);
  record.headers = headers;
  const Position position = write(record);
  const auto head = read_put_head(files_, kSegment, position, buffer_);
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_LE(read_, headers.size() + 2 * 4096);
  EXPECT_EQ(head->record.headers, headers);
  EXPECT_EQ(read_payload(files_, *head).value(), payload);
}

TEST_F(SegmentFilesTest, AShortPayloadIsReadOnce) {
  const Position position = write(test::put(3, 9, "key", "payload"));
  const auto head = read_put_head(files_, kSegment, position, buffer_);
  ASSERT_TRUE(head) << head.error().message;
  const std::size_t read = read_;
  EXPECT_EQ(read_payload(files_, *head).value(), "payload");
  EXPECT_EQ(read_, read);
}

TEST_F(SegmentFilesTest, AnyDamagedByteIsNoticed) {
  const std::string payload(10'000, 'p');
  const PutRecord record = test::put(3, 9, "key", payload);
  const std::size_t size = encoded_size(record);
  for (std::size_t i = 0; i < size; i += i < size - payload.size() ? 1 : 997) {
    const Position position = write(record);
    damage(kAt + i);
    const auto head = read_put_head(files_, kSegment, position, buffer_);
    if (!head) {
      EXPECT_EQ(head.error().code, ErrorCode::damaged) << i;
      continue;
    }
    EXPECT_GE(i, size - payload.size()) << "the head checks, with a damaged byte";
    const auto read = read_payload(files_, *head);
    ASSERT_FALSE(read) << i;
    EXPECT_EQ(read.error().code, ErrorCode::damaged);
  }
}

TEST_F(SegmentFilesTest, AFileThatEndsEarlyIsDamaged) {
  const std::string payload(10'000, 'p');
  const Position position = write(test::put(3, 9, "key", payload));
  const std::string whole = test::read_all(*directory_, "segment");
  for (const std::size_t size : {kAt, kAt + 8, kAt + kPutFixedBytes, kAt + 5000}) {
    test::write_all(*directory_, "segment", std::string_view(whole).substr(0, size));
    const auto head = read_put_head(files_, kSegment, position, buffer_);
    if (!head) {
      EXPECT_EQ(head.error().code, ErrorCode::damaged) << size;
    } else {
      EXPECT_FALSE(read_payload(files_, *head)) << size;
    }
  }
  EXPECT_FALSE(read_put_head(files_, kSegment + 1, position, buffer_));
}

}  // namespace
}  // namespace tarry::embedded
