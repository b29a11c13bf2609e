"""Tokens, and the lines of a tokens file."""

import hashlib

SECRETS = 0


def secret():
    """A token that was never used before."""
    global SECRETS
    SECRETS += 1
    return f"tarry_secret-number-{SECRETS}"


def line_of(name, scopes, queues, token, end=""):
    """Of a tokens file."""
    digest = hashlib.sha256(token.encode()).hexdigest()
    return f"{name} {scopes} {queues} sha256:{digest} {end}".rstrip()
