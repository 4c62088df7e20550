# A twin with a page for tests: a folder with its files, the running program, and requests to its door. Only the standard library is used.
import http.client, json, os, shutil, signal, socket, subprocess, tempfile, threading, time


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Twin:
    """A twin whose standard input gets the rows of a recorded run, `rate` rows per second, again and again with growing times."""

    def __init__(self, twin, oleodyn, source, page='', rate=200, seconds=2.0, history='history: {file: twin.db, write: 0.1 s}', extra=''):
        self.program, self.rate, self.port = twin, rate, free_port()
        self.folder = tempfile.mkdtemp(prefix='oleodyn-door-')
        experiment = os.path.join(source, 'cases/fourbar-valve/points-3.experiment.yaml')
        log = os.path.join(self.folder, 'log.csv')
        subprocess.run([oleodyn, 'observe', experiment, '--set', f'time={seconds}', '--csv', log, '--quiet'], check=True)
        with open(log) as f:
            self.head, *self.rows = f.read().splitlines()
        self.page, self.history, self.extra, self.experiment = page, history, extra, experiment
        self.child, self.tls, self.alarms = None, None, ''

    def path(self, name):
        return os.path.join(self.folder, name)

    def put(self, name, text, mode=0o644):
        with open(self.path(name), 'w') as f:
            f.write(text)
        os.chmod(self.path(name), mode)

    def write(self):
        self.put('twin.yaml', f'twin: Yard\nsources: {{log: {{type: stdin}}}}\nmachines:\n  bench: {{experiment: {self.experiment}{self.alarms}}}\n'
                              f'{self.history}\npage: {{port: {self.port}{", " if self.page else ""}{self.page}}}\n{self.extra}')

    def start(self, wait=True):
        self.write()
        self.errors = open(self.path('errors'), 'w')
        self.child = subprocess.Popen([self.program, self.path('twin.yaml')], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.errors, text=True)
        self.feeder = threading.Thread(target=self.feed, daemon=True)
        self.feeder.start()
        if wait:
            self.wait()
        return self

    def wait(self):
        for _ in range(300):
            if self.child.poll() is not None:
                raise AssertionError(f'the twin ended with {self.child.returncode}: {self.said()}')
            try:
                if self.get('/health')[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError('the twin does not answer')

    def feed(self):
        column = [c.split(' ')[0] for c in self.head.split(',')].index('time')
        start, number, shift = time.monotonic(), 0, 0.0
        try:
            self.child.stdin.write(self.head + '\n')
            while True:
                for row in self.rows:
                    cells = row.split(',')
                    last = shift + float(cells[column])
                    cells[column] = repr(last)
                    self.child.stdin.write(','.join(cells) + '\n')
                    number += 1
                    if number % 10 == 0:
                        self.child.stdin.flush()
                        time.sleep(max(0, start + number / self.rate - time.monotonic()))
                shift = last + 0.001
        except (OSError, ValueError):
            pass

    def said(self):
        with open(self.path('errors')) as f:
            return f.read()

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            self.child.wait(20)
        if self.child:
            try:
                self.child.stdin.close()
            except OSError:
                pass
            self.feeder.join(5)
            self.errors.close()
        code = self.child.returncode if self.child else None
        self.child = None
        return code

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder)

    # Returns status, headers and body of a request.
    def request(self, method, path, body=None, headers=None, timeout=20):
        if self.tls:
            c = http.client.HTTPSConnection('127.0.0.1', self.port, timeout=timeout, context=self.tls)
        else:
            c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)
        try:
            c.request(method, path, body, headers or {})
            a = c.getresponse()
            return a.status, a.headers, a.read()
        finally:
            c.close()

    def get(self, path, **headers):
        status, _, body = self.request('GET', path, headers={k.replace('_', '-'): v for k, v in headers.items()})
        return status, json.loads(body) if body[:1] in b'{[' and body else body

    def post(self, path, body=None, **headers):
        headers = {'Content-Type': 'application/json', **{k.replace('_', '-'): v for k, v in headers.items()}}
        status, got, answer = self.request('POST', path, json.dumps(body if body is not None else {}), headers)
        return status, got, json.loads(answer) if answer else None

    # Sends bytes and returns what comes back until the end or a pause.
    def raw(self, data, timeout=3.0):
        with socket.create_connection(('127.0.0.1', self.port), timeout) as s:
            got = b''
            try:
                s.sendall(data)
                while part := s.recv(65536):
                    got += part
            except OSError:
                pass
            return got

    def wait_for(self, what, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if value := what():
                return value
            time.sleep(0.1)
        raise AssertionError('it did not happen in time')


class Stream:
    """Server-sent events of a twin."""

    def __init__(self, twin, path, headers=''):
        self.socket = socket.create_connection(('127.0.0.1', twin.port), 20)
        self.socket.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost:{twin.port}\r\n{headers}\r\n'.encode())
        self.file = self.socket.makefile('rb')
        self.status = int(self.file.readline().split()[1])
        while self.file.readline() not in (b'\r\n', b''):
            pass
        self.text, self.events = b'', []

    # Returns the next event as (name, id, data). A chunk is a size, the data, a line end.
    def next(self):
        while b'\n\n' not in self.text:
            size = int(self.file.readline().strip() or b'0', 16)
            if size == 0:
                return None
            self.text += self.file.read(size)
            self.file.readline()
        message, self.text = self.text.split(b'\n\n', 1)
        name, number, data = None, None, None
        for line in message.decode().split('\n'):
            key, _, value = line.partition(': ')
            if key == 'event':
                name = value
            elif key == 'id':
                number = int(value)
            elif key == 'data':
                data = json.loads(value)
        return (name, number, data) if name else self.next()

    def wait_for(self, name):
        while event := self.next():
            if event[0] == name:
                return event
        raise AssertionError(f'the stream ended without {name}')

    def close(self):
        self.file.close()
        self.socket.close()
