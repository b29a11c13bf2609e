// librabbitmq's headers. Since 0.12 (Debian 13) they are in a folder of their own; including them
// from the old place then gives a warning. Debian 12 has only the old place.
#pragma once

#if __has_include(<rabbitmq-c/amqp.h>)
#include <rabbitmq-c/amqp.h>
#include <rabbitmq-c/framing.h>
#include <rabbitmq-c/ssl_socket.h>
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#endif

#include "base/loaded_library.h"

namespace tarry::net {

/// To be loaded before anything of it is called.
extern const base::LoadedLibrary kRabbitLibrary;

}  // namespace tarry::net
