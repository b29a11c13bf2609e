#include "net/http/http_parser.h"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::net {
namespace {

namespace beast = boost::beast;
using BeastError = beast::http::error;
using beast::error_code;

HttpFault fault_of(const error_code& error) noexcept {
  if (error == BeastError::header_limit) return HttpFault::head_too_large;
  if (error == BeastError::body_limit) return HttpFault::body_too_large;
  return HttpFault::malformed;
}

bool is_about_framing(const error_code& error) noexcept {
  return error == BeastError::bad_content_length || error == BeastError::multiple_content_length ||
         error == BeastError::bad_transfer_encoding;
}

/// The error text for the field that begins `rest`: it contradicts an earlier field about the
/// length of the body, or cannot be read.
std::string framing_text(std::string_view rest, const HttpMessage& before) {
  const std::string_view line = rest.substr(0, rest.find("\r\n"));
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = base::trimmed(line.substr(std::min(colon + 1, line.size())));
  const std::string given = std::string(name) + " " + base::quoted(value);
  for (const std::string_view other : {"Content-Length", "Transfer-Encoding"}) {
    const std::string* first = before.find(other);
    if (first == nullptr) continue;
    return given + " stands beside " + std::string(other) + " " + base::quoted(*first) +
           "; one of the two is the limit";
  }
  return given + " is no number of bytes from 0 to 18446744073709551615";
}

}  // namespace

class HttpParser::Impl {
 public:
  virtual ~Impl() = default;
  virtual std::size_t put(std::string_view bytes, error_code& error) = 0;
  virtual void put_end(error_code& error) = 0;
  [[nodiscard]] virtual bool started() const = 0;
  [[nodiscard]] virtual bool head_done() const = 0;
  [[nodiscard]] virtual bool done() const = 0;
  [[nodiscard]] virtual bool alive() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> length() const = 0;

  HttpMessage message;
  std::optional<HttpFault> fault;
  std::string fault_text;
};

template <bool is_request>
class HttpParser::Beast final : public HttpParser::Impl,
                                private beast::http::basic_parser<is_request> {
  using Base = beast::http::basic_parser<is_request>;

 public:
  explicit Beast(const HttpLimits& limits) : head_left_(limits.head_bytes) {
    this->header_limit(limits.head_bytes);
    this->body_limit(limits.body_bytes);
  }

  std::size_t put(std::string_view bytes, error_code& error) override {
    const bool in_head = !Base::is_header_done();
    this->eager(!in_head);  // the parser stops where the head ends
    const std::size_t taken =
        Base::put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (in_head) count_head(taken, bytes.size() - taken, error);
    return taken;
  }
  void put_end(error_code& error) override {
    if (Base::got_some()) {
      Base::put_eof(error);
    } else {
      error = BeastError::end_of_stream;
    }
  }
  [[nodiscard]] bool started() const override { return Base::got_some(); }
  [[nodiscard]] bool head_done() const override { return Base::is_header_done(); }
  [[nodiscard]] bool done() const override { return Base::is_done(); }
  [[nodiscard]] bool alive() const override { return Base::keep_alive(); }
  [[nodiscard]] std::optional<std::uint64_t> length() const override {
    const auto length = Base::content_length();
    if (!length) return std::nullopt;
    return *length;
  }

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    message.method.assign(method.data(), method.size());
    message.target.assign(target.data(), target.size());
    message.version = static_cast<unsigned>(version);
  }
  void on_response_impl(int code, beast::string_view, int version, error_code&) override {
    message.status = static_cast<unsigned>(code);
    message.version = static_cast<unsigned>(version);
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    if (in_trailer_) return;  // fields of a trailer are ignored; nobody asks for them
    message.fields.push_back({{name.data(), name.size()}, {value.data(), value.size()}});
  }
  void on_header_impl(error_code& error) override {
    in_trailer_ = true;
    const std::string* coding = message.find("Transfer-Encoding");
    if (coding == nullptr) return;
    // Beast reads "gzip, chunked" as chunked, and "gzip" as no coding at all.
    if (message.version < 11 || !base::equals_ignoring_case(*coding, "chunked")) {
      fault = HttpFault::unsupported_coding;
      fault_text = "the transfer coding " + base::quoted(*coding) +
                   " is not chunked, which is the only one, in HTTP/1.1";
      error = BeastError::bad_transfer_encoding;
    }
  }
  // Reserves no memory for a length that is only announced: the body grows as it arrives.
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view piece, error_code&) override { return take(piece); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, error_code&) override {
    return take(piece);
  }
  std::size_t take(beast::string_view piece) {
    std::string& body = message.body;
    const std::size_t needed = body.size() + piece.size();
    if (needed > body.capacity()) {
      // If the buffer of a large body doubled each time, it could take twice the memory of the
      // body. So it grows by less, and never beyond the announced length.
      constexpr std::size_t kMostWaste = 1 << 20;
      std::size_t room = needed + std::min(needed, std::max(needed / 4, kMostWaste));
      if (const auto all = length()) room = std::min<std::size_t>(room, *all);
      // A new string, because reserve() at least doubles one that has grown before.
      std::string grown;
      grown.reserve(std::max(room, needed));
      grown.append(body);
      body.swap(grown);
    }
    body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}

  // Counts the bytes of the head over all calls. Beast's own limit covers one call only, because it
  // forgets the lines that it has consumed.
  void count_head(std::size_t taken, std::size_t waiting, error_code& error) {
    const std::size_t all = error == BeastError::need_more ? taken + waiting : taken;
    if (all > head_left_) error = BeastError::header_limit;
    head_left_ -= std::min<std::size_t>(taken, head_left_);
  }

  bool in_trailer_ = false;
  std::size_t head_left_;
};

HttpParser::HttpParser(Side side, const HttpLimits& limits) {
  if (side == Side::request) {
    impl_ = std::make_unique<Beast<true>>(limits);
  } else {
    impl_ = std::make_unique<Beast<false>>(limits);
  }
}
HttpParser::HttpParser(HttpParser&&) noexcept = default;
HttpParser& HttpParser::operator=(HttpParser&&) noexcept = default;
HttpParser::~HttpParser() = default;

std::size_t HttpParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (!impl_->fault && !impl_->done() && used < bytes.size()) {
    error_code error;
    const std::size_t taken = impl_->put(bytes.substr(used), error);
    used += taken;
    if (error == BeastError::need_more) break;
    if (error && !impl_->fault) {
      impl_->fault = fault_of(error);
      impl_->fault_text = is_about_framing(error) ? framing_text(bytes.substr(used), impl_->message)
                                                  : error.message();
    }
    if (taken == 0) break;
  }
  return used;
}

void HttpParser::feed_end() {
  if (impl_->fault || impl_->done()) return;
  error_code error;
  impl_->put_end(error);
  if (!error) return;
  impl_->fault = HttpFault::malformed;
  impl_->fault_text = "the connection ended within the message";
}

bool HttpParser::started() const noexcept { return impl_->started(); }
bool HttpParser::head_done() const noexcept { return !impl_->fault && impl_->head_done(); }
bool HttpParser::done() const noexcept { return !impl_->fault && impl_->done(); }
std::optional<HttpFault> HttpParser::fault() const noexcept { return impl_->fault; }
std::string_view HttpParser::fault_text() const noexcept { return impl_->fault_text; }
bool HttpParser::keep_alive() const noexcept { return head_done() && impl_->alive(); }
std::optional<std::uint64_t> HttpParser::content_length() const noexcept {
  if (!head_done()) return std::nullopt;
  return impl_->length();
}
HttpMessage& HttpParser::message() noexcept { return impl_->message; }

}  // namespace tarry::net
