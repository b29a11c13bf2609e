#include "net/redis/redis_link.h"

#include <algorithm>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "base/text/text.h"
#include "net/redis/redis_sentinel_search.h"
#include "net/redis/redis_sentinels.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kRedisChunk = 64 * 1024;
// Limits the memory that the output buffers keep from one write to the next.
constexpr std::size_t kRedisKeptOutput = 1024 * 1024;

}  // namespace

RedisLink::RedisLink(asio::io_context& io, RedisOptions options, Events events,
                     std::shared_ptr<RedisSentinels> sentinels)
    : options_(std::move(options)),
      events_(std::move(events)),
      sentinels_(std::move(sentinels)),
      stream_(RedisStream::make(io, options_)),
      timer_(io.get_executor()),
      handshake_(options_),
      reader_(options_.max_reply_bytes) {}

void RedisLink::start() {
  if (sentinels_) {
    find();
  } else {
    connect();
  }
}

void RedisLink::find() {
  state_ = State::finding;
  search_ = sentinels_->find([self = shared_from_this()](Result<RedisSentinels::Found> found) {
    self->search_.reset();
    if (!found) {
      self->end(std::move(found).error());
      return;
    }
    self->options_.host = std::move(found->master.host);
    self->options_.port = found->master.port;
    self->found_by_ = found->by;
    self->connect();
  });
}

void RedisLink::connect() {
  state_ = State::connecting;
  arm(Clock::now() + std::chrono::milliseconds(options_.connect_timeout_ms));
  stream_->connect([self = shared_from_this()](Result<void> result) {
    if (self->state_ == State::connecting) self->on_connected(std::move(result));
  });
}

void RedisLink::on_connected(Result<void> result) {
  if (!result) {
    end(std::move(result).error());
    return;
  }
  state_ = State::greeting;
  chunk_.resize(kRedisChunk);
  enqueue(handshake_.bytes());
  read();
}

void RedisLink::send(std::string_view bytes, std::size_t replies) {
  if (awaited_ == 0) progress_ = Clock::now();
  awaited_ += replies;
  enqueue(bytes);
  if (state_ == State::ready && !timer_runs_) {
    arm(progress_ + std::chrono::milliseconds(options_.command_timeout_ms));
  }
}

void RedisLink::enqueue(std::string_view bytes) {
  sent_ += bytes.size();
  if (state_ == State::ended) return;
  waiting_ += bytes;
  if (writing_ || write_posted_) return;
  write_posted_ = true;
  asio::post(timer_.get_executor(), [self = shared_from_this()] {
    self->write_posted_ = false;
    self->write();
  });
}

void RedisLink::write() {
  if (state_ == State::ended || writing_ || write_failed_ || waiting_.empty()) return;
  writing_ = true;
  going_out_.swap(waiting_);
  if (!stream_->counts_written()) end_.taken += going_out_.size();
  stream_->write(asio::buffer(going_out_),
                 [self = shared_from_this()](const SystemError& error, std::size_t size) {
                   self->on_written(error, size);
                 });
}

void RedisLink::on_written(const SystemError& error, std::size_t size) {
  writing_ = false;
  if (stream_->counts_written()) end_.taken += size;
  going_out_.clear();
  if (going_out_.capacity() > kRedisKeptOutput) going_out_ = std::string();
  if (state_ == State::ended) {
    finish();
  } else if (error) {
    // The read reports the reason, which the server may have sent before it closed.
    write_failed_ = true;
  } else {
    write();
  }
}

void RedisLink::read() {
  stream_->read_some(asio::buffer(chunk_),
                     [self = shared_from_this()](const SystemError& error, std::size_t size) {
                       if (self->state_ != State::ended) self->on_read(error, size);
                     });
}

void RedisLink::on_read(const SystemError& error, std::size_t size) {
  if (error) {
    if (auto refused = stream_->refusal(error)) {
      end(*std::move(refused));
      return;
    }
    const std::string_view when = state_ == State::greeting ? " before it answered" : "";
    if (error == asio::error::eof) {
      fail(ErrorCode::unavailable, title() + " closed the connection" + std::string(when));
    } else {
      fail(ErrorCode::unavailable,
           "the connection to " + title() + " broke" + std::string(when) + ": " + error.message());
    }
    return;
  }
  progress_ = Clock::now();
  for (std::string_view left(chunk_.data(), size); !left.empty();) {
    const std::size_t piece = std::min(left.size(), RedisReader::kPiece);
    reader_.feed(left.substr(0, piece));
    left.remove_prefix(piece);
    take_replies();
    if (state_ == State::ended) return;
  }
  read();
}

void RedisLink::take_replies() {
  while (auto reply = reader_.next()) {
    take_reply(std::move(*reply));
    if (state_ == State::ended) return;
  }
  if (reader_.fault() != RedisReader::Fault::none) take_fault();
}

void RedisLink::take_reply(RedisReply reply) {
  if (state_ == State::ready) {
    if (awaited_ > 0) --awaited_;
    events_.on_reply(std::move(reply));
    return;
  }
  if (Result<void> taken = handshake_.take(reply.view()); !taken) {
    end(std::move(taken).error());
  } else if (handshake_.done()) {
    state_ = State::ready;
    end_.was_ready = true;
    timer_.cancel();
    timer_runs_ = false;
    events_.on_ready();
  }
}

void RedisLink::take_fault() {
  if (reader_.fault() == RedisReader::Fault::too_large) {
    fail(ErrorCode::unavailable, "a reply of " + title() + " " + reader_.fault_text());
  } else if (state_ == State::greeting) {
    fail(ErrorCode::invalid_argument,
         "what answers at " + redis_server_name(options_) +
             (options_.is_sentinel ? " is not a sentinel: " : " is not Redis: ") +
             reader_.fault_text());
  } else {
    fail(ErrorCode::unavailable,
         "a reply of " + title() + " cannot be read: " + reader_.fault_text());
  }
}

void RedisLink::fail(ErrorCode code, std::string message) { end({code, std::move(message)}); }

void RedisLink::end(Error error) {
  if (state_ == State::ended) return;
  state_ = State::ended;
  end_.error = std::move(error);
  if (search_) std::exchange(search_, nullptr)->cancel();
  if (found_by_ && !end_.was_ready) sentinels_->distrust(*found_by_);
  stream_->close();
  timer_.cancel();
  // If a write is in progress, its end tells how many bytes the kernel has taken, and finishes the
  // link.
  if (!writing_) {
    asio::post(timer_.get_executor(), [self = shared_from_this()] { self->finish(); });
  }
}

void RedisLink::finish() {
  // The events are moved out first, because they own the owner of this link.
  Events events = std::move(events_);
  events.on_end(std::move(end_));
}

void RedisLink::arm(Clock::time_point when) {
  timer_runs_ = true;
  timer_.expires_at(when);
  timer_.async_wait([self = shared_from_this(), when](const SystemError& error) {
    if (!error && self->timer_.expiry() == when) self->on_timer();
  });
}

void RedisLink::on_timer() {
  timer_runs_ = false;
  const std::string connect_time = base::format_duration_ms(options_.connect_timeout_ms);
  switch (state_) {
    case State::connecting:
      fail(ErrorCode::unavailable,
           stream_->connected()
               ? "no TLS with " + title() + ": no handshake within " + connect_time
               : "cannot connect to " + title() + ": no connection within " + connect_time);
      break;
    case State::greeting:
      fail(ErrorCode::unavailable, title() + " did not answer within " + connect_time);
      break;
    case State::ready: check_progress(); break;
    case State::fresh:
    case State::finding:
    case State::ended: break;
  }
}

void RedisLink::check_progress() {
  if (awaited_ == 0) return;
  const auto limit = std::chrono::milliseconds(options_.command_timeout_ms);
  const auto now = Clock::now();
  if (now - progress_ < limit) {
    arm(progress_ + limit);
  } else if (stream_->has_input()) {  // this process was late, not the server
    progress_ = now;
    arm(now + limit);
  } else {
    fail(ErrorCode::unavailable,
         title() + " sent nothing for " + base::format_duration_ms(options_.command_timeout_ms));
  }
}

}  // namespace tarry::net
