#include "server/identity/tokens_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/secrets/secret_file.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/time_number.h"
#include "net/sha256.h"
#include "server/identity/tokens.h"

namespace tarry::identity {
namespace {

constexpr std::string_view kHashBegins = "sha256:";
constexpr std::string_view kBlanks = " \t";

Error wrong(std::string text) { return {ErrorCode::invalid_argument, std::move(text)}; }

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(separators); at < text.size();
       at = text.find_first_not_of(separators, at)) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Unlike words, parts may be empty.
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t comma = list.find(','); comma != std::string_view::npos;
       comma = list.find(',')) {
    parts.push_back(list.substr(0, comma));
    list.remove_prefix(comma + 1);
  }
  parts.push_back(list);
  return parts;
}

// The text is not shown: somebody may have put the secret there.
Result<std::string> parse_hash(std::string_view text) {
  const std::string_view digits = base::without_prefix(text, kHashBegins);
  const bool good = text.starts_with(kHashBegins) && digits.size() == net::kSha256Digits &&
                    digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (good) return std::string(digits);
  return wrong("the hash, a text of " + std::to_string(text.size()) +
               " bytes, is not sha256: and 64 of 0-9a-f; tarry token new writes it");
}

Result<Identity> parse_fields(const std::vector<std::string_view>& fields) {
  if (fields.size() < 4 || fields.size() > 5) {
    return wrong(std::to_string(fields.size()) +
                 (fields.size() == 1 ? " word; a token has" : " words; a token has") +
                 " 4 or 5: its name, scopes, queues, hash and perhaps its end");
  }
  Identity identity;
  if (auto error = check_token_name(fields[0])) return *std::move(error);
  identity.name = fields[0];
  auto scopes = parse_scopes(fields[1]);
  if (!scopes) return std::move(scopes).error();
  identity.scopes = *scopes;
  auto queues = parse_patterns(fields[2]);
  if (!queues) return std::move(queues).error();
  identity.queues = *std::move(queues);
  auto digest = parse_hash(fields[3]);
  if (!digest) return std::move(digest).error();
  identity.digest = *std::move(digest);
  if (fields.size() == 5) {
    const auto ends = core::parse_time_ms(fields[4]);
    if (!ends) return wrong("its end: " + ends.error().message);
    identity.ends = Time(Millis(*ends));
  }
  return identity;
}

/// Names and digests so far, with their lines.
class Known {
 public:
  [[nodiscard]] std::optional<Error> add(const Identity& identity, std::size_t line) {
    if (const auto [other, fresh] = names_.try_emplace(identity.name, line); !fresh) {
      return wrong("the name " + base::quoted(identity.name) + " is on line " +
                   std::to_string(other->second) + " too");
    }
    if (const auto [other, fresh] = digests_.try_emplace(identity.digest, line); !fresh) {
      return wrong("the token " + base::quoted(identity.name) + " has the hash of line " +
                   std::to_string(other->second));
    }
    if (names_.size() <= kMaxTokens) return std::nullopt;
    return wrong("the token " + base::quoted(identity.name) + " is one more than the limit of " +
                 std::to_string(kMaxTokens));
  }

 private:
  std::map<std::string, std::size_t> names_;
  std::map<std::string, std::size_t> digests_;
};

std::string at_line(std::string_view file, std::size_t line, std::string_view text) {
  // A name of a file may contain any byte but 0.
  const std::string shown = base::quoted(file, file.size());
  return shown.substr(1, shown.size() - 2) + ":" + std::to_string(line) + ": " + std::string(text);
}

}  // namespace

std::optional<Error> check_token_name(std::string_view name) {
  const bool good =
      !name.empty() && name.size() <= kMaxTokenName && std::ranges::all_of(name, [](char c) {
        return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_' || c == '.';
      });
  if (!good) {
    return wrong("token name " + base::quoted(name) + " is not 1 to " +
                 std::to_string(kMaxTokenName) + " letters, digits, -, _ and .");
  }
  if (name != kTokenFile) return std::nullopt;
  return wrong("token name " + base::quoted(name) + " is that of the token in server.token_file");
}

Result<Scopes> parse_scopes(std::string_view text) {
  Scopes scopes;
  for (const std::string_view word : parts_of(text)) {
    const auto scope = std::ranges::find(kScopes, word, to_string);
    if (scope != kScopes.end()) {
      scopes.add(*scope);
      continue;
    }
    std::vector<std::string_view> known;
    for (const Scope one : kScopes) known.push_back(to_string(one));
    return wrong("scope " + base::quoted(word) + " is not read, push, consume or admin" +
                 base::did_you_mean(word, known));
  }
  return scopes;
}

Result<std::vector<std::string>> parse_patterns(std::string_view text) {
  std::vector<std::string> patterns;
  for (const std::string_view pattern : parts_of(text)) {
    if (auto error = core::check_queue_pattern(pattern)) return *std::move(error);
    patterns.emplace_back(pattern);
  }
  return patterns;
}

std::string spell_scopes(Scopes scopes) {
  std::string text;
  for (const Scope scope : kScopes) {
    if (!scopes.has(scope)) continue;
    if (!text.empty()) text += ',';
    text += to_string(scope);
  }
  return text;
}

std::vector<ListedToken> parse_tokens(std::string_view text, std::string_view file,
                                      std::vector<std::string>& problems) {
  std::vector<ListedToken> tokens;
  Known known;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto fields = words_of(line, kBlanks);
    if (fields.empty() || fields.front().starts_with('#')) continue;
    auto identity = parse_fields(fields);
    auto error = identity ? known.add(*identity, number) : std::optional(identity.error());
    if (error) {
      problems.push_back(at_line(file, number, error->message));
    } else {
      tokens.push_back({*std::move(identity), number});
    }
  }
  return tokens;
}

std::vector<std::string> ended_tokens(const std::vector<ListedToken>& tokens, std::string_view file,
                                      Time now) {
  std::vector<std::string> lines;
  for (const ListedToken& token : tokens) {
    if (!token.identity.has_ended(now)) continue;
    lines.push_back(
        at_line(file, token.line,
                "the token " + base::quoted(token.identity.name) + " ended at " +
                    base::format_time_ms(token.identity.ends->time_since_epoch().count())));
  }
  return lines;
}

Result<std::string> read_tokens_file(const std::string& path) {
  constexpr std::string_view kNamed = "tokens file";
  auto text = base::read_secret_text(kNamed, path, kMaxTokensFile);
  if (!text || !base::is_readable_by_all(path)) return text;
  return wrong(std::string(kNamed) + " " + base::quoted(path, path.size()) +
               " can be read by every user of this machine: chmod o-r " + path);
}

std::string spell_token(const Identity& identity) {
  std::string line = identity.name + " " + spell_scopes(identity.scopes) + " ";
  for (std::size_t i = 0; i < identity.queues.size(); ++i) {
    if (i > 0) line += ',';
    line += identity.queues[i];
  }
  line += " ";
  line += kHashBegins;
  line += identity.digest;
  if (identity.ends) line += " " + base::format_time_ms(identity.ends->time_since_epoch().count());
  return line;
}

}  // namespace tarry::identity
