#include "engines/redis/layouts/redisson/redisson_value.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/text/text.h"

namespace tarry::redis {
namespace {

namespace json = boost::json;

constexpr Codec kFramed[] = {Codec::kryo5, Codec::marshalling, Codec::fst};

struct CodecNames {
  Codec codec;
  Decode decode;
  std::string_view option;
  std::string_view java;
};
constexpr std::array<CodecNames, 5> kCodecs = {{
    {Codec::text, Decode::string, "string", "StringCodec"},
    {Codec::json, Decode::json, "json", "JsonJacksonCodec"},
    {Codec::kryo5, Decode::kryo5, "kryo5", "Kryo5Codec"},
    {Codec::fst, Decode::fst, "fst", "FstCodec"},
    {Codec::marshalling, Decode::marshalling, "marshalling", "MarshallingCodec"},
}};

const CodecNames* names_of(Codec codec) noexcept {
  for (const CodecNames& names : kCodecs) {
    if (names.codec == codec) return &names;
  }
  return nullptr;
}

struct KindName {
  Kind kind;
  std::string_view seen;
  std::string_view java;
};
constexpr std::array<KindName, 6> kKinds = {{
    {Kind::other, "other", "objects"},
    {Kind::text, "text", "String"},
    {Kind::int32, "int", "Integer"},
    {Kind::int64, "long", "Long"},
    {Kind::float64, "double", "Double"},
    {Kind::boolean, "bool", "Boolean"},
}};

std::string_view java_name(Kind kind) noexcept {
  for (const KindName& name : kKinds) {
    if (name.kind == kind) return name.java;
  }
  return "";
}

bool is_framed(Codec codec) noexcept {
  return codec == Codec::kryo5 || codec == Codec::fst || codec == Codec::marshalling;
}

std::optional<PlainValue> read_any_frame(std::string_view value, Codec& codec) {
  for (const Codec each : kFramed) {
    auto plain = read_frame(value, each);
    if (!plain) continue;
    codec = each;
    return plain;
  }
  return std::nullopt;
}

std::optional<json::value> parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return std::nullopt;
  return value;
}

Kind kind_of(const json::value& value) {
  if (value.is_string()) return Kind::text;
  if (value.is_bool()) return Kind::boolean;
  if (value.is_double()) return Kind::float64;
  if (value.is_uint64()) return Kind::int64;
  if (!value.is_int64()) return Kind::other;
  const std::int64_t number = value.get_int64();
  return number == static_cast<std::int32_t>(number) ? Kind::int32 : Kind::int64;
}

constexpr std::string_view kLongBegins = "[\"java.lang.Long\",";

// Jackson's way to say that a number is a Long.
std::optional<std::string_view> long_in(std::string_view value) {
  if (!value.starts_with(kLongBegins) || !value.ends_with(']')) return std::nullopt;
  const std::string_view digits =
      value.substr(kLongBegins.size(), value.size() - kLongBegins.size() - 1);
  const auto number = parsed(digits);
  if (!number || !number->is_int64()) return std::nullopt;
  return digits;
}

// True if the value begins with a tag of a binary codec; no text begins so.
bool begins_as_bytes(std::string_view value) noexcept {
  constexpr std::string_view kSpaces = "\t\n\r";
  return !value.empty() && static_cast<std::uint8_t>(value.front()) < 0x20 &&
         kSpaces.find(value.front()) == std::string_view::npos;
}

bool may_be_json(std::string_view value) noexcept {
  return !value.empty() &&
         std::string_view("\"[{-0123456789tfn").find(value.front()) != std::string_view::npos;
}

// Writes the string exactly as Jackson does, because `remove` compares bytes.
Result<std::string> json_string(std::string_view text) {
  if (!base::is_valid_utf8(text)) {
    return Unexpected(
        ErrorCode::invalid_argument,
        "payload " + base::quoted(text) + " is not UTF-8, and so no JSON string; use decode=raw");
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string value = "\"";
  for (const char c : text) {
    constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    const std::size_t at = kSpecial.find(c);
    const auto byte = static_cast<std::uint8_t>(c);
    if (at != std::string_view::npos) {
      value += '\\';
      value += kLetters[at];
    } else if (byte < 0x20) {
      value += "\\u00";
      value += kHex[byte >> 4u];
      value += kHex[byte & 0xFu];
    } else {
      value += c;
    }
  }
  return value += '"';
}

bool is_number_or_truth(Kind kind) noexcept {
  return kind == Kind::int32 || kind == Kind::int64 || kind == Kind::float64 ||
         kind == Kind::boolean;
}

Result<std::string> json_value(std::string_view payload, Kind kind) {
  if (kind == Kind::text) return json_string(payload);
  const auto value = may_be_json(payload) ? parsed(payload) : std::nullopt;
  if (value && (value->is_object() || value->is_array())) return std::string(payload);
  if (value && is_number_or_truth(kind)) {
    const Kind is = kind_of(*value);
    if (kind == Kind::int64 && is == Kind::int32) {
      return std::string(kLongBegins) + std::string(payload) + "]";
    }
    if (is == kind) {
      return kind == Kind::int64 ? std::string(kLongBegins) + std::string(payload) + "]"
                                 : std::string(payload);
    }
  }
  return json_string(payload);
}

// Makes the error for a payload that is refused. It says why, and names the option that accepts the
// payload.
class Misfit {
 public:
  Misfit(std::string_view payload, std::string_view queue) : payload_(payload), queue_(queue) {}

  [[nodiscard]] Unexpected because(std::string_view why) const {
    return {ErrorCode::invalid_argument, "payload " + base::quoted(payload_) +
                                             " does not fit queue " + base::quoted(queue_) + ": " +
                                             std::string(why)};
  }
  [[nodiscard]] Unexpected of_codec(const Written& written) const {
    const CodecNames* names = names_of(written.codec);
    if (names == nullptr) {
      return because(
          "tarry does not know the codec of its last value; use decode=raw with bytes that its "
          "Java clients' codec has written");
    }
    return because("its values are " + std::string(names->java) +
                   "'s; use decode=" + std::string(names->option) + " or decode=auto");
  }
  [[nodiscard]] Unexpected of_kind(const Written& written) const {
    const std::string java(java_name(written.kind));
    if (!names_of(written.codec) || written.kind == Kind::text) {
      return because("it is no " + java + " as the last value is; use decode=raw");
    }
    return because("it is no " + java + " as the last value is; decode=" +
                   std::string(names_of(written.codec)->option) + " writes it as a String");
  }

 private:
  std::string_view payload_;
  std::string_view queue_;
};

Result<std::string> encode_framed(std::string_view payload, Codec codec, const Seen& seen,
                                  bool or_text, const Misfit& misfit) {
  const Kind kind = seen.written && seen.written->codec == codec ? seen.written->kind : Kind::text;
  auto value = write_frame(payload, codec, kind);
  if (!value && or_text) value = write_frame(payload, codec, Kind::text);
  if (value) return *std::move(value);
  if (kind == Kind::text || or_text) {
    return misfit.because("it is not UTF-8, and so no String; decode=raw takes bytes");
  }
  return misfit.of_kind(*seen.written);
}

Result<std::string> encode_raw(std::string_view payload, const Seen& seen, const Misfit& misfit) {
  if (!seen.written) return std::string(payload);
  const Written there = *seen.written;
  const Codec ours = written_as(payload).codec;
  if (is_framed(there.codec) && ours != there.codec && ours != Codec::unknown) {
    return misfit.of_codec(there);
  }
  if (there.codec == Codec::json && (ours == Codec::text || is_framed(ours))) {
    return misfit.of_codec(there);
  }
  return std::string(payload);
}

Result<std::string> encode_automatic(std::string_view payload, const Seen& seen,
                                     const Misfit& misfit) {
  if (!seen.written) {
    return misfit.because(
        "it has shown no value yet, so decode=auto does not know the codec of its Java clients; "
        "name it: decode=kryo5 (their default from 3.23 on), marshalling (3.16), fst (3.10), json "
        "or string");
  }
  const Written there = *seen.written;
  if (is_framed(there.codec)) return encode_framed(payload, there.codec, seen, false, misfit);
  if (there.codec == Codec::text) return std::string(payload);
  if (there.codec == Codec::json && there.kind == Kind::text) return json_string(payload);
  if (there.codec == Codec::unknown) return misfit.of_codec(there);
  const auto value = may_be_json(payload) ? parsed(payload) : std::nullopt;
  const Kind kind = value && !value->is_null() ? kind_of(*value) : Kind::text;
  const bool is_long = there.kind == Kind::int64 && kind == Kind::int32;
  if (kind == there.kind || is_long) {
    if (there.codec == Codec::json) return json_value(payload, there.kind);
    return std::string(payload);
  }
  if (there.codec == Codec::json) return misfit.of_kind(there);
  return misfit.because(
      "its last value may be JsonJacksonCodec's or StringCodec's; use decode=json or "
      "decode=string");
}

}  // namespace

Written written_as(std::string_view value) {
  Codec codec = Codec::unknown;
  if (const auto plain = read_any_frame(value, codec)) return {codec, plain->kind};
  if (may_be_json(value)) {
    if (long_in(value)) return {Codec::json, Kind::int64};
    if (const auto read = parsed(value)) {
      return {read->is_string() ? Codec::json : Codec::either, kind_of(*read)};
    }
  }
  const bool is_text = base::is_valid_utf8(value) && !begins_as_bytes(value);
  return is_text ? Written{Codec::text, Kind::text} : Written{};
}

Decoded decode_value(std::string_view value, Decode decode, std::string& scratch) {
  if (decode == Decode::raw) return {value};
  for (const CodecNames& names : kCodecs) {
    if (names.decode != decode || !is_framed(names.codec)) continue;
    auto plain = read_frame(value, names.codec);
    if (!plain) return {value, true};
    scratch = std::move(plain->text);
    return {scratch};
  }
  if (decode != Decode::json) {
    Codec codec = Codec::unknown;
    if (auto plain = read_any_frame(value, codec)) {
      scratch = std::move(plain->text);
      return {scratch};
    }
    if (decode == Decode::string) return {value};
  }
  if (const auto digits = long_in(value)) return {*digits};
  const bool looks = decode == Decode::json || value.starts_with('"');
  if (!looks) return {value};
  const auto read = parsed(value);
  if (!read) return {value, decode == Decode::json};
  if (!read->is_string()) return {value};
  scratch.assign(read->get_string().data(), read->get_string().size());
  return {scratch};
}

Result<std::string> encode_value(std::string_view payload, Decode decode, const Seen& seen,
                                 std::string_view queue) {
  const Misfit misfit(payload, queue);
  const Written there = seen.written.value_or(Written{});
  const bool either = there.codec == Codec::either;
  switch (decode) {
    case Decode::automatic: return encode_automatic(payload, seen, misfit);
    case Decode::raw: return encode_raw(payload, seen, misfit);
    case Decode::string:
      if (is_framed(there.codec)) return encode_framed(payload, there.codec, seen, true, misfit);
      if (seen.written && !either && there.codec != Codec::text) return misfit.of_codec(there);
      return std::string(payload);
    case Decode::json:
      if (seen.written && !either && there.codec != Codec::json) return misfit.of_codec(there);
      return json_value(payload, there.kind);
    default: break;
  }
  for (const CodecNames& names : kCodecs) {
    if (names.decode != decode) continue;
    if (seen.written && there.codec != names.codec) return misfit.of_codec(there);
    return encode_framed(payload, names.codec, seen, true, misfit);
  }
  return std::string(payload);
}

std::string_view to_string(EntryForm form) noexcept {
  switch (form) {
    case EntryForm::automatic: return "auto";
    case EntryForm::old: return "old";
    case EntryForm::newer: return "new";
  }
  return "auto";
}

EntryForm form_of(EntryForm wish, const Seen& seen, std::string_view value) {
  if (wish != EntryForm::automatic) return wish;
  if (seen.form != EntryForm::automatic) return seen.form;
  const Codec codec = written_as(value).codec;
  const bool old = codec == Codec::fst || codec == Codec::marshalling;
  return old ? EntryForm::old : EntryForm::newer;
}

std::string spell_seen(const Seen& seen) {
  std::string text(to_string(seen.form));
  const CodecNames* names = seen.written ? names_of(seen.written->codec) : nullptr;
  if (names == nullptr) return text;
  for (const KindName& kind : kKinds) {
    if (kind.kind != seen.written->kind) continue;
    text += " " + std::string(names->option) + " " + std::string(kind.seen);
  }
  return text;
}

Seen parse_seen(std::string_view text) {
  const auto word = [&text] {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return first;
  };
  Seen seen;
  const std::string_view form = word();
  for (const EntryForm each : {EntryForm::old, EntryForm::newer}) {
    if (to_string(each) == form) seen.form = each;
  }
  const std::string_view codec = word();
  const std::string_view kind = word();
  for (const CodecNames& names : kCodecs) {
    if (names.option != codec) continue;
    for (const KindName& each : kKinds) {
      if (each.seen == kind) seen.written = Written{names.codec, each.kind};
    }
  }
  return seen;
}

Seen joined(const Seen& shown, const Seen& remembered) {
  Seen seen = shown;
  if (seen.form == EntryForm::automatic) seen.form = remembered.form;
  if (!seen.written) seen.written = remembered.written;
  // A number looks the same in the codecs `json` and `text`. The remembered codec decides.
  if (seen.written && seen.written->codec == Codec::either && remembered.written &&
      (remembered.written->codec == Codec::json || remembered.written->codec == Codec::text)) {
    seen.written->codec = remembered.written->codec;
  }
  return seen;
}

}  // namespace tarry::redis
