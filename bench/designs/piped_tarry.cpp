#include "designs/piped_tarry.h"

#include <tarry/store.h>

#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr std::chrono::minutes kLongestRun{5};

class PipedDeliveries final : public Claimed {
 public:
  explicit PipedDeliveries(std::vector<Delivery> deliveries) : deliveries_(std::move(deliveries)) {}
  std::size_t size() const override { return deliveries_.size(); }
  std::uint64_t proof() const override {
    std::uint64_t sum = 0;
    for (const Delivery& delivery : deliveries_) sum += proof_of(delivery.payload());
    return sum;
  }
  const std::vector<Delivery>& deliveries() const { return deliveries_; }

 private:
  std::vector<Delivery> deliveries_;
};

class PipedTarry final : public Piped {
 public:
  explicit PipedTarry(const std::string& url)
      : store_(must(open(url + "?shards=1"), "open")), queue_(store_.queue("bench")) {}

  std::string_view name() const override { return "tarry"; }

  void push(std::span<const Message> batch, Told done) override {
    pushes_.clear();
    for (const Message& message : batch) {
      Push& push = pushes_.emplace_back();
      push.key = message.key;
      push.payload = message.payload;
      push.due = Due::at(Time(Millis(message.due_ms)));
    }
    ++under_way_;
    queue_.push(pushes_, [this, done = std::move(done)](Result<std::vector<Result<Pushed>>> all) {
      taken_.clear();
      std::uint32_t at = 0;
      for (const auto& pushed : must(std::move(all), "push")) {
        must(pushed.has_value(), "push");
        if (pushed->outcome != Outcome::pushed) {
          must(pushed->outcome == Outcome::exists || pushed->outcome == Outcome::in_flight,
               "a key that is not new is taken");
          taken_.push_back(at);
        }
        ++at;
      }
      answered([&] { done(taken_); });
    });
  }

  void claim(std::size_t max, Got done) override {
    ClaimOptions options;
    options.max = static_cast<std::uint32_t>(max);
    ++under_way_;
    queue_.claim(options, [this, done = std::move(done)](Result<std::vector<Delivery>> got) {
      auto claimed = std::make_shared<PipedDeliveries>(must(std::move(got), "claim"));
      answered([&] { done(std::move(claimed)); });
    });
  }

  void settle(const Claimed& claimed, Done done) override {
    settles_.clear();
    for (const Delivery& delivery : static_cast<const PipedDeliveries&>(claimed).deliveries()) {
      settles_.emplace_back().receipt = delivery.receipt();
    }
    ++under_way_;
    queue_.settle(settles_,
                  [this, done = std::move(done)](Result<std::vector<Result<Answer>>> all) {
                    for (const auto& settled : must(std::move(all), "settle")) {
                      must(settled && settled->outcome == Outcome::done, "each claim is live");
                    }
                    answered(done);
                  });
  }

  void run(Done begin) override {
    all_answered_ = std::make_shared<std::promise<void>>();
    // This get only serves to reach the thread that runs the answers: `begin` and everything after
    // it run there.
    under_way_ = 1;
    queue_.get("nobody", [this, &begin](const Result<MessageInfo>&) { answered(begin); });
    must(all_answered_->get_future().wait_for(kLongestRun) == std::future_status::ready,
         "tarry answers all");
  }

 private:
  template <typename Then>
  void answered(const Then& then) {
    then();
    if (--under_way_ > 0) return;
    // The waiting thread may destroy this object before set_value returns.
    const auto last = all_answered_;
    last->set_value();
  }

  Store store_;
  Queue queue_;
  std::vector<Push> pushes_;
  std::vector<tarry::Settle> settles_;
  std::vector<std::uint32_t> taken_;
  std::size_t under_way_ = 0;
  std::shared_ptr<std::promise<void>> all_answered_;
};

}  // namespace

std::unique_ptr<Piped> make_piped_tarry(const std::string& socket_path) {
  return make_piped_tarry_at("redis+unix://" + socket_path);
}

std::unique_ptr<Piped> make_piped_tarry_at(const std::string& url) {
  return std::make_unique<PipedTarry>(url);
}

}  // namespace tarry::bench
