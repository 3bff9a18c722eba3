"""fabricast from Python: predicts how a parallel job communicates on a machine, and maps its tasks.

One file over ctypes, nothing to build. It loads libfabricast.so.0 by the usual rules (LD_LIBRARY_PATH, ldconfig) or from
the environment's FABRICAST_LIBRARY.

    import fabricast
    machine = fabricast.Machine("bgl-64")
    job = fabricast.Job.pattern(machine, "stencil3d:bytes=64KiB")
    before, after = fabricast.predict(machine, job), fabricast.predict(machine, job, map="optimize")
    print(after.time_s / before.time_s, after.error_percent, after.bottleneck)
    after.launcher("rankfile", "ranks.txt")
    fabricast.draw([before, after], "figure.png")        # where matplotlib is there

Times are in seconds, sizes in bytes; NaN is unknown. Failures raise fabricast.Error. Objects are closed when nobody holds
them any more.
"""
import ctypes
import json
import os

__all__ = ["Machine", "Job", "Answer", "Error", "predict", "draw", "version"]

_lib = ctypes.CDLL(os.environ.get("FABRICAST_LIBRARY", "libfabricast.so.0"))


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("line", ctypes.c_long), ("file", ctypes.c_char * 512),
                ("message", ctypes.c_char * 1024)]


_Progress = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double)


class _Settings(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("map", ctypes.c_char_p), ("node_of", ctypes.POINTER(ctypes.c_uint32)),
                ("allowed", ctypes.POINTER(ctypes.c_uint32)), ("n_allowed", ctypes.c_uint32), ("network", ctypes.c_char_p),
                ("search_s", ctypes.c_double), ("seed", ctypes.c_uint64), ("threads", ctypes.c_int), ("time_only", ctypes.c_int),
                ("progress", _Progress), ("context", ctypes.c_void_p), ("nodes", ctypes.c_char_p),
                ("background", ctypes.c_char_p)]


class _Figures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("time_s", "communication_s", "computation_s", "bound_s",
                                                     "percent_of_peak", "error_percent")]
    _fields_ += [(name, ctypes.c_char_p) for name in ("binds", "bottleneck", "why")]
    _fields_ += [("n_tasks", ctypes.c_uint32), ("n_links", ctypes.c_uint32), ("node_of", ctypes.POINTER(ctypes.c_uint32)),
                 ("link_bytes", ctypes.POINTER(ctypes.c_double)), ("link_busy_s", ctypes.POINTER(ctypes.c_double)),
                 ("mapping", ctypes.c_char_p), ("hop_bytes", ctypes.c_double), ("waiting_s", ctypes.c_double),
                 ("best_bound_s", ctypes.c_double)]


_lib.fabricast_version.restype = ctypes.c_uint32
_lib.fabricast_defaults.restype = _Settings
_lib.fabricast_answer_figures.restype = ctypes.POINTER(_Figures)
_lib.fabricast_answer_json.restype = ctypes.c_char_p
for _name in ("machine_nodes", "machine_links", "job_tasks"):
    getattr(_lib, "fabricast_" + _name).restype = ctypes.c_uint32
    getattr(_lib, "fabricast_" + _name).argtypes = [ctypes.c_void_p]
for _name in ("machine_close", "job_close", "answer_close"):
    getattr(_lib, "fabricast_" + _name).argtypes = [ctypes.c_void_p]
    getattr(_lib, "fabricast_" + _name).restype = None
_lib.fabricast_answer_figures.argtypes = [ctypes.c_void_p]
_lib.fabricast_answer_json.argtypes = [ctypes.c_void_p]
_lib.fabricast_machine_link.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_size_t]


class Error(Exception):
    """What the library refused: .code (1: could not be done, 2: wrong input, 3: its own fault), .file, .line, .message."""

    def __init__(self, of):
        self.code, self.line = of.code, of.line
        self.file, self.message = _text(of.file), _text(of.message)
        where = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        super().__init__(where + self.message)


def _text(raw):
    return raw.decode("utf-8", "replace") if raw is not None else None


def _bytes(text):
    return None if text is None else os.fsencode(text)


def _call(name, *arguments):
    error = _Error()
    if getattr(_lib, "fabricast_" + name)(*arguments, ctypes.byref(error)):
        raise Error(error)


def _array(kind, values):
    values = list(values)
    return (kind * max(1, len(values)))(*values), len(values)


def version():
    """The library's version, "0.1.0"."""
    number = _lib.fabricast_version()
    return f"{number >> 16}.{number >> 8 & 255}.{number & 255}"


class _Object:
    _close = None

    def __init__(self):
        self._as_parameter_ = ctypes.c_void_p()

    def __del__(self):
        if getattr(self, "_as_parameter_", None) and _lib is not None:
            self._close(self._as_parameter_)


class Machine(_Object):
    """A shipped machine by name or a machine file by path, changed by settings: Machine("bgl-512", ["network.dims=[8,8,4]"])."""
    _close = _lib.fabricast_machine_close

    def __init__(self, name, settings=()):
        super().__init__()
        texts = [_bytes(s) for s in settings] + [None]
        _call("machine_open", _bytes(name), (ctypes.c_char_p * len(texts))(*texts), ctypes.byref(self._as_parameter_))
        self.name = name

    nodes = property(lambda self: _lib.fabricast_machine_nodes(self), doc="Number of nodes.")
    links = property(lambda self: _lib.fabricast_machine_links(self), doc="Number of links, one a direction.")

    def hosts(self, hosts):
        """Names the hosts of nodes 0, 1, ...: "nid[0001-0512]", or "@FILE"."""
        _call("machine_hosts", self, _bytes(hosts))

    def link(self, number):
        """The name of a link."""
        out = ctypes.create_string_buffer(256)
        _lib.fabricast_machine_link(self, number, out, len(out))
        return _text(out.value)


class Job(_Object):
    """What is to be predicted: Job.trace(), Job.pattern(), Job.graph() or Job.traffic()."""
    _close = _lib.fabricast_job_close

    @classmethod
    def trace(cls, path):
        """A recorded trace."""
        job = cls()
        _call("job_trace", _bytes(path), ctypes.byref(job._as_parameter_))
        return job

    @classmethod
    def pattern(cls, machine, pattern, seed=1):
        """A pattern on that machine: "alltoall:bytes=4KiB"."""
        job = cls()
        _call("job_pattern", machine, _bytes(pattern), ctypes.c_uint64(seed), ctypes.byref(job._as_parameter_))
        return job

    @classmethod
    def graph(cls, path):
        """A file with a communication graph."""
        job = cls()
        _call("job_graph", _bytes(path), ctypes.byref(job._as_parameter_))
        return job

    @classmethod
    def traffic(cls, n_tasks, messages):
        """Messages (source task, destination task, bytes) between tasks 0 .. n_tasks - 1."""
        job, messages = cls(), list(messages)
        src, n = _array(ctypes.c_uint32, (m[0] for m in messages))
        dst, _ = _array(ctypes.c_uint32, (m[1] for m in messages))
        size, _ = _array(ctypes.c_double, (m[2] for m in messages))
        _call("job_traffic", ctypes.c_uint32(n_tasks), ctypes.c_size_t(n), src, dst, size, ctypes.byref(job._as_parameter_))
        return job

    tasks = property(lambda self: _lib.fabricast_job_tasks(self), doc="Number of tasks.")


class Answer(_Object):
    """A prediction. Attributes: time_s, communication_s, computation_s, waiting_s, bound_s, best_bound_s, percent_of_peak, error_percent, binds,
    bottleneck, why, mapping, hop_bytes, n_tasks, n_links, node_of[task], link_bytes[link], link_busy_s[link]."""
    _close = _lib.fabricast_answer_close

    def __init__(self, machine):
        super().__init__()
        self.machine = machine

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        figures = _lib.fabricast_answer_figures(self).contents
        value = getattr(figures, name)
        if name == "node_of":
            return value[:figures.n_tasks]
        if name in ("link_bytes", "link_busy_s"):
            return value[:figures.n_links]
        return _text(value) if isinstance(value, bytes) else value

    def json(self):
        """What `fabricast predict --json` prints, as a dictionary."""
        return json.loads(_lib.fabricast_answer_json(self))

    def launcher(self, format, path):
        """Writes the mapping for a launcher: "slurm", "rankfile", "hostfile", ...; "cores" is fabricast's own."""
        _call("answer_launcher", self, self.machine, _bytes(format), _bytes(path))

    def hottest(self, n=5):
        """The n links that are busy longest: (name, seconds, bytes)."""
        busy, carried = self.link_busy_s, self.link_bytes
        order = sorted(range(len(busy)), key=lambda l: (-busy[l], l))[:n]
        return [(self.machine.link(l), busy[l], carried[l]) for l in order]


def predict(machine, job, map=None, node_of=None, allowed=None, nodes=None, network=None, background=None, search_s=0,
            seed=1, threads=1, progress=None):
    """Predicts the job on the machine; returns an Answer.

    map: a strategy ("def", "optimize", ...) or a mapping file; node_of: instead the node of every task. allowed: numbers of
    nodes that may be used, or nodes: the same as text ("0-31,64", host names, "@FILE"). network: of a trace, "contention",
    "queueing", "flit" or "ideal". background: other jobs on the links, "uniform:30%". search_s: limit of a search, counted.
    progress: called with the share done; true ends a search.
    """
    settings = _lib.fabricast_defaults()
    settings.map, settings.network = _bytes(map), _bytes(network)
    settings.nodes, settings.background = _bytes(nodes), _bytes(background)
    settings.search_s, settings.seed, settings.threads = search_s, seed, threads
    if node_of is not None:
        node_of, n = _array(ctypes.c_uint32, node_of)
        if n != job.tasks:
            raise ValueError(f"node_of has {n} entries for {job.tasks} tasks")
        settings.node_of = ctypes.cast(node_of, ctypes.POINTER(ctypes.c_uint32))
    if allowed is not None:
        allowed, settings.n_allowed = _array(ctypes.c_uint32, allowed)
        settings.allowed = ctypes.cast(allowed, ctypes.POINTER(ctypes.c_uint32))
    if progress is not None:
        settings.progress = _Progress(lambda _, done: int(bool(progress(done))))
    answer = Answer(machine)
    _call("predict", machine, job, ctypes.byref(settings), ctypes.byref(answer._as_parameter_))
    return answer


def draw(answers, path=None):
    """Bars of computation and communication, one an answer, with its error and the bound; returns matplotlib's figure."""
    import matplotlib
    if path:
        matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(1.6 + 1.4 * len(answers), 4), constrained_layout=True)
    names = [f"{a.machine.name}\n{a.mapping}" for a in answers]
    unit, scale = ("s", 1) if max(a.time_s for a in answers) >= 1 else ("ms", 1e3)
    computation = [scale * a.computation_s for a in answers]
    axes.bar(names, computation, width=0.6, color="#1f3f7a", label="computation")
    axes.bar(names, [scale * a.communication_s for a in answers], width=0.6, bottom=computation, color="#e69f45",
             label="communication")
    for i, a in enumerate(answers):
        if a.error_percent == a.error_percent:
            axes.errorbar(i, scale * a.time_s, scale * a.time_s * a.error_percent / 100, color="black", capsize=4)
        axes.hlines(scale * a.bound_s, i - 0.35, i + 0.35, colors="black", linestyles="dashed",
                    label="bound" if i == 0 else None)
    axes.set_ylabel(f"time ({unit})")
    axes.legend(frameon=False)
    if path:
        figure.savefig(path, dpi=120)
    return figure
