# Modbus/TCP: registers of all forms, adjacent registers in one request, exceptions, a server that ends and starts again, a server without answers.
# Oracles: the server of pymodbus, which shares no code with libmodbus; Python's struct for the bits of numbers.
#   modbus.py TWIN OLEODYN SOURCE [TEST...]
import asyncio, logging, socket, struct, sys, threading, time

from source_twin import COLUMNS, SourceTwin, check, equal, free_port, run_tests

try:
    from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
    from pymodbus.server import StartAsyncTcpServer, ServerAsyncStop
except ImportError:
    print('skipped: no package: python3-pymodbus')
    sys.exit(77)

logging.disable(logging.CRITICAL)  # of the server, about exceptions and lost connections
COILS, DISCRETE, HOLDING, INPUT = 1, 2, 3, 4


class Server:
    """A server with all registers from 0 to 999 and unit 7, in a thread. It counts the requests for each table and address."""

    def __init__(self, port):
        self.port, self.requests, self.late = port, {}, 0
        outer = self

        class Store(ModbusSlaveContext):
            def getValues(self, function, address, count=1):
                key = (function, address, count)
                outer.requests[key] = outer.requests.get(key, 0) + 1
                time.sleep(outer.late)
                return super().getValues(function, address, count)

        def block():
            return ModbusSequentialDataBlock(0, [0] * 1000)

        self.store = Store(di=block(), co=block(), hr=block(), ir=block(), zero_mode=True)
        self.start()

    def start(self):
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()

        async def serve():
            self.ready.set()
            await StartAsyncTcpServer(context=ModbusServerContext(slaves={7: self.store}, single=False), address=('127.0.0.1', self.port), allow_reuse_address=True)

        def work():
            asyncio.set_event_loop(self.loop)
            try:
                self.loop.run_until_complete(serve())
            except (asyncio.CancelledError, RuntimeError):
                pass

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()
        self.ready.wait()
        for _ in range(100):
            try:
                socket.create_connection(('127.0.0.1', self.port)).close()
                return
            except OSError:
                time.sleep(0.05)

    def stop(self):
        asyncio.run_coroutine_threadsafe(ServerAsyncStop(), self.loop)
        self.thread.join(10)

    # Writes a number as registers of 16 bits.
    def put(self, table, address, form, value, little=False):
        data = struct.pack('>' + form, value)
        words = list(struct.unpack(f'>{len(data) // 2}H', data))
        self.store.setValues({HOLDING: 3, INPUT: 4}[table], address, words[::-1] if little else words)


# Registers of the columns: name, table, address, form, word order, scale and unit.
def register(name, address, form='uint16', kind='holding', order='big', scale=1.0, unit=None):
    word = '' if kind in ('coil', 'discrete') else f', type: {form}'
    return f'"{name}": {{address: {address}, kind: {kind}{word}, order: {order}, scale: {scale!r}{f", unit: {unit}" if unit else ""}}}'


REGISTERS = [register('cylinder.length', 100, 'float32'), register('P.pressure', 102, scale=0.01, unit='bar'),
             register('A.pressure', 20, 'int32', 'input', 'little', 1e-3, 'kPa'), register('U_ref', 103, 'float64')]


# Writes the values of a row into the registers. Returns what the twin is to read: the values of COLUMNS in SI units.
def put_row(server, row):
    length = struct.unpack('f', struct.pack('f', row[1]))[0]
    hundredths, pascals = round(row[2] / 1e3), round(row[3])
    server.put(HOLDING, 100, 'f', length)
    server.put(HOLDING, 102, 'H', hundredths)
    server.put(INPUT, 20, 'i', pascals, little=True)
    server.put(HOLDING, 103, 'd', row[4])
    return length, 0.01 * hundredths * 1e5, 1e-3 * pascals * 1e3, row[4]


def new(registers=REGISTERS, every='10 ms', more=''):
    twin = SourceTwin(*sys.argv[1:4])
    twin.full = [r for r in twin.rows if None not in r]
    server = Server(free_port())
    twin.source = (f'{{type: modbus, host: localhost, port: {server.port}, unit_id: 7, every: {every}, registers: {{{", ".join(registers)}}}{more}}}')
    return twin, server


CHANNELS = ['measured.cylinder.length', 'measured.P.pressure', 'measured.A.pressure', 'input.U_ref']


# Values that change every 10 ms are read every 10 ms: adjacent registers with one request, times from the clock of this computer, no read missing.
def test_values():
    twin, server = new()
    begin, sent = time.time(), [put_row(server, twin.full[0])]
    twin.start(twin.source)
    for row in twin.full[1:300]:
        sent.append(put_row(server, row))
        time.sleep(0.01)
    twin.wait_for(lambda: twin.count() >= 100)
    twin.stop()
    rows = twin.stored()
    check(all(begin < r['time'] < time.time() for r in rows), rows[0]['time'])
    steps = sorted(b['time'] - a['time'] for a, b in zip(rows, rows[1:]))
    check(0.009 < steps[len(steps) // 2] < 0.011, steps[len(steps) // 2])
    for k, channel in enumerate(CHANNELS):
        check(all(min(abs(r[channel] - s[k]) for s in sent) <= 1e-12 * abs(r[channel]) for r in rows), channel)
        check(len({r[channel] for r in rows}) > 50, channel)
    equal(set(server.requests), {(HOLDING, 100, 7), (INPUT, 20, 2)})
    equal(twin.events('refused') + twin.events('exception'), [])
    server.stop()
    twin.remove()


# Each form of number in both orders, in both tables of registers; coils and discrete inputs.
def test_forms():
    forms = [('uint16', 'H', 65535), ('int16', 'h', -12345), ('uint32', 'I', 4000000000), ('int32', 'i', -2000000000),
             ('uint64', 'Q', (1 << 63) + (1 << 20)), ('int64', 'q', -(1 << 62)), ('float32', 'f', -0.00146484375), ('float64', 'd', 1.25e300)]
    targets = [1.62, 5.6e6, 2e6, 0.5]
    for order in ('big', 'little'):
        for group in (forms[:4], forms[4:]):
            scales = [target / value for target, (_, _, value) in zip(targets, group)]
            kinds = ['holding', 'input', 'input', 'holding']
            twin, server = new([register(c, 40 * i, form, kind, order, scale) for i, (c, (form, _, _), kind, scale) in enumerate(zip(COLUMNS, group, kinds, scales))])
            for i, ((_, code, value), kind) in enumerate(zip(group, kinds)):
                server.put(HOLDING if kind == 'holding' else INPUT, 40 * i, code, value, order == 'little')
            twin.start(twin.source)
            twin.wait_for(lambda: twin.count() >= 3)
            twin.stop()
            server.stop()
            row = twin.stored()[0]
            for channel, scale, (_, _, value) in zip(CHANNELS, scales, group):
                equal(row[channel], scale * float(value))
            twin.remove()
    twin, server = new(REGISTERS[:1] + [register('P.pressure', 7, kind='coil', scale=5.6e6), register('A.pressure', 8, kind='coil', scale=2e6), register('U_ref', 900, kind='discrete')])
    put_row(server, twin.full[0])
    server.store.setValues(5, 7, [1])  # coils
    server.store.store['d'].setValues(900, [1])
    twin.start(twin.source)
    twin.wait_for(lambda: twin.count() >= 3)
    twin.stop()
    row = twin.stored()[0]
    equal([row[c] for c in CHANNELS[1:]], [5.6e6, 0.0, 1.0])
    equal(set(server.requests), {(HOLDING, 100, 2), (COILS, 7, 2), (DISCRETE, 900, 1)})
    server.stop()
    twin.remove()


# Registers that the server does not have give exceptions: reported once with their number, and the other registers are samples.
def test_exceptions():
    twin, server = new(REGISTERS[:2] + [register('A.pressure', 5000, unit='bar'), REGISTERS[3]])
    put_row(server, twin.full[0])
    twin.start(twin.source)
    twin.wait_for(lambda: twin.count() >= 30)
    equal(twin.events('exception'), ['s: holding registers 5000 to 5000: Illegal data address'])
    twin.stop()
    rows = twin.stored()
    check(all(r['measured.A.pressure'] != r['measured.A.pressure'] and r['measured.P.pressure'] > 0 for r in rows), rows[0])
    last = twin.events('exception')[-1]
    check(last.startswith('s: holding registers 5000 to 5000: the source ends after ') and int(last.split()[-2]) >= len(rows), last)
    server.stop()
    twin.remove()


# The server ends and starts again, and an answer is late: the twin tries again, and the reads between are missing.
def test_connection():
    twin, server = new(more=', timeout: 200 ms')
    put_row(server, twin.full[0])
    twin.start(twin.source)
    twin.wait_for(lambda: twin.count() >= 20)
    server.stop()
    twin.wait_for(lambda: any('the twin tries again' in t for t in twin.events('refused')))
    time.sleep(0.5)
    stopped = twin.count()
    server.start()
    twin.wait_for(lambda: twin.count() >= stopped + 20)
    missing = twin.wait_for(lambda: [t for t in twin.events('missing')])
    check(int(missing[-1].split()[0]) >= 40, missing)
    server.late = 0.5
    twin.wait_for(lambda: len([t for t in twin.events('refused') if 'timed out' in t]) == 1)
    server.late = 0
    stopped = twin.count()
    twin.wait_for(lambda: twin.count() >= stopped + 20)
    begin = time.monotonic()
    twin.stop()
    check(time.monotonic() - begin < 2)
    server.stop()
    twin.remove()


run_tests(globals())
