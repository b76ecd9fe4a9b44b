// SPDX-License-Identifier: Apache-2.0
#include "serve/message.h"

#include <nlohmann/json.hpp>

namespace milieu::serve {

Reply error_reply(int status, std::string_view sentence) {
  Reply reply;
  reply.status = status;
  const nlohmann::json json{{"error", sentence}};
  reply.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return reply;
}

}  // namespace milieu::serve
