# A portable build (TARRY_PORTABLE) does not link RabbitMQ's, Kafka's, ZooKeeper's and curl's
# libraries. It loads each when a URL first needs it: src/base/loaded_library.h. Here is which
# functions of them tarry calls. If one is missing from a list, a portable build does not link.

# tarry_loaded_library(<target> <variable> FILE <file> PACKAGES <text> LINK <library>
#                      FUNCTIONS <name>... [DATA <name>:<bytes>...])
#
# Gives <target> the definition of `const base::LoadedLibrary <variable>` (the variable with its
# namespaces below tarry, as net::kRabbitLibrary). Portable: with a stub for each function, which
# jumps to where the library has it, and room for a copy of each datum. Otherwise: links LINK.
function(tarry_loaded_library target variable)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "FILE;PACKAGES;LINK" "FUNCTIONS;DATA")
  string(REGEX MATCH "^(.*)::([^:]+)$" _ ${variable})
  set(space ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(places "")
  set(stubs "")
  set(symbols "")
  set(value "{}")
  if(TARRY_PORTABLE)
    set(table tarry_${name}_calls)
    set(index 0)
    foreach(function IN LISTS arg_FUNCTIONS)
      string(APPEND stubs "TARRY_STUB(${function}, ${table}, ${index})\n")
      string(APPEND symbols "    {\"${function}\", &${table}[${index}], 0},\n")
      math(EXPR index "${index} + 1")
    endforeach()
    set(places "void* ${table}[${index}];\n")
    foreach(datum IN LISTS arg_DATA)
      string(REPLACE ":" ";" datum ${datum})
      list(GET datum 0 named)
      list(GET datum 1 size)
      string(APPEND places "alignas(16) char ${named}[${size}];\n")
      string(APPEND symbols "    {\"${named}\", ${named}, ${size}},\n")
    endforeach()
    set(value "{\"${arg_FILE}\", \"${arg_PACKAGES}\", kSymbols}")
    set(symbols "constexpr base::LoadedSymbol kSymbols[] = {\n${symbols}};\n")
  else()
    target_link_libraries(${target} PUBLIC ${arg_LINK})
  endif()
  set(TARRY_LOADED_SPACE ${space})
  set(TARRY_LOADED_NAME ${name})
  set(TARRY_LOADED_VALUE ${value})
  set(TARRY_LOADED_PLACES ${places})
  set(TARRY_LOADED_STUBS ${stubs})
  set(TARRY_LOADED_SYMBOLS ${symbols})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/loaded_library.cpp.in ${source} @ONLY)
  # Its asm would stand twice in a unity file, and names data that headers declare otherwise.
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                              SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${source})
endfunction()

function(tarry_load_rabbitmq target)
  tarry_loaded_library(${target} net::kRabbitLibrary
    FILE librabbitmq.so.4 LINK rabbitmq::rabbitmq
    PACKAGES "librabbitmq4 (Debian, Ubuntu), librabbitmq (RHEL)"
    FUNCTIONS
    amqp_basic_ack amqp_basic_consume amqp_basic_get amqp_basic_publish amqp_basic_qos
    amqp_channel_close amqp_channel_open amqp_confirm_select amqp_connection_close
    amqp_cstring_bytes amqp_decode_table amqp_destroy_connection amqp_destroy_message
    amqp_encode_properties amqp_encode_table amqp_error_string2 amqp_exchange_bind
    amqp_exchange_declare amqp_exchange_delete amqp_get_channel_max amqp_get_frame_max
    amqp_get_rpc_reply amqp_get_server_properties amqp_get_sockfd amqp_login_with_properties
    amqp_maybe_release_buffers amqp_new_connection amqp_queue_bind amqp_queue_declare
    amqp_queue_delete amqp_queue_purge amqp_read_message amqp_send_frame amqp_send_method
    amqp_set_handshake_timeout amqp_set_rpc_timeout amqp_simple_wait_frame_noblock
    amqp_socket_open_noblock amqp_ssl_socket_new amqp_ssl_socket_set_cacert
    amqp_ssl_socket_set_key amqp_ssl_socket_set_verify_hostname amqp_ssl_socket_set_verify_peer
    amqp_tcp_socket_new empty_amqp_pool init_amqp_pool
    DATA
    amqp_empty_bytes:16 amqp_empty_table:16)
endfunction()

function(tarry_load_kafka target)
  tarry_loaded_library(${target} relay::kKafkaLibrary
    FILE librdkafka.so.1 LINK ${TARRY_RDKAFKA_LIBRARY}
    PACKAGES "librdkafka1 (Debian, Ubuntu), librdkafka (RHEL)"
    FUNCTIONS
    rd_kafka_conf_destroy rd_kafka_conf_new rd_kafka_conf_set rd_kafka_conf_set_dr_msg_cb
    rd_kafka_conf_set_error_cb rd_kafka_conf_set_log_cb rd_kafka_conf_set_opaque rd_kafka_destroy
    rd_kafka_err2str rd_kafka_error_code rd_kafka_error_destroy rd_kafka_error_string
    rd_kafka_fatal_error rd_kafka_header_add rd_kafka_headers_destroy rd_kafka_headers_new
    rd_kafka_message_status rd_kafka_new rd_kafka_poll rd_kafka_produceva rd_kafka_purge
    rd_kafka_queue_destroy rd_kafka_queue_get_main rd_kafka_queue_io_event_enable)
endfunction()

function(tarry_load_zookeeper target)
  tarry_loaded_library(${target} relay::kZooKeeperLibrary
    FILE libzookeeper_mt.so.2 LINK ${TARRY_ZOOKEEPER_LIBRARY}
    PACKAGES "libzookeeper-mt2 (Debian, Ubuntu)"
    FUNCTIONS
    deallocate_String_vector zerror zoo_client_id zoo_create zoo_delete zoo_exists
    zoo_set_debug_level zoo_wget_children zookeeper_close zookeeper_init2
    DATA
    ZOO_AUTH_FAILED_STATE:4 ZOO_CONNECTED_STATE:4 ZOO_EPHEMERAL:4 ZOO_EPHEMERAL_SEQUENTIAL:4
    ZOO_EXPIRED_SESSION_STATE:4 ZOO_OPEN_ACL_UNSAFE:16 ZOO_PERSISTENT:4 ZOO_SESSION_EVENT:4)
endfunction()

function(tarry_load_curl target)
  tarry_loaded_library(${target} relay::kCurlLibrary
    FILE libcurl.so.4 LINK CURL::libcurl
    PACKAGES "libcurl4 (Debian, Ubuntu), libcurl (RHEL)"
    FUNCTIONS
    curl_easy_cleanup curl_easy_getinfo curl_easy_init curl_easy_setopt curl_easy_strerror
    curl_free curl_global_init curl_multi_add_handle curl_multi_cleanup curl_multi_info_read
    curl_multi_init curl_multi_perform curl_multi_poll curl_multi_remove_handle curl_multi_setopt
    curl_multi_wakeup curl_slist_append curl_slist_free_all curl_url curl_url_cleanup curl_url_get
    curl_url_set curl_url_strerror curl_version_info)
endfunction()
