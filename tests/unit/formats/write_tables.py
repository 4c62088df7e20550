"""Writes HDF5 and MATLAB files with other programs, for tests of the readers: write_tables.py WRITER FOLDER

Every file NAME gets a list NAME.expected of the columns that a reader must find: name, unit and the numbers as the 16 hexadecimal digits
of a double, separated by tabs. The first column is the time. "!" instead of the numbers: the column has no numbers. The exit code is 77 if the writer is not installed.
"""
import os
import struct
import sys

try:
    import numpy as np
    if sys.argv[1] == "h5py":
        import h5py
    elif sys.argv[1] == "tables":
        import tables
    elif sys.argv[1] == "pandas":
        import pandas
        import tables
    elif sys.argv[1] == "scipy":
        import scipy.io
    else:
        sys.exit("unknown writer")
except ImportError:
    sys.exit(77)

folder = sys.argv[2]
rng = np.random.default_rng(7)


def path(name):
    return os.path.join(folder, name)


def expect(name, columns):
    """columns: list of (name, unit, values or None)"""
    with open(path(name + ".expected"), "w") as f:
        for label, unit, values in columns:
            cells = ["!"] if values is None else [struct.pack(">d", float(v)).hex() for v in values]
            f.write("\t".join([label, unit] + cells) + "\n")


def write_h5py():
    n = 3000
    t = np.arange(n) * 1e-3
    with h5py.File(path("types.h5"), "w") as f:
        columns = [("time", "", t)]
        f["time"] = t
        for name in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 >i2 >u4 >i8 >f4 >f8".split():
            kind = np.dtype(name)
            if kind.kind == "f":
                data = rng.normal(size=n).astype(kind)
            else:
                limits = np.iinfo(kind)
                data = rng.integers(limits.min, limits.max, size=n, dtype=kind.newbyteorder("="), endpoint=True).astype(kind)
            label = "big_" + name[1:] if name[0] == ">" else name
            f[label] = data
            columns.append((label, "", data.astype(float)))
        f["flag"] = rng.integers(0, 2, size=n).astype(bool)
        columns.append(("flag", "", f["flag"][:].astype(float)))
        f["state"] = rng.integers(0, 3, size=n)
        gear = h5py.enum_dtype({"park": 0, "drive": 5}, basetype="i2")
        f.create_dataset("gear", data=np.where(t > 1, 5, 0), dtype=gear)
        columns.append(("gear", "", np.where(t > 1, 5, 0)))
        f.create_dataset("long", data=rng.normal(size=n).astype(np.longdouble))
        columns.append(("long", "", f["long"][:].astype(float)))
        f.create_dataset("words", data=[b"on"] * n)
        f.create_dataset("texts", data=["on"] * n, dtype=h5py.string_dtype())
        f["note"] = "a single text is no column"
        f["other_length"] = np.arange(7.0)
        f["cube"] = np.zeros((2, 3, 4))
        columns += [("words", "", None), ("texts", "", None), ("state", "", f["state"][:])]
        expect("types.h5", columns)
    with h5py.File(path("storage.h5"), "w") as f:
        g = f.create_group("log/front")
        columns = [("log.t", "ms", 1000 * t)]
        f["log"].create_dataset("t", data=1000 * t).attrs["unit"] = "ms"
        data = rng.normal(size=(n, 3))
        for name, options in {
            "plain": {},
            "chunked": {"chunks": (100, 3)},
            "gzip": {"chunks": (1000, 2), "compression": "gzip"},
            "shuffle": {"chunks": (77, 1), "compression": "gzip", "shuffle": True, "fletcher32": True},
        }.items():
            d = g.create_dataset(name, data=data, **options)
            d.attrs["units"] = "bar"
            columns += [(f"log.front.{name}(:,{k + 1})", "bar", data[:, k]) for k in range(3)]
        counts = rng.integers(-100, 4000, size=n)
        g.create_dataset("scaleoffset", data=counts, chunks=(500,), scaleoffset=0).attrs["unit"] = np.bytes_("1")
        columns.append(("log.front.scaleoffset", "1", counts))
        rows = rng.normal(size=(2, n))
        g.create_dataset("rows", data=rows, chunks=(1, 900), compression="gzip").attrs["units"] = ["V", "A"]
        columns += [(f"log.front.rows({k + 1},:)", "", rows[k]) for k in range(2)]
        own = rng.normal(size=(n, 2))
        g.create_dataset("own", data=own).attrs["units"] = ["V", "A"]
        columns += [(f"log.front.own(:,{k + 1})", u, own[:, k]) for k, u in enumerate("VA")]
        g.create_dataset("deep", data=own[:, :1].reshape(1, n, 1))
        columns.append(("log.front.deep", "", own[:, 0]))
        partly = g.create_dataset("partly", shape=(n,), chunks=(100,), fillvalue=-1.0)
        partly[50:150] = own[50:150, 1]
        columns.append(("log.front.partly", "", partly[:]))
        columns.append(("log.front.lzf", "", None))
        g.create_dataset("lzf", data=own, compression="lzf")
        expect("storage.h5", columns)
    record = np.dtype([("t", "f8"), ("p", "f4", (2,)), ("n", "i4"), ("name", "S4"), ("pose", [("x", "f8"), ("y", ">i2")])])
    table = np.zeros(n, record)
    table["t"] = t
    table["p"] = rng.normal(size=(n, 2))
    table["n"] = np.arange(n)
    table["pose"]["x"] = rng.normal(size=n)
    table["pose"]["y"] = np.arange(n) % 777
    with h5py.File(path("records.hdf5"), "w", userblock_size=2048) as f:
        d = f.create_dataset("run", data=table, chunks=(128,), compression="gzip")
        d.attrs["units"] = ["s", "bar", "1", "", "m", "mm"]
        expect("records.hdf5", [("run.t", "s", t), ("run.p(:,1)", "bar", table["p"][:, 0]), ("run.p(:,2)", "bar", table["p"][:, 1]),
                                ("run.n", "1", table["n"]), ("run.name", "", None), ("run.pose.x", "m", table["pose"]["x"]),
                                ("run.pose.y", "mm", table["pose"]["y"])])
    with h5py.File(path("conventions.h5"), "w", userblock_size=8192) as f:
        clock = f.create_dataset("clock", data=np.arange(n))
        clock.attrs["units"] = "milliseconds since 2024-03-01 12:00:00"
        packed = f.create_dataset("p", data=np.arange(n, dtype="i2"))
        packed.attrs.update({"scale_factor": 0.5, "add_offset": 100.0, "_FillValue": np.int16(7), "units": "kPa"})
        f["q"] = np.arange(n) * 1.0
        values = np.arange(n) * 0.5 + 100
        values[7] = np.nan
        # The mark of missing values has more digits than the numbers.
        single = f.create_dataset("r", data=np.where(np.arange(n) % 5 == 0, 1e20, 0.1 * np.arange(n)).astype("f4"))
        single.attrs.update({"_FillValue": 1e20, "missing_value": 0.1})
        stored = single[:].astype("f8")
        stored[::5] = np.nan
        stored[1] = np.nan
        expect("conventions.h5", [("clock", "ms", np.arange(n)), ("p", "kPa", values), ("q", "", np.arange(n)), ("r", "", stored)])


def write_matlab_73():
    """Files of level 7.3 as MATLAB writes them: a block of text, the class as an attribute, matrices transposed."""
    def header(name):
        with open(path(name), "r+b") as f:
            text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan 01 00:00:00 2024 HDF5 schema 1.00 ."
            f.write(text.ljust(124, b" ") + b"\x00\x02IM")
    def mark(item, kind):  # a text with the length of the class, as in files of MATLAB
        text = h5py.h5t.C_S1.copy()
        text.set_size(len(kind))
        attribute = h5py.h5a.create(item.id, b"MATLAB_class", text, h5py.h5s.create(h5py.h5s.SCALAR))
        attribute.write(np.array(kind.encode()), mtype=text)
    with h5py.File(path("v73.mat"), "w", userblock_size=512) as f:
        def put(group, name, data, kind):
            mark(group.create_dataset(name, data=data), kind)
        t = np.arange(50) * 0.01
        put(f, "t", t.reshape(1, 50), "double")
        put(f, "X", np.arange(100.0).reshape(2, 50), "double")
        log = f.create_group("log")
        mark(log, "struct")
        put(log, "p", np.arange(50, dtype="f4").reshape(50, 1), "single")
        for name, kind in (("ts", "timeseries"), ("when", "datetime")):
            put(f, name, np.array([[0xDD000000, 2, 1, 1, 1, 1]], "u4"), kind)
            f[name].attrs["MATLAB_object_decode"] = np.int32(3)
        expect("v73.mat", [("t", "", t), ("X(:,1)", "", np.arange(50.0)), ("X(:,2)", "", np.arange(50.0) + 50), ("log.p", "", np.arange(50.0)),
                           ("ts", "", None), ("when", "", None)])
    header("v73.mat")


def write_tables():
    n = 500

    class Row(tables.IsDescription):
        time = tables.Float64Col(pos=0)
        p = tables.Float32Col(pos=1)
        flag = tables.BoolCol(pos=2)
        word = tables.StringCol(5, pos=3)
        both = tables.Int16Col(shape=(2,), pos=4)

    with tables.open_file(path("table.h5"), "w") as f:
        t = f.create_table("/", "run", Row, filters=tables.Filters(complevel=5, complib="zlib", shuffle=True), chunkshape=(64,))
        data = np.zeros(n, dtype=t.dtype)
        data["time"] = np.arange(n) * 0.1
        data["p"] = rng.normal(size=n)
        data["flag"] = np.arange(n) % 3 == 0
        data["both"] = rng.integers(-9, 9, size=(n, 2))
        t.append(data)
        t.flush()
        t.cols.time.create_index()
        f.create_carray("/", "flags", obj=data["flag"])
        expect("table.h5", [("run.time", "", data["time"]), ("run.p", "", data["p"]), ("run.flag", "", data["flag"]), ("run.word", "", None),
                            ("run.both(:,1)", "", data["both"][:, 0]), ("run.both(:,2)", "", data["both"][:, 1]), ("flags", "", data["flag"])])


def write_pandas():
    n = 200
    frame = pandas.DataFrame({"p": rng.normal(size=n), "n": np.arange(n), "q": rng.normal(size=n), "flag": np.arange(n) % 2 == 0},
                             index=pandas.date_range("2020-01-01", periods=n, freq="10ms"))
    nanoseconds = frame.index.astype("int64").to_numpy().astype(float)
    frame.to_hdf(path("fixed.h5"), "run")
    expect("fixed.h5", [("run.axis1", "ns", nanoseconds)] + [("run." + c, "", frame[c].to_numpy()) for c in "p n q flag".split()])
    frame.to_hdf(path("blocks.h5"), "run", format="table", complevel=5, complib="zlib")
    expect("blocks.h5", [("run.table.index", "ns", nanoseconds)] + [("run.table." + c, "", frame[c].to_numpy()) for c in "p n q flag".split()])
    frame.set_index(np.arange(n) * 0.5).to_hdf(path("fields.h5"), "run", format="table", data_columns=True)
    expect("fields.h5", [("run.table.index", "", np.arange(n) * 0.5)] + [("run.table." + c, "", frame[c].to_numpy()) for c in "p n q flag".split()])


def write_scipy():
    n = 300
    t = np.arange(n) * 0.02
    plain = {"t": t, "p": rng.normal(size=(n, 1)), "X": rng.normal(size=(n, 2)), "Y": rng.normal(size=(3, n)), "small": np.arange(4.0)}
    columns = [("t", "", t), ("p", "", plain["p"][:, 0])] + [(f"X(:,{k + 1})", "", plain["X"][:, k]) for k in range(2)]
    columns += [(f"Y({k + 1},:)", "", plain["Y"][k]) for k in range(3)]
    scipy.io.savemat(path("v4.mat"), plain, format="4")
    expect("v4.mat", columns)
    more = dict(plain)
    columns = list(columns)
    for kind in "i1 i2 i4 i8 u1 u2 u4 u8 f4".split():
        more[kind] = rng.integers(0, 100, size=n).astype(kind)
        columns.append((kind, "", more[kind].astype(float)))
    more["log"] = {"q": rng.normal(size=n), "inner": {"angle": rng.normal(size=n)}}
    columns += [("log.q", "", more["log"]["q"]), ("log.inner.angle", "", more["log"]["inner"]["angle"])]
    more["flag"] = np.arange(n) % 2 == 0
    columns.append(("flag", "", more["flag"]))
    more["name"] = "a text"
    more["cells"] = np.array([1, "a"], dtype=object)
    for name, packed in (("v5.mat", False), ("v5z.mat", True)):
        scipy.io.savemat(path(name), more, do_compression=packed)
        expect(name, columns)


{"h5py": lambda: (write_h5py(), write_matlab_73()), "tables": write_tables, "pandas": write_pandas, "scipy": write_scipy}[sys.argv[1]]()
