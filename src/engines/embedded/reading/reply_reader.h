// ReplyReader: turns a shard's decision into the caller's reply: it reads keys, headers and
// payloads from the journal. It runs on the committer's thread after the batches are written, so an
// answer never makes the shard wait for a disk. If the records are in RAM, any thread may run it.
//
// Thread safety: none; one object for each thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/message.h>

#include "core/reply.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/records/handle.h"
#include "engines/embedded/records/position.h"

namespace tarry::embedded {

/// A claimed message, as decided; its bytes are still in the journal.
struct Grant {
  std::uint32_t queue = 0;  // index in Grants::queues
  bool generated_key = false;
  Handle handle = kNoHandle;
  std::uint64_t id = 0;
  RecordPlace place;
  std::int64_t due_ms = 0;
  std::int64_t lease_ms = 0;
  std::uint32_t attempt = 0;
  std::uint32_t priority = 0;
  Tallies tallies;
};

/// The messages that one claim was given, in order of delivery.
struct Grants {
  std::vector<Grant> items;
  std::vector<std::string> queues;
  std::int64_t claimed_ms = 0;
};

/// A message as it was when the shard looked at it.
struct MessageFacts {
  MessageInfo info;  // all but key, headers, payload
  Handle handle = kNoHandle;
  RecordPlace place;
  bool generated_key = false;
};

class ReplyReader {
 public:
  ReplyReader(const SegmentFiles& files, std::uint32_t store_tag, std::uint16_t shard)
      : files_(&files), store_tag_(store_tag), shard_(shard) {}

  /// Appends the messages to the reply. Appends to `damaged` the indices in `grants` of the
  /// messages that have a wrong checksum.
  void add(const Grants& grants, RecordReads& records, core::ClaimReply& reply,
           std::vector<std::size_t>& damaged);

  /// The same from held records, on any thread. Leaves messages with a wrong checksum out of the
  /// reply, and returns their number. Their leases run out, and the next claim reads the file.
  [[nodiscard]] std::size_t add(const Grants& grants, const HeldRecords& records,
                                core::ClaimReply& reply) const;

  /// A reply with nothing but the receipts of the messages, to release the messages.
  [[nodiscard]] core::ClaimReply receipts(const Grants& grants) const;

  /// Fills in the key and the push time. Of the record it reads little more than the part before
  /// the payload. Errors: `damaged`.
  Result<void> describe(MessageFacts& facts);
  /// How many bytes the message described last takes in a reply: key, headers, and the payload if
  /// wanted.
  [[nodiscard]] std::uint64_t reply_bytes(const MessageFacts& facts, bool with_payload) const;
  /// Fills in the headers of the message described last, and the payload if wanted. (A remembered
  /// message has neither.) Errors: `damaged`.
  Result<void> complete(MessageFacts& facts, bool with_payload);

 private:
  [[nodiscard]] bool append(const Grant& grant, std::string_view bytes, core::Slice queue,
                            std::int64_t claimed_ms, core::ClaimReply& reply) const;

  const SegmentFiles* files_;
  std::uint32_t store_tag_;
  std::uint16_t shard_;
  std::string buffer_;
  PutHead described_;  // its views point into buffer_
};

}  // namespace tarry::embedded
