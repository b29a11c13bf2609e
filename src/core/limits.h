// The limits of tarry. They are in one place, so that every interface has the same limits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarry::core {

inline constexpr std::size_t kMaxQueueName = 127;      // bytes; 128 is over-long
inline constexpr std::size_t kMaxKey = 512;            // bytes
inline constexpr std::size_t kMaxHeaders = 16 * 1024;  // bytes, names and values together
inline constexpr std::size_t kMaxHeaderCount = 4'096;  // encoded headers stay below 64 KiB
inline constexpr std::size_t kMaxReason = 255;         // bytes
inline constexpr std::size_t kMaxReceipt = 1'024;      // bytes; a receipt of Redis contains the key
inline constexpr std::uint64_t kDefaultMaxPayload = 1ull << 20;
inline constexpr std::uint64_t kMaxMaxPayload = 64ull << 20;
inline constexpr std::size_t kMaxBatch = 10'000;  // items a request
// Bytes of keys, headers and payloads in a request, together.
inline constexpr std::uint64_t kMaxBatchBytes = 128ull << 20;
// Payload bytes of a claim; headers do not count. With this limit a reply, keys and headers
// included, stays below the 4 GiB that a Slice can address. As JSON it stays below what a client
// reads, even if each byte of payload takes six bytes.
inline constexpr std::uint64_t kMaxClaimBytes = 128ull << 20;
inline constexpr std::uint64_t kDefaultClaimBytes = 64ull << 20;
// Bytes of keys, headers and payloads in an answer to get or list. A get always answers its first
// message, whatever its size.
inline constexpr std::uint64_t kMaxReplyBytes = 64ull << 20;

inline constexpr std::size_t kMaxClaimQueues = 1'000;
// The most claims that may wait at a store. It is enough for 10,000 connections.
inline constexpr std::uint64_t kMaxWaitingClaims = 1'000'000;
// The most queues and keys that waiting claims may name together.
inline constexpr std::uint64_t kMaxWaitingNames = 10'000'000;

inline constexpr std::size_t kMaxListLimit = 10'000;
inline constexpr std::uint32_t kMaxForecastBuckets = 10'000;
inline constexpr std::uint32_t kMaxShards = 256;
inline constexpr std::size_t kMaxQueues = 100'000;  // in a shard; each journal segment begins with
                                                    // a record of each

inline constexpr std::int64_t kDayMs = 24ll * 3600 * 1000;
inline constexpr std::int64_t kMaxDelayMs = 36'525 * kDayMs;  // 100 years
inline constexpr std::int64_t kMaxSpreadMs = 365 * kDayMs;
inline constexpr std::int64_t kMaxLeaseMs = 7 * kDayMs;
inline constexpr std::int64_t kMaxWaitMs = 3600 * 1000;
inline constexpr std::int64_t kMaxBackoffMs = 365 * kDayMs;
inline constexpr std::int64_t kMaxRememberMs = 365 * kDayMs;
inline constexpr std::int64_t kMaxDeadKeepMs = 3650 * kDayMs;
inline constexpr std::uint32_t kMaxAttempts = 65'535;
inline constexpr std::uint32_t kMaxMaxLeased = 1'000'000;
inline constexpr std::size_t kMaxGroup = 256;        // bytes of a group's name
inline constexpr std::size_t kMaxGroupHeader = 128;  // bytes of the name of the header with it
inline constexpr std::uint32_t kMaxHistory = 100;    // events of a message
inline constexpr std::size_t kMaxEventText = 128;  // bytes of an event's reason, or of who claimed
inline constexpr std::uint32_t kMaxRateCount = 1'000'000;  // also of a burst
inline constexpr std::int64_t kMaxRatePerMs = 7 * kDayMs;

/// Limits of one store; all other limits are the same for every store.
struct Limits {
  std::uint64_t max_payload = kDefaultMaxPayload;
  std::uint64_t max_reply = kMaxReplyBytes;              // like kMaxReplyBytes; lower only in tests
  std::size_t max_queues = kMaxQueues;                   // lower only in tests
  std::uint64_t max_waiting_claims = kMaxWaitingClaims;  // this and the next: lower only in tests
  std::uint64_t max_waiting_names = kMaxWaitingNames;
};

}  // namespace tarry::core
