#include "server/beanstalk/command.h"

#include <array>
#include <limits>
#include <utility>

#include "core/limits.h"

namespace tarry::beanstalk {
namespace {

constexpr std::string_view kNameLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+/;.$_()";

// Where one prefix begins with another one, the longer one comes first.
constexpr std::array<std::pair<std::string_view, Verb>, kVerbs - 1> kPrefixes = {{
    {"put ", Verb::put},
    {"peek ", Verb::peek},
    {"peek-ready", Verb::peek_ready},
    {"peek-delayed", Verb::peek_delayed},
    {"peek-buried", Verb::peek_buried},
    {"reserve-with-timeout ", Verb::reserve_with_timeout},
    {"reserve-job ", Verb::reserve_job},
    {"reserve", Verb::reserve},
    {"delete ", Verb::erase},
    {"release ", Verb::release},
    {"bury ", Verb::bury},
    {"kick ", Verb::kick},
    {"kick-job ", Verb::kick_job},
    {"touch ", Verb::touch},
    {"stats-job ", Verb::stats_job},
    {"stats-tube ", Verb::stats_tube},
    {"stats", Verb::stats},
    {"use ", Verb::use},
    {"watch ", Verb::watch},
    {"ignore ", Verb::ignore},
    {"list-tubes-watched", Verb::list_tubes_watched},
    {"list-tube-used", Verb::list_tube_used},
    {"list-tubes", Verb::list_tubes},
    {"quit", Verb::quit},
    {"pause-tube", Verb::pause_tube},
    {"auth ", Verb::auth},
    {"put-key ", Verb::put_key},
    {"cancel-key ", Verb::cancel_key},
    {"reschedule-key ", Verb::reschedule_key},
}};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads the parts of a line, from left to right.
class Parts {
 public:
  explicit Parts(std::string_view rest) noexcept : rest_(rest) {}

  [[nodiscard]] bool number(std::uint64_t& value, std::uint64_t most) noexcept {
    skip_spaces();
    if (rest_.empty() || !is_digit(rest_.front())) return false;
    return digits(value) && value <= most;
  }
  [[nodiscard]] bool number(std::uint32_t& value) noexcept {
    std::uint64_t wide = 0;
    if (!number(wide, std::numeric_limits<std::uint32_t>::max())) return false;
    value = static_cast<std::uint32_t>(wide);
    return true;
  }
  [[nodiscard]] bool id(std::uint64_t& value) noexcept {
    return number(value, std::numeric_limits<std::uint64_t>::max());
  }
  [[nodiscard]] bool letters(std::string_view& name) noexcept {
    skip_spaces();
    name = take(std::min(rest_.find_first_not_of(kNameLetters), rest_.size()));
    return !name.empty();
  }
  [[nodiscard]] bool word(std::string_view& text) noexcept {
    skip_spaces();
    text = take(std::min(rest_.find(' '), rest_.size()));
    return !text.empty();
  }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

  /// As C's strtol: spaces, a sign, digits. No digits: 0. False: the number is too large.
  [[nodiscard]] bool signed_number(std::int64_t& value, bool& has_digits) noexcept {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    bool negative = false;
    std::string_view sign = rest_;
    if (!sign.empty() && (sign.front() == '-' || sign.front() == '+')) {
      negative = sign.front() == '-';
      sign.remove_prefix(1);
    }
    has_digits = !sign.empty() && is_digit(sign.front());
    if (!has_digits) return true;
    rest_ = sign;
    std::uint64_t size = 0;
    if (!digits(size)) return false;
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
    value = negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
    return true;
  }

 private:
  void skip_spaces() noexcept {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  std::string_view take(std::size_t size) noexcept {
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  [[nodiscard]] bool digits(std::uint64_t& value) noexcept {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    value = 0;
    bool fits = true;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) {
      const auto digit = static_cast<std::uint64_t>(rest_.front() - '0');
      fits = fits && value <= (kMost - digit) / 10;
      value = fits ? value * 10 + digit : value;
    }
    return fits;
  }

  std::string_view rest_;
};

bool parse_tube(std::string_view rest, Command& command) noexcept {
  command.name = rest;
  return is_tube_name(rest);
}

bool parse_put(Parts parts, Command& command) noexcept {
  if (!parts.number(command.priority) || !parts.number(command.delay) ||
      !parts.number(command.ttr) || !parts.number(command.size)) {
    return false;
  }
  command.has_garbage = !parts.at_end();
  return true;
}

bool parse_timeout(Parts parts, Command& command) noexcept {
  std::int64_t seconds = 0;
  bool has_digits = false;
  if (!parts.signed_number(seconds, has_digits)) return false;
  command.timeout = static_cast<std::int32_t>(static_cast<std::uint32_t>(seconds));
  return true;
}

bool parse_count(Parts parts, Command& command) noexcept {
  std::int64_t count = 0;
  bool has_digits = false;
  if (!parts.signed_number(count, has_digits) || !has_digits) return false;
  command.count = static_cast<std::uint32_t>(count);
  return true;
}

bool parse_id(Parts parts, Command& command) noexcept {
  return parts.id(command.id) && parts.at_end();
}

bool parse_pause(Parts parts, Command& command) noexcept {
  return parts.letters(command.name) && parts.number(command.delay) && parts.at_end() &&
         is_tube_name(command.name);
}

bool is_key(std::string_view key) noexcept { return key.size() <= core::kMaxKey; }

bool parse_rest(std::string_view rest, Command& command) noexcept {
  Parts parts(rest);
  switch (command.verb) {
    case Verb::put: return parse_put(parts, command);
    case Verb::peek:
    case Verb::reserve_job:
    case Verb::erase:
    case Verb::kick_job:
    case Verb::touch:
    case Verb::stats_job: return parse_id(parts, command);
    case Verb::peek_ready:
    case Verb::peek_delayed:
    case Verb::peek_buried:
    case Verb::reserve:
    case Verb::stats:
    case Verb::list_tubes:
    case Verb::list_tube_used:
    case Verb::list_tubes_watched: return rest.empty();
    case Verb::reserve_with_timeout: return parse_timeout(parts, command);
    case Verb::release:
      return parts.id(command.id) && parts.number(command.priority) &&
             parts.number(command.delay) && parts.at_end();
    case Verb::bury:
      return parts.id(command.id) && parts.number(command.priority) && parts.at_end();
    case Verb::kick: return parse_count(parts, command);
    case Verb::stats_tube:
    case Verb::use:
    case Verb::watch:
    case Verb::ignore: return parse_tube(rest, command);
    case Verb::pause_tube: return parse_pause(parts, command);
    case Verb::auth: return parts.word(command.name) && parts.at_end();
    case Verb::put_key:
      return parts.word(command.name) && is_key(command.name) && parse_put(parts, command);
    case Verb::cancel_key:
      return parts.word(command.name) && is_key(command.name) && parts.at_end();
    case Verb::reschedule_key:
      return parts.word(command.name) && is_key(command.name) && parts.number(command.delay) &&
             parts.at_end();
    case Verb::quit:
    case Verb::unknown: break;
  }
  return true;
}

}  // namespace

std::string_view to_string(Verb verb) noexcept {
  for (const auto& [prefix, known] : kPrefixes) {
    if (known == verb) return prefix.substr(0, prefix.find(' '));
  }
  return "none";
}

std::size_t max_line(std::string_view begin) noexcept {
  for (const std::string_view own : {"put-key ", "cancel-key ", "reschedule-key ", "auth "}) {
    if (begin.starts_with(own)) return kMaxOwnLine;
  }
  return kMaxLine;
}

Command parse_command(std::string_view line) noexcept {
  Command command;
  if (line.find('\0') != std::string_view::npos) {
    command.fault = Fault::bad_format;
    if (line.starts_with("put ")) command.verb = Verb::put;
    return command;
  }
  for (const auto& [prefix, verb] : kPrefixes) {
    if (!line.starts_with(prefix)) continue;
    command.verb = verb;
    if (!parse_rest(line.substr(prefix.size()), command)) command.fault = Fault::bad_format;
    return command;
  }
  command.fault = Fault::unknown_command;
  return command;
}

bool is_tube_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= core::kMaxQueueName && name.front() != '-' &&
         name.find_first_not_of(kNameLetters) == std::string_view::npos && name != "." &&
         name != "..";
}

}  // namespace tarry::beanstalk
