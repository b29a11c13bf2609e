// Redisson's values: the bytes that a Java client's codec writes and reads.
//
// A client pops a value before it decodes it, so a value that its codec cannot read is lost. So
// tarry writes a value in the form of the queue's other values, or refuses it.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/redis/layouts/redisson/redisson_frames.h"
#include "engines/redis/records/layout_spec.h"

namespace tarry::redis {

struct Decoded {
  std::string_view payload;
  bool is_odd = false;  // does not fit `decode`: handed out unchanged
};
/// Extracts the text from the value. Unknown values, and JSON other than text and numbers, are
/// handed out unchanged. The payload is a part of `value`, or lies in `scratch`.
[[nodiscard]] Decoded decode_value(std::string_view value, Decode decode, std::string& scratch);

/// How a value is written.
struct Written {
  Codec codec = Codec::unknown;
  Kind kind = Kind::other;

  friend bool operator==(const Written&, const Written&) = default;
};
[[nodiscard]] Written written_as(std::string_view value);

/// The known facts about a queue's values. They are remembered as text, e.g. "old kryo5 text".
struct Seen {
  EntryForm form = EntryForm::automatic;  // automatic: not known
  std::optional<Written> written;         // how the last value is written

  friend bool operator==(const Seen&, const Seen&) = default;
};
[[nodiscard]] std::string spell_seen(const Seen& seen);
/// Empty for any other text.
[[nodiscard]] Seen parse_seen(std::string_view text);
/// The facts that the keys show, completed by the remembered facts.
[[nodiscard]] Seen joined(const Seen& shown, const Seen& remembered);

/// The value from which `decode_value` makes the payload, written like the queue's other values.
/// Errors: `invalid_argument` for a payload that does not fit; the message names the option that
/// accepts it.
[[nodiscard]] Result<std::string> encode_value(std::string_view payload, Decode decode,
                                               const Seen& seen, std::string_view queue);

/// The form of an entry with this value: `wish`; if that is automatic, the known form; if none is
/// known, the form that goes with the codec. Never automatic.
[[nodiscard]] EntryForm form_of(EntryForm wish, const Seen& seen, std::string_view value);
[[nodiscard]] std::string_view to_string(EntryForm form) noexcept;

}  // namespace tarry::redis
