// Parcels for a sink, and the answers to them.
//
// Thread safe. Waiting is bounded, so that a test whose answers never come fails.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/rules/headers.h"
#include "relay/sink.h"
#include "support/scripted_store.h"

namespace tarry::test {

/// Message "a" with the header lang: de, as a line of JSON.
inline constexpr const char* kLine =
    R"({"queue":"q","id":"1","key":"a","attempt":1,"due":"2020-09-13T12:26:40.000Z",)"
    R"("due_ms":1600000000000,"headers":{"lang":"de"},"payload":"payload-a"})";

class Answers {
 public:
  /// The messages that `claimed` (scripted_store.h) makes for these keys, with ids from 1 on, due
  /// at 1 600 000 000 000. `bodies`, if given, are the messages' bodies.
  [[nodiscard]] std::vector<relay::Outgoing> batch(const std::vector<std::string>& keys,
                                                   const Headers& headers = {},
                                                   const std::vector<std::string>& bodies = {}) {
    auto reply = std::make_shared<core::ClaimReply>(claimed(keys));
    const std::string encoded = *core::encode_headers(headers);
    std::vector<relay::Outgoing> out;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      reply->items[i].id = i + 1;
      reply->items[i].due_ms = 1'600'000'000'000;
      reply->items[i].headers = core::append(reply->bytes, encoded);
      if (i < bodies.size()) reply->items[i].payload = core::append(reply->bytes, bodies[i]);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      out.push_back({Delivery(reply, i), [this, key = keys[i]](relay::Answer answer) {
                       const std::lock_guard lock(mutex_);
                       if (!answers_.emplace(key, std::move(answer)).second) twice_ = true;
                       came_.notify_all();
                     }});
    }
    return out;
  }

  /// The same messages, but their leases are over.
  [[nodiscard]] std::vector<relay::Outgoing> late_parcels(const std::vector<std::string>& keys) {
    std::vector<relay::Outgoing> out = batch(keys);
    const auto over = std::make_shared<relay::LeaseEnd>(relay::Moment(0));
    for (relay::Outgoing& outgoing : out) outgoing.lease = over;
    return out;
  }

  /// The answer for the message with that key. Throws if none comes, or if there were two.
  [[nodiscard]] relay::Answer of(const std::string& key) {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, std::chrono::minutes(1), [&] { return answers_.contains(key); })) {
      throw std::runtime_error("no answer for " + key);
    }
    if (twice_) throw std::runtime_error("a message was answered twice");
    return answers_.at(key);
  }
  [[nodiscard]] relay::Fate fate(const std::string& key) { return of(key).fate; }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::string, relay::Answer> answers_;
  bool twice_ = false;
};

/// Sends only the message `key`, and waits for its answer.
inline relay::Fate fate_of_one(relay::Sink& sink, const std::string& key) {
  Answers answers;
  sink.send(answers.batch({key}));
  return answers.fate(key);
}

}  // namespace tarry::test
