"""Token files of the user: lists them, counts their samples, and checks that they can be trained on.

A shard is one stream of token ids, packed, without padding: `name.npy` (one dimension, uint16 or uint32, as numpy
writes it) or `name.bin` (the plain numbers, little-endian, in the spec's dtype). A folder's shards are taken in the
order of their names. With sequence length T, sample k of a shard is tokens kT to (k+1)T, both included. The last of
these is only a target, so samples overlap by one token. A remainder shorter than a sample is left out.

Files are mapped into memory, not read, so a data set may be larger than memory. Standard library only.
"""

from __future__ import annotations

import ast
import mmap
import struct
import sys
from array import array
from bisect import bisect_right
from pathlib import Path
from typing import Any, List, Sequence, Tuple

from ..contract.spec import Spec, SpecError

ENDINGS = (".npy", ".bin")
ITEM_BYTES = {"uint16": 2, "uint32": 4}
NPY_DTYPES = {"<u2": "uint16", "<u4": "uint32"}
NPY_MAGIC = b"\x93NUMPY"
ARRAY_CODES = {"uint16": "H", "uint32": "I"}


class Shard:
    """One open file of tokens."""

    def __init__(self, path: Path, *, dtype: str, offset: int, tokens: int) -> None:
        self.path, self.dtype, self.offset, self.tokens = path, dtype, offset, tokens
        with path.open("rb") as file:
            # A private copy-on-write map: it is never written, but torch requires writable memory.
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)

    def samples(self, seq_len: int) -> int:
        """Return the number of whole samples: floor((tokens - 1) / seq_len)."""
        return max(0, (self.tokens - 1) // seq_len)

    def largest(self, first: int, count: int) -> int:
        """Return the largest of `count` token ids from `first` on."""
        width = ITEM_BYTES[self.dtype]
        start = self.offset + first * width
        return max(array(ARRAY_CODES[self.dtype], self.memory[start : start + count * width]))


class ShardSet:
    """Shards of a spec's data, numbered consecutively."""

    def __init__(self, shards: Sequence[Shard], *, seq_len: int) -> None:
        self._shards, self._seq_len = list(shards), seq_len
        self._ends: List[int] = []
        for shard in shards:
            self._ends.append((self._ends[-1] if self._ends else 0) + shard.samples(seq_len))

    @property
    def samples(self) -> int:
        """Number of samples in all shards together."""
        return self._ends[-1]

    def place(self, number: int) -> Tuple[Shard, int]:
        """Return the shard of a sample and its first token there. After the last sample the first one comes again."""
        number %= self.samples
        index = bisect_right(self._ends, number)
        before = self._ends[index - 1] if index else 0
        return self._shards[index], (number - before) * self._seq_len


def open_shards(spec: Spec) -> ShardSet:
    """Open the spec's shards. Raises SpecError if they cannot be trained on.

    Checks now that files exist, their form and size, that a step has enough samples, and the token ids of each shard's
    first and last sample. Other samples are checked when they are read.
    """
    assert spec.data is not None
    paths = _paths(Path(spec.data.path))
    shards = [_open(path, spec.data.dtype) for path in paths]
    for shard in shards:
        if shard.samples(spec.tokens_per_sample) == 0:
            raise SpecError(
                f"{shard.path}: holds {shard.tokens} tokens; one sample needs {spec.tokens_per_sample + 1} (seq_len "
                "and a target). Give longer shards, or a shorter seq_len."
            )
        for number in {0, shard.samples(spec.tokens_per_sample) - 1}:
            check_tokens(shard, number * spec.tokens_per_sample, spec)
    return ShardSet(shards, seq_len=spec.tokens_per_sample)


def check_shards(spec: Spec) -> None:
    """Raise SpecError if the spec's data cannot be trained on."""
    open_shards(spec)


def check_tokens(shard: Shard, first: int, spec: Spec) -> None:
    """Raise SpecError if a token id of the sample from `first` on is not in the vocabulary."""
    check_largest(shard.largest(first, spec.tokens_per_sample + 1), shard, first, spec)


def check_largest(largest: int, shard: Shard, first: int, spec: Spec) -> None:
    """Raise SpecError if the sample's largest id is not in the vocabulary: another tokenizer, or another dtype."""
    if largest >= _vocab(spec):
        raise SpecError(
            f"{shard.path}: tokens {first} to {first + spec.tokens_per_sample} hold the id {largest}; the vocabulary "
            f"has {_vocab(spec)} entries. Was it written as {shard.dtype}, with this model's tokenizer?"
        )


def _vocab(spec: Spec) -> int:
    architecture = spec.architecture
    assert architecture.sample == "tokens"
    return architecture.vocab


def _paths(given: Path) -> List[Path]:
    if given.is_dir():
        shards = sorted(path for path in given.iterdir() if path.suffix in ENDINGS)
        if not shards:
            raise SpecError(f"{given}: holds no token shards. They end in .npy or .bin.")
        return shards
    if not given.is_file():
        raise SpecError(f"{given}: there is no such file or folder. Name token shards (.npy, .bin) or their folder.")
    if given.suffix not in ENDINGS:
        raise SpecError(f"{given}: is no token shard: it ends neither in .npy nor in .bin.")
    return [given]


def _open(path: Path, bin_dtype: str) -> Shard:
    if sys.byteorder != "little":
        raise SpecError(f"{path}: token shards are little-endian, and this machine is not.")
    try:
        size = path.stat().st_size
        dtype, offset, told = _npy_header(path) if path.suffix == ".npy" else (bin_dtype, 0, None)
        width = ITEM_BYTES[dtype]
        tokens, rest = divmod(size - offset, width)
        if rest or (told is not None and told != tokens):
            wanted = f"{told} numbers" if told is not None else f"a multiple of {width} bytes"
            raise SpecError(f"{path}: {size - offset} bytes of {dtype} are not {wanted}. Is the file cut short?")
        if tokens == 0:
            raise SpecError(f"{path}: is empty.")
        return Shard(path, dtype=dtype, offset=offset, tokens=tokens)
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}.") from error


def _npy_header(path: Path) -> Tuple[str, int, int]:
    """Return (dtype, bytes before the numbers, number of tokens). Source: numpy.lib.format, versions 1.0 to 3.0."""
    with path.open("rb") as file:
        if file.read(6) != NPY_MAGIC:
            raise SpecError(f"{path}: is no .npy file. Write it with numpy.save, or name a raw file .bin.")
        major = file.read(2)[:1]
        wide = major != b"\x01"
        size_bytes = file.read(4 if wide else 2)
        try:
            (size,) = struct.unpack("<I" if wide else "<H", size_bytes)
            header: Any = ast.literal_eval(file.read(size).decode("utf-8"))
            dtype, shape = header["descr"], header["shape"]
        except (struct.error, SyntaxError, ValueError, KeyError, TypeError) as error:
            raise SpecError(f"{path}: its .npy header cannot be read. Is the file cut short?") from error
        offset = file.tell()
    if dtype not in NPY_DTYPES or len(shape) != 1:
        raise SpecError(
            f"{path}: holds {len(shape)} dimension(s) of {dtype!r}. Write one dimension of uint16 or uint32 "
            "(little-endian)."
        )
    return NPY_DTYPES[dtype], offset, int(shape[0])
