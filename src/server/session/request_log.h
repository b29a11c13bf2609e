// RequestLog: reports each answered request to the log.
//
// Invariants
//  1. For requests that were not let in: one note a second for each status, so that no client can
//     have lines written as often as it likes.
//  2. Requests that were let in are all reported, with the reason once a second for each status:
//     more reasons are not useful if a store fails at everything.
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "server/session/log_throttle.h"

namespace tarry::session {

/// A request that was answered, for a log. Its subject is left out: no queue, key or payload.
struct RequestNote {
  std::string_view id;      // the client's, if it sent one that is fit for a log
  std::string_view method;  // as it was sent; empty if it could not be read
  std::string_view route;   // "/v1/queues/*/messages", or "none"; lives as long as the program
  unsigned status = 0;      // HTTP's, whatever the protocol
  // For 401 and 429, and if the server is the cause: from 500 on, and 200 if the store failed at
  // items of a batch. It stands in one note a second for each status.
  std::string_view reason;
  // Notes of the same status that were left out before this one: for requests with a reason only
  // the reason, for requests that were not let in the whole note.
  std::uint64_t left_out = 0;
  std::chrono::microseconds took{0};  // from knowing the request to the answer
};

class RequestLog {
 public:
  using Tell = std::function<void(const RequestNote&)>;

  /// Empty: nothing is reported.
  explicit RequestLog(Tell tell) : tell_(std::move(tell)) {}

  /// `let_in`: whether the client has shown that it may ask.
  void note(RequestNote note, bool let_in) {
    if (!tell_) return;
    if (!let_in || !note.reason.empty()) {
      const auto left_out = throttles_[{let_in, note.status}].turn(LogThrottle::Clock::now());
      if (!left_out && !let_in) return;
      if (!left_out) note.reason = {};
      note.left_out = left_out.value_or(0);
    }
    tell_(note);
  }

 private:
  Tell tell_;
  std::map<std::pair<bool, unsigned>, LogThrottle> throttles_;  // whether let in, status
};

}  // namespace tarry::session
