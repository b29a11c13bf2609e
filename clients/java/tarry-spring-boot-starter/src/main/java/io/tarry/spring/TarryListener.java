package io.tarry.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The method handles the due messages of a queue. When it returns, the message is acked; when it
 * throws, the message comes again after the queue's backoff, and is dead after the queue's number
 * of attempts. A method that returns {@link io.tarry.Verdict} decides itself.
 *
 * <p>The payload is a parameter: {@code String}, {@code byte[]}, or an object that Jackson reads
 * from JSON. Other parameters may be {@link io.tarry.Delivery}, {@link io.tarry.Claimed}, Spring's
 * {@code Message}, and what {@code @Header} and {@code @Headers} name ({@link TarryHeaders}). A
 * payload that cannot be read buries its message at once.
 *
 * <p>Each text may have placeholders ({@code "${orders.queue}"}).
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface TarryListener {
  /** The queue's name. */
  String queue();

  /** Names the listener in logs, metrics and the registry; else the bean's and the method's. */
  String id() default "";

  /** Calls at once, 1 to 1024; else {@code tarry.listener.concurrency}. */
  String concurrency() default "";

  /** Messages claimed ahead, 0 to 8976; else {@code tarry.listener.prefetch}. */
  String prefetch() default "";

  /** A duration ({@code "30s"}); else {@code tarry.listener.lease}, else the queue's lease. */
  String lease() default "";

  /** Whether it starts with the application; else {@code tarry.listener.auto-startup}. */
  String autoStartup() default "";
}
