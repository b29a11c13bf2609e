#include "engines/redis/layouts/redisson/redisson_frames.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "engines/redis/layouts/redisson/java_text.h"

namespace tarry::redis {
namespace {

// Kryo 5 writes a class as its number plus 2. The numbers count the registered classes: int,
// String, ...
constexpr std::uint8_t kKryoInt = 2;
constexpr std::uint8_t kKryoText = 3;
constexpr std::uint8_t kKryoTruth = 5;
constexpr std::uint8_t kKryoLong = 9;
constexpr std::uint8_t kKryoDouble = 10;
constexpr std::size_t kKryoMostAscii = 32;  // the longest text that is written without a length

// FST writes a tag, and numbers in as few bytes as they need.
constexpr std::uint8_t kFstText = 0xFC;
constexpr std::uint8_t kFstInt = 0xF7;
constexpr std::uint8_t kFstLong = 0xF6;
constexpr std::uint8_t kFstTrue = 0xF0;
constexpr std::uint8_t kFstFalse = 0xEF;
constexpr std::string_view kFstDouble("\x00\x09", 2);
constexpr std::uint8_t kFstShortFollows = 0x80;
constexpr std::uint8_t kFstIntFollows = 0x81;
constexpr std::uint8_t kFstLongFollows = 0x82;

// JBoss Marshalling's "river" protocol: its version, and the kind.
constexpr std::uint8_t kRiverFirst = 2;
constexpr std::uint8_t kRiver = 4;
constexpr std::uint8_t kRiverEmptyText = 0x3D;
constexpr std::uint8_t kRiverShortText = 0x3E;   // a length of one byte, 0 for 256
constexpr std::uint8_t kRiverLongerText = 0x3F;  // a length of two bytes, 0 for 65536
constexpr std::uint8_t kRiverLongText = 0x40;    // a length of four bytes
constexpr std::uint8_t kRiverInt = 0x4B;
constexpr std::uint8_t kRiverLong = 0x4C;
constexpr std::uint8_t kRiverDouble = 0x4F;
constexpr std::uint8_t kRiverTrue = 0x50;
constexpr std::uint8_t kRiverFalse = 0x51;

// Reads bytes from the front; after a missing byte, `ok` is false and all further values are 0.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool all() const noexcept { return ok_ && left_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return left_; }

  std::uint8_t one() {
    if (left_.empty()) {
      ok_ = false;
      return 0;
    }
    const auto byte = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  std::uint64_t little(std::size_t size) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) number |= std::uint64_t{one()} << 8 * i;
    return number;
  }
  std::uint64_t big(std::size_t size) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) number = number << 8u | one();
    return number;
  }
  // A number of variable length: seven bits of each byte, but all eight bits of the ninth.
  std::uint64_t varying(std::size_t most) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < most; ++i) {
      const std::uint8_t byte = one();
      const bool last = i == 8;
      number |= std::uint64_t{last ? byte : byte & 0x7Fu} << 7 * i;
      if (last || (byte & 0x80u) == 0) return number;
    }
    ok_ = false;
    return 0;
  }
  std::int64_t fst_number(bool is_long) {
    const std::uint8_t byte = one();
    if (byte == kFstShortFollows) return static_cast<std::int16_t>(little(2));
    if (byte == kFstIntFollows) return static_cast<std::int32_t>(little(4));
    if (byte == kFstLongFollows && is_long) return static_cast<std::int64_t>(little(8));
    return static_cast<std::int8_t>(byte);
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

void add_little(std::string& to, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to += static_cast<char>(number >> 8 * i & 0xFFu);
}
void add_big(std::string& to, std::uint64_t number, std::size_t size) {
  for (std::size_t i = size; i > 0; --i) to += static_cast<char>(number >> 8 * (i - 1) & 0xFFu);
}
void add_varying(std::string& to, std::uint64_t number) {
  for (int i = 0; i < 8 && number >= 0x80; ++i, number >>= 7u) {
    to += static_cast<char>((number & 0x7Fu) | 0x80u);
  }
  to += static_cast<char>(number);
}
void add_fst_number(std::string& to, std::int64_t number, bool is_long) {
  const auto fits = [number]<typename Number>(Number) {
    return number >= std::numeric_limits<Number>::min() &&
           number <= std::numeric_limits<Number>::max();
  };
  // Numbers up to the last of these codes need more bytes, because the codes announce longer
  // numbers.
  const auto last = static_cast<std::int8_t>(is_long ? kFstLongFollows : kFstIntFollows);
  const bool says = number <= last;
  if (fits(std::int8_t{}) && !says) {
    add_little(to, static_cast<std::uint64_t>(number), 1);
    return;
  }
  const std::size_t size = fits(std::int16_t{}) ? 2 : fits(std::int32_t{}) ? 4 : 8;
  const auto tag = size == 2 ? kFstShortFollows : size == 4 ? kFstIntFollows : kFstLongFollows;
  to += static_cast<char>(tag);
  add_little(to, static_cast<std::uint64_t>(number), size);
}

std::uint64_t zigzag(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number) << 1u ^ static_cast<std::uint64_t>(number >> 63);
}
std::int64_t unzigzag(std::uint64_t bits) noexcept {
  return static_cast<std::int64_t>(bits >> 1u ^ (~(bits & 1u) + 1u));
}

template <typename Number>
std::string spelled(Number number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

using Read = std::optional<PlainValue>;

Read told(Kind kind, std::string text, const Bytes& bytes) {
  if (!bytes.all()) return std::nullopt;
  return PlainValue{kind, std::move(text)};
}
Read told_int(std::int64_t number, const Bytes& bytes) {
  if (number != static_cast<std::int32_t>(number)) return std::nullopt;
  return told(Kind::int32, spelled(number), bytes);
}
Read told_double(std::uint64_t bits, const Bytes& bytes) {
  return told(Kind::float64, spelled(std::bit_cast<double>(bits)), bytes);
}
Read told_truth(bool truth, const Bytes& bytes) {
  return told(Kind::boolean, truth ? "true" : "false", bytes);
}
Read told_text(const std::optional<std::u16string>& units) {
  if (!units) return std::nullopt;
  auto text = utf8_of(*units);
  if (!text) return std::nullopt;
  return PlainValue{Kind::text, *std::move(text)};
}

Read read_kryo_text(Bytes bytes) {
  const std::string_view text = bytes.rest();
  if (text.empty()) return std::nullopt;
  if ((static_cast<std::uint8_t>(text.front()) & 0x80u) == 0) {
    // ASCII text; the last byte has its high bit set.
    std::u16string units;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<std::uint8_t>(text[i]);
      units += static_cast<char16_t>(byte & 0x7Fu);
      if ((byte & 0x80u) != 0 && i + 1 < text.size()) return std::nullopt;
    }
    if ((static_cast<std::uint8_t>(text.back()) & 0x80u) == 0) return std::nullopt;
    return told_text(units);
  }
  const std::uint8_t first = bytes.one();
  std::uint64_t length = first & 0x3Fu;
  if ((first & 0x40u) != 0) length |= bytes.varying(4) << 6u;
  if (!bytes.ok() || length == 0) return std::nullopt;  // 0 is null
  return told_text(units_in(bytes.rest(), length - 1));
}

Read read_kryo(Bytes bytes) {
  switch (bytes.one()) {
    case kKryoText: return read_kryo_text(bytes);
    case kKryoInt: {
      const std::int64_t number = unzigzag(bytes.varying(5));
      return told_int(number, bytes);
    }
    case kKryoLong: {
      const std::int64_t number = unzigzag(bytes.varying(9));
      return told(Kind::int64, spelled(number), bytes);
    }
    case kKryoDouble: {
      const std::uint64_t bits = bytes.little(8);
      return told_double(bits, bytes);
    }
    case kKryoTruth: {
      const std::uint8_t truth = bytes.one();
      if (truth > 1) return std::nullopt;
      return told_truth(truth == 1, bytes);
    }
    default: return std::nullopt;
  }
}

// One byte for each unit; 255 says that the unit follows in two bytes.
Read read_fst_text(Bytes bytes) {
  const std::int64_t length = bytes.fst_number(false);
  if (length < 0 || static_cast<std::uint64_t>(length) > bytes.rest().size()) return std::nullopt;
  std::u16string units;
  for (std::int64_t i = 0; i < length; ++i) {
    const std::uint8_t byte = bytes.one();
    units += static_cast<char16_t>(byte == 0xFF ? bytes.little(2) : byte);
  }
  if (!bytes.all()) return std::nullopt;
  return told_text(units);
}

Read read_fst(Bytes bytes) {
  switch (bytes.one()) {
    case kFstText: return read_fst_text(bytes);
    case kFstInt: {
      const std::int64_t number = bytes.fst_number(false);
      return told_int(number, bytes);
    }
    case kFstLong: {
      const std::int64_t number = bytes.fst_number(true);
      return told(Kind::int64, spelled(number), bytes);
    }
    case kFstTrue: return told_truth(true, bytes);
    case kFstFalse: return told_truth(false, bytes);
    case 0: {
      if (bytes.one() != static_cast<std::uint8_t>(kFstDouble[1])) return std::nullopt;
      const std::uint64_t bits = bytes.little(8);
      return told_double(bits, bytes);
    }
    default: return std::nullopt;
  }
}

Read read_river_text(Bytes bytes, std::size_t length_bytes) {
  std::uint64_t length = bytes.big(length_bytes);
  if (length == 0 && length_bytes < 4) length = std::uint64_t{1} << 8 * length_bytes;
  if (!bytes.ok()) return std::nullopt;
  return told_text(units_in(bytes.rest(), length));
}

Read read_river(Bytes bytes) {
  const std::uint8_t version = bytes.one();
  if (version < kRiverFirst || version > kRiver) return std::nullopt;
  switch (bytes.one()) {
    case kRiverEmptyText: return told(Kind::text, "", bytes);
    case kRiverShortText: return read_river_text(bytes, 1);
    case kRiverLongerText: return read_river_text(bytes, 2);
    case kRiverLongText: return read_river_text(bytes, 4);
    case kRiverInt: {
      const auto number = static_cast<std::int32_t>(bytes.big(4));
      return told_int(number, bytes);
    }
    case kRiverLong: {
      const auto number = static_cast<std::int64_t>(bytes.big(8));
      return told(Kind::int64, spelled(number), bytes);
    }
    case kRiverDouble: {
      const std::uint64_t bits = bytes.big(8);
      return told_double(bits, bytes);
    }
    case kRiverTrue: return told_truth(true, bytes);
    case kRiverFalse: return told_truth(false, bytes);
    default: return std::nullopt;
  }
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  // "007" must stay a text, because a number would lose its zeros.
  if constexpr (std::is_integral_v<Number>) {
    if (spelled(number) != text) return std::nullopt;
  } else if (!std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::string bytes_from(std::initializer_list<std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string kryo_text(std::u16string_view units) {
  std::string value = bytes_from({kKryoText});
  bool ascii = units.size() > 1 && units.size() <= kKryoMostAscii;
  for (const char16_t unit : units) ascii = ascii && unit < 0x80;
  if (ascii) {
    value += unit_bytes(units, false);
    value.back() = static_cast<char>(static_cast<std::uint8_t>(value.back()) | 0x80u);
    return value;
  }
  const std::uint64_t length = units.size() + 1;
  const bool more = length >= 0x40;
  value += static_cast<char>(0x80u | (more ? 0x40u : 0u) | (length & 0x3Fu));
  if (more) add_varying(value, length >> 6u);
  return value + unit_bytes(units, false);
}

std::string fst_text(std::u16string_view units) {
  std::string value = bytes_from({kFstText});
  add_fst_number(value, static_cast<std::int64_t>(units.size()), false);
  for (const char16_t unit : units) {
    value += static_cast<char>(unit < 0xFF ? unit : 0xFF);
    if (unit >= 0xFF) add_little(value, unit, 2);
  }
  return value;
}

std::string river_text(std::u16string_view units) {
  if (units.empty()) return bytes_from({kRiver, kRiverEmptyText});
  const std::size_t size = units.size() <= 0x100 ? 1 : units.size() <= 0x10000 ? 2 : 4;
  std::string value = bytes_from({kRiver, size == 1   ? kRiverShortText
                                          : size == 2 ? kRiverLongerText
                                                      : kRiverLongText});
  add_big(value, units.size(), size);
  return value + unit_bytes(units, true);
}

std::string number_frame(std::int64_t number, Codec codec, bool is_int) {
  std::string value;
  if (codec == Codec::kryo5) {
    value = bytes_from({is_int ? kKryoInt : kKryoLong});
    add_varying(value, is_int ? zigzag(number) & 0xFFFFFFFFu : zigzag(number));
  } else if (codec == Codec::fst) {
    value = bytes_from({is_int ? kFstInt : kFstLong});
    add_fst_number(value, number, !is_int);
  } else {
    value = bytes_from({kRiver, is_int ? kRiverInt : kRiverLong});
    add_big(value, static_cast<std::uint64_t>(number), is_int ? 4 : 8);
  }
  return value;
}

std::string double_frame(double number, Codec codec) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  std::string value = codec == Codec::kryo5 ? bytes_from({kKryoDouble})
                      : codec == Codec::fst ? std::string(kFstDouble)
                                            : bytes_from({kRiver, kRiverDouble});
  if (codec == Codec::marshalling) {
    add_big(value, bits, 8);
  } else {
    add_little(value, bits, 8);
  }
  return value;
}

std::string truth_frame(bool truth, Codec codec) {
  if (codec == Codec::kryo5) return bytes_from({kKryoTruth, std::uint8_t{truth}});
  if (codec == Codec::fst) return bytes_from({truth ? kFstTrue : kFstFalse});
  return bytes_from({kRiver, truth ? kRiverTrue : kRiverFalse});
}

}  // namespace

std::optional<PlainValue> read_frame(std::string_view value, Codec codec) {
  switch (codec) {
    case Codec::kryo5: return read_kryo(Bytes(value));
    case Codec::fst: return read_fst(Bytes(value));
    case Codec::marshalling: return read_river(Bytes(value));
    default: return std::nullopt;
  }
}

std::optional<std::string> write_frame(std::string_view text, Codec codec, Kind kind) {
  if (kind == Kind::int32) {
    const auto number = number_in<std::int32_t>(text);
    if (!number) return std::nullopt;
    return number_frame(*number, codec, true);
  }
  if (kind == Kind::int64) {
    const auto number = number_in<std::int64_t>(text);
    if (!number) return std::nullopt;
    return number_frame(*number, codec, false);
  }
  if (kind == Kind::float64) {
    const auto number = number_in<double>(text);
    if (!number) return std::nullopt;
    return double_frame(*number, codec);
  }
  if (kind == Kind::boolean) {
    if (text != "true" && text != "false") return std::nullopt;
    return truth_frame(text == "true", codec);
  }
  const auto units = java_units(text);
  if (!units) return std::nullopt;
  if (codec == Codec::kryo5) return kryo_text(*units);
  if (codec == Codec::fst) return fst_text(*units);
  return river_text(*units);
}

}  // namespace tarry::redis
