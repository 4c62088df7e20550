# Many readers and bad readers beside an observer at 1 kHz: idle connections, half requests, streams without a reader, and readers of the whole history. The
# observer loses no sample, its work per sample stays as it was, and the memory of the door is bounded. Oracle: the same twin without readers.
#   load.py TWIN OLEODYN SOURCE [IDLE]          IDLE: number of idle connections, default 10000, less if the system allows fewer open files
import os, resource, socket, sys, threading, time

from twin_process import Twin

program, oleodyn, source = sys.argv[1:4]
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
idle_count = min(int(sys.argv[4]) if len(sys.argv) > 4 else 10000, hard - 1500)
HALF, SLOW, SECONDS, RATE = 500, 20, 5, 1000


# Processor seconds of each thread, by its name.
def processor(pid):
    used = {}
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/stat') as f:
            name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
        fields = rest.split()
        used[name] = used.get(name, 0) + (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
    return used


def memory(pid):
    with open(f'/proc/{pid}/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6


# Latencies so far as (limit, count of samples up to it), from the metrics.
def latencies(t):
    text = t.get('/metrics')[1].decode()
    return [(line.split('le="')[1].split('"')[0], int(line.rsplit(' ', 1)[1])) for line in text.splitlines() if line.startswith('oleodyn_latency_seconds_bucket')]


def phase(t):
    time.sleep(1.2)  # the metrics are at most a second old
    before, work = latencies(t), processor(t.child.pid)
    time.sleep(SECONDS)
    after, done = latencies(t), processor(t.child.pid)
    count = after[-1][1] - before[-1][1]
    quantile = {q: next(a[0] for a, b in zip(after, before) if a[1] - b[1] >= q * count) for q in (0.5, 0.99)}
    used = {name: done[name] - work.get(name, 0) for name in done}
    status = t.get('/api/v1/machines')[1]['machines'][0]
    print(f'  {count} samples, latency 50 % up to {quantile[0.5]} s, 99 % up to {quantile[0.99]} s; processor time per sample of the observer '
          f'{1e6 * used["observer"] / count:.0f} us; of the page {100 * used.get("page", 0) / SECONDS:.1f} % of a core; memory {memory(t.child.pid):.0f} MB', flush=True)
    return count, used['observer'] / count, status['counts'], float(quantile[0.5])


t = Twin(program, oleodyn, source, page=f'connections: {idle_count + 1000}, streams: {SLOW}, requests: 1000000', rate=RATE, seconds=4.0)
sockets, threads, ends = [], [], threading.Event()
try:
    t.start()
    time.sleep(2)
    print('without readers:')
    quiet = phase(t)
    base = memory(t.child.pid)
    host = f'Host: localhost:{t.port}\r\n'.encode()
    for i in range(idle_count):
        s = socket.create_connection(('127.0.0.1', t.port), 20)
        # Every other connection has sent a request, and is kept by its reader.
        if i % 2:
            s.sendall(b'GET /health HTTP/1.1\r\n' + host + b'\r\n')
        sockets.append(s)
    for _ in range(HALF):
        s = socket.create_connection(('127.0.0.1', t.port), 20)
        s.sendall(b'GET /api/v1/machines HTTP/1.1\r\nX-Half: ')
        sockets.append(s)
    for _ in range(SLOW):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(('127.0.0.1', t.port))
        s.sendall(b'GET /api/v1/stream?machine=bench HTTP/1.1\r\n' + host + b'\r\n')
        sockets.append(s)

    def read_history():
        while not ends.is_set():
            t.get('/api/v1/machines/bench/history?channels=estimate.A.pressure,estimate.oil.kp,nis')
            time.sleep(0.2)

    threads = [threading.Thread(target=read_history, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    print(f'{idle_count} idle connections, {HALF} half requests, {SLOW} streams that are not read, 2 readers of the history:')
    busy = phase(t)
    grown = memory(t.child.pid) - base
    print(f'  memory of the readers: {grown:.0f} MB')
    assert busy[2]['overrun'] == 0 and busy[2]['dropped'] == 0 and busy[2]['missing'] == 0, busy[2]
    assert busy[0] > 0.9 * RATE * SECONDS, busy[0]
    assert busy[1] < 1.5 * quiet[1] + 2e-5, (quiet[1], busy[1])
    assert busy[3] <= max(4 * quiet[3], 0.002), (quiet[3], busy[3])
    assert grown < 0.02 * idle_count + 60, grown
    ends.set()
    for thread in threads:
        thread.join(10)
    # Idle and half connections end; the door serves as before.
    time.sleep(21)
    open_ones = sum(os.readlink(f'/proc/{t.child.pid}/fd/{f}').startswith('socket') for f in os.listdir(f'/proc/{t.child.pid}/fd'))
    print(f'after 21 s: {open_ones} sockets are open')
    assert open_ones < 100, open_ones
    assert t.get('/health')[0] == 200
finally:
    ends.set()
    for s in sockets:
        s.close()
    t.remove()
