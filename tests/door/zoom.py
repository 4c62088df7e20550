# Any zoom of a long history is answered within 200 ms of processor time and 100 kB: random times and lengths, one channel and all. Oracle: the formula of
# the values (big_history.c) for the extremes.
#   zoom.py TWIN OLEODYN SOURCE BIG_HISTORY       OD_HISTORY_VALUES=1e9: number of values, default 2e7 (0.2 GB); 1e9 needs 10 GB and some minutes
import math, os, random, subprocess, sys, time

from twin_process import Twin

program, oleodyn, source, big_history = sys.argv[1:5]
values = float(os.environ.get('OD_HISTORY_VALUES', '2e7'))
rows = int(values / 8)
NAMES = ['estimate.a', 'estimate.b', 'measured.a', 'measured.b', 'input.u', 'nis']


def value(i, c):
    t = 1e-3 * i
    return math.sin(1e-6 * t) + math.sin(0.01 * t) + 0.1 * ((i * (c + 3)) % 97) / 97


def page_seconds(pid):
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/stat') as f:
            name, rest = f.read().split('(', 1)[1].rsplit(')', 1)
        if name == 'page':
            with open(f'/proc/{pid}/task/{task}/schedstat') as f:
                return 1e-9 * int(f.read().split()[0])


t = Twin(program, oleodyn, source, page='requests: 100000', rate=0.001, seconds=0.02, history='history: {file: big.db, rows: 1e10, size: 1e8, keep: 1e10}')
try:
    begin = time.monotonic()
    subprocess.run([big_history, t.path('big.db'), repr(values)], check=True)
    size = os.path.getsize(t.path('big.db'))
    print(f'{values:g} values in {size / 1e9:.2f} GB, written in {time.monotonic() - begin:.0f} s', flush=True)
    assert size <= 12 * values, size
    t.start()
    random.seed(1)
    end, worst, total = 1e-3 * (rows - 1), [0.0, 0.0, 0], 0
    for n in range(300):
        length = math.exp(random.uniform(math.log(0.01), math.log(end)))
        start = random.uniform(0, end - length)
        names = NAMES if n % 2 else NAMES[:1]
        before, clock = page_seconds(t.child.pid), time.monotonic()
        status, headers, body = t.request('GET', f'/api/v1/machines/bench/history?from={start:.3f}&to={start + length:.3f}&points={random.choice((100, 400, 2000))}'
                                                 f'&channels={",".join(names)}')
        clock, used = time.monotonic() - clock, page_seconds(t.child.pid) - before
        assert status == 200, (status, body)
        worst = [max(worst[0], used), max(worst[1], clock), max(worst[2], len(body))]
        total += used
        if n % 30 == 0 and length < 20:  # the extremes of a short time
            import json
            s = json.loads(body)['series'][0]
            own = [value(i, 0) for i in range(math.ceil(1e3 * start), math.floor(1e3 * (start + length)) + 1)]
            if own and s['dt']:
                assert abs(max(s['max']) - max(own)) < 2e-5 and abs(min(s['min']) - min(own)) < 2e-5, (max(s['max']), max(own))
    print(f'300 zooms: at most {1e3 * worst[0]:.0f} ms of processor time ({1e3 * total / 300:.1f} ms on average), {1e3 * worst[1]:.0f} ms of time, {worst[2]} bytes')
    assert worst[0] < 0.2 and worst[2] <= 100000, worst
finally:
    t.remove()
