// Tokens files, as people write them: what is read is read again from what is written; what is
// refused is named in one line, with the file and the line.
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/text/text.h"
#include "core/rules/queue_pattern.h"
#include "fuzz/input.h"
#include "server/identity/tokens.h"
#include "server/identity/tokens_file.h"

namespace tarry::fuzz {
namespace {

using identity::ListedToken;

void check_problem(const std::string& line) {
  TARRY_ASSERT(line.starts_with("f:") && line.size() < 1024);
  TARRY_ASSERT(line.find('\n') == std::string::npos && base::is_valid_utf8(line));
}

void check_token(const ListedToken& token) {
  TARRY_ASSERT(token.line > 0);
  TARRY_ASSERT(!identity::check_token_name(token.identity.name));
  TARRY_ASSERT(!token.identity.queues.empty());
  for (const std::string& pattern : token.identity.queues) {
    TARRY_ASSERT(!core::check_queue_pattern(pattern));
  }
}

void check_file(std::string_view text) {
  std::vector<std::string> problems;
  const auto tokens = identity::parse_tokens(text, "f", problems);
  for (const std::string& line : problems) check_problem(line);
  identity::Tokens known;
  std::string written;
  for (const ListedToken& token : tokens) {
    check_token(token);
    known.add(token.identity);
    written += identity::spell_token(token.identity) + "\n";
  }
  for (const ListedToken& token : tokens) TARRY_ASSERT(known.still_know(token.identity));
  std::vector<std::string> none;
  const auto again = identity::parse_tokens(written, "f", none);
  TARRY_ASSERT(none.empty() && again.size() == tokens.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    TARRY_ASSERT(again[i].identity == tokens[i].identity);
  }
  for (const std::string& line : identity::ended_tokens(tokens, "f", Time::max())) {
    check_problem(line);
  }
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tarry::fuzz::check_file(tarry::fuzz::Input(data, size).rest());
  return 0;
}
