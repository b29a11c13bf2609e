#include "schedule/calendar/zone.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::schedule {
namespace {

constexpr UtcSeconds kBeginning = std::numeric_limits<UtcSeconds>::min() / 4;
constexpr UtcSeconds kEndless = std::numeric_limits<UtcSeconds>::max() / 4;
constexpr std::array<const char*, 3> kFolders{"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                              "/etc/zoneinfo"};
constexpr std::size_t kMaxZoneName = 64;
constexpr std::size_t kMaxFile = 1 << 20;

/// Whether the name may be a path below the folder of zones. Zones below `right/` count leap
/// seconds, which tarry's times do not.
bool is_plausible(std::string_view name) noexcept {
  const auto fits = [](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '/' || c == '_' || c == '-' || c == '+';
  };
  return !name.empty() && name.size() <= kMaxZoneName && base::is_letter(name[0]) &&
         std::ranges::all_of(name, fits) && !name.starts_with("right/") &&
         !name.starts_with("posix");
}

std::optional<std::string> contents(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kMaxFile, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Reads big-endian numbers; `failed` if the bytes end too early.
struct Bytes {
  std::string_view rest;
  bool failed = false;

  std::string_view take(std::size_t count) {
    if (count > rest.size()) {
      failed = true;
      return {};
    }
    const std::string_view taken = rest.substr(0, count);
    rest.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (const char byte : take(bytes)) {
      value = value << 8U | static_cast<unsigned char>(byte);
    }
    return value;
  }
  std::int64_t signed32() { return static_cast<std::int32_t>(number(4)); }
  std::int64_t signed64() { return static_cast<std::int64_t>(number(8)); }
};

struct Header {
  char version = 0;
  std::size_t ut = 0;
  std::size_t standard = 0;
  std::size_t leaps = 0;
  std::size_t changes = 0;
  std::size_t types = 0;
  std::size_t letters = 0;

  static std::optional<Header> read(Bytes& bytes) {
    if (bytes.take(4) != "TZif") return std::nullopt;
    Header header;
    const std::string_view version = bytes.take(16);
    for (std::size_t* count : {&header.ut, &header.standard, &header.leaps, &header.changes,
                               &header.types, &header.letters}) {
      *count = bytes.number(4);
      if (*count > kMaxFile) return std::nullopt;
    }
    if (bytes.failed) return std::nullopt;
    header.version = version[0];
    return header;
  }
  [[nodiscard]] std::size_t size(std::size_t of_time) const noexcept {
    return changes * (of_time + 1) + types * 6 + letters + leaps * (of_time + 4) + standard + ut;
  }
};

}  // namespace

Zone::Zone() {
  static constexpr std::string_view kUtc = "UTC";
  auto data = std::make_shared<Data>();
  data->name = kUtc;
  data_ = std::move(data);
}

std::optional<Zone> Zone::parse(std::string_view name, std::string_view file) {
  Bytes bytes{file};
  auto header = Header::read(bytes);
  // Version 1 has times of 32 bits, which end in 2038.
  if (!header || header->version < '2') return std::nullopt;
  static_cast<void>(bytes.take(header->size(4)));
  header = Header::read(bytes);
  if (!header || header->types == 0 || header->leaps != 0) return std::nullopt;
  auto data = std::make_shared<Data>();
  data->name = name;
  for (std::size_t i = 0; i < header->changes; ++i) data->changes.push_back({bytes.signed64(), 0});
  const std::string_view types_of_changes = bytes.take(header->changes);
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < header->types; ++i) {
    offsets.push_back(bytes.signed32());
    static_cast<void>(bytes.take(2));
  }
  static_cast<void>(bytes.take(header->letters + header->standard + header->ut));
  if (bytes.failed || bytes.take(1) != "\n") return std::nullopt;
  for (std::size_t i = 0; i < header->changes; ++i) {
    const auto type = static_cast<unsigned char>(types_of_changes[i]);
    if (type >= offsets.size()) return std::nullopt;
    if (i > 0 && data->changes[i].at <= data->changes[i - 1].at) return std::nullopt;
    data->changes[i].offset = offsets[type];
  }
  data->first_offset = offsets[0];
  const std::size_t end = bytes.rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  if (end > 0) {
    data->rule = ZoneRule::parse(bytes.rest.substr(0, end));
    if (!data->rule) return std::nullopt;
  }
  return Zone(std::move(data));
}

Result<Zone> Zone::find(std::string_view name) {
  if (name == "UTC") return Zone();
  std::error_code error;
  bool has_folder = false;
  for (const std::filesystem::path folder : kFolders) {
    if (!std::filesystem::is_directory(folder, error)) continue;
    has_folder = true;
    if (!is_plausible(name)) break;
    const auto bytes = contents(folder / name);
    if (!bytes || !bytes->starts_with("TZif")) continue;
    if (auto zone = parse(name, *bytes)) return *std::move(zone);
    return Error{ErrorCode::damaged, "time zone " + base::quoted(name) + ": its file in " +
                                         folder.string() + " is damaged"};
  }
  if (!has_folder) {
    return Error{ErrorCode::not_found, "time zone " + base::quoted(name) +
                                           ": this system has no time zones in " + kFolders[0] +
                                           "; install tzdata"};
  }
  return Error{ErrorCode::invalid_argument, "there is no time zone " + base::quoted(name) +
                                                "; use an IANA name such as Europe/Berlin, or UTC"};
}

Period Zone::at(UtcSeconds moment) const {
  const auto& changes = data_->changes;
  const auto next = std::ranges::upper_bound(changes, moment, {}, &Change::at);
  if (next == changes.end() && data_->rule) {
    Period period = data_->rule->at(moment);
    if (!changes.empty()) period.begin = std::max(period.begin, changes.back().at);
    return period;
  }
  Period period{kBeginning, kEndless, data_->first_offset};
  if (next != changes.end()) period.end = next->at;
  if (next != changes.begin()) {
    period.begin = std::prev(next)->at;
    period.offset = std::prev(next)->offset;
  }
  return period;
}

}  // namespace tarry::schedule
