#include "engines/embedded/reading/reply_reader.h"

#include <limits>

#include "base/prefetch.h"
#include "core/rules/headers.h"
#include "engines/embedded/records/tokens.h"

namespace tarry::embedded {
namespace {

// Bytes of an answer that are not in the journal.
constexpr std::size_t kTokens = kReceiptSize + kGeneratedKeySize;
// Bytes that are in RAM twice for a moment, here and in the answer.
constexpr std::uint64_t kFetchedAtOnce = 4ull << 20;
// Held records were written by another core, so each is prefetched this many records early.
constexpr std::size_t kAhead = 8;

// Makes room in the reply for all granted messages. Returns where in the reply the queues' names
// are.
std::vector<core::Slice> make_room(const Grants& grants, core::ClaimReply& reply) {
  std::vector<core::Slice> queues;
  queues.reserve(grants.queues.size());
  for (const std::string& queue : grants.queues) {
    queues.push_back(core::append(reply.bytes, queue));
  }
  std::uint64_t bytes = 0;
  for (const Grant& grant : grants.items) bytes += grant.place.position.size();
  reply.items.reserve(reply.items.size() + grants.items.size());
  reply.bytes.reserve(reply.bytes.size() + bytes + grants.items.size() * kTokens);
  return queues;
}

}  // namespace

bool ReplyReader::append(const Grant& grant, std::string_view bytes, core::Slice queue,
                         std::int64_t claimed_ms, core::ClaimReply& reply) const {
  // A record that is cut short would be decoded with an empty payload.
  if (record_length(bytes) > bytes.size()) return false;
  const auto put = decode_put(bytes);
  if (!put || put->ref.id != grant.id || !payload_checks(*put)) return false;
  core::ClaimedItem& item = reply.items.emplace_back();
  item.queue = queue;
  if (grant.generated_key) {
    const auto key = spell(GeneratedKey{store_tag_, shard_, grant.handle, grant.id});
    item.key = core::append(reply.bytes, {key.data(), key.size()});
  } else {
    item.key = core::append(reply.bytes, put->key);
  }
  item.headers = core::append(reply.bytes, put->headers);
  item.payload = core::append(reply.bytes, put->payload);
  const auto receipt =
      spell(Receipt{store_tag_, shard_, grant.handle, grant.id, grant.tallies.claims});
  item.receipt = core::append(reply.bytes, {receipt.data(), receipt.size()});
  item.id = grant.id;
  item.due_ms = grant.due_ms;
  item.claimed_ms = claimed_ms;
  item.lease_ms = grant.lease_ms;
  item.attempt = grant.attempt;
  item.priority = grant.priority;
  item.tallies = grant.tallies;
  return true;
}

void ReplyReader::add(const Grants& grants, RecordReads& records, core::ClaimReply& reply,
                      std::vector<std::size_t>& damaged) {
  const auto queues = make_room(grants, reply);
  std::vector<RecordPlace> places;
  for (std::size_t first = 0; first < grants.items.size(); first += places.size()) {
    places.clear();
    std::uint64_t fetched = 0;
    for (std::size_t i = first; i < grants.items.size() && fetched < kFetchedAtOnce; ++i) {
      places.push_back(grants.items[i].place);
      fetched += places.back().position.size() + RecordRuns::kGap;
    }
    const auto found = records.fetch(places);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Grant& grant = grants.items[first + i];
      const auto taken = [&](std::string_view record) {
        return append(grant, record, queues[grant.queue], grants.claimed_ms, reply);
      };
      // Only bytes just read from the file itself count as damaged.
      if (!taken(found[i]) && !taken(records.fetch_anew(places[i]))) {
        damaged.push_back(first + i);
      }
    }
  }
}

std::size_t ReplyReader::add(const Grants& grants, const HeldRecords& records,
                             core::ClaimReply& reply) const {
  const auto queues = make_room(grants, reply);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < grants.items.size(); ++i) {
    if (i + kAhead < records.records.size()) base::prefetch(records.records[i + kAhead]);
    const Grant& grant = grants.items[i];
    if (!append(grant, records.records[i], queues[grant.queue], grants.claimed_ms, reply))
      ++left_out;
  }
  if (left_out > 0) records.distrust->store(true, std::memory_order_relaxed);
  return left_out;
}

core::ClaimReply ReplyReader::receipts(const Grants& grants) const {
  core::ClaimReply reply;
  reply.items.reserve(grants.items.size());
  reply.bytes.reserve(grants.items.size() * kReceiptSize);
  for (const Grant& grant : grants.items) {
    const auto receipt =
        spell(Receipt{store_tag_, shard_, grant.handle, grant.id, grant.tallies.claims});
    reply.items.emplace_back().receipt =
        core::append(reply.bytes, {receipt.data(), receipt.size()});
  }
  return reply;
}

Result<void> ReplyReader::describe(MessageFacts& facts) {
  auto head = read_put_head(*files_, facts.place.segment, facts.place.position, buffer_);
  if (!head) return std::move(head).error();
  described_ = *head;
  const PutRecord& put = described_.record;
  if (put.ref.id != facts.info.id) {
    return Unexpected(ErrorCode::damaged, "message " + std::to_string(facts.info.id) +
                                              " is not where it should be in the journal");
  }
  if (facts.generated_key) {
    const auto key = spell(GeneratedKey{store_tag_, shard_, facts.handle, facts.info.id});
    facts.info.key.assign(key.data(), key.size());
  } else {
    facts.info.key = std::string(put.key);
  }
  if (put.pushed_ms && facts.info.state != State::remembered) {
    facts.info.pushed = Time(Millis(*put.pushed_ms));
  }
  return {};
}

std::uint64_t ReplyReader::reply_bytes(const MessageFacts& facts, bool with_payload) const {
  const PutRecord& put = described_.record;
  const std::uint64_t bytes =
      sizeof(MessageInfo) + facts.info.key.size() + facts.info.reason.size();
  if (facts.info.state == State::remembered) return bytes;
  return bytes + put.headers.size() + core::count_headers(put.headers) * sizeof(Header) +
         (with_payload ? described_.payload_bytes : 0);
}

Result<void> ReplyReader::complete(MessageFacts& facts, bool with_payload) {
  if (facts.info.state == State::remembered) return {};
  auto headers = core::decode_headers(described_.record.headers);
  if (!headers) return std::move(headers).error();
  facts.info.headers = std::move(*headers);
  if (!with_payload) return {};
  auto payload = read_payload(*files_, described_);
  if (!payload) return std::move(payload).error();
  facts.info.payload = std::move(*payload);
  return {};
}

}  // namespace tarry::embedded
