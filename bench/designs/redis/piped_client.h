// PipedClient: a design of the figures (piped.h), driven batch by batch by the comparison.
//
// Thread safety: none.
#pragma once

#include <memory>
#include <utility>

#include "designs/piped.h"
#include "designs/redis/redis_client.h"
#include "harness/must.h"

namespace tarry::bench {

class PipedClient : public RedisClient {
 public:
  PipedClient(const Place& place, std::unique_ptr<Piped> piped)
      : RedisClient(place), piped_(std::move(piped)) {}

  void push(std::span<const Message> batch) override {
    piped_->run([&] {
      piped_->push(batch, [](auto taken) { must(taken.empty(), "each message is new"); });
    });
  }
  std::unique_ptr<Claimed> claim(std::size_t max) override {
    std::shared_ptr<const Claimed> got;
    piped_->run([&] { piped_->claim(max, [&](auto claimed) { got = std::move(claimed); }); });
    return std::make_unique<Shared>(std::move(got));
  }
  void settle(const Claimed& claimed) override {
    piped_->run([&] { piped_->settle(*static_cast<const Shared&>(claimed).inner, [] {}); });
  }

 private:
  struct Shared final : Claimed {
    explicit Shared(std::shared_ptr<const Claimed> claimed) : inner(std::move(claimed)) {}
    std::size_t size() const override { return inner->size(); }
    std::uint64_t proof() const override { return inner->proof(); }
    std::string_view payload(std::size_t index) const override { return inner->payload(index); }
    std::shared_ptr<const Claimed> inner;
  };

  std::unique_ptr<Piped> piped_;
};

}  // namespace tarry::bench
