#include "engines/embedded/reply_reader.h"

#include <limits>

#include "core/headers.h"
#include "engines/embedded/tokens.h"

namespace tarry::embedded {

bool ReplyReader::add(const Grant& grant, core::ClaimReply& reply) {
  auto put = read_put(*files_, grant.segment, grant.position, buffer_);
  if (!put || put->ref.id != grant.id || !payload_checks(*put)) return false;
  if (last_reply_ != &reply || last_queue_ != grant.queue.get()) {
    last_reply_ = &reply;
    last_queue_ = grant.queue.get();
    last_queue_slice_ = core::append(reply.bytes, *grant.queue);
  }
  core::ClaimedItem item;
  item.queue = last_queue_slice_;
  if (grant.made_key) {
    const auto key = spell(MadeKey{store_tag_, shard_, grant.handle, grant.id});
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
  item.claimed_ms = grant.claimed_ms;
  item.lease_ms = grant.lease_ms;
  item.attempt = grant.attempt;
  item.priority = grant.priority;
  item.tallies = grant.tallies;
  reply.items.push_back(item);
  return true;
}

Result<void> ReplyReader::describe(MessageFacts& facts) {
  auto head = read_put_head(*files_, facts.segment, facts.position, buffer_);
  if (!head) return std::move(head).error();
  described_ = *head;
  const PutRecord& put = described_.record;
  if (put.ref.id != facts.info.id) {
    return Unexpected(ErrorCode::damaged, "message " + std::to_string(facts.info.id) +
                                              " is not where it should be in the journal");
  }
  if (facts.made_key) {
    const auto key = spell(MadeKey{store_tag_, shard_, facts.handle, facts.info.id});
    facts.info.key.assign(key.data(), key.size());
  } else {
    facts.info.key = std::string(put.key);
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
