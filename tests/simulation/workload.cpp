#include "workload.h"

#include <algorithm>
#include <random>
#include <sstream>

#include "core/limits.h"
#include "engines/embedded/records/tokens.h"
#include "engines/embedded/shard/shard.h"
#include "support/embedded/journal.h"

namespace tarry::simulation {
namespace {

struct Kind {
  std::string_view name;
  std::uint8_t weight;  // the highest weight that is drawn
  std::uint8_t chance;  // in eighths: how many seeds have it at all
};

constexpr std::array<Kind, kOps> kKinds{{
    {"push", 40, 8},    {"push_many", 12, 6},  {"move", 6, 3},      {"claim", 30, 8},
    {"waiting", 8, 4},  {"claim_keys", 8, 3},  {"ack", 20, 7},      {"retry", 10, 6},
    {"release", 8, 5},  {"bury", 6, 5},        {"move_away", 4, 2}, {"extend", 8, 5},
    {"cancel", 12, 6},  {"reschedule", 10, 6}, {"configure", 5, 5}, {"pause", 3, 2},
    {"resume", 5, 6},   {"purge", 2, 2},       {"revive", 5, 4},    {"get", 6, 4},
    {"list", 2, 3},     {"stats", 3, 3},       {"nothing", 10, 6},  {"sync", 5, 5},
    {"advance", 20, 8}, {"step", 5, 3},        {"drift", 4, 2},     {"fill", 4, 2},
    {"room", 6, 8},     {"fault", 4, 4},       {"kill", 3, 5},      {"power", 4, 6},
    {"reboot", 3, 4},   {"close", 2, 4},       {"rebuild", 3, 5},   {"rot", 3, 4},
    {"remove", 3, 0},
}};

const Kind& kind_of(Op op) { return kKinds[static_cast<std::size_t>(op)]; }

template <typename T>
T one_of(std::mt19937_64& random, std::initializer_list<T> choices) {
  return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
}

}  // namespace

std::string_view to_string(Op op) noexcept { return kind_of(op).name; }

std::string to_string(const Step& step) {
  std::ostringstream out;
  out << to_string(step.op) << ' ' << int{step.a} << ' ' << int{step.b} << ' ' << step.c
      << (step.turns ? "; turn" : "") << "; commits " << int{step.commits};
  return out.str();
}

Options options_of(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9E37'79B9'7F4A'7C15 + 1);
  using embedded::SyncPolicy;
  Options options;
  options.seed = seed;
  options.policy = one_of(
      random, {SyncPolicy::always, SyncPolicy::always, SyncPolicy::every_100ms, SyncPolicy::os});
  options.segment_bytes = one_of<std::uint64_t>(random, {1024, 2048, 4096, 8192, 32'768});
  options.wheel_slice = one_of<std::size_t>(random, {1, 3, 65'536, 65'536});
  options.sweep_slice = one_of<std::uint32_t>(random, {1, 4, 65'536, 65'536});
  options.cleaning_slice = one_of<std::uint64_t>(random, {1, 300, 512 << 10});
  options.work_base =
      one_of<std::uint64_t>(random, {2048, 2048, 2048, embedded::ShardConfig::kWorkBase});
  options.queues = one_of<std::uint32_t>(random, {1, 1, 2, 3});
  options.keys = one_of<std::uint32_t>(random, {1, 3, 8, 24});
  options.payload = one_of<std::uint32_t>(random, {0, 40, 200, 1000});
  options.small_steps = random() % 4 == 0;
  options.steps = static_cast<std::uint32_t>(20 + random() % 180);
  // Options that are drawn below were added later, so that earlier draws of a seed stay the same.
  constexpr auto kDrawn = static_cast<std::size_t>(Op::remove);
  for (std::size_t op = 0; op < kDrawn; ++op) {
    const Kind& kind = kKinds[op];
    const bool has = random() % 8 < kind.chance;
    const auto weight = static_cast<std::uint8_t>(1 + random() % kind.weight);
    options.weights[op] = has ? weight : std::uint8_t{0};
  }
  if (options.weights[static_cast<std::size_t>(Op::fill)] != 0) {
    // A full disk is hardest for a store with the production reserve and small segments, if it
    // stays full for long.
    if (random() % 4 != 0) {
      options.work_base = embedded::ShardConfig::kWorkBase;
      options.segment_bytes = std::min<std::uint64_t>(options.segment_bytes, 4096);
      options.steps = std::max<std::uint32_t>(options.steps, 180);
    }
    if (random() % 4 < 3) options.weights[static_cast<std::size_t>(Op::room)] = 1;
  }
  options.recent_bytes =
      one_of<std::uint64_t>(random, {0, 0, 2000, embedded::RecordReads::kRecentBytes});
  options.kept_claims = one_of<std::uint64_t>(random, {1, 10, embedded::ShardConfig::kKeptClaims});
  // None of these seeds is among those that have found something (CMakeLists.txt).
  if (seed % 8 == 4 || seed % 8 == 7) {
    options.expiry = true;
    options.weights[kDrawn] = static_cast<std::uint8_t>(1 + random() % kKinds[kDrawn].weight);
    options.reason = one_of<std::uint32_t>(random, {0, 40, core::kMaxReason, core::kMaxReason});
    options.limits = seed % 16 == 4 || seed % 16 == 15;
    options.history = seed % 16 == 7 || seed % 16 == 12;
    options.groups = seed % 32 == 4 || seed % 32 == 31;
    options.ordered = seed % 64 == 31;
    if (options.groups) {  // they show little unless many messages wait
      options.queues = 1;
      options.keys = std::max<std::uint32_t>(options.keys, 24);
      options.steps = std::max<std::uint32_t>(options.steps, 250);
      for (const Op op : {Op::configure, Op::push_many, Op::claim}) {
        options.weights[static_cast<std::size_t>(op)] += 8;
      }
    }
  }
  return options;
}

std::vector<Step> script_of(const Options& options) {
  std::mt19937_64 random(options.seed ^ 0xA5A5'5A5A'1234'4321);
  std::vector<int> weights(options.weights.begin(), options.weights.end());
  if (weights.back() == 0) weights.pop_back();
  std::discrete_distribution<std::size_t> draw(weights.begin(), weights.end());
  // Each world has its own lag of the committer behind the shard.
  const std::uint64_t lag = random() % 3;
  std::vector<Step> script;
  for (std::uint32_t i = 0; i < options.steps; ++i) {
    Step step;
    step.op = static_cast<Op>(draw(random));
    step.a = static_cast<std::uint8_t>(random());
    step.b = static_cast<std::uint8_t>(random());
    step.c = static_cast<std::uint32_t>(random());
    step.turns = lag == 0 || random() % 4 != 0;
    step.commits = static_cast<std::uint8_t>(lag == 0 ? 3 : random() % (5 - lag));
    script.push_back(step);
  }
  // A queue gets the order of pushes only before its first message.
  if (options.ordered) script.insert(script.begin(), {Op::configure, 1, 1, 0});
  return script;
}

std::string to_string(const Options& options) {
  std::ostringstream out;
  const char* const policies[] = {"always", "100ms", "os"};
  out << "sync=" << policies[static_cast<std::size_t>(options.policy)]
      << " segment=" << options.segment_bytes << " wheel_slice=" << options.wheel_slice
      << " sweep_slice=" << options.sweep_slice << " cleaning_slice=" << options.cleaning_slice
      << " work_base=" << options.work_base << " kept_claims=" << options.kept_claims
      << " recent=" << options.recent_bytes << " queues=" << options.queues
      << " keys=" << options.keys << " payload=" << options.payload << " reason=" << options.reason
      << " expiry=" << options.expiry << " limits=" << options.limits
      << " groups=" << options.groups << " history=" << options.history
      << " ordered=" << options.ordered << " small_steps=" << options.small_steps
      << " steps=" << options.steps << " weights";
  for (std::size_t op = 0; op < kOps; ++op) {
    if (options.weights[op] != 0) out << ' ' << kKinds[op].name << '=' << int{options.weights[op]};
  }
  return out.str();
}

std::string key_of(std::uint32_t number) {
  using namespace std::string_literals;
  const auto made = [](std::uint32_t tag, std::uint32_t handle, std::uint64_t id) {
    const auto text = embedded::spell(embedded::GeneratedKey{tag, 0, handle, id});
    return std::string(text.begin(), text.end());
  };
  const auto tag = static_cast<std::uint32_t>(embedded::test::kStoreId);
  switch (number) {
    case 0: return "order:42";
    case 1: return "\0"s;
    case 2: return "\0\0"s;
    case 3: return std::string(512, 'k');
    case 4: return std::string(511, 'k') + "K";
    case 5: return "\xFF\xFE\x80";
    case 6: return made(tag, 0, 1);  // a key like one that the store generates
    case 7: return made(tag + 1, 0, 1);
    case 8: return "{a}b";
    case 9: return "_" + std::string(24, 'A');
    case 10: return "r" + std::string(30, 'A');
    case 11: return "../../etc";
    default: return "key-" + std::to_string(number);
  }
}

}  // namespace tarry::simulation
