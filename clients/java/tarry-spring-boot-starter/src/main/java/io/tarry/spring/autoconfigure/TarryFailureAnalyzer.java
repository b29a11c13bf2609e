package io.tarry.spring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says in words why the application cannot start, and what to do. */
public final class TarryFailureAnalyzer extends AbstractFailureAnalyzer<TarryStartException> {
  @Override
  protected FailureAnalysis analyze(Throwable root, TarryStartException failure) {
    String what = failure.getCause().getMessage();
    String url = failure.url();
    return switch (failure.kind()) {
      case SETTINGS ->
          analysis(
              failure,
              "The tarry client cannot be made for the URL '" + url + "': " + what,
              "Set tarry.url to http://HOST:PORT, https://HOST:PORT or http+unix:///PATH, and check"
                  + " the other tarry.* properties.");
      case NO_TOKEN ->
          analysis(
              failure,
              "The tarry server at " + url + " wants a token, and tarry.token is not set: " + what,
              "Set tarry.token, or TARRY_TOKEN in the environment. 'tarry token' makes one.");
      case WRONG_TOKEN ->
          analysis(
              failure,
              "The tarry server at " + url + " does not accept the token of tarry.token: " + what,
              "Check tarry.token against the server's token file; it may have been replaced.");
      case UNREACHABLE ->
          analysis(
              failure,
              "No tarry server answers at " + url + ": " + what,
              "Start it ('tarry serve --store file:PATH'), check tarry.url, or set tarry.fail-fast"
                  + " to false: the application then starts, and waits for the server.");
    };
  }

  private static FailureAnalysis analysis(Throwable failure, String description, String action) {
    return new FailureAnalysis(description, action, failure);
  }
}
