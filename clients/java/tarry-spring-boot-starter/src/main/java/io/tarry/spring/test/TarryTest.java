package io.tarry.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.test.context.SpringBootTest;

/**
 * A {@code @SpringBootTest} with a tarry server of its own, in memory, whose time stands still
 * until the test moves it with the bean {@link TarryTestClock}. The program is the environment's
 * TARRY_PROGRAM, else {@code tarry} on the PATH. Tests with the same context share the server.
 *
 * <p>A {@code @SpringBootTest} beside it has the attributes that this one lacks.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@SpringBootTest
public @interface TarryTest {
  /** More flags of {@code tarry serve}. */
  String[] flags() default {};
}
