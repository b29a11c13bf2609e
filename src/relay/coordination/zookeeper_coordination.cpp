#include "relay/coordination/zookeeper_coordination.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "base/text/text.h"
#include "base/threads/thread.h"
#include "relay/coordination/fair_part.h"
#include "relay/coordination/zookeeper_session.h"
#include "wire/parts/query.h"

namespace tarry::relay {
namespace {

constexpr Millis kAfterFailure{500};
/// A server that cannot be reached at the beginning is reported after this time.
constexpr Millis kPatience{3'000};

constexpr std::size_t kMostAtOnce = 100;
constexpr std::size_t kDigits = 10;  // of a sequence number

std::string random_tag() {
  std::random_device random;
  return "m-" + std::to_string(random()) + std::to_string(random()) + "-";
}

// The sequence number, which gives the order of arrival.
std::string_view sequence_of(std::string_view member) {
  return member.substr(member.size() - std::min(member.size(), kDigits));
}

class ZooKeeperCoordination final : public Coordination {
 public:
  explicit ZooKeeperCoordination(ZooKeeperOptions options)
      : options_(std::move(options)),
        group_(options_.path + "/relays/" + wire::percent_encode(options_.group)),
        tag_(random_tag()) {}

  ~ZooKeeperCoordination() override {
    leave();
    if (thread_.joinable()) thread_.join();
  }

  void start(Hooks hooks) override {
    hooks_ = std::move(hooks);
    thread_ = base::start_thread("tarry-sharing", [this] { run(); });
  }
  void offer(std::vector<Unit> all) override {
    const std::lock_guard lock(mutex_);
    if (offered_ && all_ == all) return;
    offered_ = true;
    all_ = std::move(all);
    news_ = true;
    changed_.notify_all();
  }
  void leave() override {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] Millis session() const override { return options_.session; }
  [[nodiscard]] std::string title() const override { return "zookeeper " + options_.hosts; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void run() {
    Lock lock(mutex_);
    while (!leaving_) {
      if (session_ == nullptr || session_->is_over()) {
        begin(lock);
        if (leaving_) break;
      }
      news_ = false;  // news that comes from now on needs another look
      if (session_->is_connected() && offered_) {
        const std::vector<Unit> all = all_;
        lock.unlock();
        const auto done = share(all);
        tell(done);
        lock.lock();
        if (done) {
          wait(lock, std::nullopt);
        } else {
          wait(lock, kAfterFailure);
          news_ = true;
        }
        continue;
      }
      if (!wait(lock, kPatience) && !session_->is_connected()) {
        lock.unlock();
        tell(unreachable());
        lock.lock();
      }
    }
    lock.unlock();
    session_.reset();
  }

  // True if there is news, or if this relay must leave.
  bool wait(Lock& lock, std::optional<Millis> most) {
    const auto ready = [this] { return news_ || leaving_; };
    if (most) return changed_.wait_for(lock, *most, ready);
    changed_.wait(lock, ready);
    return true;
  }

  // Begins a new session. With the old session all its units were lost; the last view stays in
  // force until the new units are known.
  void begin(Lock& lock) {
    if (session_ != nullptr) {
      changed_.wait_for(lock, kAfterFailure, [this] { return leaving_; });
      if (leaving_) return;
    }
    lock.unlock();
    session_.reset();
    mine_.clear();
    doubtful_.clear();
    prepared_ = false;
    session_ = std::make_unique<ZooKeeperSession>(options_.hosts, options_.session, [this] {
      const std::lock_guard news_lock(mutex_);
      news_ = true;
      changed_.notify_all();
    });
    if (session_->is_over()) tell(unreachable());
    lock.lock();
  }

  // The functions below are called without the lock.

  [[nodiscard]] Error unreachable() const {
    return {ErrorCode::unavailable, title() + " cannot be reached"};
  }

  Result<void> share(const std::vector<Unit>& all) {
    if (auto prepared = prepare(); !prepared) return prepared;
    const auto rank = find_rank();
    if (!rank) return rank.error();
    const auto names = session_->children(group_ + "/units");
    if (!names) return names.error();
    std::set<Unit> taken;
    for (const std::string& name : *names) {
      Unit unit;
      const auto text = wire::percent_decode(name);
      if (text && read_unit(*text, unit)) taken.insert(std::move(unit));
    }
    std::erase_if(mine_, [&taken](const Unit& unit) { return !taken.contains(unit); });
    if (auto settled = settle_doubts(taken); !settled) return settled;
    const FairPart part = fair_part(all, mine_, taken, rank->members, rank->rank);
    if (auto done = release(part.release); !done) return done;
    if (auto done = take(part.take); !done) return done;
    show({{mine_.begin(), mine_.end()}, rank->members});
    return {};
  }

  Result<void> prepare() {
    if (prepared_) return {};
    for (const std::string& path : {group_ + "/members", group_ + "/units"}) {
      for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        if (auto there = session_->ensure(path.substr(0, end)); !there) return there;
        if (end == std::string::npos) break;
      }
    }
    prepared_ = true;
    return {};
  }

  struct Rank {
    std::size_t members = 0;
    std::size_t rank = 0;
  };
  Result<Rank> find_rank() {
    for (int tries = 0; tries < 2; ++tries) {
      const auto members = session_->children(group_ + "/members");
      if (!members) return members.error();
      // The node may exist, from an earlier call whose answer was lost.
      const auto me = std::ranges::find_if(
          *members, [this](const std::string& name) { return name.starts_with(tag_); });
      if (me != members->end()) {
        const auto before = std::ranges::count_if(*members, [&me](const std::string& name) {
          return sequence_of(name) < sequence_of(*me);
        });
        return Rank{members->size(), static_cast<std::size_t>(before)};
      }
      const auto made = session_->make_numbered(group_ + "/members/" + tag_);
      if (!made) return made.error();
    }
    return Error{ErrorCode::unavailable, title() + ": the node of this relay has gone again"};
  }

  // Finds out, for each doubtful node, whether this session has made it.
  Result<void> settle_doubts(const std::set<Unit>& taken) {
    while (!doubtful_.empty()) {
      const Unit unit = *doubtful_.begin();
      if (taken.contains(unit)) {
        const auto ours = session_->is_ours(path_of(unit));
        if (!ours) return ours.error();
        if (*ours) mine_.insert(unit);
      }
      doubtful_.erase(unit);
    }
    return {};
  }

  // If the answer is lost, the unit becomes doubtful: another relay may have taken it before this
  // relay knows.
  Result<void> release(const std::vector<Unit>& units) {
    for (const Unit& unit : units) {
      if (is_leaving()) return {};
      mine_.erase(unit);
      if (auto removed = session_->remove(path_of(unit)); !removed) {
        doubtful_.insert(unit);
        return removed;
      }
    }
    return {};
  }

  // Takes only the first units if there are many. Each new node is news, so the next ones follow
  // soon.
  Result<void> take(const std::vector<Unit>& units) {
    for (std::size_t i = 0; i < std::min(units.size(), kMostAtOnce) && !is_leaving(); ++i) {
      const Unit& unit = units[i];
      const auto made = session_->make_ephemeral(path_of(unit));
      // A node that exists although it was not listed may belong to this relay, from an earlier
      // call whose answer was lost.
      if (!made || *made == ZooKeeperSession::Made::there) doubtful_.insert(unit);
      if (!made) return made.error();
      if (*made == ZooKeeperSession::Made::made) mine_.insert(unit);
    }
    return {};
  }

  bool is_leaving() {
    const std::lock_guard lock(mutex_);
    return leaving_;
  }

  [[nodiscard]] std::string path_of(const Unit& unit) const {
    return group_ + "/units/" + wire::percent_encode(spell_unit(unit));
  }

  void show(View view) {
    if (view_ == view) return;
    view_ = std::move(view);
    hooks_.on_change(*view_);
  }

  void tell(const Result<void>& done) {
    if (std::exchange(in_trouble_, !done) == !done) return;
    hooks_.on_trouble(done ? std::nullopt : std::optional<Error>(done.error()));
  }

  const ZooKeeperOptions options_;
  const std::string group_;
  const std::string tag_;
  Hooks hooks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Unit> all_;
  bool offered_ = false;
  bool news_ = false;
  bool leaving_ = false;

  // Used by the thread only.
  std::unique_ptr<ZooKeeperSession> session_;
  bool prepared_ = false;
  std::set<Unit> mine_;
  std::set<Unit> doubtful_;
  std::optional<View> view_;
  bool in_trouble_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Coordination> zookeeper_coordination(ZooKeeperOptions options) {
  return std::make_unique<ZooKeeperCoordination>(std::move(options));
}

}  // namespace tarry::relay
