-- The script may bring this shard its first message that expires.
brings_expiry = true
