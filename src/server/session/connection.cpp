#include "server/session/connection.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "base/assert.h"
#include "server/session/front.h"
#include "server/session/server_context.h"

namespace tarry::session {
namespace {

using boost::system::error_code;

constexpr std::size_t kSmallRead = 4 * 1024;
constexpr std::size_t kLargeRead = 64 * 1024;       // used within a body
constexpr std::uint64_t kMaxLingered = 1ull << 30;  // the largest body that any server may be given
// The longest time in which nothing arrives that must be thrown away.
constexpr Millis kLinger{1'000};
// How long to wait for requests that clients sent before they could know of the drain: these are
// still in the kernel, or on their way.
constexpr Millis kDrainGrace{200};

}  // namespace

Connection::Connection(Front& front, listening::Stream stream)
    : front_(front),
      stream_(std::move(stream)),
      session_(front.context(), *this, stream_),
      deadline_(*this, stream_.get_executor()) {}

ServerContext& Connection::context() const noexcept { return front_.context(); }

void Connection::on_exception(const std::exception& error) {
  try {
    context().warn_of(error);
    if (state_ == State::reading && incoming() != Incoming::nothing) {
      on_refused({Refusal::Why::no_memory});
      return;
    }
  } catch (const std::exception&) {
    // There is no memory even for a refusal: the connection is closed without an answer.
  }
  close();
}

void Connection::start(Place place) {
  if (place == Place::reserve) session_.use_reserve();
  guard([this] {
    session_.become_idle();
    if (!stream_.is_encrypted()) {
      begin();
      return;
    }
    deadline_.set(std::min(between_requests(), context().options.handshake_deadline));
    shake_hands();
  });
}

// A step takes about a millisecond of the processor, so other connections have a turn in between.
void Connection::shake_hands() {
  context().handshakes.run(stream_.get_executor(), [this, self = shared_from_this()] {
    guard([this] {
      if (state_ == State::greeting) on_handshake(stream_.handshake());
    });
  });
}

void Connection::on_handshake(listening::Stream::Progress progress) {
  using Progress = listening::Stream::Progress;
  switch (progress) {
    case Progress::done: begin(); return;
    case Progress::waits:
      stream_.wait_for_handshake([this, self = shared_from_this()](const error_code& error) {
        if (error) {
          close();
        } else {
          guard([&] { shake_hands(); });
        }
      });
      return;
    case Progress::failed: context().handshake_failed(session_.address(), stream_.failure()); break;
    case Progress::ended: break;
  }
  close();
}

void Connection::begin() {
  state_ = State::reading;
  // A new connection soon sends its first request. Only later, between requests, may a client
  // take its time.
  deadline_.set(std::min(between_requests(), first_deadline()));
  read();
}

bool Connection::give_way() {
  const bool silent =
      state_ == State::greeting || (state_ == State::reading && incoming() == Incoming::nothing);
  if (!silent && state_ != State::lingering) return false;
  if (stream_.has_input() || has_claims()) return false;
  close();
  return true;
}

void Connection::check_token() {
  guard([this] {
    if (session_.is_still_let_in() || session_.revoke()) return;
    if (state_ == State::streaming) return close();
    if (state_ == State::reading && incoming() == Incoming::body) {
      on_refused({Refusal::Why::token_not_valid});
    }
  });
}

void Connection::drain() {
  guard([this] {
    session_.end_wait();
    if (state_ == State::streaming) return close();
    if (state_ == State::greeting ||
        (state_ == State::reading && incoming() == Incoming::nothing)) {
      deadline_.set(between_requests());
    }
  });
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();
  state_ = State::closed;
  stream_.close();
  deadline_.end();
  session_.close(on_close());
}

void Connection::read() {
  if (read_outstanding_ || session_.has_client_ended() || state_ == State::closed) return;
  if (is_full()) {
    session_.end_wait();
    return;
  }
  const Incoming coming = state_ == State::reading ? incoming() : Incoming::nothing;
  const bool large = coming == Incoming::body || lingered_ > kSmallRead;
  chunk_.resize(large ? kLargeRead : kSmallRead);
  if (!large) chunk_.shrink_to_fit();
  if (large || coming != Incoming::nothing) stream_.acknowledge();
  read_outstanding_ = true;
  stream_.read_some(boost::asio::buffer(chunk_.data(), chunk_.size()),
                    [this, self = shared_from_this()](const error_code& error, std::size_t size) {
                      guard([&] { on_read(error, size); });
                    });
}

void Connection::on_read(const error_code& error, std::size_t size) {
  read_outstanding_ = false;
  if (state_ == State::closed) return;
  if (error) {
    if (state_ != State::asking) return on_client_ended();
    context().turns.run(stream_.get_executor(), [this, self = shared_from_this()] {
      guard([this] { on_client_ended(); });
    });
    return;
  }
  if (state_ == State::lingering) {
    throw_away(size);
  } else {
    on_bytes({chunk_.data(), size});
  }
  session_.held().hold_input(input());
  read();
}

void Connection::on_client_ended() {
  if (state_ == State::closed) return;
  session_.client_ended();
  if (state_ == State::reading || state_ == State::streaming || state_ == State::lingering) {
    close();
  }
}

void Connection::throw_away(std::size_t size) {
  lingered_ += size;
  if (lingered_ > kMaxLingered) {
    close();
  } else {
    deadline_.set(kLinger, lingers_until_);
  }
}

void Connection::ask(core::Request request, Check check) {
  state_ = State::asking;
  if (const auto refused = session_.admit(request, check)) {
    on_refused(*refused);
    return;
  }
  ask_more(std::move(request), check);
}

void Connection::ask_more(core::Request request, Check check) {
  state_ = State::asking;
  deadline_.clear();
  if (!session_.submit(std::move(request), check)) on_refused({Refusal::Why::no_memory});
}

void Connection::begin_answer(const RequestNote& note) {
  begin_answers();
  session_.answered(note);
}

void Connection::begin_answers() {
  state_ = State::writing;
  session_.become_busy();
}

void Connection::send(std::string head, std::string body) {
  TARRY_ASSERT(state_ == State::writing);
  outgoing_.begin(std::move(head), std::move(body));
  session_.held().set_settling(false);
  session_.held().hold_answer(outgoing_.body_size(), input());
  deadline_.set(context().options.write_deadline);
  write();
}

void Connection::try_send(std::string_view text) { stream_.write_now(text); }

void Connection::write() {
  stream_.write_some(outgoing_.rest(),
                     [this, self = shared_from_this()](const error_code& error, std::size_t size) {
                       guard([&] { on_write(error, size); });
                     });
}

void Connection::on_write(const error_code& error, std::size_t size) {
  if (state_ == State::closed) return;
  if (error) {
    close();
    return;
  }
  if (outgoing_.advance(size)) {
    on_written();
  } else {
    deadline_.set(context().options.write_deadline);
    write();
  }
}

void Connection::on_written() {
  session_.handed_over();
  outgoing_.end();
  session_.held().hold_answer(0, input());
  on_sent();
}

void Connection::next_request() {
  state_ = State::reading;
  deadline_.set(between_requests());
  session_.become_idle();
  on_bytes({});
  if (state_ == State::reading && session_.has_client_ended()) {
    close();
    return;
  }
  read();
}

void Connection::wait_to_send() {
  if (session_.has_client_ended() || context().draining) {
    close();
    return;
  }
  state_ = State::streaming;
  deadline_.clear();
  read();
}

void Connection::send_more(std::string text) {
  TARRY_ASSERT(state_ == State::streaming);
  state_ = State::writing;
  send(std::move(text), {});
}

void Connection::linger(Millis most) {
  if (session_.has_client_ended()) {
    close();
    return;
  }
  state_ = State::lingering;
  session_.become_idle();
  session_.held().hold_input(input());
  stream_.end_output();
  lingers_until_ = Clock::now() + most;
  deadline_.set(kLinger, lingers_until_);
  read();
}

void Connection::on_deadline() {
  if (state_ == State::reading && incoming() != Incoming::nothing) {
    on_refused({Refusal::Why::late});
  } else {
    close();
  }
}

Millis Connection::idle_deadline() const { return context().options.idle_deadline; }

Millis Connection::between_requests() const {
  const Millis idle = idle_deadline();
  return context().draining ? std::min(kDrainGrace, idle) : idle;
}

std::uint64_t Connection::input() const noexcept {
  return kept() + (chunk_.capacity() > kSmallRead ? chunk_.capacity() : 0);
}

}  // namespace tarry::session
