#include "app/serve/serve_tokens.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "base/secrets/secret_file.h"
#include "base/secrets/token.h"
#include "base/text/text.h"
#include "server/identity/tokens_file.h"

namespace tarry::app {
namespace {

using config::Config;
using config::Which;

/// From the file's first line; empty if no file is named.
Result<std::string> read_token(const std::string& path) {
  if (path.empty()) return std::string();
  auto line = base::read_secret("--token-file", path);
  if (!line) return line;
  const auto good = base::check_server_token(*line);
  if (good) return line;
  return Error{good.error().code,
               fmt::format("--token-file {}: {}", base::quoted(path), good.error().message)};
}

std::size_t missing_in(const std::vector<identity::Identity>& there,
                       const std::vector<identity::Identity>& wanted) {
  return static_cast<std::size_t>(std::ranges::count_if(wanted, [&](const auto& identity) {
    return std::ranges::find(there, identity) == there.end();
  }));
}

}  // namespace

std::optional<ServeTokens> read_tokens(const Config& config, std::vector<std::string>& problems) {
  ServeTokens tokens;
  auto token = read_token(config.text(Which::token_file));
  if (token) {
    tokens.token = *std::move(token);
  } else {
    problems.push_back(token.error().message);
  }
  const std::string path = config.text(Which::tokens_file);
  tokens.has_list = !path.empty();
  if (tokens.has_list) {
    const auto text = identity::read_tokens_file(path);
    if (!text) problems.push_back(text.error().message);
    auto listed = identity::parse_tokens(text ? *text : "", path, problems);
    tokens.ended = identity::ended_tokens(listed, path, identity::now());
    const std::string digest = identity::digest_of(tokens.token);
    for (auto& one : listed) {
      if (one.identity.digest == digest) {
        problems.push_back(fmt::format("{}:{}: the token {} is that of --token-file too", path,
                                       one.line, base::quoted(one.identity.name)));
      }
      tokens.listed.push_back(std::move(one.identity));
    }
  }
  if (const std::string keys = config.text(Which::sqs_keys_file); !keys.empty()) {
    const auto text = identity::read_keys_file(keys);
    if (!text) problems.push_back(text.error().message);
    tokens.secrets = identity::parse_keys(text ? *text : "", keys, tokens.listed, problems);
  }
  if (!problems.empty()) return std::nullopt;
  return tokens;
}

std::optional<ServeTokens> start_tokens(const Config& config, Output& output) {
  std::vector<std::string> problems;
  auto tokens = read_tokens(config, problems);
  if (tokens) problems = tokens->ended;
  if (problems.empty()) return tokens;
  for (const std::string& problem : problems) {
    output.error({ErrorCode::invalid_argument, problem});
  }
  return std::nullopt;
}

identity::Tokens tokens_of(const ServeTokens& tokens) {
  auto valid = identity::Tokens::of(tokens.token);
  if (tokens.has_list) valid.require();
  for (const identity::Identity& one : tokens.listed) valid.add(one);
  for (const identity::KeptSecret& one : tokens.secrets) valid.keep_secret(one.name, one.secret);
  if (!tokens.token.empty()) valid.keep_secret(identity::kTokenFile, tokens.token);
  return valid;
}

void note_open_token(const Config& config, ServeLog& log) {
  const std::string path = config.text(Which::token_file);
  if (path.empty() || !base::is_readable_by_all(path)) return;
  log.warning("token_file_open",
              fmt::format("--token-file {}: every user of this machine can read it: chmod o-r {}",
                          base::quoted(path), path));
}

void log_changed_tokens(const ServeTokens& before, const ServeTokens& after, ServeLog& log) {
  if (after.token != before.token) {
    log.info("token_changed", "the token has changed; the one before is refused");
  }
  const std::size_t added = missing_in(before.listed, after.listed);
  const std::size_t gone = missing_in(after.listed, before.listed);
  if (added == 0 && gone == 0) return;
  log.info("tokens_changed",
           fmt::format("the tokens have changed: {} of {} are new or changed; {} of before are "
                       "refused",
                       added, counted(after.listed.size(), "token"), gone));
}

}  // namespace tarry::app
