// tarry token new, ls, check: the tokens of a server's tokens file.
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "app/system/line_reader.h"
#include "app/system/private_file.h"
#include "base/secrets/token.h"
#include "base/text/base64.h"
#include "base/text/text.h"
#include "server/identity/tokens.h"
#include "server/identity/tokens_file.h"

namespace tarry::app {
namespace {

using identity::Identity;
using identity::ListedToken;

constexpr std::string_view kTokenBegins = "tarry_";  // so that tools find a token that has leaked

/// Empty: the reason has been printed.
std::string file_of(Invocation& invocation, const std::optional<std::string>& flag) {
  if (flag && flag->empty()) {
    static_cast<void>(invocation.output.usage("--tokens-file is empty; it takes a file"));
    return "";
  }
  if (flag) return *flag;
  const char* variable = std::getenv("TARRY_TOKENS_FILE");
  if (variable != nullptr && *variable != '\0') return variable;
  static_cast<void>(invocation.output.usage(
      "there is no tokens file: give --tokens-file, or set TARRY_TOKENS_FILE"));
  return "";
}

/// The file's tokens. On failure it prints every reason.
std::optional<std::vector<ListedToken>> read_list(Invocation& invocation, const std::string& file) {
  const auto text = identity::read_tokens_file(file);
  if (!text) {
    invocation.output.error(text.error());
    return std::nullopt;
  }
  std::vector<std::string> problems;
  auto tokens = identity::parse_tokens(*text, file, problems);
  if (problems.empty()) return tokens;
  for (const std::string& problem : problems) {
    invocation.output.error({ErrorCode::invalid_argument, problem});
  }
  return std::nullopt;
}

std::string end_text(const Identity& token) {
  if (!token.ends) return "";
  const std::string end = base::format_time_ms(token.ends->time_since_epoch().count());
  return token.has_ended(identity::now()) ? end + " (ended)" : end;
}

std::string queues_text(const Identity& token) {
  return fmt::format("{}", fmt::join(token.queues, ","));
}

/// The members of a token, in an object that the caller opened.
void write_token(wire::JsonWriter& json, const Identity& token) {
  json.text_field("name", token.name).name("scopes").begin_array();
  for (const identity::Scope scope : identity::kScopes) {
    if (token.scopes.has(scope)) json.string(identity::to_string(scope));
  }
  json.end_array().name("queues").begin_array();
  for (const std::string& pattern : token.queues) json.string(pattern);
  json.end_array();
  if (token.ends) json.time_field("end", *token.ends);
  json.field_bool("ended", token.has_ended(identity::now()));
}

struct NewWords {
  std::string name;
  std::string scopes;
  std::string queues;
  std::optional<Time> end;
  std::optional<Millis> lasts;  // --for
  std::optional<std::string> file;
};

Result<std::string> make_secret() {
  std::array<char, 32> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) {
      return Error{ErrorCode::io_error,
                   fmt::format("the system gives no random bytes: {}", std::strerror(errno))};
    }
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  std::string secret(kTokenBegins);
  base::append_base64url(secret, {bytes.data(), bytes.size()});
  return secret;
}

Result<Identity> identity_of(const NewWords& words) {
  Identity token;
  if (auto error = identity::check_token_name(words.name)) return *std::move(error);
  token.name = words.name;
  auto scopes = identity::parse_scopes(words.scopes);
  if (!scopes) return std::move(scopes).error();
  token.scopes = *scopes;
  auto queues = identity::parse_patterns(words.queues);
  if (!queues) return std::move(queues).error();
  token.queues = *std::move(queues);
  token.ends = words.end;
  if (words.lasts) token.ends = identity::now() + *words.lasts;
  if (!token.has_ended(identity::now())) return token;
  return Error{ErrorCode::invalid_argument,
               fmt::format("the end {} has passed",
                           base::format_time_ms(token.ends->time_since_epoch().count()))};
}

/// The file's text with one line more.
Result<std::string> with_token(std::string text, const std::string& file, const Identity& token) {
  std::vector<std::string> problems;
  const auto listed = identity::parse_tokens(text, file, problems);
  if (!problems.empty()) return Error{ErrorCode::invalid_argument, problems.front()};
  for (const ListedToken& other : listed) {
    if (other.identity.name != token.name) continue;
    return Error{ErrorCode::conflict, fmt::format("{}:{}: the token {} exists", file, other.line,
                                                  base::quoted(token.name))};
  }
  if (listed.size() >= identity::kMaxTokens) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} has {} tokens, which is the limit", file, identity::kMaxTokens)};
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text + identity::spell_token(token) + "\n";
}

ExitCode make_token(Invocation& invocation, const NewWords& words) {
  const std::string file = file_of(invocation, words.file);
  if (file.empty()) return ExitCode::usage;
  auto token = identity_of(words);
  if (!token) return invocation.output.fail(token.error());
  const auto secret = make_secret();
  if (!secret) return invocation.output.fail(secret.error());
  token->digest = identity::digest_of(*secret);
  const auto changed = change_private_file(file, identity::kMaxTokensFile, [&](std::string text) {
    return with_token(std::move(text), file, *token);
  });
  if (!changed) return invocation.output.fail(changed.error());
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("token", *secret);
      write_token(json, *token);
      json.text_field("file", file).end_object();
    });
    return ExitCode::done;
  }
  invocation.output.print_line(*secret);
  invocation.output.note(fmt::format(
      "this is the only time that the token is shown; its hash is in {}. A running server accepts "
      "it after a SIGHUP",
      base::quoted(file, file.size())));
  return ExitCode::done;
}

struct FileWords {
  std::optional<std::string> file;
};

ExitCode list_tokens(Invocation& invocation, const FileWords& words) {
  const std::string file = file_of(invocation, words.file);
  if (file.empty()) return ExitCode::usage;
  const auto tokens = read_list(invocation, file);
  if (!tokens) return ExitCode::usage;
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().name("tokens").begin_array();
      for (const ListedToken& token : *tokens) {
        json.begin_object();
        write_token(json, token.identity);
        json.field("line", std::uint64_t{token.line}).end_object();
      }
      json.end_array().end_object();
    });
    return ExitCode::done;
  }
  Table table({{"NAME"}, {"SCOPES"}, {"QUEUES", false, true}, {"END"}});
  for (const ListedToken& token : *tokens) {
    table.add({token.identity.name, identity::spell_scopes(token.identity.scopes),
               queues_text(token.identity), end_text(token.identity)});
  }
  invocation.output.print(table);
  return ExitCode::done;
}

struct TokenCheckWords {
  std::optional<std::string> secret;  // "-", which is standard input
  std::optional<std::string> file;
};

/// Whether a server would start with the file.
ExitCode check_file(Invocation& invocation, const std::string& file,
                    const std::vector<ListedToken>& tokens) {
  const auto ended = identity::ended_tokens(tokens, file, identity::now());
  for (const std::string& line : ended) {
    invocation.output.error({ErrorCode::invalid_argument, line});
  }
  if (!ended.empty()) return ExitCode::usage;
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("file", file);
      json.field("tokens", std::uint64_t{tokens.size()}).end_object();
    });
  } else {
    invocation.output.print_line(fmt::format("{} is valid: {}", base::quoted(file, file.size()),
                                             counted(tokens.size(), "token")));
  }
  return ExitCode::done;
}

Result<std::string> read_secret_from_stdin() {
  LineReader lines(STDIN_FILENO, base::kMaxToken + 1);
  std::string_view line;
  const auto read = lines.next(line);
  if (!read) return read.error();
  if (*read && base::is_token(line)) return std::string(line);
  return Error{ErrorCode::invalid_argument,
               fmt::format("the first line of standard input is no token: {}", base::kTokenRule)};
}

ExitCode check_secret(Invocation& invocation, const std::string& file,
                      const std::vector<ListedToken>& listed) {
  const auto secret = read_secret_from_stdin();
  if (!secret) return invocation.output.fail(secret.error());
  identity::Tokens tokens;
  tokens.require();
  for (const ListedToken& token : listed) tokens.add(token.identity);
  const auto found = tokens.find(*secret);
  if (found == nullptr) {
    return invocation.output.fail(
        {ErrorCode::not_found,
         fmt::format("the token is not in {}", base::quoted(file, file.size()))});
  }
  if (found->has_ended(identity::now())) {
    return invocation.output.fail(
        {ErrorCode::permission_denied,
         fmt::format("the token {} ended at {}", base::quoted(found->name),
                     base::format_time_ms(found->ends->time_since_epoch().count()))});
  }
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object();
      write_token(json, *found);
      json.end_object();
    });
    return ExitCode::done;
  }
  Sheet sheet;
  sheet.add("name", found->name);
  sheet.add("scopes", identity::spell_scopes(found->scopes));
  sheet.add("queues", queues_text(*found));
  if (found->ends) sheet.add("end", end_text(*found));
  invocation.output.print(sheet);
  return ExitCode::done;
}

ExitCode check_tokens(Invocation& invocation, const TokenCheckWords& words) {
  if (words.secret && *words.secret != "-") {
    return invocation.output.usage(
        "a token on the command line is shown by ps: write -, and give the token on standard "
        "input");
  }
  const std::string file = file_of(invocation, words.file);
  if (file.empty()) return ExitCode::usage;
  const auto tokens = read_list(invocation, file);
  if (!tokens) return ExitCode::usage;
  return words.secret ? check_secret(invocation, file, *tokens)
                      : check_file(invocation, file, *tokens);
}

void add_file_flag(CLI::App& command, std::optional<std::string>& into) {
  add_word(command, "--tokens-file", into, "The server's file (default: TARRY_TOKENS_FILE)")
      ->type_name("FILE");
}

}  // namespace

void add_token_commands(CLI::App& root, Invocation& invocation) {
  CLI::App& parent = add_group(root, "token", R"(
Tokens of a server, with rights: new, ls, check

  tarry token new scraper --scopes read --queues '*' --tokens-file /etc/tarry/tokens)");
  const auto [fresh, wanted] = add_command(parent, invocation, "new", make_token, R"(
Make a token, print it once, and add its hash to the tokens file

The file gets a line with the name, the rights and the hash. It is created for its owner
alone; an existing file keeps its owner, group and mode. The token is printed on standard
output and kept nowhere. A running server reads the file again after a SIGHUP.

  tarry token new scraper --scopes read --queues '*' --tokens-file /etc/tarry/tokens
  tarry token new shop --scopes push,consume --queues 'shop.*,mails' --for 90d)");
  add_word(fresh, "NAME", wanted.name, "1 to 64 letters, digits, -, _ and .; unique in the file")
      ->required();
  add_word(fresh, "--scopes", wanted.scopes, "read, push, consume, admin; several with commas")
      ->required()
      ->type_name("LIST");
  add_word(fresh, "--queues", wanted.queues,
           "Names, or beginnings with a * at the end, with commas; '*': all")
      ->required()
      ->type_name("LIST");
  CLI::Option* const end = add_time(fresh, "--end", wanted.end, "Refuse the token from then on");
  add_duration(fresh, "--for", wanted.lasts, "The same, counted from now")->excludes(end);
  add_file_flag(fresh, wanted.file);

  const auto [list, listed] = add_command(parent, invocation, "ls", list_tokens, R"(
List the tokens of a tokens file: names, scopes, queues, ends

  tarry token ls --tokens-file /etc/tarry/tokens)");
  add_file_flag(list, listed.file);

  const auto [check, checked] = add_command(parent, invocation, "check", check_tokens, R"(
Check a tokens file, or show what a token may do

Without an argument: is the file valid, so that a server would start with it? With - the
token is read from standard input. Exit code 3: the file does not have the token; 1: the
token has ended.

  tarry token check --tokens-file /etc/tarry/tokens
  tarry token check - --tokens-file /etc/tarry/tokens < token)");
  add_word(check, "TOKEN", checked.secret, "-: read a token from standard input");
  add_file_flag(check, checked.file);
}

}  // namespace tarry::app
