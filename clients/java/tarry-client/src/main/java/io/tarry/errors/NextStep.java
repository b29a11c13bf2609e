package io.tarry.errors;

import java.util.Locale;

/** What to do after an error. */
public enum NextStep {
  /** Fix the input; repeating it does not help. */
  FIX_THE_INPUT("fix the input; repeating it does not help"),
  /** Do without it, or use another store or a newer server. */
  DO_WITHOUT("do without it, or use another store or a newer server"),
  /** Check the name. */
  CHECK_THE_NAME("check the name"),
  /** Wait, or give up. */
  WAIT_OR_GIVE_UP("wait, or give up"),
  /** Nothing was done; try again later. */
  RETRY_LATER("nothing was done; try again later"),
  /** Nothing was done; make room in the store, then try again. */
  MAKE_ROOM("nothing was done; make room in the store, then try again"),
  /** It may have been done; check what is there before you repeat it. */
  LOOK_FIRST("it may have been done; check what is there before you repeat it"),
  /** Fix the token or its scopes. */
  FIX_THE_TOKEN("fix the token or its scopes"),
  /** Tell the operator of the server; its log has more. */
  PAGE_SOMEONE("tell the operator of the server; its log has more");

  private final String advice;

  NextStep(String advice) {
    this.advice = advice;
  }

  /** The step in words. */
  public String advice() {
    return advice;
  }

  /** The name that all clients use: {@code retry_later}. */
  public String wire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
