// ShardCalls: sends the same call to each of a queue's shards, and repeats it if the queue has
// moved. If one shard cannot be asked and others have carried the call out, the outcome is
// `unknown_outcome`.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/engine_parts/partly_done.h"
#include "engines/redis/verbs/asked.h"
#include "engines/redis/verbs/item_verb.h"
#include "engines/redis/verbs/parted.h"

namespace tarry::redis {

class ShardCalls : public std::enable_shared_from_this<ShardCalls> {
 public:
  using Build = std::function<void(const Place&, net::RedisCommand&)>;
  /// Returns false for an answer that cannot be read. Sets `again` if the same shard must be asked
  /// once more.
  using Read = std::function<bool(const Place&, net::RedisView, bool& again)>;
  using Absent = std::function<void()>;

  ShardCalls(Context& context, AskedPtr asked, std::string queue, Script script)
      : context_(context), asked_(std::move(asked)), queue_(std::move(queue)), script_(script) {}

  bool makes = false;
  bool reads_only = false;
  /// The name of a verb that changes something.
  std::string_view verb;
  /// How many messages the verb has changed so far. Set only if that number tells whether anything
  /// was done.
  std::function<std::uint64_t()> messages;
  /// During a reshard: the closed shards first, then messages on their way, then the rest.
  bool in_order = false;
  Build build = [](const Place&, net::RedisCommand&) {};
  Read read;
  Absent absent = [] {};
  /// Called before all shards are asked again.
  std::function<void()> moved = [] {};
  /// Called instead of the request's completion.
  std::function<void(std::optional<Error>)> done;

  void start() {
    auto found = [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->end(std::move(queue).error());
      if (*queue == nullptr) {
        self->absent();
        return self->end(std::nullopt);
      }
      self->ask_all(*queue);
    };
    if (makes) {
      context_.directory.make(queue_, std::move(found));
    } else {
      context_.directory.find(queue_, std::move(found));
    }
  }

 private:
  void note(Error error) {
    if (error_) {
      core::keep_less_certain(*error_, std::move(error));
    } else {
      error_ = std::move(error);
    }
  }

  void ask_all(const QueuePtr& queue) {
    answered_ = 0;
    shards_ = queue->shards.size();
    if (!in_order || queue->closed == 0) return ask_these(queue, 0, queue->shards.size());
    closed_first_ = true;
    ask_these(queue, 0, queue->closed);
  }

  void ask_these(const QueuePtr& queue, std::size_t from, std::size_t to) {
    left_ = to - from;
    for (; from < to; ++from) ask(queue, queue->shards[from]);
  }

  void ask(const QueuePtr& queue, const Place& place) {
    context_.server.run_on(
        place, script_,
        [self = shared_from_this(), &place](net::RedisCommand& command) {
          self->build(place, command);
        },
        [self = shared_from_this(), queue, &place](Result<net::RedisReply> reply) {
          bool again = false;
          if (!reply) {
            self->note(std::move(reply).error());
          } else if (!self->read(place, reply->view(), again)) {
            self->note(strange_reply(self->context_.server, self->script_));
          } else {
            ++self->answered_;
          }
          if (again && !self->error_) return self->ask(queue, place);
          if (--self->left_ > 0) return;
          self->asked(queue);
        });
  }

  void asked(const QueuePtr& queue) {
    if (!error_ && std::exchange(closed_first_, false)) {
      return settle_held(context_, queue, [self = shared_from_this(), queue](Result<void> settled) {
        if (settled) return self->ask_these(queue, queue->closed, queue->shards.size());
        self->note(std::move(settled).error());
        self->asked(queue);
      });
    }
    closed_first_ = false;
    if (error_ && is_moved(*error_) && ++tries_ < 5) {
      error_.reset();
      moved();
      was_changed_ = was_changed_ || answered_ > 0;
      return doubt(context_, queue, [self = shared_from_this()](Result<void> checked) {
        if (!checked) return self->end(std::move(checked).error());
        self->start();
      });
    }
    end(std::exchange(error_, std::nullopt));
  }

  // Tells in words what was done so far; empty if nothing was done, as far as is known.
  [[nodiscard]] std::string so_far() const {
    if (messages) return messages() > 0 ? core::messages_so_far(messages()) : "";
    if (answered_ > 0) return core::shards_so_far(answered_, shards_);
    return was_changed_ ? "on some of its shards" : "";
  }

  void end(std::optional<Error> error) {
    if (error && reads_only && error->code == ErrorCode::unknown_outcome) {
      error->code = ErrorCode::unavailable;
    }
    if (error && !reads_only && !so_far().empty()) {
      error = core::partly_done(verb, queue_, so_far(), *error);
    }
    if (done) return done(std::move(error));
    if (error) return asked_->fail(std::move(*error));
    asked_->complete();
  }

  Context& context_;
  AskedPtr asked_;
  std::string queue_;
  Script script_;
  std::size_t left_ = 0;
  std::size_t answered_ = 0;  // how many shards have answered, this time
  std::size_t shards_ = 0;
  bool was_changed_ = false;  // something was done before the queue moved
  bool closed_first_ = false;
  int tries_ = 0;
  std::optional<Error> error_;
};

}  // namespace tarry::redis
