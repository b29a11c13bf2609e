// `tarry push --jsonl`: a file of lines, and each line as a message. The first byte says how long a
// line may be, and so whether it is cut; the second in how many pieces the file arrives.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/system/line_reader.h"
#include "app/transfer/push_line.h"
#include "base/assert.h"
#include "fuzz/input.h"
#include "support/wire_text.h"
#include "wire/push.h"

namespace tarry::fuzz {
namespace {

/// Gives the text piece by piece, one a read, as a pipe may.
class Pipe {
 public:
  Pipe(std::string_view text, std::size_t pieces) {
    TARRY_ASSERT(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()) == 0);
    const std::size_t size = text.size() / pieces + 1;
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, size);
      const ssize_t sent = ::send(ends_[1], piece.data(), piece.size(), MSG_DONTWAIT);
      TARRY_ASSERT(sent == static_cast<ssize_t>(piece.size()));
      text.remove_prefix(piece.size());
    }
    ::shutdown(ends_[1], SHUT_WR);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  [[nodiscard]] int fd() const noexcept { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

// What a line says, a client can write in a batch of one.
void check_push(const core::PushRequest& request) {
  TARRY_ASSERT(request.items.size() == 1 && request.queue == "q");
  const auto body = wire::encode_push(request);
  TARRY_ASSERT(body);
  auto again = wire::decode_push("q", *body);
  TARRY_ASSERT(again && !again->single && again->bad.empty());
  TARRY_ASSERT(testing::text_of(core::Request(again->request)) ==
               testing::text_of(core::Request(request)));
}

void check_line(const app::LineReader& reader, std::string_view line, std::size_t longest) {
  const auto push = app::read_push_line("q", reader, line);
  if (!push) {
    TARRY_ASSERT(!push.error().message.empty());
    TARRY_ASSERT(push.error().message.find('\n') == std::string::npos);
    return;
  }
  TARRY_ASSERT(line.size() <= longest && !reader.too_long());
  check_push(*push);
}

void check(Input input) {
  const std::size_t longest = std::size_t{4} << input.below(12);
  const std::size_t pieces = 1 + input.below(32);
  const std::string_view text = input.rest();
  const Pipe pipe(text, pieces);
  app::LineReader reader(pipe.fd(), longest);
  const auto expected = lines_of(text);
  std::string_view line;
  for (std::size_t i = 0;; ++i) {
    const auto more = reader.next(line);
    TARRY_ASSERT(more && *more == (i < expected.size()));
    if (!*more) break;
    TARRY_ASSERT(reader.number() == i + 1);
    TARRY_ASSERT(line == expected[i].substr(0, longest));
    TARRY_ASSERT(reader.too_long() == (expected[i].size() > longest));
    check_line(reader, line, longest);
  }
  TARRY_ASSERT(reader.bytes() == text.size());
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::fuzz::check(tarry::fuzz::Input(data, size));
  return 0;
}
