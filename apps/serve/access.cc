// SPDX-License-Identifier: Apache-2.0
#include "serve/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "milieu/base/error.h"

namespace milieu::serve {

namespace {

std::string cookie_name(int port) { return fmt::format("milieu_token_{}", port); }

// The value of a cookie in "a=1; b=2".
std::string cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = header.find(';');
    std::string_view pair = header.substr(0, end);
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 1);
    while (!pair.empty() && pair[0] == ' ') pair.remove_prefix(1);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return std::string(pair.substr(name.size() + 1));
  }
  return {};
}

// Asks for the token, and opens the view that the link named: its hash stays.
constexpr const char* kDoor = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Milieu explorer</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 36em; margin: 4em auto; padding: 0 1em; }
  input { font: inherit; width: 100%; box-sizing: border-box; padding: .4em; margin: .3em 0 1em; }
  button { font: inherit; padding: .4em 1em; }
  @media (prefers-color-scheme: dark) { body { background: #16181c; color: #e9ecef; } }
</style>
<main>
<h1>Milieu explorer</h1>
<p>This explorer shows someone's own images, so it opens only with its token, and this browser has not given it yet (or
gave an old one: every start of <code>milieu explore</code> has a new one).</p>
<p>Open the address that <code>milieu explore</code> printed in its terminal, or paste it here. A copied link then shows
the view it was made for.</p>
<form><label for="token">Address or token</label><input id="token" autocomplete="off" required>
<button>Open</button></form>
</main>
<script>
  document.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const given = document.getElementById("token").value.trim();
    const found = /[?&]token=([0-9a-f]+)/.exec(given);
    location.href = "/?token=" + encodeURIComponent(found ? found[1] : given) + location.hash;
  };
</script>
</html>
)";

Reply unknown_visitor(const std::string& path) {
  const char* sentence =
      "the token is missing or wrong: open the address that milieu explore printed";
  if (path.starts_with("/api/")) return error_reply(401, sentence);
  Reply reply;
  reply.status = 401;
  reply.type = "text/html; charset=utf-8";
  reply.body = kDoor;
  reply.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; style-src 'unsafe-inline'; script-src "
      "'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors "
      "'none'");
  return reply;
}

}  // namespace

std::string make_token() {
  std::array<unsigned char, 32> bytes = {};
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno != EINTR)
      throw IoError(fmt::format("the system provides no random bytes: {}", std::strerror(errno)));
    if (got > 0) done += static_cast<size_t>(got);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

Access::Access(std::string token, int port) : token_(std::move(token)), port_(port) {}

bool Access::is_own_host(const std::string& host) const {
  return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
}

bool Access::has_token(const AccessRequest& request) {
  if (!request.token.empty() && !was_used(request.token))
    return is_same_secret(request.token, token_) || take_one_time(request);
  for (const std::string& header : request.cookies)
    if (is_same_secret(cookie_value(header, cookie_name(port_)), token_)) return true;
  return false;
}

bool Access::take_one_time(const AccessRequest& request) {
  const std::scoped_lock lock(mutex_);
  if (one_time_.empty() || request.path != "/" || request.method != "GET" ||
      !is_same_secret(request.token, one_time_))
    return false;
  used_ = std::exchange(one_time_, {});
  return true;
}

bool Access::was_used(const std::string& token) {
  const std::scoped_lock lock(mutex_);
  return !used_.empty() && is_same_secret(token, used_);
}

std::optional<Reply> Access::refuse(const AccessRequest& request) {
  if (request.hosts.size() != 1 || !is_own_host(request.hosts[0]))
    return error_reply(
        403, fmt::format("the Host header must be 127.0.0.1:{0} or localhost:{0}", port_));
  for (const std::string& origin : request.origins)
    if (request.origins.size() != 1 || !origin.starts_with("http://") ||
        !is_own_host(origin.substr(7)))
      return error_reply(403, "the Origin header names another site");
  // A page of another port of this machine counts as the same site: only our own may ask. The page
  // itself may be reached by a link, as long as it carries the token.
  for (const std::string& site : request.fetch_site)
    if (request.path != "/" && site != "same-origin" && site != "none")
      return error_reply(403, "the request comes from another site");
  if (!has_token(request)) return unknown_visitor(request.path);
  return std::nullopt;
}

std::string Access::cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(port_), token_);
}

std::string Access::address() const {
  return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_);
}

std::string Access::one_time_address() {
  const std::scoped_lock lock(mutex_);
  one_time_ = make_token();
  return fmt::format("http://127.0.0.1:{}/?token={}", port_, one_time_);
}

}  // namespace milieu::serve
