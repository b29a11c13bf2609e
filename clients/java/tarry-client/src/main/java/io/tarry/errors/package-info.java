/** What can go wrong. The class of an error, and its {@code next()}, say what to do. */
package io.tarry.errors;
