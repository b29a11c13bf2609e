/** Tests with a clock that is moved. */
package io.tarry.testing;
