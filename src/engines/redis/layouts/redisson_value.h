// Redisson's values: the bytes that a Java client's codec writes and reads.
//
// A client pops before it decodes: a value that its codec cannot read is lost. So tarry writes a
// value as the queue's other values are written, or refuses it.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/redis/layouts/redisson_frames.h"
#include "engines/redis/records/layout_spec.h"

namespace tarry::redis {

struct Decoded {
  std::string_view payload;
  bool is_odd = false;  // does not fit `decode`: handed out unchanged
};
/// The text in the value; unknown values, and any other JSON, are handed out unchanged. The payload
/// is a part of `value`, or lies in `scratch`.
[[nodiscard]] Decoded decode_value(std::string_view value, Decode decode, std::string& scratch);

/// How a value is written.
struct Written {
  Codec codec = Codec::unknown;
  Kind kind = Kind::other;

  friend bool operator==(const Written&, const Written&) = default;
};
[[nodiscard]] Written written_as(std::string_view value);

/// The known facts about a queue's values; what is remembered of them as text is "old kryo5 text".
struct Seen {
  EntryForm form = EntryForm::automatic;  // automatic: not known
  std::optional<Written> written;         // of its last value

  friend bool operator==(const Seen&, const Seen&) = default;
};
[[nodiscard]] std::string spell_seen(const Seen& seen);
/// Empty for text that is none.
[[nodiscard]] Seen parse_seen(std::string_view text);
/// The facts that the keys show, filled up with what was remembered.
[[nodiscard]] Seen joined(const Seen& shown, const Seen& remembered);

/// The value from which `decode_value` makes the payload, written like the queue's other values.
/// `invalid_argument` for a payload that does not fit: names the option that accepts it.
[[nodiscard]] Result<std::string> encode_value(std::string_view payload, Decode decode,
                                               const Seen& seen, std::string_view queue);

/// The form of an entry with this value: `wish`, or the known form; otherwise the form that goes
/// with the codec. Never automatic.
[[nodiscard]] EntryForm form_of(EntryForm wish, const Seen& seen, std::string_view value);
[[nodiscard]] std::string_view to_string(EntryForm form) noexcept;

}  // namespace tarry::redis
