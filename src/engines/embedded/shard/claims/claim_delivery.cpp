#include "engines/embedded/shard/claims/claim_delivery.h"

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/threads/boot_clock.h"

namespace tarry::embedded {
namespace {

// The sizes of a reply before messages are added, to undo the addition.
struct ReplySize {
  explicit ReplySize(const core::ClaimReply& reply)
      : items(reply.items.size()), bytes(reply.bytes.size()) {}
  std::size_t items;
  std::size_t bytes;
};

core::ClaimReply& reply_of(Operation& op) { return std::get<core::ClaimReply>(op.reply); }

// There is no memory to hand over the claimed messages: all of them are released, even those that
// were read already.
void give_back(Router& router, Operation& op, const ReplyReader& reader, const Grants& grants,
               ReplySize before) {
  core::ClaimReply& reply = reply_of(op);
  reply.items.erase(reply.items.begin() + static_cast<std::ptrdiff_t>(before.items),
                    reply.items.end());
  reply.bytes.erase(before.bytes);
  op.fail({ErrorCode::unavailable, "out of memory"});
  try {
    router.release(reader.receipts(grants));
  } catch (const std::bad_alloc&) {
    // There is no memory to release them either: their leases run out.
  }
}

void tell_of_memory(Router& router, std::size_t left_out) {
  router.log({LogLevel::error, "memory_damaged",
              "of what was claimed, " + std::to_string(left_out) +
                  " do not check in this machine's memory: delivered from the disk when their "
                  "leases have run out"});
}

}  // namespace

void ClaimDelivery::operator()(const CommitOutcome& outcome) {
  Router& router = *wiring_.router;
  if (outcome.failure != nullptr) {
    op_->fail(*outcome.failure);
    router.finish_part(op_);
    return;
  }
  durable_(outcome.committed_boot_ms);
  // The time is noted before the messages are read, because reading may take long.
  core::ClaimReply& reply = reply_of(*op_);
  reply.began(base::BootClock::now());
  const ReplySize before(reply);
  std::optional<HeldRecords> held;
  std::vector<std::size_t> damaged;
  try {
    if (outcome.answers != nullptr) held = hold();
    if (!held) reader_.add(grants_, *wiring_.reads, reply, damaged);
  } catch (const std::bad_alloc&) {
    give_back(router, *op_, reader_, grants_, before);
    router.finish_part(op_);
    return;
  }
  if (held) return leave_to_answer(*std::move(held), outcome);
  tell_damaged(damaged);
  router.claim_visited(op_, wiring_.shard);
}

std::optional<HeldRecords> ClaimDelivery::hold() const {
  std::vector<RecordPlace> places;
  places.reserve(grants_.items.size());
  for (const Grant& grant : grants_.items) places.push_back(grant.place);
  using Hold = RecordReads::Hold;
  return wiring_.reads->hold(places, waiter_reads_ ? Hold::where_they_lie : Hold::by_copies);
}

void ClaimDelivery::leave_to_answer(HeldRecords held, const CommitOutcome& outcome) {
  op_->rest = [router = wiring_.router, grants = std::move(grants_), reader = reader_,
               held = std::move(held), waiter_reads = waiter_reads_,
               to = op_.get()](core::ClaimReply& all) {
    const ReplySize as_it_was(all);
    std::size_t left_out = 0;
    try {
      left_out = reader.add(grants, held, all);
    } catch (const std::bad_alloc&) {
      if (waiter_reads) throw;  // this is the waiter's thread
      give_back(*router, *to, reader, grants, as_it_was);
    }
    if (left_out > 0) tell_of_memory(*router, left_out);
  };
  outcome.answers->emplace_back([router = wiring_.router, op = op_, waiter_reads = waiter_reads_,
                                 shard = wiring_.shard](const CommitOutcome& /*durable*/) {
    if (!waiter_reads) op->read_rest();
    if (op->error) return router->finish_part(op);
    router->claim_visited(op, shard);
  });
}

void ClaimDelivery::tell_damaged(const std::vector<std::size_t>& damaged) const {
  for (const std::size_t i : damaged) {
    const Grant& grant = grants_.items[i];
    Part part;
    part.kind = Part::Kind::damaged;
    part.handle = grant.handle;
    part.id = grant.id;
    part.claims = grant.tallies.claims;
    wiring_.router->post(wiring_.shard, std::move(part));
  }
}

}  // namespace tarry::embedded
