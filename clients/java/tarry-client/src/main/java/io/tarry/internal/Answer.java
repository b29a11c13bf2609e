package io.tarry.internal;

import java.util.Map;

/** An HTTP answer. Names of headers are in lower case. */
public final class Answer {
  final int status;
  final String reason;
  final Map<String, String> headers;
  final byte[] body;
  final boolean keep;

  Answer(int status, String reason, Map<String, String> headers, byte[] body, boolean keep) {
    this.status = status;
    this.reason = reason;
    this.headers = headers;
    this.body = body;
    this.keep = keep;
  }
}
