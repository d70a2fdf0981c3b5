#!/usr/bin/env python3
"""Find the calls of libtorch's functions and methods that compile with the shim: aten_calls.py <compiler> [flags]

The signatures of libtorch 2.15's ATen, in aten_calls_2.15.xz, give two calls each: one with all arguments, and
one without those that have defaults; operands of the declared types. A function whose calls are refused is
listed in missing_calls.txt under the reason, with the number of them. A name is known if one of its calls
compiles; at least 97 % must be.

aten_calls.py --signatures DIR writes aten_calls_2.15.xz from the headers in DIR, a wheel's torch/include/ATen.
Omitted: internals (_name except _foreach_name, backward, copies and symbolic sizes for libtorch's compilers) and
functions of sparse, quantised, named, nested and complex tensors.
"""
import collections
import lzma
import pathlib
import re
import subprocess
import sys

LEFT_OUT = re.compile(
    r'^_(?!foreach_)|sparse|quant|mkldnn|miopen|cudnn|fbgemm|(?<!foreach)_copy$|_copy_out$|backward|dense|nested|'
    r'complex|symint|slow_conv|thnn|coo|csr|csc|bsr|bsc|q_|int_repr|noopDelete|dimname|vulkan|xnn|fake_|named|mps|'
    r'_symint$|_outf$|^linalg__|^(align_tensors|align_as|chalf|polar|polar_out|imag|view_as_real|'
    r'conj_physical_out|coalesce|is_coalesced|indices|'
    r'values|smm|sspaddmm|sspaddmm_out|hspmm|hspmm_out|ccol_indices|col_indices|crow_indices|row_indices|'
    r'to_padded_tensor|to_padded_tensor_out|choose_qparams_optimized|qscheme)$')
OTHER_TYPES = re.compile(r'Dimname|SymInt|Storage\b|TypeMeta|Stream|List<|MaybeOwned|Layout|\bT\b|T&&')


def split(text):
    """Return the parameters of a list, whose types may contain commas."""
    parts, depth, part = [], 0, ''
    for c in text:
        depth += (c in '<({') - (c in '>)}')
        if c == ',' and depth == 0:
            parts.append(part)
            part = ''
        else:
            part += c
    return [p.strip() for p in parts + [part] if p.strip()]


def parameter(text):
    """Return (type, True if it has a default) for `const at::Tensor & self={}`."""
    declared, _, default = text.partition('=')
    kind = re.sub(r'\w+$', '', declared.strip()).strip()
    kind = kind.replace('::std::', 'std::').replace('at::ITensorListRef', 'at::TensorList')
    kind = re.sub(r'\bc10::string_view\b', 'std::string_view', kind)
    return kind, bool(default)


def calls(name, parameters, call):
    """Return the calls of a signature: with all arguments, and with those that have no default."""
    if any(OTHER_TYPES.search(p) for p in parameters):
        return []
    kinds = [parameter(p) for p in parameters]
    needed = next((i for i, (_, default) in enumerate(kinds) if default), len(kinds))
    counts = sorted({needed, len(kinds)})
    return [(name, call % ', '.join(f'std::declval<{kind}>()' for kind, _ in kinds[:n])) for n in counts]


def signatures(aten):
    """Return the lines of aten_calls_2.15.xz: at::name or Tensor::name, and the parameters in brackets."""
    found = []
    for header in sorted((aten / 'ops').glob('*.h')):
        if re.search(r'_(dispatch|native|ops|meta)\.h$', header.name):
            continue
        for name, arguments in re.findall(r'inline [^\n]*?\b(\w+)\(([^\n]*)\) \{', header.read_text()):
            found.append(f'at::{name}({arguments})')
    body = (aten / 'core' / 'TensorBody.h').read_text()
    for name, arguments in re.findall(r'^  [\w:<>, &]+?[ &](\w+)\(([^\n]*)\) const(?: &)?;', body, re.M):
        found.append(f'Tensor::{name}({arguments})')
    return [line for line in found if not LEFT_OUT.search(re.search(r'::(\w+)\(', line)[1])]


def calls_of(line):
    owner, name, arguments = re.fullmatch(r'(at|Tensor)::(\w+)\((.*)\)', line).groups()
    if owner == 'at':
        return calls(name, split(arguments), f'at::{name}(%s)')
    return calls(f'Tensor::{name}', split(arguments), f'std::declval<at::Tensor&>().{name}(%s)')


def refused(compiler, every):
    """Return the names of the calls that do not compile, with their numbers."""
    head = '#include <torch/torch.h>\nnamespace calls {\nusing at::ArrayRef;\n'
    source = head + ''.join(f'using T{i} = decltype({call});\n' for i, (_, call) in enumerate(every)) + '}\n'
    version = subprocess.run(compiler[:1] + ['--version'], capture_output=True, text=True, check=True).stdout
    every_error = '-ferror-limit=0' if 'clang' in version else '-fmax-errors=0'
    done = subprocess.run(compiler + ['-std=c++20', '-w', '-fsyntax-only', every_error, '-x', 'c++', '-'],
                          input=source, capture_output=True, text=True, check=False)
    lines = {int(n) - 1 - head.count('\n') for n in re.findall(r'<stdin>:(\d+):\d+: error: ', done.stderr)}
    if done.returncode != 0 and not lines or min(lines, default=0) < 0:
        sys.exit(done.stderr[:4000])
    return collections.Counter(every[i][0] for i in lines if i < len(every))


def expected(path):
    """Write missing_calls.txt: [reason], then names with counts."""
    counts = {}
    for line in path.read_text().splitlines():
        if line and line[0] not in '#[':
            for entry in line.split():
                name, _, count = entry.rpartition('=')
                counts[name] = int(count)
    return counts


def main():
    stored = pathlib.Path(__file__).with_name('aten_calls_2.15.xz')
    if sys.argv[1] == '--signatures':
        stored.write_bytes(lzma.compress('\n'.join(signatures(pathlib.Path(sys.argv[2]))).encode(), preset=9))
        return 0
    every = [call for line in lzma.decompress(stored.read_bytes()).decode().splitlines() for call in calls_of(line)]
    missing = refused(sys.argv[1:], every)
    known = expected(pathlib.Path(__file__).with_name('missing_calls.txt'))
    wrong = 0
    for name in sorted(missing.keys() | known.keys()):
        if missing[name] != known.get(name, 0):
            print(f'aten_calls: {name}: {missing[name]} calls are refused, missing_calls.txt says '
                  f'{known.get(name, 0)}')
            wrong = 1
    counts = collections.Counter(name for name, _ in every)
    absent = sum(missing[name] == count for name, count in counts.items())
    share = 100 * (len(counts) - absent) / len(counts)
    print(f'{len(every)} calls of {len(counts)} names: {len(every) - sum(missing.values())} compile; '
          f'{share:.1f} % of the names are known')
    return int(wrong or share < 97)


sys.exit(main())
