"""CuPy without a card: NumPy's arrays, and CUDA sources compiled for the CPU.

`EmulatedModule` stands for the module. Kernels are slow there but do what they do on a
card, barriers, warps and shared memory included (`emulated_cuda.h`).
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from functools import cache, cached_property, partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from stand_in import CardArray, Module, foreign

HEADER = Path(__file__).with_name("emulated_cuda.h")
COMPILER = shutil.which("g++")
SHARED_BYTES = 232_448


class EmulatedArray(CardArray):
    """An array with the attributes of CuPy's."""

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.array(self.view(np.ndarray))

    def set(self, array, stream):
        assert stream is not None
        assert array.dtype == self.dtype
        assert array.flags.c_contiguous
        self.view(np.ndarray)[...] = array


class Waiting:
    """A stream or an event; nothing is under way."""

    def __init__(self, **_):
        self.synchronize = self.record = self.wait_event = lambda *_: None


class RawKernel:
    """A kernel of some source, compiled when it is first called."""

    num_regs, shared_size_bytes, max_dynamic_shared_size_bytes = 40, 1024, 0

    def __init__(self, library, name):
        self.library, self.name = library, name

    def __call__(self, grid, block, arguments, shared_mem=0):
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        types = self.library.types[self.name]
        assert len(types) == len(arguments), (self.name, types, len(arguments))
        slots = [slot(value, kind) for value, kind in zip(arguments, types, strict=True)]
        pointers = (ctypes.c_void_p * len(slots))(*(ctypes.addressof(each) for each in slots))
        sizes = (ctypes.c_uint * 3)(grid[0], grid[1] if len(grid) > 1 else 1, block[0])
        launch = getattr(self.library.loaded, f"emulated_{self.name}")
        launch(sizes, ctypes.c_size_t(shared_mem), pointers)


class Library:
    """All kernels of a source, compiled once."""

    def __init__(self, folder, code, options):
        self.folder, self.code, self.options = folder, code, options
        found = re.findall(
            r'extern "C" __global__ void (?:__launch_bounds__\(.*?\) )?(\w+)\((.*?)\)\s*{',
            code,
            re.S,
        )
        self.types = {
            name: [kind_of(" ".join(each.split())) for each in parameters.split(",")]
            for name, parameters in found
        }

    @cached_property
    def loaded(self):
        code = re.sub(
            r"extern __shared__ (\w+) (\w+)\[\];",
            r"\1 *\2 = reinterpret_cast<\1 *>(emulated::dynamic.data());",
            self.code,
        )
        code = f'#include "{HEADER}"\n' + code.replace("__shared__", "static")
        code += "static void **given;\n"
        for name, types in self.types.items():
            passed = ", ".join(f"*({kind} *)given[{i}]" for i, kind in enumerate(types))
            code += (
                f"static void body_of_{name}() {{ {name}({passed}); }}\n"
                f'extern "C" void emulated_{name}(const unsigned *sizes, size_t n, void **passed) '
                f"{{ given = passed; emulated::body = body_of_{name}; "
                "emulated::launch(sizes, n); }\n"
            )
        source = self.folder / f"{len(list(self.folder.iterdir()))}.cpp"
        source.write_text(code)
        target = source.with_suffix(".so")
        flags = ["-O1", "-shared", "-fPIC", "-ffp-contract=off", "-w", *self.options]
        subprocess.run([COMPILER, *flags, "-o", target, source], check=True)
        return ctypes.CDLL(str(target))


def kind_of(parameter):
    """Return the type of a parameter, without its name."""
    return re.sub(r"(__restrict__ )?\w+$", "", parameter).strip()


SCALARS = {"Long": np.int64, "int": np.int32, "double": np.float64, "long long": np.int64}
POINTED = {
    "double": (np.float64,),
    "float": (np.float32,),
    "int": (np.int32,),
    "Long": (np.int64,),
    "Count": (np.int64, np.uint64),
    "bool": (np.bool_,),
    "VALUE": (np.float32, np.float64),
    "INDEX": (np.int32, np.uint16),
    "double2": (np.float64,),
    "unsigned char": (np.uint8,),
    "unsigned": (np.uint32,),
    "unsigned short": (np.uint16,),
}


def slot(value, kind):
    """Return an argument as C takes it; its type must be the one that is asked for."""
    if "*" not in kind:
        assert type(value) is SCALARS[kind], (kind, type(value))
        return ctypes.c_double(value) if kind == "double" else ctypes.c_int64(int(value))
    if type(value) is np.uintp and value == 0:
        return ctypes.c_void_p(0)
    assert isinstance(value, CardArray), type(value)
    assert value.flags.c_contiguous
    pointed = kind.replace("const", "").replace("*", "").strip()
    assert value.dtype.type in POINTED[pointed], (kind, value.dtype)
    return ctypes.c_void_p(value.ctypes.data)


class EmulatedModule(Module):
    """What stands for the module `cupy`."""

    def __init__(self, folder, n_multiprocessors):
        attributes = {
            "MultiProcessorCount": n_multiprocessors,
            "MaxSharedMemoryPerBlockOptin": SHARED_BYTES,
        }
        self.cuda = SimpleNamespace(
            Device=lambda: SimpleNamespace(attributes=attributes),
            Event=Waiting,
            Stream=Waiting,
            get_current_stream=Waiting,
            alloc_pinned_memory=lambda size: memoryview(bytearray(size)),
        )
        self._library = cache(partial(Library, folder))

    def __getattr__(self, name):
        found = super().__getattr__(name)
        if isinstance(found, type) or not callable(found):
            return found
        return lambda *args, **options: emulated(found(*args, **options))

    def RawKernel(self, code, name, options=()):
        chosen = tuple(each for each in options if each.startswith("-D"))
        return RawKernel(self._library(code, chosen), name)

    def asarray(self, array, dtype=None):
        return emulated(foreign(np.array(np.asarray(array), dtype=dtype)))

    def asnumpy(self, array):
        assert isinstance(array, CardArray)
        return np.array(array.view(np.ndarray))


def emulated(value):
    if isinstance(value, tuple):
        return tuple(emulated(each) for each in value)
    return value.view(EmulatedArray) if isinstance(value, np.ndarray) else value
