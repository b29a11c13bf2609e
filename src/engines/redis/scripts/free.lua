call('HDEL', META, '')  -- a first write that is allowed while Redis is full
