// RequestLog: reports each answered request to the log.
//
// Invariants
//  1. Requests that were not let in are reported in one note a second for each status, so that no
//     client can fill the log.
//  2. Every request that was let in is reported, but its reason only once a second for each status:
//     more reasons are not useful when a store fails at everything.
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "server/session_parts/log_throttle.h"

namespace tarry::session {

/// A request that was answered, for a log. It has no queue, key or payload.
struct RequestNote {
  std::string_view id;        // the client's, if it sent one that may stand in a log
  std::string_view identity;  // the name of the client's token; the session sets it
  std::string_view method;    // as the client sent it; empty if it could not be read
  std::string_view route;     // "/v1/queues/*/messages", or "none"; lives as long as the program
  unsigned status = 0;        // the status in HTTP's terms, whatever the protocol
  // The reason of a 401, a 429, a status from 500 on, or a 200 in which items of a batch failed
  // because of the store. Only one note a second for each status has it.
  std::string_view reason;
  bool token_refused = false;  // the client has shown no valid token; a 401 always means that
  std::string_view code;       // of a refusal: "permission_denied"
  std::string_view detail;     // of a refusal: its reason, for the client; may quote the request
  // For a request that was not let in: how many notes of the same status were left out before this
  // one. For any other request: how many reasons were left out.
  std::uint64_t left_out = 0;
  std::chrono::microseconds took{0};  // from the request's head to the answer
};

class RequestLog {
 public:
  using Tell = std::function<void(const RequestNote&)>;

  /// If `tell` is empty, nothing is reported.
  explicit RequestLog(Tell tell) : tell_(std::move(tell)) {}

  /// `let_in`: whether the client has shown that it may use the server.
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
  std::map<std::pair<bool, unsigned>, LogThrottle> throttles_;  // key: whether let in, and the
                                                                // status
};

}  // namespace tarry::session
