// F11: lifecycles in Redis, in turns with design (e), the simplest design by hand; and the memory
// of a message. With users' keys (F11k), both sides tell of each message whether its key was taken.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "designs/piped_tarry.h"
#include "designs/redis_zset_hash.h"
#include "figures/figures.h"
#include "figures/payloads.h"
#include "figures/piped_lifecycle.h"
#include "figures/piped_truth.h"
#include "harness/must.h"
#include "harness/redis_host.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr Figure kF11{
    "F11",   "lifecycles in Redis, batches of 100, against ZSET + HASH by hand (e)",
    "ratio", Better::higher,
    1,       1.4};
constexpr Figure kF11Keys{
    "F11k",  "the same with users' keys, against (e) that tells which were taken",
    "ratio", Better::higher,
    1,       1.3};
constexpr Figure kF11Aof{"F11e", "F11 with the AOF synced every second", "ratio", Better::higher, 1,
                         1.4};
constexpr Figure kF11Memory{"F11m", "memory of Redis a pending message", "B", Better::lower, 270,
                            200};

using MakePiped = std::unique_ptr<Piped> (*)(const std::string& socket_path);

constexpr std::int64_t kSpreadMs = 20;  // as in lifecycle.h

// "order:000000" and so on.
class UserKeys {
 public:
  explicit UserKeys(std::uint64_t count) : digits_(std::max<std::size_t>(6, digits_of(count))) {
    for (std::uint64_t i = 0; i < count; ++i) text_ += fmt::format("order:{:0{}}", i, digits_);
  }
  [[nodiscard]] std::string_view operator()(std::uint64_t number) const noexcept {
    const std::size_t size = std::string_view("order:").size() + digits_;
    return std::string_view(text_).substr(number * size, size);
  }

 private:
  static std::size_t digits_of(std::uint64_t count) { return std::to_string(count).size(); }

  std::size_t digits_;
  std::string text_;
};

class RedisContest {
 public:
  RedisContest(Run& run, bool keyed, bool aof)
      : run_(&run),
        messages_(run.scaled(200'000)),
        keys_(keyed ? messages_ : 0),
        keyed_(keyed),
        aof_(aof) {}

  double best(MakePiped make) {
    double best = 0;
    std::string all;
    std::string work;
    std::string_view name;
    for (const std::size_t lanes : {std::size_t{4}, std::size_t{16}}) {
      const Scratch scratch(run_->directory());
      RedisHost host(aof_ ? aof_in(scratch.path()) : std::vector<std::string>());
      const auto design = make(host.socket_path());
      name = design->name();
      host.begin_work();
      const double cpu_before = own_cpu_seconds();
      const double rate = rate_of(*design, lanes);
      const double cpu_us = (own_cpu_seconds() - cpu_before) * 1e6 / static_cast<double>(messages_);
      all += fmt::format(", {} {}k", lanes, short_number(rate / 1e3));
      if (rate > best) {
        work = fmt::format("{:.2f} us of the client's CPU, {}", cpu_us, host.work_done(messages_));
      }
      best = std::max(best, rate);
    }
    run_->note(fmt::format("{}/s by batches under way: {}; at its best a lifecycle takes {}", name,
                           all.substr(2), work));
    return best;
  }

 private:
  static std::vector<std::string> aof_in(const std::string& directory) {
    return {"--dir",         std::filesystem::absolute(directory).string(),
            "--appendonly",  "yes",
            "--appendfsync", "everysec"};
  }

  double rate_of(Piped& design, std::size_t lanes) const {
    std::mt19937_64 random(1);
    PipedLifecycle shape;
    shape.pushes = messages_;
    shape.claims = messages_;
    shape.lanes = lanes;
    shape.message = [&](std::uint64_t number) {
      Message message;
      message.payload = payloads_(random());
      message.due_ms = now_ms() + static_cast<std::int64_t>(
                                      random() % static_cast<std::uint64_t>(kSpreadMs + 1));
      if (keyed_) message.key = keys_(number);
      return message;
    };
    const PipedTimes times = run_piped(design, shape);
    must(times.pushed_proof == times.claimed_proof, "payloads come back as they went");
    return static_cast<double>(messages_) / times.seconds;
  }

  Run* run_;
  std::uint64_t messages_;
  Payloads payloads_{100};
  UserKeys keys_;
  bool keyed_;
  bool aof_;
};

void measure_contest(Run& run, const Figure& figure, bool keyed, bool aof, MakePiped rival) {
  std::vector<double> ratios;
  RedisContest contest(run, keyed, aof);
  for (int round = 0; round < run.rounds(); ++round) {
    const double ours = contest.best(make_piped_tarry);
    const double theirs = contest.best(rival);
    ratios.push_back(ours / theirs);
  }
  run.add(figure, median_of(ratios));
}

void push_far(MakePiped make, const RedisHost& host, std::uint64_t messages, const UserKeys* keys) {
  const auto design = make(host.socket_path());
  const Payloads payloads(100);
  std::mt19937_64 random(2);
  PipedLifecycle shape;
  shape.pushes = messages;
  shape.message = [&](std::uint64_t number) {
    Message message;
    message.payload = payloads(random());
    message.due_ms =
        now_ms() + kHourMs + static_cast<std::int64_t>(random() % std::uint64_t{kMonthMs});
    if (keys != nullptr) message.key = (*keys)(number);
    return message;
  };
  (void)run_piped(*design, shape);
}

double bytes_a_message(MakePiped make, std::uint64_t messages, const UserKeys* keys) {
  const RedisHost empty;
  const RedisHost host;
  push_far(make, empty, 1, keys);
  push_far(make, host, messages + 1, keys);
  return (host.bytes_at_rest() - empty.bytes_at_rest()) / static_cast<double>(messages);
}

void measure_bytes(Run& run) {
  std::vector<double> ours;
  const std::uint64_t messages = run.scaled(100'000);
  const UserKeys keys(messages + 1);
  for (int round = 0; round < run.rounds(); ++round) {
    ours.push_back(bytes_a_message(make_piped_tarry, messages, nullptr));
    run.note(fmt::format(
        "bytes a message: tarry {:.1f}, design (e) {:.1f}; with users' keys {:.1f}, {:.1f}",
        ours.back(), bytes_a_message(make_redis_zset_hash, messages, nullptr),
        bytes_a_message(make_piped_tarry, messages, &keys),
        bytes_a_message(make_redis_zset_hash, messages, &keys)));
  }
  run.add(kF11Memory, median_of(ours));
}

}  // namespace

void measure_in_redis(Run& run) {
  measure_contest(run, kF11, false, false, make_redis_zset_hash);
  measure_bytes(run);
}

void measure_in_redis_by_key(Run& run) {
  for (const MakePiped make : {make_piped_tarry, make_truthful_zset_hash}) {
    const RedisHost host;
    prove_truth(*make(host.socket_path()));
  }
  measure_contest(run, kF11Keys, true, false, make_truthful_zset_hash);
}

void measure_in_redis_with_aof(Run& run) {
  measure_contest(run, kF11Aof, false, true, make_redis_zset_hash);
}

}  // namespace tarry::bench
