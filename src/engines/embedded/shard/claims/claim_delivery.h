// ClaimDelivery: hands over the claimed messages once the claim is durable. It is the last step of
// a claim on one shard, and a task of its commit job. It reads the messages from the journal, or,
// if they are in RAM, holds them until the caller reads them.
//
// Thread safety: none. The shard's thread makes it, and the committer's thread runs it once. Its
// remaining work runs later, on the thread that gives the answer.
//
// Invariants
//  1. The part ends once: its reply has the messages, or its operation has failed.
//  2. If there is no memory for the messages, all of them are released, and none is handed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/reading/record_reads.h"
#include "engines/embedded/reading/reply_reader.h"
#include "engines/embedded/shard/claims/uncommitted_leases.h"
#include "engines/embedded/shard/requests/operation.h"

namespace tarry::embedded {

class ClaimDelivery {
 public:
  struct Wiring {
    Router* router = nullptr;
    RecordReads* reads = nullptr;
    const SegmentFiles* files = nullptr;
    std::uint32_t store_tag = 0;
    std::uint32_t shard = 0;
  };

  /// `waiter_reads`: the caller waits for the answer, and may read the messages on its own thread.
  ClaimDelivery(const Wiring& wiring, OperationPtr op, Grants grants,
                UncommittedLeases::Durable durable, bool waiter_reads)
      : wiring_(wiring),
        op_(std::move(op)),
        grants_(std::move(grants)),
        durable_(std::move(durable)),
        reader_(*wiring.files, wiring.store_tag, static_cast<std::uint16_t>(wiring.shard)),
        waiter_reads_(waiter_reads) {}

  void operator()(const CommitOutcome& outcome);

 private:
  [[nodiscard]] std::optional<HeldRecords> hold() const;
  void leave_to_answer(HeldRecords held, const CommitOutcome& outcome);
  void tell_damaged(const std::vector<std::size_t>& damaged) const;

  Wiring wiring_;
  OperationPtr op_;
  Grants grants_;
  UncommittedLeases::Durable durable_;
  ReplyReader reader_;
  bool waiter_reads_;
};

}  // namespace tarry::embedded
