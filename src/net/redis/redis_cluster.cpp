#include "net/redis/redis_cluster.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "net/redis/protocol/redis_slot.h"
#include "net/redis/redis_map_search.h"
#include "net/redis/redis_redirect.h"
#include "net/redis/redis_stream.h"
#include "net/redis/redis_subscriber.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;
using ClusterClock = std::chrono::steady_clock;
using ClusterTimer = asio::basic_waitable_timer<ClusterClock, asio::wait_traits<ClusterClock>,
                                                asio::io_context::executor_type>;

constexpr std::string_view kAsking = "*1\r\n$6\r\nASKING\r\n";
constexpr int kMostRedirects = 5;
constexpr std::chrono::milliseconds kTryAgainEvery{50};
// The least time from one slot map to the next request for one.
constexpr std::chrono::milliseconds kMapEvery{100};

}  // namespace

class RedisCluster::Impl : public std::enable_shared_from_this<RedisCluster::Impl> {
 public:
  Impl(asio::io_context& io, std::vector<RedisAddress> seeds, RedisOptions options)
      : io_(io),
        seeds_(std::move(seeds)),
        options_(std::move(options)),
        slots_(kRedisSlots),
        map_due_(io.get_executor()) {
    TARRY_ASSERT(!seeds_.empty());
  }

  void send(std::string bytes, std::size_t replies, std::optional<std::uint16_t> slot, Done done) {
    auto request = std::make_shared<ClusterRequest>();
    request->bytes = std::move(bytes);
    request->replies = replies;
    request->slot = slot;
    request->done = std::move(done);
    request->deadline =
        ClusterClock::now() + std::chrono::milliseconds(options_.command_timeout_ms);
    if (replies == 0) {
      fail_soon(request, {ErrorCode::invalid_argument, "no Redis commands to send"});
    } else if (closed_) {
      fail_soon(request, closed_error());
    } else {
      route(request);
    }
  }

  void send_to_masters(const std::string& bytes, EachDone done) {
    if (!mapped_ && !closed_) {
      refresh([this, bytes, done = std::move(done)](const Result<void>& result) mutable {
        if (!result) return done(failed(result.error()));
        send_to_masters(bytes, std::move(done));
      });
      return;
    }
    // A copy, because an answer may change `serving_`.
    const std::vector<NodePtr> masters = serving();
    struct Asked {
      EachDone done;
      std::vector<NodeAnswer> answers;
      std::size_t left = 0;
    };
    auto asked = std::make_shared<Asked>();
    asked->done = std::move(done);
    asked->left = masters.size();
    if (closed_ || asked->left == 0) {
      const Error why = closed_ ? closed_error() : no_slot_served(server());
      return asio::post(io_, [asked, why] { asked->done(failed(why)); });
    }
    for (const NodePtr& node : masters) {
      node->client.send(bytes, 1, [asked, node](RedisAnswer answer) {
        asked->answers.push_back({redis_server_name(node->address), std::move(answer)});
        if (--asked->left == 0) asked->done(std::move(asked->answers));
      });
    }
  }

  void subscribe(RedisChannels kind, std::vector<std::string> channels, OnMessage on_message,
                 OnSubscribed on_subscribed) {
    TARRY_ASSERT(channels_.empty() && !channels.empty());
    channel_kind_ = kind;
    channels_ = std::move(channels);
    on_message_ = std::move(on_message);
    on_subscribed_ = std::move(on_subscribed);
    if (closed_) return;
    if (mapped_) {
      update_subscriptions();
    } else {
      refresh_in_background();
    }
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    map_due_.cancel();
    for (auto& [name, subscription] : std::exchange(subscriptions_, {})) {
      subscription.subscriber->close();
    }
    for (auto& [name, node] : nodes_) node->client.close();
    // Callers that wait for the slot map are answered when their nodes close, otherwise here.
    asio::post(io_, [self = shared_from_this()] { self->end_refresh(self->closed_error()); });
  }

  [[nodiscard]] bool is_connected() const noexcept { return mapped_ && !closed_; }

  [[nodiscard]] std::uint64_t connections() const noexcept {
    std::uint64_t changes = retired_changes_;
    for (const auto& [name, node] : nodes_) changes += changes_of(*node);
    return changes;
  }

  [[nodiscard]] std::string server() const {
    std::string names;
    for (const RedisAddress& seed : seeds_)
      names += (names.empty() ? "" : ",") + redis_server_name(seed);
    return names;
  }

 private:
  struct Node {
    Node(asio::io_context& io, RedisAddress at, RedisOptions own)
        : address(std::move(at)), options(std::move(own)), client(io, options) {}

    const RedisAddress address;
    const RedisOptions options;
    RedisClient client;
  };
  using NodePtr = std::shared_ptr<Node>;

  struct ClusterRequest {
    std::string bytes;
    std::size_t replies = 0;
    std::optional<std::uint16_t> slot;
    Redis::Done done;
    ClusterClock::time_point deadline;
    int redirects = 0;
    bool remapped = false;  // the slot map was requested for this command before
  };
  using ClusterRequestPtr = std::shared_ptr<ClusterRequest>;

  struct Subscription {
    NodePtr node;
    std::vector<std::string> channels;
    std::shared_ptr<RedisSubscriber> subscriber;
  };
  using WithMap = base::UniqueFunction<void(const Result<void>&)>;

  static std::vector<NodeAnswer> failed(Error error) {
    std::vector<NodeAnswer> only;
    only.push_back({"", RedisFailure{std::move(error), false}});
    return only;
  }

  // Counts each connection that the node's client made, and each one that broke.
  static std::uint64_t changes_of(const Node& node) noexcept {
    return 2 * node.client.connections() - (node.client.is_connected() ? 1 : 0);
  }

  Error closed_error() const {
    return {ErrorCode::closed, "the client of Redis at " + server() + " is closed"};
  }

  // -- commands

  void route(const ClusterRequestPtr& request) {
    if (closed_) return finish(request, RedisFailure{closed_error(), false});
    if (!mapped_) return route_by_new_map(request);
    if (const NodePtr node = node_for(*request)) return transmit(node, request, false);
    if (!request->remapped) {
      request->remapped = true;
      return route_by_new_map(request);
    }
    Error none = no_slot_served(server());
    if (request->slot) {
      none.message = "no node of the Redis cluster at " + server() + " serves slot " +
                     std::to_string(*request->slot);
    }
    finish(request, RedisFailure{std::move(none), false});
  }

  // Here, and wherever a request waits for the slot map, capturing `this` is safe: closing answers
  // all waiting requests.
  void route_by_new_map(const ClusterRequestPtr& request) {
    refresh([this, request](const Result<void>& result) {
      if (!result) return finish(request, RedisFailure{result.error(), false});
      route(request);
    });
  }

  NodePtr node_for(const ClusterRequest& request) const {
    return request.slot ? slots_[*request.slot] : any_node();
  }

  void transmit(const NodePtr& node, const ClusterRequestPtr& request, bool asking) {
    auto answered = [self = shared_from_this(), node, request](RedisAnswer answer) {
      self->on_answer(node, request, std::move(answer));
    };
    if (asking) {
      node->client.send(std::string(kAsking) + request->bytes, request->replies + 1,
                        std::move(answered));
    } else {
      node->client.send(request->bytes, request->replies, std::move(answered));
    }
  }

  void on_answer(const NodePtr& node, const ClusterRequestPtr& request, RedisAnswer answer) {
    if (closed_) return finish(request, std::move(answer));
    if (auto* failure = std::get_if<RedisFailure>(&answer)) {
      return on_failure(node, request, std::move(*failure));
    }
    std::get<RedisReply>(answer).set_origin({true, std::shared_ptr<Redis>(node, &node->client)});
    const RedisView reply = std::get<RedisReply>(answer).view();
    const bool ends_in_error = reply.kind() == RedisView::Kind::array && reply.size() > 0 &&
                               reply[reply.size() - 1].is_error();
    if (reply.is_error() || ends_in_error) {
      std::get<RedisReply>(answer).set_node(redis_server_name(node->address));
    }
    if (!reply.is_error()) return finish(request, std::move(answer));
    if (const auto redirect = redis_redirect(reply.text(), node->address)) {
      return follow(*redirect, request, std::string(reply.text()));
    }
    if (reply.text().starts_with("TRYAGAIN") && ClusterClock::now() < request->deadline) {
      return try_again(request);
    }
    if (reply.text().starts_with("CLUSTERDOWN")) refresh_in_background(node);
    finish(request, std::move(answer));
  }

  void on_failure(const NodePtr& node, const ClusterRequestPtr& request, RedisFailure failure) {
    if (failure.sent || request->remapped) {
      refresh_in_background(node);
      return finish(request, std::move(failure));
    }
    request->remapped = true;
    refresh(
        [this, node, request, failure = std::move(failure)](const Result<void>& result) {
          NodePtr now;
          if (result) now = node_for(*request);
          if (now == nullptr || now == node) return finish(request, failure);
          transmit(now, request, false);
        },
        node);
  }

  void follow(const RedisRedirect& redirect, const ClusterRequestPtr& request,
              const std::string& text) {
    if (++request->redirects > kMostRedirects) {
      return finish(request,
                    RedisFailure{{ErrorCode::unavailable,
                                  "the nodes of the Redis cluster at " + server() +
                                      " keep redirecting a command to each other: " + text},
                                 false});
    }
    const NodePtr to = node_at(redirect.to);
    if (!redirect.ask) {
      slots_[redirect.slot] = to;
      serving_.clear();
      refresh_in_background();  // other slots have probably moved too
    }
    transmit(to, request, redirect.ask);
  }

  void try_again(const ClusterRequestPtr& request) {
    request->redirects = 0;
    auto timer = std::make_shared<ClusterTimer>(io_.get_executor());
    timer->expires_after(kTryAgainEvery);
    timer->async_wait(
        [self = shared_from_this(), request, timer](const auto&) { self->route(request); });
  }

  static void finish(const ClusterRequestPtr& request, RedisAnswer answer) {
    Done done = std::move(request->done);
    done(std::move(answer));
  }

  void fail_soon(const ClusterRequestPtr& request, Error error) {
    asio::post(io_, [request, error = std::move(error)]() mutable {
      finish(request, RedisFailure{std::move(error), false});
    });
  }

  // -- nodes and the map

  NodePtr node_at(const RedisAddress& address) {
    NodePtr& node = nodes_[redis_server_name(address)];
    if (node == nullptr) {
      RedisOptions own = options_;
      own.host = address.host;
      own.port = address.port;
      own.unix_path.clear();
      node = std::make_shared<Node>(io_, address, std::move(own));
    }
    return node;
  }

  // The masters that serve any slot. A node usually serves long runs of slots.
  const std::vector<NodePtr>& serving() {
    if (!serving_.empty()) return serving_;
    const Node* last = nullptr;
    for (const NodePtr& node : slots_) {
      if (node.get() == last) continue;
      last = node.get();
      if (node != nullptr && std::ranges::find(serving_, node) == serving_.end()) {
        serving_.push_back(node);
      }
    }
    return serving_;
  }

  NodePtr any_node() const {
    NodePtr any;
    for (const NodePtr& node : slots_) {
      if (node == nullptr) continue;
      if (node->client.is_connected()) return node;
      if (any == nullptr) any = node;
    }
    return any;
  }

  void refresh_in_background(const NodePtr& doubted = nullptr) {
    refresh([](const Result<void>&) {}, doubted);
  }

  // Asks one node after another for the slot map. The node `doubted`, which seems to be away or cut
  // off from the others, is asked last.
  void refresh(WithMap then, const NodePtr& doubted = nullptr) {
    if (closed_) return then(closed_error());
    waiting_.push_back(std::move(then));
    if (std::exchange(refreshing_, true)) return;
    doubted_ = doubted;
    const auto since = ClusterClock::now() - mapped_at_;
    if (!mapped_ || since >= kMapEvery) return search();
    map_due_.expires_after(kMapEvery - since);
    map_due_.async_wait([self = shared_from_this(), round = round_](const auto& error) {
      if (!error && round == self->round_ && self->refreshing_) self->search();
    });
  }

  // Nodes with a connection come first.
  std::vector<RedisAddress> to_be_asked() const {
    std::vector<RedisAddress> nodes;
    for (const bool connected : {true, false}) {
      for (const auto& [name, node] : nodes_) {
        if (node->client.is_connected() == connected) nodes.push_back(node->address);
      }
    }
    for (const RedisAddress& seed : seeds_) {
      if (std::ranges::find(nodes, seed) == nodes.end()) nodes.push_back(seed);
    }
    if (doubted_ != nullptr) {
      const auto last = std::ranges::find(nodes, doubted_->address);
      if (last != nodes.end()) std::rotate(last, last + 1, nodes.end());
    }
    return nodes;
  }

  void search() {
    auto ask = [self = shared_from_this()](const RedisAddress& at, Redis::Done answered) {
      RedisCommand slots("CLUSTER");
      slots.add("SLOTS");
      const NodePtr node = self->node_at(at);
      node->client.send(std::move(slots),
                        [node, answered = std::move(answered)](RedisAnswer answer) mutable {
                          answered(std::move(answer));
                        });
    };
    search_ = std::make_shared<RedisMapSearch>(
        io_, to_be_asked(), std::move(ask), server(),
        [self = shared_from_this()](Result<std::vector<RedisSlotRange>> ranges) {
          if (self->closed_) return;
          if (ranges) self->apply(*ranges);
          self->end_refresh(ranges ? Result<void>() : ranges.error());
        });
    search_->start();
  }

  void apply(const std::vector<RedisSlotRange>& ranges) {
    std::vector<NodePtr> slots(kRedisSlots);
    std::map<std::string, NodePtr> used;
    for (const RedisSlotRange& range : ranges) {
      const NodePtr node = node_at(range.master);
      used[redis_server_name(range.master)] = node;
      std::fill(slots.begin() + range.first, slots.begin() + range.last + 1, node);
    }
    slots_ = std::move(slots);
    serving_.clear();
    mapped_ = true;
    mapped_at_ = ClusterClock::now();
    for (auto& [name, node] : nodes_) {
      if (used.contains(name)) continue;
      if (node->client.is_idle()) {
        retired_changes_ += changes_of(*node);
        node->client.close();
      } else {
        used[name] = node;
      }
    }
    nodes_ = std::move(used);
    if (!channels_.empty()) update_subscriptions();
  }

  void end_refresh(const Result<void>& result) {
    refreshing_ = false;
    doubted_.reset();
    ++round_;
    map_due_.cancel();
    if (search_) std::exchange(search_, nullptr)->cancel();
    for (WithMap& then : std::exchange(waiting_, {})) then(result);
  }

  // -- subscriptions

  void update_subscriptions() {
    std::map<std::string, std::vector<std::string>> wanted;
    for (const std::string& channel : channels_) {
      const NodePtr node =
          channel_kind_ == RedisChannels::sharded ? slots_[redis_slot(channel)] : plain_node();
      if (node != nullptr) wanted[redis_server_name(node->address)].push_back(channel);
    }
    std::erase_if(subscriptions_, [&](auto& each) {
      const auto found = wanted.find(each.first);
      if (found != wanted.end() && found->second == each.second.channels) return false;
      each.second.subscriber->close();
      return true;
    });
    for (auto& [name, channels] : wanted) {
      if (subscriptions_.contains(name)) continue;
      const NodePtr node = nodes_.at(name);
      auto subscriber = std::make_shared<RedisSubscriber>(
          io_, node->options, channel_kind_, channels,
          [self = shared_from_this()](std::string_view channel, std::string_view message) {
            if (!self->closed_) self->on_message_(channel, message);
          },
          [self = shared_from_this()] {
            if (!self->closed_) self->on_subscribed_();
          });
      subscriber->on_lost([self = shared_from_this()] {
        if (!self->closed_) self->refresh_in_background();
      });
      subscriber->start();
      subscriptions_[name] = {node, channels, std::move(subscriber)};
    }
  }

  // The node for plain channels. It stays the same as long as its subscription stands and it serves
  // any slot.
  NodePtr plain_node() const {
    for (const auto& [name, subscription] : subscriptions_) {
      if (subscription.subscriber->stands() &&
          std::ranges::find(slots_, subscription.node) != slots_.end()) {
        return subscription.node;
      }
    }
    return any_node();
  }

  asio::io_context& io_;
  const std::vector<RedisAddress> seeds_;
  const RedisOptions options_;
  bool closed_ = false;

  std::map<std::string, NodePtr> nodes_;
  std::vector<NodePtr> slots_;
  std::vector<NodePtr> serving_;  // computed from slots_; empty: not computed yet
  bool mapped_ = false;
  ClusterClock::time_point mapped_at_;
  std::uint64_t retired_changes_ = 0;  // connection changes of nodes that have left the cluster

  bool refreshing_ = false;
  std::uint64_t round_ = 0;
  NodePtr doubted_;                         // the node that is asked last
  std::shared_ptr<RedisMapSearch> search_;  // null if no search is running
  std::vector<WithMap> waiting_;
  ClusterTimer map_due_;

  RedisChannels channel_kind_ = RedisChannels::plain;
  std::vector<std::string> channels_;
  OnMessage on_message_;
  OnSubscribed on_subscribed_;
  std::map<std::string, Subscription> subscriptions_;  // by node
};

RedisCluster::RedisCluster(asio::io_context& io, std::vector<RedisAddress> seeds,
                           RedisOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(seeds), std::move(options))) {}
RedisCluster::~RedisCluster() { impl_->close(); }

void RedisCluster::send(RedisCommand command, Done done) {
  const auto slot = command.slot();
  impl_->send(std::move(command).take(), 1, slot, std::move(done));
}

void RedisCluster::send(std::vector<RedisCommand> commands, Done done) {
  std::string bytes;
  std::optional<std::uint16_t> slot;
  for (RedisCommand& command : commands) {
    if (!slot) slot = command.slot();
    bytes += std::move(command).take();
  }
  impl_->send(std::move(bytes), commands.size(), slot, std::move(done));
}

void RedisCluster::send_to_masters(RedisCommand command, EachDone done) {
  impl_->send_to_masters(std::move(command).take(), std::move(done));
}

void RedisCluster::subscribe(RedisChannels kind, std::vector<std::string> channels,
                             OnMessage on_message, OnSubscribed on_subscribed) {
  impl_->subscribe(kind, std::move(channels), std::move(on_message), std::move(on_subscribed));
}

void RedisCluster::close() { impl_->close(); }
bool RedisCluster::is_connected() const noexcept { return impl_->is_connected(); }
std::uint64_t RedisCluster::connections() const noexcept { return impl_->connections(); }
std::string RedisCluster::server() const { return impl_->server(); }

}  // namespace tarry::net
