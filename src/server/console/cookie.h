// The cookie that names a session of the console. A script cannot read it, a browser sends it only
// to this server's own pages, and it ends with the browser.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http/http_message.h"

namespace tarry::console {

/// The session's id from the request; nothing if the request has no such cookie, or several.
[[nodiscard]] std::optional<std::string_view> session_in(const net::HttpMessage& message);

/// The Set-Cookie field that begins a session. `secure`: the browser sends it through TLS only.
[[nodiscard]] std::string cookie_of(std::string_view session_id, bool secure);
/// The Set-Cookie field that removes it.
[[nodiscard]] std::string no_cookie(bool secure);

/// True if the browser says that a page of another origin asks. A page on another port of the same
/// host is of the same site: the browser sends the cookie with its requests, and a GET may have no
/// Origin. A browser that says nothing asks for nobody else.
[[nodiscard]] bool asks_for_another(const net::HttpMessage& message) noexcept;

/// Whether the request may act by its cookie: it only reads, or it has the field X-Tarry-Console,
/// which no form and no foreign page can send.
[[nodiscard]] bool may_act_by_cookie(const net::HttpMessage& message) noexcept;

}  // namespace tarry::console
