// Checks the worked example in docs/formats/journal.md: its values make exactly its bytes, and its
// bytes are read as those values.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/rules/headers.h"
#include "engines/embedded/journal/segment_scanner.h"
#include "engines/embedded/store/store_files.h"
#include "storage/memory_storage.h"
#include "support/embedded/journal.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kSalt = 0xA1B2'C3D4'0000'0001;
constexpr std::uint64_t kSecondSalt = kSalt + 1;
constexpr std::int64_t kPushed = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
constexpr std::int64_t kBoot = 3'600'000;
constexpr std::int64_t kDelay = 1'800'000;

// -- the page

struct Row {
  std::size_t offset = 0;
  std::string bytes;
  std::string text;
};

// "0050  00 x16                    zeros to 96": offset, bytes in columns 6 to 28, field.
Row row_of(const std::string& line) {
  constexpr std::size_t kHexAt = 6;
  constexpr std::size_t kHexSize = 23;
  Row row;
  row.text = line;
  row.offset = std::stoul(line.substr(0, 4), nullptr, 16);
  std::istringstream words(line.substr(kHexAt, kHexSize));
  for (std::string word; words >> word;) {
    if (word.front() == 'x') {
      row.bytes.append(std::stoul(word.substr(1)) - 1, row.bytes.back());
    } else {
      row.bytes.push_back(static_cast<char>(std::stoul(word, nullptr, 16)));
    }
  }
  return row;
}

std::vector<Row> block(const std::string& name) {
  std::ifstream page(TARRY_JOURNAL_PAGE);
  std::vector<Row> rows;
  std::string line;
  while (std::getline(page, line) && line != "<!-- bytes: " + name + " -->") {
  }
  EXPECT_TRUE(std::getline(page, line) && line == "```text") << "no block " << name;
  while (std::getline(page, line) && line != "```") rows.push_back(row_of(line));
  return rows;
}

std::string joined(const std::vector<Row>& rows) {
  std::string bytes;
  for (const Row& row : rows) {
    EXPECT_EQ(row.offset, bytes.size()) << row.text;
    bytes += row.bytes;
  }
  return bytes;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!out.empty()) out += ' ';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xF];
  }
  return out;
}

// Row by row, so that a failure shows the field, the page's bytes and the code's.
void expect_page(const std::string& name, const std::string& made) {
  const std::vector<Row> rows = block(name);
  for (const Row& row : rows) {
    const std::string here =
        row.offset < made.size() ? made.substr(row.offset, row.bytes.size()) : std::string();
    EXPECT_EQ(hex(here), hex(row.bytes)) << name << ": " << row.text;
  }
  EXPECT_EQ(joined(rows).size(), made.size()) << name;
}

// -- the same by the encoder

const std::string& headers() {
  static const std::string encoded = core::encode_headers({{"shop", "e1"}}).value();
  return encoded;
}

StoreIdentity identity() { return {kFormatVersion, 1, test::kStoreId, 0x5EED}; }

std::string store_bytes() {
  storage::MemoryDisk disk;
  EXPECT_TRUE(write_identity(*disk.root(), identity()));
  return test::read_all(*disk.root(), "STORE");
}

SegmentHeader first_header() {
  SegmentHeader header;
  header.store_id = test::kStoreId;
  header.segment = 1;
  header.salt = kSalt;
  header.first_batch = 1;
  return header;
}

SegmentHeader second_header(std::uint64_t sealed_length) {
  SegmentHeader header = first_header();
  header.segment = 2;
  header.salt = kSecondSalt;
  header.first_batch = 5;
  header.seal = {1, sealed_length, 4, true};
  return header;
}

std::string batch(std::uint64_t number, std::int64_t realtime_ms,
                  const std::vector<Record>& records) {
  std::string bytes(kBatchHeaderBytes, '\0');
  for (const Record& record : records) append_record(bytes, record);
  BatchHeader header;
  header.salt = kSalt;
  header.number = number;
  header.durable = number - 1;
  header.realtime_ms = realtime_ms;
  header.body_bytes = static_cast<std::uint32_t>(bytes.size() - kBatchHeaderBytes);
  seal_batch(bytes, header);
  return bytes;
}

std::vector<std::vector<Record>> batches() {
  QueueRecord queue;
  queue.name = "orders";
  PutRecord put = test::put(0, 1, "order:42", "a lamp");
  put.due_ms = kPushed + kDelay;
  put.boot_due_ms = kBoot + kDelay;
  put.pushed_ms = kPushed;
  put.headers = headers();
  const ClaimedRecord claimed{0, kBoot + kDelay + 30'000, 30'000, {{put.ref, 1, 1}}};
  return {{ClockRecord{kPushed, kBoot, 0xB007}, MarksRecord{1, 1}, queue, put},
          {claimed},
          {GoneRecord{GoneWhy::acked, 0, {put.ref}}},
          {ClosedRecord{}}};
}

const std::vector<std::int64_t>& times() {
  static const std::vector<std::int64_t> all{kPushed, kPushed + kDelay, kPushed + kDelay + 500,
                                             kPushed + kDelay + 500};
  return all;
}

std::string first_segment() {
  std::string bytes = encode(first_header());
  const auto records = batches();
  for (std::size_t i = 0; i < records.size(); ++i) bytes += batch(i + 1, times()[i], records[i]);
  return bytes;
}

TEST(JournalExample, ThePageHoldsWhatTheEncoderMakes) {
  const std::string first = first_segment();
  expect_page("STORE", store_bytes());
  expect_page(segment_name(1), first);
  expect_page(segment_name(2), encode(second_header(first.size())));
}

TEST(JournalExample, TheStoreOnThePageIsRead) {
  storage::MemoryDisk disk;
  test::write_all(*disk.root(), "STORE", joined(block("STORE")));
  const auto read = read_identity(*disk.root());
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((**read).version, identity().version);
  EXPECT_EQ((**read).shards, identity().shards);
  EXPECT_EQ((**read).store_id, identity().store_id);
  EXPECT_EQ((**read).hash_seed, identity().hash_seed);
}

TEST(JournalExample, TheRecordsOnThePageAreRead) {
  storage::MemoryDisk disk;
  const std::string bytes = joined(block(segment_name(1)));
  const DecodedHeader header = decode_segment_header(bytes);
  ASSERT_EQ(header.state, HeaderState::valid);
  EXPECT_EQ(encode(header.header), encode(first_header()));
  test::write_all(*disk.root(), segment_name(1), bytes);
  const auto file = disk.root()->open(segment_name(1), storage::OpenMode::read_only).value();
  SegmentScanner scanner(*file, header.header.salt, header.header.first_batch, bytes.size());
  std::uint64_t number = 0;
  for (const std::vector<Record>& records : batches()) {
    ASSERT_EQ(scanner.next().value(), SegmentScanner::Step::batch);
    EXPECT_EQ(scanner.header().realtime_ms, times()[number]);
    EXPECT_EQ(scanner.header().durable, number++);
    std::string_view body = scanner.body();
    for (const Record& expected : records) {
      const auto found = take_record(body);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->index(), expected.index());
      std::string again;
      append_record(again, *found);
      std::string wanted;
      append_record(wanted, expected);
      EXPECT_EQ(hex(again), hex(wanted));
    }
    EXPECT_TRUE(body.empty());
  }
  EXPECT_EQ(scanner.next().value(), SegmentScanner::Step::end);
}

TEST(JournalExample, TheJournalOnThePageIsRecovered) {
  storage::MemoryDisk disk;
  test::write_all(*disk.root(), segment_name(1), joined(block(segment_name(1))));
  {
    test::Recovery recovery(*disk.root(), true);
    ASSERT_TRUE(recovery.ok()) << recovery.error();
    EXPECT_TRUE(recovery.result->report.clean);
    EXPECT_EQ(recovery.result->report.records, 7u);
    ASSERT_EQ(recovery.state.queues.size(), 1u);
    EXPECT_EQ(recovery.state.queue(0).name, "orders");
    EXPECT_EQ(recovery.state.queue(0).counters.accepted, 1u);
    EXPECT_EQ(recovery.state.queue(0).counters.claims, 1u);
    EXPECT_EQ(recovery.state.queue(0).counters.acked, 1u);
    EXPECT_EQ(recovery.state.pending(), 0u);
  }
  // The seal on the page fits: a cut predecessor is damage now.
  test::write_all(*disk.root(), segment_name(2), joined(block(segment_name(2))));
  EXPECT_TRUE(test::Recovery(*disk.root(), true).ok());
  std::string cut = joined(block(segment_name(1)));
  cut.resize(cut.size() - 16);
  test::write_all(*disk.root(), segment_name(1), cut);
  EXPECT_EQ(test::Recovery(*disk.root(), true).code(), ErrorCode::damaged);
}

}  // namespace
}  // namespace tarry::embedded
