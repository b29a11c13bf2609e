#include "server/http_session/request_reader.h"

#include "server/session_parts/held_bytes.h"

namespace tarry::http_session {
namespace {

constexpr std::size_t kMostAhead = 64 * 1024;
constexpr std::size_t kMostPassedOver = 8;  // bytes of four empty lines before a request

}  // namespace

bool RequestReader::is_full() const noexcept { return ahead_.size() >= kMostAhead; }

// Skips a line's end after a body: some clients send one that the body's length does not count (RFC
// 9112, 2.2).
std::size_t RequestReader::pass_over_empty_lines(std::string_view bytes) noexcept {
  if (has_begun()) return 0;
  constexpr std::string_view kLine = "\r\n";
  std::size_t passed_over = 0;
  while (passed_over < bytes.size() && passed_over_ < kMostPassedOver &&
         bytes[passed_over] == kLine[passed_over_ % kLine.size()]) {
    ++passed_over;
    ++passed_over_;
  }
  return passed_over;
}

RequestReader::Step RequestReader::feed(std::string_view bytes, const net::HttpLimits& limits) {
  Step step;
  step.used = pass_over_empty_lines(bytes);
  bytes.remove_prefix(step.used);
  if (bytes.empty()) return step;
  if (passed_over_ % 2 != 0) {
    step.fault = net::HttpFault::malformed;
    step.fault_text = "a line before it does not end";
    return step;
  }
  if (!parser_) {
    parser_.emplace(net::HttpParser::Side::request, limits);
    has_head_ = false;
  }
  step.began = !parser_->started();
  step.used += parser_->feed(bytes);
  if ((step.fault = parser_->fault())) {
    step.fault_text = parser_->fault_text();
  } else if (parser_->head_done() && !has_head_) {
    has_head_ = step.head_ended = true;
  }
  return step;
}

void RequestReader::next() noexcept {
  parser_.reset();
  passed_over_ = 0;
  has_head_ = false;
}

void RequestReader::forget_bytes() {
  if (parser_) parser_->message().body = {};
  forget_ahead();
}

std::uint64_t RequestReader::memory() const noexcept { return session::memory_of(ahead_); }

}  // namespace tarry::http_session
