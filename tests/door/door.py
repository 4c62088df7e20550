# The door of the twin over loopback: routes and their description, history, live values, roles, and hostile readers. Oracles: the recorded run that the
# twin observes, the schemas of the description, the table of routes in docs/twin.md, and RFC 9110 for what a server must refuse.
#   door.py TWIN OLEODYN SOURCE [TEST...]
import json, os, random, re, shutil, socket, ssl, subprocess, sys, time, warnings

from twin_process import Stream, Twin

program, oleodyn, source = sys.argv[1:4]
SECURITY = {'X-Content-Type-Options': 'nosniff', 'X-Frame-Options': 'DENY', 'Referrer-Policy': 'no-referrer'}


def new(**settings):
    return Twin(program, oleodyn, source, **settings)


def check(what, *about):
    if not what:
        raise AssertionError(*about)


def equal(got, expected):
    check(got == expected, f'got {got!r}, expected {expected!r}')


# --- Schemas ----------------------------------------------------------------------------------------------------------

def fits(value, schema, schemas, place='answer'):
    if '$ref' in schema:
        return fits(value, schemas[schema['$ref'].rsplit('/', 1)[1]], schemas, place)
    kinds = {'object': dict, 'array': list, 'string': str, 'integer': int, 'number': (int, float), 'boolean': bool, 'null': type(None)}
    types = schema.get('type', list(kinds))
    types = [types] if isinstance(types, str) else types
    ok = any(isinstance(value, kinds[t]) and (t == 'boolean' or not isinstance(value, bool)) for t in types)
    check(ok, f'{place}: {value!r} is no {types}')
    check('enum' not in schema or value in schema['enum'], f'{place}: {value!r} is not in {schema.get("enum")}')
    if isinstance(value, dict):
        for key in schema.get('required', []):
            check(key in value, f'{place} has no {key}')
        more = schema.get('additionalProperties', True)
        for key, inner in value.items():
            if key in schema.get('properties', {}):
                fits(inner, schema['properties'][key], schemas, f'{place}.{key}')
            else:
                check(more is not False, f'{place} has the undocumented field {key}')
                if isinstance(more, dict):
                    fits(inner, more, schemas, f'{place}.{key}')
    if isinstance(value, list) and 'items' in schema:
        for i, inner in enumerate(value):
            fits(inner, schema['items'], schemas, f'{place}[{i}]')


# --- Tests ------------------------------------------------------------------------------------------------------------

# Each documented route exists, each route is documented, and each answer fits its schema.
def test_routes():
    t = new().start()
    try:
        status, api = t.get('/api/v1/openapi.json')
        equal((status, api['openapi']), (200, '3.1.0'))
        with open(os.path.join(source, 'docs/twin.md')) as f:
            documented = set(re.findall(r'^\| `(GET|POST|DELETE) (/[^`]*)`', f.read(), re.M))
        listed = {(m.upper(), p) for p, item in api['paths'].items() for m in item}
        equal(listed - documented, set())
        equal(documented - listed, set())
        with open(os.path.join(source, 'src/server/http/routes.c')) as f:
            table = {(m, a.replace('API "', '/api/v1').replace('"', '').strip())
                     for m, a in re.findall(r'^    \{"(\w+)", ((?:API )?"[^"]*")', f.read(), re.M)}
        equal(listed, {(m, p.replace('/api/v1 ', '/api/v1')) for m, p in table})
        t.wait_for(lambda: t.get('/api/v1/machines/bench')[1].get('version', 1) > 1 and t.get('/api/v1/machines/bench/frames')[1]['t'])
        session = t.get('/api/v1/session')[1]
        for path, item in api['paths'].items():
            for method, operation in item.items():
                where = path.replace('{machine}', 'bench').replace('{id}', '1')
                if path.endswith('/history'):
                    where += '?channel=estimate.A.pressure&channel=nis'
                headers = {'X-CSRF-Token': session['csrf'], 'Content-Type': 'application/json'}
                body = {'Login': '{"token": "wrong-wrong-wrong-wrong"}'}.get(operation.get('requestBody', {}).get('content', {}).get(
                    'application/json', {}).get('schema', {}).get('$ref', '').rsplit('/', 1)[-1], '{}' if method == 'post' else None)
                if path == '/api/v1/stream':
                    s = Stream(t, where)
                    equal((s.status, s.next()[0]), (200, 'hello'))
                    s.close()
                    continue
                status, got, answer = t.request(method.upper(), where, body, headers)
                equal((path, status), (path, 401 if method == 'post' and path.endswith('/session') else 200))
                kind = 'default' if status == 401 else '200'
                content = operation['responses'][kind]['content']
                check(got['Content-Type'].split(';')[0] == next(iter(content)).split(';')[0], path, got['Content-Type'])
                schema = next(iter(content.values())).get('schema')
                if schema:
                    fits(json.loads(answer), schema, api['components']['schemas'], path)
                for name, value in SECURITY.items():
                    equal((path, got[name]), (path, value))
                policy = got['Content-Security-Policy']
                check("default-src 'self'" in policy and "frame-ancestors 'none'" in policy and 'unsafe' not in policy and 'data:' not in policy, policy)
        # HEAD is GET without a body; other methods are refused.
        status, got, answer = t.request('HEAD', '/api/v1/machines')
        equal((status, answer), (200, b''))
        for method in ('PUT', 'PATCH', 'OPTIONS', 'TRACE', 'DELETE'):
            check(t.request(method, '/api/v1/machines')[0] in (405, 501, 400), method)
        # A page that is stored already is not sent again.
        status, got, answer = t.request('GET', '/twin.js')
        equal(t.request('GET', '/twin.js', headers={'If-None-Match': got['ETag']})[::2], (304, b''))
        equal(t.stop(), 130)
    finally:
        t.remove()


# The history has the extremes of the recorded run; each answer has at most 100 kB; queries with mistakes are refused with the reason.
def test_history():
    t = new(rate=4000, seconds=3.0).start()
    try:
        t.wait_for(lambda: t.get('/api/v1/machines')[1]['machines'][0]['t'] and t.get('/api/v1/machines')[1]['machines'][0]['t'] > 2.9)
        column = [c.split(' ')[0] for c in t.head.split(',')]
        time_at, pressure = column.index('time'), column.index('measured.A.pressure')
        rows = [r.split(',') for r in t.rows]
        for a, b, points in ((0, 3, 1), (0.5, 2.5, 4), (1.0005, 1.0195, 2000)):
            def all_there():
                return t.get('/api/v1/machines/bench/history?channel=nis&from=2.9&to=3')[1]['series'][0]['t']
            t.wait_for(all_there)
            status, h = t.get(f'/api/v1/machines/bench/history?channels=measured.A.pressure&from={a}&to={b}&points={points}')
            equal(status, 200)
            s = h['series'][0]
            own = [float(r[pressure]) for r in rows if a <= float(r[time_at]) <= b and r[pressure] not in ('', 'nan')]
            if s['dt'] == 0:
                equal(len(s['t']), len(own))
            else:
                check(len(s['t']) <= points + 1)
                check(abs(max(s['max']) - max(own)) <= 1e-5 * max(own) and abs(min(s['min']) - min(own)) <= 1e-5 * max(own))
        names = [s['channel'] for s in t.get('/api/v1/machines/bench')[1]['series'] if s.get('history') == 'rows']
        for points in (1, 400, 2000):
            status, _, body = t.request('GET', '/api/v1/machines/bench/history?points=%d&channels=%s' % (points, ','.join(names)))
            check(status == 200 and len(body) <= 100000, len(body))
            status, _, body = t.request('GET', f'/api/v1/machines/bench/frames?points={points}')
            check(status == 200 and len(body) <= 100000, len(body))
        for query, reason in (('', 'expected 1 to 64'), ('channel=nis&point=1', "did you mean 'points'"), ('channel=nis&points=0', 'expected 1 to 2000'),
                              ('channel=nis&from=2&to=1', "'from' not after 'to'"), ('channel=nis&from=x', 'expected a number'),
                              ('channel=nis&from=1e300', '1e12'), ('channel=a%00b', 'zero byte'), ('channel=nis&from=1&from=2', 'twice'),
                              ('&'.join(['channel=nis'] * 65), 'at most 64')):
            status, answer = t.get('/api/v1/machines/bench/history?' + query)
            check(status == 400 and reason in answer['error']['text'], query, answer)
        for channel in ('absent', "x' OR 1=1 --", '%22%3Cscript%3E', '%FF%FE'):
            status, answer = t.get(f'/api/v1/machines/bench/history?channel={channel.replace(" ", "%20").replace(chr(39), "%27")}')
            equal((status, answer['series'][0]['t']), (200, []))
        equal(t.get('/api/v1/machines/crane/history?channel=nis')[0], 404)
    finally:
        t.remove()


# Live values: the order of the series, events with ids, missed events after a new connection, a new boot after a restart.
def test_stream():
    t = new().start()
    try:
        s = Stream(t, '/api/v1/stream?machine=bench')
        hello = s.wait_for('hello')[2]
        equal(s.wait_for('machine')[2]['name'], 'bench')
        check(s.wait_for('version')[2]['version'] >= 2)
        series = t.get('/api/v1/machines/bench')[1]['series']
        sample = s.wait_for('sample')[2]
        equal(len(sample['values']), len(series))
        equal(len(sample['sigma']), sum('sigma' in x for x in series))
        begin, count, last = time.monotonic(), 0, sample['t']
        while count < 20:
            t2 = s.wait_for('sample')[2]['t']
            check(t2 > last)
            last, count = t2, count + 1
        check(count / (time.monotonic() - begin) < 27, 'too many frames')
        # An event reaches the stream with its id, and is acknowledged.
        t.child.stdin.write('this is no row\n')
        t.child.stdin.flush()
        name, number, event = s.wait_for('event')
        while event['kind'] != 'refused':
            name, number, event = s.wait_for('event')
        equal(number, event['id'])
        csrf = t.get('/api/v1/session')[1]['csrf']
        equal(t.post(f'/api/v1/events/{number}/acknowledge', {}, X_CSRF_Token=csrf)[0], 200)
        while s.wait_for('event')[2]['acknowledged'] is None:
            pass
        s.close()
        t.wait_for(lambda: any(e['id'] == number and e['acknowledged'] for e in t.get('/api/v1/events')[1]['events']) and
                   any(e['kind'] == 'acknowledged' for e in t.get('/api/v1/events')[1]['events']))
        # After a restart: another boot, and the events that were missed.
        equal(t.stop(), 130)
        t.start()
        s = Stream(t, '/api/v1/stream?after=0')
        equal(s.wait_for('event')[1], 1)
        s.close()
        s = Stream(t, '/api/v1/stream', f'Last-Event-ID: {number - 1}\r\n')
        check(s.wait_for('hello')[2]['boot'] != hello['boot'])
        check(s.wait_for('event')[1] >= number)
        s.close()
        equal(t.get('/api/v1/stream?machine=crane')[0], 404)
    finally:
        t.remove()


# Pages of other sites, other hosts, doubled headers and wrong CSRF tokens are refused, and change nothing.
def test_other_sites():
    t = new().start()
    try:
        own, csrf = f'localhost:{t.port}', t.get('/api/v1/session')[1]['csrf']
        t.wait_for(lambda: t.get('/api/v1/events')[1]['events'])
        act = '/api/v1/events/1/acknowledge'
        equal(t.get('/api/v1/machines', Host='evil.example')[0], 403)
        equal(t.get('/api/v1/machines', Host=f'evil.example:{t.port}')[0], 403)
        equal(t.get('/', Host='evil.example')[0], 403)
        equal(t.get('/api/v1/machines', Origin='http://evil.example')[0], 403)
        equal(t.get('/api/v1/machines', Origin='null')[0], 403)
        equal(t.get('/api/v1/machines', Sec_Fetch_Site='cross-site')[0], 403)
        equal(t.get('/api/v1/machines', Host=own, Origin=f'http://{own}', Sec_Fetch_Site='same-origin')[0], 200)
        for headers in ({}, {'X_CSRF_Token': 'wrong'}, {'X_CSRF_Token': csrf, 'Origin': 'http://evil.example'}, {'X_CSRF_Token': csrf, 'Host': 'evil.example'},
                        {'X_CSRF_Token': csrf, 'Origin': f'http://localhost:{t.port + 1}'}, {'X_CSRF_Token': csrf, 'Sec_Fetch_Site': 'cross-site'}):
            equal(t.post(act, {}, **headers)[0], 403)
        for kind in ('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx'):
            equal(t.request('POST', act, '{}', {'X-CSRF-Token': csrf, 'Content-Type': kind})[0], 415)
        check(t.get('/api/v1/events')[1]['events'][-1]['acknowledged'] is None)
        check(b'HTTP/1.1 400' in t.raw(f'GET /api/v1/machines HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n'.encode()))
        check(b' 200 ' not in t.raw(b'GET /api/v1/machines HTTP/1.0\r\n\r\n').split(b'\r\n')[0])
        for name in ('Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials'):
            check(t.request('GET', '/api/v1/machines')[1][name] is None)
    finally:
        t.remove()


# Requests that no browser sends. The door answers with an error or closes the connection, and goes on.
def test_hostile_requests():
    t = new(page='requests: 100000').start()
    try:
        own = f'Host: localhost:{t.port}\r\n'
        for path in ('/../../../../etc/passwd', '/..%2f..%2fetc/passwd', '/%2e%2e/etc/passwd', '//etc/passwd', '/twin.js/../../etc/passwd', '/api/v1/machines/%00',
                     '/api/v1/machines/bench%2fhistory%00', '/.', '/%'):
            answer = t.raw(f'GET {path} HTTP/1.1\r\n{own}Connection: close\r\n\r\n'.encode())
            check(b'root:' not in answer and b' 200 ' not in answer.split(b'\r\n')[0], path, answer[:200])
        large = 'x' * 60000
        for data in (f'GET /{large} HTTP/1.1\r\n{own}\r\n', f'GET / HTTP/1.1\r\n{own}X: {large}\r\n\r\n', f'GET / HTTP/1.1\r\n{own}' + 'A: b\r\n' * 20000 + '\r\n',
                     f'GET /api/v1/machines/bench/history?{"channel=a&" * 5000} HTTP/1.1\r\n{own}\r\n'):
            check(b' 200 ' not in t.raw(data.encode()).split(b'\r\n')[0])
        csrf = t.get('/api/v1/session')[1]['csrf']
        post = f'POST /api/v1/session HTTP/1.1\r\n{own}Content-Type: application/json\r\nConnection: close\r\n'
        check(b' 413 ' in t.raw((post + f'Content-Length: 60000\r\n\r\n{large}').encode()).split(b'\r\n')[0])
        for data in (post + 'Content-Length: -1\r\n\r\n{}', post + 'Content-Length: 99999999999999999999\r\n\r\n{}', post + 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
                     post + 'Transfer-Encoding: chunked\r\n\r\nzzz\r\n', post + 'Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n', 'GET\r\n\r\n', '\0' * 100,
                     'GET / HTTP/9.9\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00', 'GET / HTTP/1.1\r\n Host: folded\r\n\r\n',
                     post + 'Content-Length: 30\r\n\r\n{"token": "\udcff"}'):
            line = t.raw(data.encode(errors='surrogateescape'), 1.0).split(b'\r\n')[0]
            check(b' 200 ' not in line, data[:60], line)
        random.seed(1)
        pieces = [b'GET ', b'POST ', b'/api/v1/', b'machines', b'/', b'?', b'channel=', b'%', b' HTTP/1.1', b'\r\n', b'Host: localhost', b':', b'Content-Length: 5',
                  b'\r\n\r\n', b'Transfer-Encoding: chunked', b'\0', b'\xff', b'Cookie: ', b'Authorization: Bearer ', b'{', b'"', b'5\r\n']
        for _ in range(300):
            data = b''.join(random.choice(pieces) for _ in range(random.randrange(1, 40)))
            with socket.create_connection(('127.0.0.1', t.port), 3) as s:
                s.sendall(data)
        equal(t.get('/health')[0], 200)
        check(t.child.poll() is None and t.get('/api/v1/machines')[1]['machines'][0]['state'] == 'running')
    finally:
        t.remove()


# Connections that send no complete request are closed after 10 s, also if they send a byte now and then. Too many connections, requests and pages are
# refused, and afterwards the door serves as before.
def test_limits():
    t = new(page='connections: 40, streams: 3, requests: 20').start()
    try:
        half = [socket.create_connection(('127.0.0.1', t.port), 20) for _ in range(30)]
        begin = time.monotonic()
        for i, s in enumerate(half):
            s.sendall(b'GET / HTTP/1.1\r\nX: ' if i % 2 else b'')
        equal(t.get('/health')[0], 200)
        dripping, closed = half[1], 0
        while time.monotonic() - begin < 14 and not closed:
            time.sleep(0.5)
            try:
                dripping.sendall(b'x')
            except OSError:
                closed = time.monotonic() - begin
        check(9 < closed < 13, f'closed after {closed:.1f} s')
        for s in half:
            s.settimeout(1)
            try:
                check(s.recv(1000)[:12] != b'HTTP/1.1 200')
            except ConnectionError:
                pass
            s.close()
        crowd = [socket.create_connection(('127.0.0.1', t.port), 20) for _ in range(60)]
        time.sleep(0.3)
        check(t.child.poll() is None)
        for s in crowd:
            s.close()
        t.wait_for(lambda: t.get('/health')[0] == 200)
        pages = [Stream(t, '/api/v1/stream') for _ in range(3)]
        equal([p.status for p in pages], [200] * 3)
        equal(t.get('/api/v1/stream')[0], 503)
        for p in pages:
            p.close()
        t.wait_for(lambda: Stream(t, '/api/v1/stream').status == 200)
        time.sleep(4.1)
        codes = [t.get('/health')[0] for _ in range(150)]
        check(codes[:60] == [200] * 60 and 429 in codes[80:], codes)
        time.sleep(1.5)
        equal(t.get('/health')[0], 200)
    finally:
        t.remove()


# Tokens: roles, cookie, bearer, limits of wrong tokens; no secret in a message.
def test_tokens():
    reader, operator = 'reader-reader-reader-reader', 'operator-operator-operator'
    t = new(page='local: none, tokens: {wall: {file: wall.token}, operator: {file: op.token, role: act}}')
    try:
        t.put('wall.token', reader + '\n', 0o600)
        t.put('op.token', operator + '\n', 0o644)
        t.start(wait=False)
        equal(t.child.wait(20), 2)
        check('other users may access the token' in t.said(), t.said())
        t.stop()
        t.put('op.token', operator + '\n', 0o600)
        t.start()
        for path in ('/api/v1/machines', '/api/v1/machines/bench', '/metrics', '/api/v1/stream', '/api/v1/absent', '/api/v1/events'):
            equal((path, t.get(path)[0]), (path, 401))
        for path in ('/', '/twin.js', '/twin.css', '/health', '/api/v1/openapi.json'):
            equal((path, t.get(path)[0]), (path, 200))
        equal(t.get('/api/v1/session')[1]['needs_token'], True)
        equal(t.get('/api/v1/session')[1]['title'], None)
        equal(t.post('/api/v1/events/1/acknowledge')[0], 401)
        status, headers, session = t.post('/api/v1/session', {'token': reader})
        cookie = headers['Set-Cookie']
        check(status == 200 and session['role'] == 'read' and 'HttpOnly' in cookie and 'SameSite=Strict' in cookie and reader not in cookie)
        cookie = cookie.split(';')[0]
        equal(t.get('/api/v1/machines', Cookie=cookie)[0], 200)
        equal(t.post('/api/v1/events/1/acknowledge', {}, Cookie=cookie, X_CSRF_Token=session['csrf'])[0], 403)
        equal(t.get('/metrics', Authorization='Bearer ' + reader)[0] in (200, 503), True)
        equal(t.post('/api/v1/events/1/acknowledge', {}, Authorization='Bearer ' + reader)[0], 403)
        t.wait_for(lambda: t.get('/api/v1/events', Authorization='Bearer ' + operator)[1]['events'])
        equal(t.post('/api/v1/events/1/acknowledge', {}, Authorization='Bearer ' + operator)[0], 200)
        equal(t.request('DELETE', '/api/v1/session', headers={'Cookie': cookie})[0], 403)
        equal(t.request('DELETE', '/api/v1/session', headers={'Cookie': cookie, 'X-CSRF-Token': session['csrf']})[0], 200)
        equal(t.get('/api/v1/machines', Cookie=cookie)[0], 401)
        equal(t.get('/api/v1/machines', Cookie=cookie[:-1])[0], 401)
        codes = [t.post('/api/v1/session', {'token': f'wrong-wrong-wrong-wrong-{i}'})[0] for i in range(14)]
        check(codes[:9] == [401] * 9 and codes[-1] == 429, codes)
        equal(t.post('/api/v1/session', {'token': operator})[0], 429)
        equal(t.stop(), 130)
        check('reader-' not in t.said() and 'operator-' not in t.said() and 'wrong-' not in t.said(), t.said())
        with open(t.path('twin.db'), 'rb') as f:
            data = f.read()
        check(reader.encode() not in data and operator.encode() not in data)
    finally:
        t.remove()


def openssl(t, *arguments):
    subprocess.run(['openssl', *arguments], cwd=t.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# TLS, certificates of readers, and the rule that other computers reach the page only with both TLS and a login.
def test_tls():
    if not shutil.which('openssl'):
        print('skipped: no package: openssl')
        return
    t = new()
    try:
        for name, subject in (('ca', '/CN=yard'), ('server', '/CN=localhost'), ('phone', '/CN=phone'), ('other', '/CN=other')):
            openssl(t, 'req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', name + '.key', '-out', name + '.req', '-subj', subject)
            os.chmod(t.path(name + '.key'), 0o600)
        t.put('ca.ext', 'basicConstraints=critical,CA:TRUE\n')
        t.put('server.ext', 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
        t.put('phone.ext', 'extendedKeyUsage=clientAuth\n')
        openssl(t, 'x509', '-req', '-in', 'ca.req', '-signkey', 'ca.key', '-out', 'ca.pem', '-days', '2', '-extfile', 'ca.ext')
        for name in ('server', 'phone'):
            openssl(t, 'x509', '-req', '-in', name + '.req', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out', name + '.pem', '-days', '2', '-extfile', name + '.ext')
        openssl(t, 'x509', '-req', '-in', 'other.req', '-signkey', 'other.key', '-out', 'other.pem', '-days', '2')
        t.put('op.token', 'operator-operator-operator', 0o600)
        files = 'certificate_file: server.pem, key_file: server.key'
        for page, reason in (("address: 0.0.0.0", 'so the page needs TLS'), (f"address: 0.0.0.0, {files}", 'readers must log in'),
                             ("address: '::'", 'so the page needs TLS'), ('address: 0.0.0.0, tokens: {op: {file: op.token}}', 'so the page needs TLS'),
                             ('certificate_file: server.pem', "needs 'key_file'"), ('client_ca_file: ca.pem', 'certificates of readers need TLS'),
                             ('address: localhost', 'no numeric address'), ('local: none', 'no reader could see the page'),
                             (f'address: 0.0.0.0, {files}, local: act, tokens: {{op: {{file: op.token}}}}', 'has no effect')):
            t.page = page
            t.write()
            r = subprocess.run([program, t.path('twin.yaml')], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            check(r.returncode == 2 and reason in r.stderr, page, r.stderr)
        for files2, reason in (('certificate_file: server.pem, key_file: phone.key', 'cannot be used'), ('certificate_file: absent.pem, key_file: server.key', 'cannot open')):
            t.page = files2
            t.write()
            r = subprocess.run([program, t.path('twin.yaml')], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            check(r.returncode == 2 and reason in r.stderr, files2, r.stderr)
        t.page = f'address: 0.0.0.0, {files}, client_ca_file: ca.pem, tokens: {{op: {{file: op.token, role: act}}}}'
        t.tls = ssl.create_default_context(cafile=t.path('ca.pem'))
        t.start()
        equal(t.get('/api/v1/machines')[0], 401)
        status, headers, session = t.post('/api/v1/session', {'token': 'operator-operator-operator'})
        check(status == 200 and 'Secure' in headers['Set-Cookie'] and headers['Set-Cookie'].startswith('__Host-'))
        check(headers['Strict-Transport-Security'])
        cookie = headers['Set-Cookie'].split(';')[0]
        equal(t.get('/api/v1/machines', Cookie=cookie)[0], 200)
        equal(t.get('/api/v1/machines', Cookie=cookie, Origin=f'http://127.0.0.1:{t.port}')[0], 403)
        equal(t.get('/api/v1/machines', Cookie=cookie, Host='evil.example')[0], 403)
        equal(t.raw(b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')[:9] == b'HTTP/1.1 ', False)
        warnings.simplefilter('ignore', DeprecationWarning)  # old versions are offered on purpose
        for old in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
            context = ssl.create_default_context(cafile=t.path('ca.pem'))
            context.set_ciphers('ALL:@SECLEVEL=0')
            context.minimum_version, context.maximum_version = old, old
            try:
                with socket.create_connection(('127.0.0.1', t.port), 5) as s, context.wrap_socket(s, server_hostname='localhost'):
                    raise AssertionError(f'{old} was accepted')
            except (ssl.SSLError, OSError):
                pass
        t.tls.load_cert_chain(t.path('phone.pem'), t.path('phone.key'))
        equal(t.get('/api/v1/session')[1]['name'], 'phone')
        equal(t.get('/api/v1/machines')[0], 200)
        equal(t.post('/api/v1/events/1/acknowledge', {}, X_CSRF_Token=t.get('/api/v1/session')[1]['csrf'])[0], 403)
        t.tls = ssl.create_default_context(cafile=t.path('ca.pem'))
        t.tls.load_cert_chain(t.path('other.pem'), t.path('other.key'))
        try:
            equal(t.get('/api/v1/machines')[0], 401)
        except (ssl.SSLError, OSError):
            pass
        t.tls = ssl.create_default_context(cafile=t.path('ca.pem'))
        equal(t.stop(), 130)
    finally:
        t.remove()


# A sensor with an offset: the verdict of the next window, an alarm of an estimate, its acknowledgement, and the count of open alarms after a restart.
def test_verdict_and_alarm():
    t = new(page='verdict: 1 s, frames: 20 ms', rate=1000, seconds=4.0, history='history: {file: twin.db, write: 0.1 s}')
    try:
        pressure = [c.split(' ')[0] for c in t.head.split(',')].index('measured.A.pressure')
        highest = max(float(v) for r in t.rows if (v := r.split(',')[pressure]))
        for i in range(2000, len(t.rows)):
            cells = t.rows[i].split(',')
            cells[pressure] = cells[pressure] and repr(float(cells[pressure]) + 2e6)
            t.rows[i] = ','.join(cells)
        t.alarms = f', alarms: {{high: {{output: A.pressure, above: {highest + 5e5!r} Pa, for: 50 ms}}}}'
        t.start()
        s = Stream(t, '/api/v1/stream?machine=bench')
        before = s.wait_for('verdict')[2]['verdict']
        equal(before['trust'], 'sound')
        while (after := s.wait_for('verdict')[2]['verdict'])['trust'] == 'sound':
            pass
        check(1.5 < after['from'] < 3.1 and any('A.pressure' in r['text'] for r in after['remarks']), after)
        equal(t.get('/api/v1/machines')[1]['machines'][0]['verdict']['trust'], after['trust'])
        alarm = t.wait_for(lambda: t.get('/api/v1/events?open=true')[1]['events'])[-1]
        check(alarm['kind'] == 'alarm' and 2.05 <= alarm['t'] and 'A.pressure' in alarm['text'] and alarm['severity'] == 'alarm', alarm)
        check(t.wait_for(lambda: t.get('/api/v1/machines')[1]['machines'][0]['alarms']) >= 1)
        s.close()
        # The positions of the machine are stored every 20 ms, at the times of rows, and move.
        status, f = t.get('/api/v1/machines/bench/frames?from=0.5&to=1.5&points=51')
        check(len(f['t']) >= 45 and all(abs(round(x / 0.02) * 0.02 - x) < 1.1e-3 for x in f['t']), f['t'])
        equal([len(v) for v in f['values']], [len(f['channels'])] * len(f['t']))
        at = f['channels'].index('view.cylinder.length')
        length = t.get('/api/v1/machines/bench/history?channel=estimate.cylinder.length&from=0.5&to=1.5&points=2000')[1]['series'][0]
        own = dict(zip(length['t'], length['mean']))
        for x, v in zip(f['t'], f['values']):
            check(abs(own[x] - v[at]) < 1e-5, x, own[x], v[at])
        equal(t.stop(), 130)
        t.start()
        check(t.get('/api/v1/machines')[1]['machines'][0]['alarms'] >= 1)
        csrf = t.get('/api/v1/session')[1]['csrf']
        status, _, event = t.post(f'/api/v1/events/{alarm["id"]}/acknowledge', {}, X_CSRF_Token=csrf)
        check(status == 200 and event['acknowledged'])
        t.wait_for(lambda: alarm['id'] not in [e['id'] for e in t.get('/api/v1/events?open=true')[1]['events']])
    finally:
        t.remove()


# Without a history, events come from memory, and requests of the history say why there is none.
def test_without_history():
    t = new(history='').start()
    try:
        t.child.stdin.write('this is no row\n')
        t.wait_for(lambda: t.get('/api/v1/events')[1]['events'])
        status, answer = t.get('/api/v1/machines/bench/history?channel=nis')
        check(status == 404 and "add the section 'history'" in answer['error']['text'])
        equal(t.get('/api/v1/machines')[1]['machines'][0]['history'], None)
        first = t.get('/api/v1/events')[1]['events'][-1]
        csrf = t.get('/api/v1/session')[1]['csrf']
        equal(t.post(f'/api/v1/events/{first["id"]}/acknowledge', {}, X_CSRF_Token=csrf)[0], 200)
        equal(t.post('/api/v1/events/999999/acknowledge', {}, X_CSRF_Token=csrf)[0], 404)
        equal(t.post('/api/v1/events/1/acknowledge', {'x': 1}, X_CSRF_Token=csrf)[0], 400)
        t.wait_for(lambda: any(e['id'] == first['id'] and e['acknowledged'] for e in t.get('/api/v1/events')[1]['events']))
        equal(len(t.get('/api/v1/events?limit=1')[1]['events']), 1)
        equal(t.get('/api/v1/events?machine=crane')[0], 404)
    finally:
        t.remove()


chosen = sys.argv[4:] or [n for n in list(globals()) if n.startswith('test_')]
for test in chosen:
    begin = time.monotonic()
    globals()[test]()
    print(f'{test} {time.monotonic() - begin:.1f} s', flush=True)
