# A twin with one source for tests of sources: a folder with its files, the recorded run that is sent, and its history. Oracle of all estimates:
# 'oleodyn observe --data' of the same samples.
import csv, os, shutil, signal, socket, sqlite3, struct, subprocess, sys, tempfile, time

COLUMNS = ['cylinder.length', 'P.pressure', 'A.pressure', 'U_ref']


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def check(what, *about):
    if not what:
        raise AssertionError(*about)


def equal(got, expected):
    check(got == expected, f'got {got!r}, expected {expected!r}')


# Runs the functions test_...() of a module, or those that the command line names after the first three arguments.
def run_tests(module):
    names = sys.argv[4:] or [n for n in module if n.startswith('test_')]
    for name in names:
        begin = time.monotonic()
        module[name]()
        print(f'{name}: {time.monotonic() - begin:.1f} s', flush=True)


class SourceTwin:
    def __init__(self, twin, oleodyn, source, seconds=2.0):
        self.program, self.oleodyn = twin, oleodyn
        self.experiment = os.path.join(source, 'cases/fourbar-valve/points-3.experiment.yaml')
        self.folder = tempfile.mkdtemp(prefix='oleodyn-source-')
        self.child = None
        log = self.path('log.csv')
        subprocess.run([oleodyn, 'observe', self.experiment, '--set', f'time={seconds}', '--csv', log, '--quiet'], check=True)
        with open(log) as f:
            head, *rows = csv.reader(f)
        names = [h.split(' ')[0] for h in head]
        at = [names.index('time')] + [names.index(('input.' if c == 'U_ref' else 'measured.') + c) for c in COLUMNS]
        # Times in whole ms, values of COLUMNS; None: no measurement.
        self.rows = [[round(1000 * float(r[at[0]]))] + [float(r[i]) if r[i] not in ('', 'nan') else None for i in at[1:]] for r in rows]

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, source, machine='', before=''):
        with open(self.path('twin.yaml'), 'w') as f:
            f.write(f'{before}sources:\n  s: {source}\nmachines:\n  bench: {{experiment: {self.experiment}{machine}}}\n'
                    'history: {file: twin.db, write: 0.1 s}\noutputs: {metrics: twin.prom, every: 0.5 s}\n')
        self.errors = open(self.path('errors'), 'a')
        self.child = subprocess.Popen([self.program, self.path('twin.yaml')], stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            self.child.wait(20)
            self.errors.close()
        self.child = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder)

    def said(self):
        with open(self.path('errors')) as f:
            return f.read()

    def query(self, sql, *values):
        try:
            db = sqlite3.connect(f'file:{self.path("twin.db")}?mode=ro', uri=True, timeout=5)
            try:
                return db.execute(sql, values).fetchall()
            finally:
                db.close()
        except sqlite3.OperationalError:
            return []

    def events(self, kind):
        return [r[0] for r in self.query('SELECT text FROM event WHERE kind = ? ORDER BY id', kind)]

    def count(self):
        got = self.query('SELECT sum(rows) FROM block')
        return got[0][0] or 0 if got else 0

    # Value of a counter in the file of metrics.
    def metric(self, name):
        try:
            with open(self.path('twin.prom')) as f:
                for line in f:
                    if line.startswith(f'oleodyn_{name}{{'):
                        return float(line.split()[-1])
        except OSError:
            pass
        return 0

    def wait_for(self, what, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if value := what():
                return value
            check(self.child.poll() is None, f'the twin ended: {self.said()}')
            time.sleep(0.05)
        raise AssertionError(f'it did not happen in {seconds} s; {self.said()}')

    # Stored rows: a dictionary per row from the names of the channels to their values, with the time.
    def stored(self):
        names = dict(self.query('SELECT id, name FROM channel'))
        rows = []
        for count, layout, data in self.query('SELECT block.rows, layout.channels, block.data FROM block JOIN layout ON layout.id = block.layout ORDER BY last'):
            channels = ['time'] + [names[int(c)] for c in layout.split(',')]
            numbers = struct.unpack(f'<{len(channels) * count}d', data)
            rows += [{c: numbers[k * count + i] for k, c in enumerate(channels)} for i in range(count)]
        return rows

    # Compares all stored rows, bit for bit, with 'observe' of these samples: lists of the time (s) and values of COLUMNS; None: missing.
    def compare(self, samples, units=('', '', '', '')):
        with open(self.path('arrived.csv'), 'w') as f:
            f.write('time,' + ','.join(f'{c} [{u}]' if u else c for c, u in zip(COLUMNS, units)) + '\n')
            for s in samples:
                f.write(','.join('' if v is None else repr(float(v)) for v in s) + '\n')
        subprocess.run([self.oleodyn, 'observe', self.experiment, '--data', self.path('arrived.csv'), '--csv', self.path('reference.csv'), '--quiet'], check=True)
        with open(self.path('reference.csv')) as f:
            head, *rows = csv.reader(f)
        names, stored = [h.split(' ')[0] for h in head], self.stored()
        equal(len(stored), len(rows))
        compared = 0
        for got, row in zip(stored, rows):
            for name, text in zip(names, row):
                if name not in got:
                    continue
                value = float(text) if text else float('nan')
                check(got[name] == value or (got[name] != got[name] and value != value), f'{name} at {row[0]}: {got[name]!r}, expected {text}')
                compared += 1
        check(compared > 5 * len(rows), compared)
