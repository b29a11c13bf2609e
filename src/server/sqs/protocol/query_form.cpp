#include "server/sqs/protocol/query_form.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text/url_parts.h"
#include "server/http_session/hosts.h"
#include "server/sqs/protocol/reader.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostFields = 2'000;

/// How a numbered field of the form ("Attribute.1.Name") becomes a member of the object.
enum class Shape : std::uint8_t { list, map, entries };
struct Numbered {
  std::string_view field;
  std::string_view member;
  Shape shape;
  std::string_view key = "Name";  // map: the names of an entry's key and value
  std::string_view value = "Value";
};
constexpr std::array kNumbered = {
    Numbered{"AttributeName", "AttributeNames", Shape::list},
    Numbered{"MessageAttributeName", "MessageAttributeNames", Shape::list},
    Numbered{"MessageSystemAttributeName", "MessageSystemAttributeNames", Shape::list},
    Numbered{"TagKey", "TagKeys", Shape::list},
    Numbered{"Attribute", "Attributes", Shape::map},
    Numbered{"MessageAttribute", "MessageAttributes", Shape::map},
    Numbered{"MessageSystemAttribute", "MessageSystemAttributes", Shape::map},
    Numbered{"Tag", "Tags", Shape::map, "Key"},
    Numbered{"SendMessageBatchRequestEntry", "Entries", Shape::entries},
    Numbered{"DeleteMessageBatchRequestEntry", "Entries", Shape::entries},
    Numbered{"ChangeMessageVisibilityBatchRequestEntry", "Entries", Shape::entries},
};

const Numbered* numbered(std::string_view field) noexcept {
  const auto found = std::ranges::find(kNumbered, field, &Numbered::field);
  return found == kNumbered.end() ? nullptr : &*found;
}

/// Fields of one object: plain ones, and those of numbered members by name and number.
class Form {
 public:
  void add(std::string_view name, std::string_view value) {
    const std::size_t dot = name.find('.');
    const Numbered* one = dot == std::string_view::npos ? nullptr : numbered(name.substr(0, dot));
    if (one == nullptr) {
      plain_.insert_or_assign(std::string(name), std::string(value));
      return;
    }
    std::string_view rest = name.substr(dot + 1);
    const std::size_t end = rest.find('.');
    const auto number = parse_whole(rest.substr(0, end)).value_or(0);
    const std::string_view inner =
        end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    numbered_[one][number].emplace_back(inner, value);
  }

  [[nodiscard]] json::object take() const {
    json::object object;
    for (const auto& [name, value] : plain_) object[name] = value;
    for (const auto& [one, parts] : numbered_) {
      if (one->shape == Shape::map) {
        object[one->member] = map_of(*one, parts);
        continue;
      }
      json::array list;
      for (const auto& [number, fields] : parts) {
        if (one->shape == Shape::entries) {
          Form entry;
          for (const auto& [name, value] : fields) entry.add(name, value);
          list.emplace_back(entry.take());
        } else {
          for (const auto& [name, value] : fields) list.emplace_back(value);
        }
      }
      object[one->member] = std::move(list);
    }
    return object;
  }

 private:
  using Fields = std::vector<std::pair<std::string, std::string>>;
  using Parts = std::map<std::int64_t, Fields>;

  // "Name" and "Value" of an attribute, or "Name" and "Value.StringValue", "Value.DataType".
  static json::object map_of(const Numbered& one, const Parts& parts) {
    json::object map;
    for (const auto& [number, fields] : parts) {
      std::string key;
      json::value value;
      for (const auto& [name, text] : fields) {
        const std::string_view part = name;
        if (part == one.key) key = text;
        if (part == one.value) value = text;
        if (part.starts_with(one.value) && part.size() > one.value.size() + 1 &&
            part[one.value.size()] == '.') {
          if (!value.is_object()) value.emplace_object();
          value.get_object()[part.substr(one.value.size() + 1)] = text;
        }
      }
      map[key] = std::move(value);
    }
    return map;
  }

  std::map<std::string, std::string, std::less<>> plain_;
  std::map<const Numbered*, Parts> numbered_;
};

std::optional<std::string> form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto decoded = base::percent_decoded("a field", spaced);
  if (!decoded) return std::nullopt;
  return *std::move(decoded);
}

}  // namespace

std::variant<FormFields, Fault> parse_form(std::string_view text) {
  FormFields fields;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(field.size() + 1, text.size()));
    if (field.empty()) continue;
    if (fields.size() == kMostFields) {
      return Fault{Kind::malformed, "The request has more than " + std::to_string(kMostFields) +
                                        " fields, which is the limit."};
    }
    const std::size_t equals = std::min(field.find('='), field.size());
    auto name = form_decoded(field.substr(0, equals));
    auto value = form_decoded(field.substr(std::min(equals + 1, field.size())));
    if (!name || !value) return Fault{Kind::malformed, "A field is not percent-encoded."};
    fields.emplace_back(*std::move(name), *std::move(value));
  }
  return fields;
}

std::variant<Decoded, Fault> decode_query(const net::HttpMessage& message) {
  const std::string_view target = http_session::origin_form(message.target);
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = target.substr(std::min(path.size() + 1, target.size()));
  Form form;
  Decoded decoded;
  for (const std::string_view text : {query, std::string_view(message.body)}) {
    auto fields = parse_form(text);
    if (auto* fault = std::get_if<Fault>(&fields)) return std::move(*fault);
    for (auto& [name, value] : std::get<FormFields>(fields)) {
      if (name == "Action") {
        decoded.action = std::move(value);
      } else {
        form.add(name, value);
      }
    }
  }
  if (decoded.action.empty()) return missing("Action");
  decoded.params = form.take();
  if (!decoded.params.contains("QueueUrl") && path.size() > 1) decoded.params["QueueUrl"] = path;
  return decoded;
}

}  // namespace tarry::sqs
