# Sparkplug B through a broker: births, aliases, deaths, gaps, other orders, repetitions, historical values, requests for births. Oracles: Google's
# protocol buffers with the layout of the standard (below) encode the payloads; 'oleodyn observe --data' of the same samples gives the estimates.
#   sparkplug.py TWIN OLEODYN SOURCE [TEST...]
import math, os, sys, time

from mqtt_client import BROKER, Broker, Client
from source_twin import COLUMNS, SourceTwin, check, equal, free_port, run_tests

if not os.path.exists(BROKER):
    print('skipped: no package: mosquitto')
    sys.exit(77)
try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    print('skipped: no package: python3-protobuf')
    sys.exit(77)

# --- The layout of the standard -------------------------------------------------------------------------------------------

F = descriptor_pb2.FieldDescriptorProto


def make_messages():
    file = descriptor_pb2.FileDescriptorProto(name='sparkplug_b.proto', package='sparkplug', syntax='proto2')
    metric, payload = file.message_type.add(name='Metric'), file.message_type.add(name='Payload')
    for number, name, kind in [(1, 'name', F.TYPE_STRING), (2, 'alias', F.TYPE_UINT64), (3, 'timestamp', F.TYPE_UINT64), (4, 'datatype', F.TYPE_UINT32),
                               (5, 'is_historical', F.TYPE_BOOL), (6, 'is_transient', F.TYPE_BOOL), (7, 'is_null', F.TYPE_BOOL),
                               (8, 'metadata', F.TYPE_BYTES), (9, 'properties', F.TYPE_BYTES), (10, 'int_value', F.TYPE_UINT32),
                               (11, 'long_value', F.TYPE_UINT64), (12, 'float_value', F.TYPE_FLOAT), (13, 'double_value', F.TYPE_DOUBLE),
                               (14, 'boolean_value', F.TYPE_BOOL), (15, 'string_value', F.TYPE_STRING)]:
        metric.field.add(name=name, number=number, type=kind, label=F.LABEL_OPTIONAL)
    payload.field.add(name='timestamp', number=1, type=F.TYPE_UINT64, label=F.LABEL_OPTIONAL)
    payload.field.add(name='metrics', number=2, type=F.TYPE_MESSAGE, type_name='.sparkplug.Metric', label=F.LABEL_REPEATED)
    payload.field.add(name='seq', number=3, type=F.TYPE_UINT64, label=F.LABEL_OPTIONAL)
    payload.field.add(name='uuid', number=4, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    payload.field.add(name='body', number=5, type=F.TYPE_BYTES, label=F.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName('sparkplug.Payload'))


Payload = make_messages()
DOUBLE, BOOLEAN, STRING, INT64 = 10, 11, 12, 4
NAMES = ['cylinder/length', 'pump/pressure', 'A/pressure', 'valve/command']


class Node:
    """An edge node 'edge' of the group 'plant' with the device 'bench', which sends the rows of a recorded run."""

    def __init__(self, twin, settings='', machine='', name='sender'):
        self.twin, self.port = twin, free_port()
        self.broker = Broker(twin, self.port)
        self.client = Client(self.port, name)
        self.client.subscribe('spBv1.0/plant/NCMD/#')
        twin.start(f'{{type: sparkplug, host: 127.0.0.1, port: {self.port}, group: plant, node: edge, device: bench, columns: '
                   f'["cylinder/length", "pump/pressure [bar]", "A/pressure [bar]", "valve/command"]{settings}}}',
                   f', map: [cylinder.length=cylinder/length, P.pressure=pump/pressure, A.pressure=A/pressure, U_ref=valve/command]{machine}')
        twin.wait_for(lambda: self.requests())
        self.seq, self.aliases, self.last, self.deaths, self.samples, self.command = 0, {}, [None] * 4, 0, [], None

    def requests(self):
        return [(t, p) for t, topic, p in self.client.messages if topic == 'spBv1.0/plant/NCMD/edge']

    def send(self, kind, p, device='', counts=True, delay=False):
        if counts:
            p.seq = self.seq
            self.seq = (self.seq + 1) % 256
        message = (f'spBv1.0/plant/{kind}/edge{device}', p.SerializeToString())
        if not delay:
            self.client.publish(*message)
        return message

    def node_birth(self, ms):
        self.seq = 0
        self.deaths += 1
        p = Payload(timestamp=ms, uuid='x')
        p.metrics.add(name='bdSeq', datatype=INT64, long_value=self.deaths, timestamp=ms)
        p.metrics.add(name='Node Control/Rebirth', datatype=BOOLEAN, boolean_value=False, timestamp=ms)
        self.send('NBIRTH', p)

    def node_death(self, number=None):
        p = Payload(timestamp=0)
        p.metrics.add(name='bdSeq', datatype=INT64, long_value=number or self.deaths)
        self.send('NDEATH', p, counts=False)

    # The values of a row, as sent: pressures in bar.
    def values(self, row):
        return [row[1], None if row[2] is None else row[2] / 1e5, None if row[3] is None else row[3] / 1e5, row[4]]

    def device_birth(self, row, first_alias, device='/bench', delay=False):
        p = Payload(timestamp=row[0])
        self.aliases = {name: first_alias + i for i, name in enumerate(NAMES)}
        for name, value in zip(NAMES, self.values(row)):
            m = p.metrics.add(name=name, alias=self.aliases[name], datatype=DOUBLE, timestamp=row[0])
            if value is None:
                m.is_null = True
            else:
                m.double_value = value
        p.metrics.add(name='state', alias=first_alias + 10, datatype=STRING, string_value='on', timestamp=row[0])
        self.command = row[4]
        self.samples.append([row[0] / 1000] + self.values(row))
        return self.send('DBIRTH', p, device, delay=delay)

    # Adds a row to a payload; the command only if it has changed.
    def add(self, p, row, historical=False, taken=True):
        for name, value in zip(NAMES, self.values(row)):
            if value is None or (name == NAMES[3] and value == self.command):
                continue
            m = p.metrics.add(alias=self.aliases[name], double_value=value, timestamp=row[0])
            if historical:
                m.is_historical = True
        self.command = row[4]
        if taken:
            self.samples.append([row[0] / 1000] + self.values(row))

    def data(self, *rows, delay=False, taken=True, historical=False):
        p = Payload(timestamp=rows[-1][0])
        for row in rows:
            self.add(p, row, historical, taken)
        return self.send('DDATA', p, '/bench', delay=delay)

    # A message of another device, or of the node itself.
    def other(self, ms, device='/pump'):
        p = Payload(timestamp=ms)
        p.metrics.add(name='speed', datatype=DOUBLE, double_value=1500, timestamp=ms)
        return self.send('DDATA' if device else 'NDATA', p, device)

    def wait(self):
        count = len(self.samples)
        self.twin.wait_for(lambda: self.twin.count() >= count)

    def end(self):
        self.twin.stop()
        self.client.close()
        self.broker.stop()


def new(**settings):
    twin = SourceTwin(*sys.argv[1:4])
    return twin, Node(twin, **settings)


UNITS = ('', 'bar', 'bar', '')

# --- Tests ------------------------------------------------------------------------------------------------------------


# 2000 rows in messages of one and two rows, between messages of the node and another device; aliases change at births. Nothing is missing.
def test_births_and_aliases():
    twin, node = new()
    rows = twin.rows
    node.node_birth(0)
    node.device_birth(rows[0], 100)
    i, is_again = 1, False
    while i < len(rows) - 1:
        if i > 600 and not is_again:
            is_again = True
            node.node_birth(rows[i][0] - 1)
            node.device_birth(rows[i], 7)
            i += 1
        elif i % 97 == 0:
            node.send('DDEATH', Payload(timestamp=rows[i][0]), '/bench')
            node.device_birth(rows[i], 100 + i)
            i += 1
        elif i % 5 == 0:
            node.data(rows[i], rows[i + 1])
            i += 2
        else:
            node.data(rows[i])
            i += 1
        if i % 3 == 0:
            node.other(rows[i][0], '/pump' if i % 2 else '')
        if i % 100 == 0:
            time.sleep(0.05)
    node.wait()
    node.end()
    twin.compare(node.samples, UNITS)
    births = twin.events('birth')
    check(len(births) == 2 + len(twin.events('death')) and "the device 'bench' of the node 'edge' has begun, with 5 metrics" in births[0], births)
    check(len(twin.events('death')) > 10, twin.events('death'))
    equal(twin.events('missing') + twin.events('refused') + twin.events('late') + twin.events('repeated'), [])
    twin.remove()


# Lost messages are missing exactly, by number, and births are requested: a second later, and not more often than every 5 s.
def test_gaps():
    twin, node = new()
    rows = twin.rows
    twin.wait_for(lambda: len(node.requests()) == 1)
    node.node_birth(0)
    node.device_birth(rows[0], 0)
    lost = []
    begin = time.monotonic()
    time.sleep(4)  # the request at the start was less than 5 s ago when messages are lost
    for i in range(1, 1000):
        is_lost = i in (10, 11, 12, 300, 700) or 800 <= i < 950
        if is_lost:
            lost.append(i + 1)  # the births have the numbers 0 and 1
        command = node.command
        node.data(rows[i], delay=is_lost, taken=not is_lost)
        if is_lost and command != rows[i][4]:
            node.command = None  # the next message sends it again
        if i % 100 == 0:
            time.sleep(0.05)
    node.wait()
    twin.wait_for(lambda: len(node.requests()) == 2, 10)
    check(4.9 < node.requests()[1][0] - node.requests()[0][0] < 7, node.requests())
    got = Payload.FromString(node.requests()[1][1])
    equal([(m.name, m.datatype, m.boolean_value) for m in got.metrics], [('Node Control/Rebirth', BOOLEAN, True)])
    check(abs(got.timestamp - 1000 * time.time()) < 60000, got.timestamp)
    texts = twin.wait_for(lambda: [t for t in twin.events('missing') if t.startswith('155 samples')])
    equal(texts[-1], '155 samples are missing; sequence numbers, the latest first: 801 to 950, 701, 301, 11 to 13')
    equal(lost[:3] + lost[3:5] + [lost[5], lost[-1]], [11, 12, 13, 301, 701, 801, 950])
    twin.wait_for(lambda: any('messages are missing' in t for t in twin.events('rebirth')))
    # The answer: births; then everything goes on with other aliases, and numbers from the next multiple of 256.
    node.node_birth(rows[1000][0] - 1)
    node.device_birth(rows[1000], 50)
    node.data(rows[1001])
    node.data(rows[1002], delay=True, taken=False)
    node.data(rows[1003])
    node.wait()
    texts = twin.wait_for(lambda: [t for t in twin.events('missing') if t.startswith('156 samples')])
    equal(texts[-1].split(': ')[1].split(',')[0], str(1024 + 3))
    check(time.monotonic() - begin < 60)
    node.end()
    twin.compare(node.samples, UNITS)
    twin.remove()


# The metrics of the node itself, without a list of columns: its birth gives the columns, data have names in place of aliases.
def test_node():
    twin, port = SourceTwin(*sys.argv[1:4]), free_port()
    broker = Broker(twin, port)
    client = Client(port, 'sender')
    client.subscribe('spBv1.0/plant/NCMD/edge')
    twin.start(f'{{type: sparkplug, host: 127.0.0.1, port: {port}, group: plant, node: edge}}')
    twin.wait_for(lambda: client.messages)
    samples, number = [], 0
    for row in twin.rows[:500]:
        p = Payload(timestamp=row[0], seq=number % 256)
        if number == 0:
            p.metrics.add(name='bdSeq', datatype=INT64, long_value=0)
            p.metrics.add(name='Node Control/Rebirth', datatype=BOOLEAN, boolean_value=False)
            p.metrics.add(name='firmware', datatype=STRING, string_value='1.2')
        for name, value in zip(COLUMNS, row[1:]):
            m = p.metrics.add(name=name, timestamp=row[0])
            if number == 0:
                m.datatype = DOUBLE
            if value is None:
                m.is_null = True
            else:
                m.double_value = value
        client.publish(f'spBv1.0/plant/{"NDATA" if number else "NBIRTH"}/edge', p.SerializeToString())
        samples.append([row[0] / 1000] + row[1:])
        number += 1
    twin.wait_for(lambda: twin.count() >= 500)
    twin.stop()
    client.close()
    broker.stop()
    equal(twin.events('birth'), ["s: the node 'edge' has begun, with 7 metrics"])
    twin.compare(samples)
    twin.remove()


# Messages in another order are sorted in within 'wait', repeated ones are left out, and nothing is missing.
def test_order():
    twin, node = new(machine=', wait: 20 ms')
    rows = twin.rows
    node.node_birth(0)
    node.device_birth(rows[0], 0)
    for i in range(1, 600, 3):
        messages = []
        for k in (i, i + 1, i + 2):
            node.command = None  # each message has all values
            messages.append(node.data(rows[k], delay=True))
        if i % 4 == 0:
            messages = [messages[k] for k in (1, 2, 0)]
        for m in messages:
            node.client.publish(*m)
        if i % 10 == 0:
            node.client.publish(*messages[1])
        if i % 100 == 0:
            time.sleep(0.05)
    node.wait()
    twin.wait_for(lambda: twin.metric('samples_reordered_total') > 10 and twin.metric('samples_repeated_total') > 10)
    equal(twin.metric('samples_missing'), 0)
    node.end()
    twin.compare(node.samples, UNITS)
    twin.remove()


# Historical values are samples if they are later than all samples so far; earlier ones are counted apart.
def test_historical():
    twin, node = new()
    rows = twin.rows
    node.node_birth(0)
    node.device_birth(rows[0], 0)
    for i in range(1, 300):
        node.data(rows[i], historical=100 <= i < 200)
    node.data(*rows[50:90], historical=True, taken=False)
    node.data(*rows[90:100], taken=False)
    node.data(rows[300])
    node.wait()
    twin.wait_for(lambda: twin.metric('samples_historical_total') == 40)
    equal(twin.metric('samples_late_total'), 10)
    equal(twin.events('historical'), ['40 samples kept by the sender arrived after later samples: left out'])
    node.end()
    twin.compare(node.samples, UNITS)
    twin.remove()


# After a death no samples arrive before a birth; a death of an earlier connection has no effect; unknown aliases and damaged payloads are reported.
def test_deaths():
    twin, node = new()
    rows = twin.rows
    node.aliases = {name: i for i, name in enumerate(NAMES)}
    node.data(rows[0], taken=False)  # before any birth
    node.node_birth(0)
    node.device_birth(rows[0], 0)
    for i in range(1, 100):
        node.data(rows[i])
    node.wait()
    node.node_death(node.deaths - 1 or 99)  # of an earlier connection
    node.data(rows[100])
    node.wait()
    equal(twin.events('death'), [])
    node.node_death()
    twin.wait_for(lambda: twin.events('death') == ["s: the device 'bench' of the node 'edge' has ended (NDEATH)"])
    node.data(rows[101], taken=False)
    refused = twin.wait_for(lambda: [t for t in twin.events('refused') if 'before a birth' in t])
    check("the device 'bench' of the node 'edge': a message arrived before a birth; values are lost until the next birth" in refused[0], refused)
    twin.wait_for(lambda: len(node.requests()) >= 2, 10)
    node.node_birth(rows[102][0])
    node.device_birth(rows[102], 30)
    p = Payload(timestamp=rows[103][0])
    node.add(p, rows[103])
    p.metrics.add(alias=999, double_value=1, timestamp=rows[103][0])
    node.send('DDATA', p, '/bench')
    twin.wait_for(lambda: any('unknown alias' in t for t in twin.events('refused')))
    for junk in (b'\xff\xff\xff', b'\x12\x05\x0a', b'\x18\x80\x04', b''):
        node.client.publish('spBv1.0/plant/DDATA/edge/bench', junk)
    twin.wait_for(lambda: sum('is not a field of Sparkplug B' in t for t in twin.events('refused')) == 2)
    twin.wait_for(lambda: sum('is 512; expected 0 to 255' in t for t in twin.events('refused')) == 1)
    node.send('DDATA', Payload(uuid='SPBV1.0_COMPRESSED', body=b'x'), '/bench', counts=False)
    twin.wait_for(lambda: any('the payload is compressed' in t for t in twin.events('refused')))
    node.data(rows[104])
    node.wait()
    node.end()
    twin.compare(node.samples, UNITS)
    twin.remove()


# With `rebirth: false` nothing is requested. After the broker has started again, data are used after the next birth only.
def test_no_rebirth():
    twin = SourceTwin(*sys.argv[1:4])
    rows = twin.rows
    Node.requests, requests = lambda self: [1], Node.requests
    node = Node(twin, ', rebirth: false')
    Node.requests = requests
    node.node_birth(0)
    twin.wait_for(lambda: twin.query('SELECT 1'))
    for _ in range(100):  # the twin may still be connecting
        node.node_birth(0)
        node.device_birth(rows[0], 0)
        node.samples = node.samples[:1]
        time.sleep(0.1)
        if twin.events('birth'):
            break
    for i in range(1, 50):
        node.data(rows[i])
    node.wait()
    node.broker.stop()
    twin.wait_for(lambda: any('the twin tries again' in t for t in twin.events('refused')))
    node.broker.start()
    node.client = Client(node.port, 'sender')
    node.client.subscribe('spBv1.0/plant/NCMD/#')
    time.sleep(3)
    node.data(rows[50], taken=False)
    twin.wait_for(lambda: any('before a birth' in t for t in twin.events('refused')))
    node.node_birth(rows[51][0])
    node.device_birth(rows[51], 0)
    node.data(rows[52])
    node.wait()
    equal(node.requests(), [])
    node.end()
    equal(twin.events('rebirth'), [])
    twin.compare(node.samples, UNITS)
    twin.remove()


run_tests(globals())
