"""pystalk, unchanged. The arguments are the server's address and port, and a tube."""

import sys

from pystalk import BeanstalkClient, BeanstalkError

host, port, tube = sys.argv[1], int(sys.argv[2]), sys.argv[3]
client = BeanstalkClient(host, port, auto_decode=True)
client.use(tube)
client.watchlist = {tube}
_, first = client.put_job("first ☃", pri=5, ttr=30)
_, later = client.put_job("later", pri=6, delay=3600, ttr=30)
job = client.reserve_job(10)
assert (job.job_id, job.job_data) == (first, "first ☃")
told = client.stats_job(job)
print(told["tube"] == tube, told["state"], told["pri"], told["ttr"], told["reserves"])
client.release_job(job, pri=7)
assert client.reserve_job(10).job_id == first
client.bury_job(job, pri=8)
assert client.peek_buried().job_id == first
print("kicked", client.kick_jobs(10))
assert client.reserve_job(10).job_id == first
client.delete_job(job)
try:
    client.reserve_job(0)
except BeanstalkError as error:
    print(error.message)
client.kick_job(later)
assert client.reserve_job(10).job_id == later
client.delete_job(later)
try:
    client.stats_job(later)
except BeanstalkError as error:
    print(error.message)
client.pause_tube(tube, 60)
client.unpause_tube(tube)
told = client.stats_tube(tube)
print({name: told[name] for name in sorted(told) if name.startswith(("current", "total"))})
print(tube in client.list_tubes(), client.stats()["max-job-size"])
client.close()
