# A client of MQTT 3.1.1 for tests, from its standard: connects, publishes and subscribes. Also starts the broker.
import socket, struct, subprocess, threading, time

BROKER = '/usr/sbin/mosquitto'


class Broker:
    def __init__(self, twin, port):
        self.port, self.path = port, twin.path('broker.conf')
        with open(self.path, 'w') as f:
            f.write(f'listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nmax_queued_messages 0\nuser root\n')
        self.log = open(twin.path('broker.log'), 'a')
        self.start()

    def start(self):
        self.child = subprocess.Popen([BROKER, '-c', self.path], stdout=self.log, stderr=self.log)

    def stop(self):
        self.child.terminate()
        self.child.wait()


def text(s):
    b = s.encode()
    return struct.pack('>H', len(b)) + b


class Client:
    def __init__(self, port, name):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(('127.0.0.1', port))
                break
            except OSError:
                time.sleep(0.05)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.messages, self.numbers = [], 0
        self.send(0x10, text('MQTT') + b'\x04\x02\x00\x00' + text(name))
        kind, body = self.receive()
        assert kind == 0x20 and body == b'\x00\x00', (kind, body)
        threading.Thread(target=self.listen, daemon=True).start()

    def send(self, kind, body):
        length, size = len(body), b''
        while True:
            size += bytes([length % 128 | (128 if length > 127 else 0)])
            length //= 128
            if length == 0:
                break
        self.socket.sendall(bytes([kind]) + size + body)

    def take(self, count):
        got = b''
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                raise OSError('closed')
            got += part
        return got

    def receive(self):
        kind, length, shift = self.take(1)[0], 0, 0
        while True:
            byte = self.take(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return kind, self.take(length)

    def listen(self):
        try:
            while True:
                kind, body = self.receive()
                if kind & 0xf0 == 0x30:
                    size = struct.unpack('>H', body[:2])[0]
                    self.messages.append((time.monotonic(), body[2:2 + size].decode(), body[2 + size:]))
        except OSError:
            pass

    def subscribe(self, topic):
        self.numbers += 1
        self.send(0x82, struct.pack('>H', self.numbers) + text(topic) + b'\x00')

    # Publishes with QoS 0.
    def publish(self, topic, payload):
        self.send(0x30, text(topic) + payload)

    def close(self):
        self.send(0xe0, b'')
        self.socket.close()
