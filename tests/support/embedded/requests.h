// For tests: makes requests, each in one line.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/reply.h"
#include "core/request.h"

namespace tarry::embedded::test {

inline core::PushRequest push(const std::string& queue, const std::vector<std::string>& keys,
                              Due due = Due(), std::string_view payload = "payload") {
  core::PushRequest request;
  request.queue = queue;
  for (const std::string& key : keys) {
    core::PushItem item;
    item.key = core::append(request.bytes, key);
    item.payload = core::append(request.bytes, payload);
    item.due = due;
    request.items.push_back(item);
  }
  return request;
}

inline core::PushRequest push(const std::string& queue, const char* key, Due due = Due(),
                              std::string_view payload = "payload") {
  return push(queue, std::vector<std::string>{key}, due, payload);
}

inline core::ClaimRequest claim(const std::string& queue, std::uint32_t max = 1) {
  core::ClaimRequest request;
  request.queues = {queue};
  request.max = max;
  return request;
}

inline core::CancelRequest cancel(const std::string& queue, std::string_view key) {
  core::CancelRequest request;
  request.queue = queue;
  request.keys.push_back(core::append(request.bytes, key));
  return request;
}

inline core::RescheduleRequest reschedule(const std::string& queue, std::string_view key, Due due) {
  core::RescheduleRequest request;
  request.queue = queue;
  core::RescheduleItem item;
  item.key = core::append(request.bytes, key);
  item.due = due;
  request.items.push_back(item);
  return request;
}

inline core::SettleRequest settle(const std::vector<std::string>& receipts,
                                  core::SettleAction action = core::SettleAction::ack,
                                  std::string_view reason = "") {
  core::SettleRequest request;
  for (const std::string& receipt : receipts) {
    core::SettleItem item;
    item.receipt = core::append(request.bytes, receipt);
    item.action = action;
    if (!reason.empty()) item.reason = core::append(request.bytes, reason);
    request.items.push_back(item);
  }
  return request;
}

inline core::ExtendRequest extend(const std::string& receipt, Millis lease) {
  core::ExtendRequest request;
  core::ExtendItem item;
  item.receipt = core::append(request.bytes, receipt);
  item.lease = lease;
  request.items.push_back(item);
  return request;
}

inline core::GetRequest get(const std::string& queue, std::string_view key) {
  core::GetRequest request;
  request.queue = queue;
  request.keys.push_back(core::append(request.bytes, key));
  return request;
}

inline std::vector<std::string> receipts_of(const core::ClaimReply& reply) {
  std::vector<std::string> receipts;
  for (const core::ClaimedItem& item : reply.items) {
    receipts.emplace_back(core::view(reply.bytes, item.receipt));
  }
  return receipts;
}

}  // namespace tarry::embedded::test
