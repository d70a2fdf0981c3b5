#!/usr/bin/env python3
"""Say which calls of libtorch's functions and methods compile with the shim: aten_calls.py <compiler> [flags]

Every signature of ATen's headers, where libtorch is installed, is a call with all of its arguments, and one
without those that have defaults; operands of the declared types. A function whose calls are refused stands in
missing_calls.txt under the reason, with how many of them, and only such.
Left out altogether: what libtorch keeps to itself (_name, backward, copies for its compilers) and what is of
sparse, quantised, named, nested and complex tensors.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

LEFT_OUT = re.compile(
    r'^_|sparse|quant|mkldnn|miopen|cudnn|fbgemm|_copy$|_copy_out$|backward|dense|nested|complex|fft|symint|'
    r'slow_conv|thnn|coo|csr|csc|bsr|bsc|q_|int_repr|noopDelete|dimname|vulkan|xnn|fake_|named|mps|native_|_symint$|_outf$')
OTHER_TYPES = re.compile(r'Dimname|SymInt|Storage\b|TypeMeta|Stream|List<|MaybeOwned|Layout|\bT\b|T&&')


def split(text):
    """The parameters of a list, whose types may have commas."""
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
    """(type, whether it has a default) of `const at::Tensor & self={}`."""
    declared, _, default = text.partition('=')
    kind = re.sub(r'\w+$', '', declared.strip()).strip()
    kind = kind.replace('::std::', 'std::').replace('at::ITensorListRef', 'at::TensorList')
    kind = re.sub(r'\bc10::string_view\b', 'std::string_view', kind)
    return kind, bool(default)


def calls(name, parameters, call):
    """The calls of a signature: with all arguments, and with those that have no default."""
    if any(OTHER_TYPES.search(p) for p in parameters):
        return []
    kinds = [parameter(p) for p in parameters]
    needed = next((i for i, (_, default) in enumerate(kinds) if default), len(kinds))
    counts = sorted({needed, len(kinds)})
    return [(name, call % ', '.join(f'std::declval<{kind}>()' for kind, _ in kinds[:n])) for n in counts]


def functions(aten):
    found = []
    for header in sorted((aten / 'ops').glob('*.h')):
        if re.search(r'_(dispatch|native|ops|meta)\.h$', header.name):
            continue
        for name, arguments in re.findall(r'inline [^\n]*?\b(\w+)\(([^\n]*)\) \{', header.read_text()):
            if not LEFT_OUT.search(name):
                found += calls(name, split(arguments), f'at::{name}(%s)')
    return found


def methods(aten):
    body = (aten / 'core' / 'TensorBody.h').read_text()
    found = []
    for name, arguments in re.findall(r'^  [\w:<>, &]+?[ &](\w+)\(([^\n]*)\) const(?: &)?;', body, re.M):
        if not LEFT_OUT.search(name):
            found += calls(f'Tensor::{name}', split(arguments), f'std::declval<at::Tensor&>().{name}(%s)')
    return found


def refused(compiler, every):
    """The names of the calls that do not compile, with how many."""
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
    """missing_calls.txt: [why], then names with counts."""
    counts = {}
    for line in path.read_text().splitlines():
        if line and line[0] not in '#[':
            for entry in line.split():
                name, _, count = entry.rpartition('=')
                counts[name] = int(count)
    return counts


def main():
    aten = pathlib.Path(os.environ.get('AMBIT_ATEN', '/usr/include/ATen'))
    if not (aten / 'ops').is_dir():
        print('skipped: no headers of libtorch')
        return 0
    every = functions(aten) + methods(aten)
    missing = refused(sys.argv[1:], every)
    known = expected(pathlib.Path(__file__).with_name('missing_calls.txt'))
    wrong = 0
    for name in sorted(missing.keys() | known.keys()):
        if missing[name] != known.get(name, 0):
            print(f'aten_calls: {name}: {missing[name]} calls are refused, missing_calls.txt says '
                  f'{known.get(name, 0)}')
            wrong = 1
    total = len(every)
    print(f'{total} calls of {len({name for name, _ in every})} names, {total - sum(missing.values())} compile')
    return wrong


sys.exit(main())
