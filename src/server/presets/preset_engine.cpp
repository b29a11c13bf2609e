#include "server/presets/preset_engine.h"

#include <deque>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/rules/validation.h"

namespace tarry::presets {
namespace {

// The queue of a request that names exactly one. A claim has none: it takes existing messages, so
// it need not wait for presets.
const std::string* queue_of(const core::Request& request) noexcept {
  return std::visit(
      [](const auto& asked) -> const std::string* {
        if constexpr (requires {
                        { asked.queue } -> std::convertible_to<const std::string&>;
                      }) {
          return asked.queue.empty() ? nullptr : &asked.queue;
        } else {
          return nullptr;
        }
      },
      request);
}

bool makes_queue(const core::Request& request) noexcept {
  return std::holds_alternative<core::PushRequest>(request) ||
         std::holds_alternative<core::MoveRequest>(request) ||
         std::holds_alternative<core::PauseRequest>(request) ||
         std::holds_alternative<core::ConfigureRequest>(request);
}

}  // namespace

// A Desk is owned by the completions too, and may outlive the PresetEngine.
class PresetEngine::Desk : public std::enable_shared_from_this<Desk> {
 public:
  Desk(core::Engine& inner, QueueRules rules) : inner_(inner), rules_(std::move(rules)) {}

  void set_rules(QueueRules rules) {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }

  // Takes the request if it must wait, or if its queue must be configured first. False: the caller
  // passes it on.
  bool holds(core::Request& request, core::Completion& completion) {
    const std::string* named = queue_of(request);
    if (named == nullptr) return false;
    const std::string queue = *named;
    const bool removes = std::holds_alternative<core::RemoveRequest>(request);
    {
      const std::lock_guard lock(mutex_);
      if (const auto waiting = waiting_.find(queue); waiting != waiting_.end()) {
        waiting->second.push_back({std::move(request), std::move(completion)});
        return true;
      }
      if (removes) {
        waiting_[queue];  // later requests wait: the queue may have to be made again
      } else if (!makes_queue(request) || there_.contains(queue) || !rules_.patch_of(queue)) {
        return false;
      } else if (core::check_queue_name(queue)) {
        return false;  // the inner engine refuses it
      } else {
        waiting_[queue].push_back({std::move(request), std::move(completion)});
      }
    }
    if (removes) {
      remove(queue, {std::move(request), std::move(completion)});
    } else {
      look(queue);
    }
    return true;
  }

 private:
  struct Held {
    core::Request request;
    core::Completion completion;
  };

  void look(const std::string& queue) {
    inner_.submit(core::StatsRequest{queue},
                  [self = shared_from_this(), queue](Result<core::Reply> reply) {
                    if (reply) {
                      self->go_on(queue, std::nullopt);
                    } else if (reply.error().code == ErrorCode::not_found) {
                      self->configure(queue);
                    } else {
                      self->go_on(queue, std::move(reply).error());
                    }
                  });
  }

  void configure(const std::string& queue) {
    std::optional<SettingsPatch> patch;
    {
      const std::lock_guard lock(mutex_);
      patch = rules_.patch_of(queue);
    }
    if (!patch) {
      go_on(queue, std::nullopt);
      return;
    }
    inner_.submit(core::ConfigureRequest{queue, *patch}, [self = shared_from_this(),
                                                          queue](Result<core::Reply> reply) {
      self->go_on(queue, reply ? std::nullopt : std::optional<Error>(std::move(reply).error()));
    });
  }

  // Requests for the queue already wait. After the removal, even a failed one, the queue is checked
  // again.
  void remove(const std::string& queue, Held removal) {
    inner_.submit(std::move(removal.request),
                  [self = shared_from_this(), queue,
                   completion = std::move(removal.completion)](Result<core::Reply> reply) mutable {
                    completion(std::move(reply));
                    self->removed(queue);
                  });
  }

  void removed(const std::string& queue) {
    {
      const std::lock_guard lock(mutex_);
      there_.erase(queue);
    }
    while (true) {
      std::deque<Held> held;
      {
        const std::lock_guard lock(mutex_);
        auto& waiting = waiting_[queue];
        if (waiting.empty()) {
          waiting_.erase(queue);
          return;
        }
        if (!makes_queue(waiting.front().request) || !rules_.patch_of(queue)) {
          held.push_back(std::move(waiting.front()));
          waiting.pop_front();
        }
      }
      if (held.empty()) return look(queue);
      if (!submit_held(queue, held, std::nullopt)) return;
    }
  }

  // Submits the requests. Returns false if one of them is a removal: the requests after it wait
  // again.
  bool submit_held(const std::string& queue, std::deque<Held>& held,
                   const std::optional<Error>& error) {
    while (!held.empty()) {
      Held one = std::move(held.front());
      held.pop_front();
      if (error && makes_queue(one.request)) {
        one.completion(Error{error->code, "the settings of queue " + queue +
                                              " could not be put in place: " + error->message});
      } else if (std::holds_alternative<core::RemoveRequest>(one.request)) {
        {
          const std::lock_guard lock(mutex_);
          auto& waiting = waiting_[queue];
          for (; !held.empty(); held.pop_back()) waiting.push_front(std::move(held.back()));
        }
        remove(queue, std::move(one));
        return false;
      } else {
        inner_.submit(std::move(one.request), std::move(one.completion));
      }
    }
    return true;
  }

  // Submits waiting requests until none waits. Meanwhile new requests join the end of the row.
  void go_on(const std::string& queue, const std::optional<Error>& error) {
    while (true) {
      std::deque<Held> held;
      {
        const std::lock_guard lock(mutex_);
        auto& waiting = waiting_[queue];
        if (waiting.empty()) {
          waiting_.erase(queue);
          if (!error) remember(queue);
          return;
        }
        held.swap(waiting);
      }
      if (!submit_held(queue, held, error)) return;
    }
  }

  void remember(const std::string& queue) {
    // Limits the memory if a store makes and removes many queues. To check a queue again costs one
    // request.
    constexpr std::size_t kMost = 200'000;
    if (there_.size() >= kMost) there_.clear();
    there_.insert(queue);
  }

  core::Engine& inner_;
  std::mutex mutex_;
  QueueRules rules_;
  std::unordered_set<std::string> there_;  // queues that exist, as far as this engine knows
  std::unordered_map<std::string, std::deque<Held>> waiting_;
};

PresetEngine::PresetEngine(core::Engine& inner, QueueRules rules)
    : inner_(inner), desk_(std::make_shared<Desk>(inner, std::move(rules))) {}

PresetEngine::~PresetEngine() = default;

core::Ticket PresetEngine::submit(core::Request request, core::Completion completion) {
  if (desk_->holds(request, completion)) return 0;
  return inner_.submit(std::move(request), std::move(completion));
}

core::Ticket PresetEngine::submit_lending(core::Request request, core::Completion completion,
                                          core::Lent& lent) {
  if (desk_->holds(request, completion)) return 0;
  return inner_.submit_lending(std::move(request), std::move(completion), lent);
}

void PresetEngine::set_rules(QueueRules rules) { desk_->set_rules(std::move(rules)); }

}  // namespace tarry::presets
