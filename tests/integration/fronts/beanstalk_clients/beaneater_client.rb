# frozen_string_literal: true

# beaneater, unchanged. The arguments are the server's address and port, and a tube.

require 'beaneater'

host, port, name = ARGV
client = Beaneater.new("#{host}:#{port}")
tube = client.tubes[name]
client.tubes.watch!(name)
first = tube.put('first', pri: 5, ttr: 30)[:id]
later = tube.put('later', pri: 6, delay: 3600, ttr: 30)[:id]

reserve = lambda do |wanted|
  job = client.tubes.reserve(10)
  raise "reserved #{job.id}, not #{wanted}" unless job.id == wanted

  job
end

job = reserve.call(first)
job.touch
told = job.stats
puts [told.tube == name, told.state, told.pri, told.ttr, told.reserves].inspect
job.release(pri: 7, delay: 0)
reserve.call(first).bury(pri: 8)
puts tube.peek(:buried).id == first
puts tube.kick(10)[:status]
reserve.call(first).delete
begin
  client.tubes.reserve(0)
rescue Beaneater::TimedOutError
  puts 'timed out'
end
client.jobs.find(later).kick
reserve.call(later).delete
puts client.jobs.find(later).inspect
told = tube.stats
puts [told.current_jobs_ready, told.current_jobs_delayed, told.total_jobs, told.cmd_delete].inspect
puts client.stats.max_job_size
client.close
