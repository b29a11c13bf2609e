package io.tarry.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.TestConstructor;

/**
 * A {@code @SpringBootTest} with a tarry server of its own, in memory, whose time stands still
 * until the test moves it with the bean {@link TarryTestClock}. The program is the environment's
 * TARRY_PROGRAM, else {@code tarry} on the PATH. Tests with the same context share the server.
 *
 * <p>The constructor of the test class takes beans, so a test may be a record of them. A
 * {@code @SpringBootTest} beside it has the attributes that this one lacks.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@SpringBootTest
@TestConstructor(autowireMode = TestConstructor.AutowireMode.ALL)
public @interface TarryTest {
  /**
   * Classes whose beans the context has, beside those that auto-configuration makes. Without any,
   * the context is the whole application's.
   */
  @AliasFor(annotation = SpringBootTest.class, attribute = "classes")
  Class<?>[] value() default {};

  /** More flags of {@code tarry serve}. */
  String[] flags() default {};
}
