// A server over HTTP with claims that wait, in front of an engine that the test controls.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "support/http_server_rig.h"

namespace tarry::testing {

inline constexpr const char* kClaim = R"({"queues":["q"],"max":10,"wait":"1m"})";

// A claim with a settlement, which the engine has carried out.
inline constexpr const char* kSettlesToo =
    R"({"queues":["q"],"wait":"1m","settle":[{"receipt":"r0","action":"ack"},{"receipt":"r1"}]})";
inline core::Reply having_settled(core::Reply reply = core::ClaimReply()) {
  std::get<core::ClaimReply>(reply).settled.emplace_back().outcome = Outcome::done;
  return reply;
}

class WaitingClaimRig : public HttpServerRig {
 protected:
  ~WaitingClaimRig() override { server_.reset(); }  // before the log that the server writes to
  void SetUp() override { start({}); }

  void start(http::ServerOptions options) {
    options.log = [this](std::string_view line) { warned_.set_value(std::string(line)); };
    port_ = HttpServerRig::start(std::move(options));
  }

  // Sends a claim that waits, and returns it as the engine has it.
  FakeEngine::Held wait_with(RawClient& client) {
    client.send(RawClient::request("POST", "/v1/claim", kClaim));
    auto held = engine_.next();
    EXPECT_EQ(std::get<core::ClaimRequest>(held.request).wait, Millis(60'000));
    return held;
  }

  // The receipts of the engine's next request, which must be a release.
  std::string released() {
    auto held = engine_.next();
    const auto* settle = std::get_if<core::SettleRequest>(&held.request);
    if (settle == nullptr) return "another request";
    std::string receipts;
    core::ItemsReply reply;
    for (const auto& item : settle->items) {
      EXPECT_EQ(item.action, core::SettleAction::release);
      receipts += std::string(core::view(settle->bytes, item.receipt)) + ";";
      reply.items.emplace_back();
    }
    held.answer(core::Reply(std::move(reply)));
    return receipts;
  }

  std::size_t drain(Millis deadline) {
    std::promise<std::size_t> open;
    server_->drain(deadline, [&](std::size_t n) { open.set_value(n); });
    return open.get_future().get();
  }

  std::promise<std::string> warned_;
  std::uint16_t port_ = 0;
};

}  // namespace tarry::testing
