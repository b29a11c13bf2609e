#include "net/http/http_client.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include "net/http/http_link.h"
#include "net/tls/tls_client.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;
using Clock = HttpLink::Clock;

constexpr unsigned kUnauthorized = 401;
constexpr std::string_view kBearer = "\r\nAuthorization: Bearer ";

std::string host_field(const HttpClientOptions& options) {
  if (!options.unix_path.empty()) return "localhost";
  const bool v6 = options.host.find(':') != std::string::npos;
  return (v6 ? "[" + options.host + "]" : options.host) + ":" + std::to_string(options.port);
}

std::shared_ptr<TlsClient> tls_client(const HttpClientOptions& options) {
  if (!options.tls || !options.unix_path.empty()) return nullptr;
  return std::make_shared<TlsClient>(*options.tls, options.host);
}

std::string head_of(const HttpCall& call, const std::string& host, const std::string& user_agent,
                    const std::string& token) {
  std::string head;
  head.reserve(call.target.size() + host.size() + user_agent.size() + 160);
  head += call.method;
  head += ' ';
  head += call.target;
  head += " HTTP/1.1\r\nHost: ";
  head += host;
  if (!user_agent.empty()) {
    head += "\r\nUser-Agent: ";
    head += user_agent;
  }
  if (!token.empty()) {
    head += kBearer;
    head += token;
  }
  if (!call.content_type.empty()) {
    head += "\r\nContent-Type: ";
    head += call.content_type;
  }
  if (!call.body.empty() || call.method != "GET") {
    head += "\r\nContent-Length: ";
    head += std::to_string(call.body.size());
  }
  head += "\r\n\r\n";
  return head;
}

}  // namespace

class HttpClient::Impl : public std::enable_shared_from_this<HttpClient::Impl> {
 public:
  Impl(asio::io_context& io, HttpClientOptions options)
      : io_(io),
        options_(std::move(options)),
        host_(host_field(options_)),
        token_(options_.token),
        tls_(tls_client(options_)),
        deadline_timer_(io.get_executor()) {}

  Id send(HttpCall call, Done done) {
    auto task = std::make_shared<Task>();
    task->id = ++last_id_;
    task->deadline = Clock::now() + std::chrono::milliseconds(call.timeout_ms);
    task->head = head_of(call, host_, options_.user_agent, token_);
    task->token = token_;
    task->body = std::move(call.body);
    task->lane = call.lane;
    task->done = std::move(done);
    tasks_.emplace(task->id, task);
    if (closed_) {
      finish_soon(*task, "the client is closed");
    } else if (task->lane == HttpLane::own) {
      start(task, HttpLane::own, /*may_reuse=*/true);
    } else {
      waiting_on(task->lane).push_back(task);
      deadlines_.emplace(task->deadline, task->id);
      start_waiting();
      arm();
    }
    return task->id;
  }

  void hang_up(Id id) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return;
    const auto task = found->second;
    task->retried = task->renewed = true;  // forbids a second attempt
    if (task->link) {
      task->link->hang_up();
    } else {
      stop_waiting(task);
      finish_soon(*task, "given up before it was sent to " + host_);
    }
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    for (auto* waiting : {&waiting_, &waiting_reserved_}) {
      for (const auto& task : std::exchange(*waiting, {})) {
        finish_soon(*task, "the client is closed");
      }
    }
    deadlines_.clear();
    deadline_timer_.cancel();
    close_idle();
    std::vector<std::shared_ptr<HttpLink>> busy;
    for (const auto& [id, task] : tasks_) {
      if (task->link) busy.push_back(task->link);
    }
    for (const auto& link : busy) {
      link->fail({ErrorCode::unavailable, "the client was closed before " + host_ + " answered"});
    }
  }

 private:
  struct Task {
    Id id = 0;
    std::string head;
    std::string body;
    std::string token;  // in the head
    HttpLane lane = HttpLane::common;
    HttpLane runs_on = HttpLane::common;
    bool reused = false;  // whether the connection had served another request before
    bool retried = false;
    bool renewed = false;  // whether it was sent again with another token
    Clock::time_point deadline;
    Done done;
    std::shared_ptr<HttpLink> link;
  };
  using TaskPtr = std::shared_ptr<Task>;

  std::deque<TaskPtr>& waiting_on(HttpLane lane) {
    return lane == HttpLane::reserved ? waiting_reserved_ : waiting_;
  }

  void start_waiting() {
    for (;;) {
      if (!waiting_reserved_.empty() && busy_reserved_ < options_.reserved) {
        start_first(waiting_reserved_, HttpLane::reserved);
      } else if (busy_ < options_.connections) {
        auto& first = who_is_first();
        if (first.empty()) return;
        start_first(first, HttpLane::common);
      } else {
        return;
      }
    }
  }

  std::deque<TaskPtr>& who_is_first() {
    if (waiting_reserved_.empty()) return waiting_;
    if (waiting_.empty()) return waiting_reserved_;
    return waiting_.front()->id < waiting_reserved_.front()->id ? waiting_ : waiting_reserved_;
  }

  void start_first(std::deque<TaskPtr>& waiting, HttpLane runs_on) {
    const TaskPtr task = std::move(waiting.front());
    waiting.pop_front();
    deadlines_.erase({task->deadline, task->id});
    if (task->deadline <= Clock::now()) {
      not_in_time(*task);
    } else {
      start(task, runs_on, /*may_reuse=*/true);
    }
  }

  void stop_waiting(const TaskPtr& task) {
    auto& waiting = waiting_on(task->lane);
    // The search is fast, because requests with the earliest deadlines stand near the front.
    waiting.erase(std::ranges::find(waiting, task));
    deadlines_.erase({task->deadline, task->id});
  }

  // The timer may fire for a request that has started meanwhile. That costs less than setting the
  // timer again for each request.
  void arm() {
    if (deadlines_.empty()) return;
    const Clock::time_point first = deadlines_.begin()->first;
    if (armed_for_ && *armed_for_ <= first) return;
    armed_for_ = first;
    deadline_timer_.expires_at(first);
    deadline_timer_.async_wait(
        [weak = weak_from_this(), first](const boost::system::error_code& error) {
          const auto self = weak.lock();
          if (!error && self && self->armed_for_ == first) self->on_deadline();
        });
  }

  void on_deadline() {
    armed_for_.reset();
    const auto now = Clock::now();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      const TaskPtr task = tasks_.at(deadlines_.begin()->second);
      stop_waiting(task);
      not_in_time(*task);
    }
    arm();
  }

  void not_in_time(Task& task) {
    finish_soon(task, "not sent to " + host_ + " in time: every connection waits for an answer");
  }

  std::size_t* busy_on(HttpLane lane) {
    if (lane == HttpLane::own) return nullptr;
    return lane == HttpLane::reserved ? &busy_reserved_ : &busy_;
  }

  void start(const TaskPtr& task, HttpLane runs_on, bool may_reuse) {
    task->runs_on = runs_on;
    if (auto* busy = busy_on(runs_on)) ++*busy;
    task->link = may_reuse ? idle_link() : nullptr;
    task->reused = task->link != nullptr;
    if (!task->link) task->link = new_link();
    asked_[task->link.get()] = task;
    task->link->ask(task->head, task->body, task->deadline);
  }

  std::shared_ptr<HttpLink> idle_link() {
    while (!idle_.empty()) {
      auto link = std::move(idle_.back());
      idle_.pop_back();
      if (link->alive()) return link;
      link->close();
    }
    return nullptr;
  }

  // Links call back only while this object lives: it owns them.
  std::shared_ptr<HttpLink> new_link() {
    const std::weak_ptr<Impl> weak = weak_from_this();
    return std::make_shared<HttpLink>(
        io_, options_, tls_,
        [weak](HttpLink& link, HttpLink::End end) {
          if (const auto self = weak.lock()) self->on_end(link, std::move(end));
        },
        [weak](HttpLink& link) {
          if (const auto self = weak.lock()) self->on_dead(link);
        });
  }

  void on_end(HttpLink& link, HttpLink::End end) {
    const auto found = asked_.find(&link);
    if (found == asked_.end()) return;
    const TaskPtr task = std::move(found->second);
    asked_.erase(found);
    const auto used = std::exchange(task->link, nullptr);
    if (auto* busy = busy_on(task->runs_on)) --*busy;
    if (end.reusable && idle_.size() < options_.connections + options_.reserved && !closed_) {
      idle_.push_back(used);
    } else if (end.reusable) {
      used->close();
    }
    auto* failure = std::get_if<HttpFailure>(&end.answer);
    if (failure != nullptr) {
      explain(*failure, end.silent);
    } else {
      has_answered_ = true;
    }
    // The reason of the failure may concern other connections that were open as long, so the idle
    // ones are closed.
    if (failure != nullptr) close_idle();
    if (failure != nullptr && !failure->sent && task->reused && !task->retried && !closed_) {
      task->retried = true;
      start(task, task->runs_on, /*may_reuse=*/false);
      return;
    }
    if (failure == nullptr && renew_token(*task, std::get<HttpMessage>(end.answer))) {
      start(task, task->runs_on, /*may_reuse=*/true);
      return;
    }
    finish(*task, std::move(end.answer));
    if (!closed_) start_waiting();
  }

  // Whether the server refused the task's token, and there is another one, which the task has now.
  bool renew_token(Task& task, const HttpMessage& answer) {
    if (answer.status != kUnauthorized || !options_.renew_token || task.renewed || closed_) {
      return false;
    }
    if (std::string token = options_.renew_token(); !token.empty()) token_ = std::move(token);
    if (task.token.empty() || task.token == token_) return false;
    task.renewed = true;
    const std::size_t at = task.head.find(std::string(kBearer) + task.token);
    task.head.replace(at + kBearer.size(), task.token.size(), token_);
    task.token = token_;
    return true;
  }

  void explain(HttpFailure& failure, bool silent) const {
    if (has_answered_) {
      if (!failure.sent) failure.error.code = ErrorCode::unavailable;
    } else if (silent && !tls_ && options_.unix_path.empty()) {
      failure.error.message += "; if the server speaks TLS, use https://" + host_;
    }
  }

  void close_idle() {
    for (const auto& link : std::exchange(idle_, {})) link->close();
  }

  void on_dead(HttpLink& link) {
    std::erase_if(idle_, [&](const auto& idle) { return idle.get() == &link; });
  }

  void finish(Task& task, HttpAnswer answer) {
    Done done = std::move(task.done);
    tasks_.erase(task.id);
    done(std::move(answer));
  }

  void finish_soon(Task& task, std::string why) {
    HttpAnswer answer = HttpFailure{{ErrorCode::unavailable, std::move(why)}, false};
    asio::post(io_, [done = std::move(task.done), answer = std::move(answer)]() mutable {
      done(std::move(answer));
    });
    tasks_.erase(task.id);
  }

  asio::io_context& io_;
  const HttpClientOptions options_;
  const std::string host_;
  std::string token_;                     // the newest one
  const std::shared_ptr<TlsClient> tls_;  // null: no TLS
  bool has_answered_ = false;
  Id last_id_ = 0;
  bool closed_ = false;
  std::size_t busy_ = 0;
  std::size_t busy_reserved_ = 0;
  std::unordered_map<Id, TaskPtr> tasks_;
  std::unordered_map<HttpLink*, TaskPtr> asked_;
  std::deque<TaskPtr> waiting_;
  std::deque<TaskPtr> waiting_reserved_;
  std::set<std::pair<Clock::time_point, Id>> deadlines_;  // deadlines of waiting requests
  std::optional<Clock::time_point> armed_for_;
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>
      deadline_timer_;
  std::vector<std::shared_ptr<HttpLink>> idle_;
};

HttpClient::HttpClient(asio::io_context& io, HttpClientOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}
HttpClient::~HttpClient() { impl_->close(); }

HttpClient::Id HttpClient::send(HttpCall call, Done done) {
  return impl_->send(std::move(call), std::move(done));
}
void HttpClient::hang_up(Id id) { impl_->hang_up(id); }
void HttpClient::close() { impl_->close(); }

}  // namespace tarry::net
