// The frames of the journal: segment headers and batch headers. docs/formats/journal.md holds the
// grammar, a worked example and the upgrade rule.
//
//   segment = segment header (96 bytes) batch*
//   batch   = batch header (48 bytes) records padding to 8 bytes
//
// Pure functions and plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::embedded {

/// The newest version, in which new stores are written. A store keeps the version in its file STORE
/// until `tarry store upgrade`. All versions are read.
inline constexpr std::uint32_t kFormatVersion = 2;
/// From this version on, a put may hold the time of the push.
inline constexpr std::uint32_t kPushTimeVersion = 2;
/// From this version on, a queue may have a lateness objective.
inline constexpr std::uint32_t kObjectiveVersion = 2;
/// From this version on, a message may expire.
inline constexpr std::uint32_t kExpiryVersion = 2;
/// From this version on, a queue may have limits and groups.
inline constexpr std::uint32_t kLimitsVersion = 2;
/// From this version on, a queue may keep histories of its messages.
inline constexpr std::uint32_t kHistoryVersion = 2;

inline constexpr std::size_t kSegmentHeaderBytes = 96;
inline constexpr std::size_t kBatchHeaderBytes = 48;
inline constexpr std::size_t kBatchAlignment = 8;

/// A segment's statement about the segment before it. `proven`: the segment before was synced
/// before this header was written. So if bytes of that segment are missing, they were lost later:
/// damage, not a torn tail.
struct Seal {
  std::uint64_t segment = 0;  // 0: there is none
  std::uint64_t length = 0;
  std::uint64_t last_batch = 0;
  bool proven = false;
};

struct SegmentHeader {
  std::uint32_t version = kFormatVersion;
  std::uint32_t shard = 0;
  std::uint64_t store_id = 0;
  std::uint64_t segment = 0;  // from 1
  std::uint64_t salt = 0;     // `salt_of`: other bytes on the disk cannot pass for this segment's
  std::uint64_t first_batch = 0;
  Seal seal;
};

[[nodiscard]] std::string encode(const SegmentHeader& header);

enum class HeaderState : std::uint8_t {
  valid,
  blank,   // all zeros, too short, or an older segment's: prepared, never written
  newer,   // of a version that this program does not know
  broken,  // anything else
};
struct DecodedHeader {
  HeaderState state = HeaderState::broken;
  SegmentHeader header;
};
[[nodiscard]] DecodedHeader decode_segment_header(std::string_view bytes);

struct SegmentPlace {
  std::uint64_t store_id = 0;
  std::uint32_t shard = 0;
  std::uint64_t segment = 0;
};
/// The same for the segment that belongs at `place`. The file may have been another segment's
/// before. If it has not been written since, its header counts as blank.
[[nodiscard]] DecodedHeader decode_segment_header(std::string_view bytes,
                                                  const SegmentPlace& place);

/// The salt with which a segment is written. It is computed from the store's hash seed, so it is
/// known even if the segment's header is lost. Nobody without the seed knows it, so no payload can
/// pass for a batch.
[[nodiscard]] std::uint64_t salt_of(const SegmentPlace& place, std::uint64_t hash_seed) noexcept;

struct BatchHeader {
  std::uint64_t salt = 0;        // its segment's
  std::uint64_t number = 0;      // from 1, without gaps across segments
  std::uint64_t durable = 0;     // the last batch known durable when this one was written
  std::int64_t realtime_ms = 0;  // when it was written, by CLOCK_REALTIME
  std::uint32_t body_bytes = 0;  // of records, without padding
};

/// Fills in the header and appends the padding. `batch` begins with kBatchHeaderBytes of room for
/// the header; the body follows.
void seal_batch(std::string& batch, const BatchHeader& header);

/// The batch header at the beginning of the bytes; empty unless it has this salt and sane fields.
/// Its checksum is not checked here, because it also covers the body.
[[nodiscard]] std::optional<BatchHeader> peek_batch_header(std::string_view bytes,
                                                           std::uint64_t salt);
/// The same, but the salt is taken from the bytes themselves. Use it only for a segment's first
/// batch: anywhere else the bytes may be part of a payload.
[[nodiscard]] std::optional<BatchHeader> guess_batch_header(std::string_view bytes);
/// True if the bytes have this salt at the offset of a batch header's salt. Ignores all other
/// bytes.
[[nodiscard]] bool has_salt(std::string_view bytes, std::uint64_t salt) noexcept;
/// The first multiple of kBatchAlignment where a batch header may begin; npos if there is none.
[[nodiscard]] std::size_t find_batch_magic(std::string_view bytes) noexcept;
/// `batch` is header and body, without padding.
[[nodiscard]] bool batch_checks(std::string_view batch);

[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
  return (bytes + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

/// The file name of a segment, e.g. "0000000001.seg", and the number in such a name. The number is
/// 0 for any other name.
[[nodiscard]] std::string segment_name(std::uint64_t segment);
[[nodiscard]] std::uint64_t segment_number(std::string_view name);

}  // namespace tarry::embedded
