call('HSET', META, 'generation', ARGV[1])  -- refused here while Redis is full
