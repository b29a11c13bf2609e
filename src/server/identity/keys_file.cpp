#include "server/identity/keys_file.h"

#include <algorithm>
#include <utility>

#include "base/secrets/secret_file.h"
#include "base/text/text.h"
#include "server/identity/tokens.h"

namespace tarry::identity {
namespace {

constexpr std::size_t kMostKeysFile = 16u << 20;
constexpr std::string_view kSpaces = " \t";

/// The next word of the line, which is removed from it.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSpaces));
  line.remove_prefix(word.size());
  return word;
}

std::string wrong_line(std::string_view line, const std::vector<Identity>& known,
                       const std::vector<KeptSecret>& before, KeptSecret& into) {
  into.name = take_word(line);
  into.secret = take_word(line);
  if (into.secret.empty() || !take_word(line).empty()) {
    return "a line has 2 words: the name of a token, and the token";
  }
  const auto found = std::ranges::find(known, into.name, &Identity::name);
  const std::string shown = base::quoted(into.name);
  if (found == known.end()) return "no token of the tokens file has the name " + shown;
  if (found->digest != digest_of(into.secret)) {
    return "the secret is not the token " + shown + ": its hash differs from the tokens file's";
  }
  if (std::ranges::find(before, into.name, &KeptSecret::name) != before.end()) {
    return "the name " + shown + " is on a line before";
  }
  return {};
}

}  // namespace

std::vector<KeptSecret> parse_keys(std::string_view text, std::string_view file,
                                   const std::vector<Identity>& known,
                                   std::vector<std::string>& problems) {
  std::vector<KeptSecret> kept;
  std::size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t begin = line.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    KeptSecret one;
    const std::string wrong = wrong_line(line, known, kept, one);
    if (wrong.empty()) {
      kept.push_back(std::move(one));
      continue;
    }
    const std::string shown = base::quoted(file, file.size());
    problems.push_back(shown.substr(1, shown.size() - 2) + ":" + std::to_string(number) + ": " +
                       wrong);
  }
  return kept;
}

Result<std::string> read_keys_file(const std::string& path) {
  constexpr std::string_view kNamed = "keys file";
  auto text = base::read_secret_text(kNamed, path, kMostKeysFile);
  if (!text || !base::is_readable_by_all(path)) return text;
  return Unexpected(ErrorCode::invalid_argument,
                    std::string(kNamed) + " " + base::quoted(path, path.size()) +
                        " can be read by every user of this machine, and it holds secrets: chmod "
                        "600 " +
                        path);
}

}  // namespace tarry::identity
