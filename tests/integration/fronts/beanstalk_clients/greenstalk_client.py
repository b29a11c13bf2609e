"""greenstalk, unchanged. The arguments are the server's address and port, and a tube."""

import sys

import greenstalk

host, port, tube = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with greenstalk.Client((host, port), use=tube, watch=[tube]) as client:
    first = client.put("first ☃", priority=5, ttr=30)
    later = client.put("later", priority=6, delay=3600, ttr=30)
    job = client.reserve(timeout=10)
    assert (job.id, job.body) == (first, "first ☃")
    client.touch(job)
    told = client.stats_job(job)
    print(told["tube"] == tube, told["state"], told["pri"], told["ttr"], told["reserves"])
    client.release(job, priority=7)
    assert client.reserve(timeout=10).id == first
    client.bury(job, priority=8)
    assert client.peek_buried().id == first
    print("kicked", client.kick(10))
    assert client.reserve(timeout=10).id == first
    client.delete(job)
    try:
        client.reserve(timeout=0)
    except greenstalk.TimedOutError:
        print("timed out")
    client.kick_job(later)
    assert client.reserve(timeout=10).id == later
    client.delete(later)
    try:
        client.stats_job(later)
    except greenstalk.NotFoundError:
        print("gone")
    told = client.stats_tube(tube)
    print({name: told[name] for name in sorted(told) if name.startswith(("current", "total"))})
    print({name: told for name, told in sorted(client.stats().items()) if name == "max-job-size"})
