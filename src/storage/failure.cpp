#include "storage/failure.h"

#include <cerrno>
#include <cstring>

namespace tarry::storage {
namespace {

constexpr std::uint64_t kMaxOffset = INT64_MAX;
constexpr std::size_t kMaxName = 255;

// strerror_r has two signatures; which one we get depends on the C library's feature macros.
[[maybe_unused]] const char* chosen_text(const char* text, const char* /*buffer*/) { return text; }
[[maybe_unused]] const char* chosen_text(int status, const char* buffer) {
  return status == 0 ? buffer : "Unknown error";
}

}  // namespace

ErrorCode code_of_errno(int error_number) noexcept {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ErrorCode::no_space;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission_denied;
    case ENOENT: return ErrorCode::not_found;
    case EEXIST: return ErrorCode::conflict;
    case EMFILE:
    case ENFILE: return ErrorCode::unavailable;
    // The path is wrong, which is the caller's mistake and not a fault of the storage.
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: return ErrorCode::invalid_argument;
    default: return ErrorCode::io_error;
  }
}

std::string text_of_errno(int error_number) {
  // The system's text ("File too large") would make the reader look for a message that is too long.
  if (error_number == EFBIG) return "the limit of a file's size is reached (ulimit -f)";
  if (error_number == ELOOP) return "It is a link, and links are not followed here";
  char buffer[256] = {};
  return chosen_text(strerror_r(error_number, buffer, sizeof buffer), buffer);
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return out;
}

std::string join_path(std::string_view directory, std::string_view name) {
  std::string out(directory);
  if (!out.ends_with('/')) out += '/';
  out += name;
  return out;
}

Error failure(ErrorCode code, std::string_view operation, std::string_view path,
              std::string_view reason) {
  std::string message = "cannot ";
  message.append(operation).append(" ").append(path).append(": ").append(reason);
  return Error{code, printable(message)};
}

Error system_failure(std::string_view operation, std::string_view path, int error_number) {
  return failure(code_of_errno(error_number), operation, path, text_of_errno(error_number));
}

Error system_failure_at(std::string_view operation, std::string_view path, std::uint64_t offset,
                        int error_number) {
  std::string where(path);
  where.append(" (offset ").append(std::to_string(offset)).append(")");
  return system_failure(operation, where, error_number);
}

Result<void> check_name(std::string_view operation, std::string_view directory,
                        std::string_view name) {
  std::string_view reason;
  if (name.empty()) {
    reason = "a name must not be empty";
  } else if (name == "." || name == "..") {
    reason = "a name must not be \".\" or \"..\"";
  } else if (name.size() > kMaxName) {
    reason = "a name is at most 255 bytes long";
  } else if (name.find('/') != std::string_view::npos ||
             name.find('\0') != std::string_view::npos) {
    reason = "a name holds no '/' and no zero byte";
  } else {
    return {};
  }
  return failure(ErrorCode::invalid_argument, operation, join_path(directory, name), reason);
}

Result<void> check_range(std::string_view operation, std::string_view path, std::uint64_t offset,
                         std::uint64_t length) {
  if (offset <= kMaxOffset && length <= kMaxOffset - offset) return {};
  std::string where(path);
  where.append(" (offset ").append(std::to_string(offset)).append(")");
  return failure(ErrorCode::too_large, operation, where,
                 std::to_string(length) + " bytes there end beyond the largest offset, " +
                     std::to_string(kMaxOffset));
}

}  // namespace tarry::storage
