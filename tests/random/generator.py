# SPDX-License-Identifier: MIT
"""Writes random programs in OpenCL C whose results the language defines.

A program is a kernel with types and functions of its own. It has structs and unions by value, vectors of all sizes,
pointers into structs and arrays, work-items that exchange values at barriers, reductions, atomic operations, sections
under a lock, uniform and divergent control flow, functions that are called, early returns and big frames. What has no
defined result is not written: signed sums are computed without a sign, divisors are looked at, conversions from
floating point stay in range, and sums that several work-items change are changed in ways whose order is of no matter.
"""

import random

SIZES = (2, 3, 4, 8, 16)
BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
INTEGERS = tuple(BITS)
SCALARS = INTEGERS + ("float",)
LETTERS = "0123456789abcdef"

PRELUDE = """#pragma OPENCL FP_CONTRACT OFF
uint bits(float f) { return f == f ? as_uint(f) : 0x7fc00000u; }
int whole(float f) { return f > -1e6f && f < 1e6f ? (int)f : 7; }
uint blend(uint h, ulong v) { h = (h ^ (uint)v) * 0x9e3779b1u; return (h ^ (uint)(v >> 32)) * 31u + (h >> 15); }
"""


def base_of(kind):
    return kind.rstrip("0123456789")


def size_of(kind):
    return int(kind[len(base_of(kind)):] or 1)


def vector(base, size):
    return base if size == 1 else f"{base}{size}"


def unsigned(base):
    return base if base.startswith("u") else f"u{base}"


def wide(base):
    """The type that arithmetic on it is done in, so that nothing overflows with a sign."""
    return "ulong" if BITS[base] == 64 else "uint"


class Variable:
    """Something that can be read, and written unless it is constant: its text and its type."""

    def __init__(self, text, kind, constant=False):
        self.text, self.kind, self.constant = text, kind, constant


class Array:
    """An array that is indexed; its length is a power of two."""

    def __init__(self, text, kind, count, constant=False):
        self.text, self.kind, self.count, self.constant = text, kind, count, constant


class Function:
    """A function of the program: parameters are scalars, vectors and structs, by value or by pointer."""

    def __init__(self, name, result, parameters):
        self.name, self.result, self.parameters = name, result, parameters


class Program:
    """One program, made of a seed."""

    def __init__(self, name, seed):
        self.random = random.Random(seed)
        self.name = name
        self.lines = []
        self.depth = 0
        self.names = 0
        self.scope = []
        self.arrays = []
        self.structs = []  # (name, fields)
        self.functions = []
        self.budget = self.random.choice((12, 25, 25, 40))
        self.in_loop = False
        self.returns = None  # how a function returns early

    # ---- choices ----

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def pick(self, choices):
        return self.random.choice(choices)

    def new_name(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def put(self, text):
        self.lines.append("    " * (self.depth + 1) + text)

    def any_kind(self):
        base = self.pick(SCALARS)
        return vector(base, self.pick(SIZES)) if self.chance(30) else base

    # ---- expressions ----

    def readable(self, kind):
        return [v.text for v in self.scope if v.kind == kind]

    def expression(self, kind, depth):
        if size_of(kind) > 1:
            return self.vector_expression(kind, depth)
        return self.float_expression(depth) if kind == "float" else self.integer_expression(kind, depth)

    def literal(self, kind):
        if kind == "float":
            return f"{self.pick((0.5, 1.0, -2.25, 3.0, 1e3, -0.125, 7.5))}f"
        value = self.pick((self.random.randrange(20), self.random.getrandbits(BITS[kind] - 1)))
        return f"({kind}){value}{'ul' if BITS[kind] == 64 else 'u'}"

    def leaf(self, kind):
        known = self.readable(kind)
        if known and self.chance(75):
            return self.pick(known)
        arrays = [a for a in self.arrays if a.kind == kind]
        if arrays and self.chance(50):
            return self.element(self.pick(arrays))
        if size_of(kind) > 1:
            return f"({kind})({self.literal(base_of(kind))})"
        parts = [v for v in self.scope if base_of(v.kind) == kind and size_of(v.kind) > 1]
        if parts and self.chance(60):
            part = self.pick(parts)
            return f"{part.text}.s{self.pick(LETTERS[:size_of(part.kind)])}"
        return self.literal(kind)

    def element(self, array):
        return f"{array.text}[{self.index(array.count)}]"

    def index(self, count):
        if self.chance(25):
            return str(self.random.randrange(count))
        return f"({self.leaf('uint')} & {count - 1}u)"

    def condition(self, depth):
        if self.chance(15):
            return f"({self.condition(0)} {self.pick(('&&', '||'))} {self.condition(0)})"
        if self.chance(15):
            size = self.pick(SIZES)
            kind, mask = vector("uint", size), vector("int", size)
            test = f"({self.leaf(kind)} {self.pick(('<', '>=', '=='))} {self.leaf(kind)})"
            return f"{self.pick(('any', 'all'))}(({mask}){test})"
        if self.chance(15):
            return f"({self.leaf('float')} {self.pick(('<', '>=', '=='))} {self.float_expression(depth)})"
        kind = self.pick(INTEGERS)
        if self.chance(40):
            return f"({self.expression(unsigned(kind), depth)} % {self.random.randrange(2, 7)}u " \
                   f"{self.pick(('<', '=='))} {self.random.randrange(1, 3)}u)"
        return f"({self.expression(kind, depth)} {self.pick(('<', '<=', '>', '>=', '==', '!='))} {self.leaf(kind)})"

    def integer_expression(self, kind, depth):
        if depth <= 0:
            return self.leaf(kind)
        a, b = self.expression(kind, depth - 1), self.expression(kind, depth - 1 - self.random.randrange(2))
        choice = self.random.randrange(12)
        if choice < 3:
            w = wide(kind)
            return f"({kind})(({w}){a} {self.pick('+-*')} ({w}){b})"
        if choice == 3:
            return f"({kind})({a} {self.pick('&|^')} {b})"
        if choice == 4:
            w = wide(kind)
            return self.pick((f"({kind})(({w}){a} << ({self.leaf('uint')} & {BITS[w] - 1}u))",
                              f"({kind})({a} >> ({self.leaf('uint')} & {BITS[kind] - 1}u))",
                              f"({kind})(~{a})", f"({kind})(({w}){a} << {self.leaf('uchar')})"))
        if choice == 5:
            return self.division(kind, a, b)
        if choice == 6:
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        if choice == 7:
            return f"({kind}){self.condition(depth - 1)}"
        if choice == 8:
            other = self.pick(INTEGERS)
            return f"({kind})({self.expression(other, depth - 1)})"
        if choice == 9:
            return self.from_other(kind, depth)
        return self.built_in(kind, a, b)

    def division(self, kind, a, b):
        sign, high = self.pick("/%"), BITS[kind]
        if kind.startswith("u"):
            return f"({kind})(({kind}){a} {sign} ({kind})(({kind}){b} | 1))"
        return f"({kind})(({kind})(({a}) >> 1) {sign} ({kind})(({b}) & {(1 << (high - 2)) - 1}{'l' if high == 64 else ''} | 1))"

    def from_other(self, kind, depth):
        choice = self.random.randrange(3)
        if choice == 0:
            return f"({kind})whole({self.float_expression(depth - 1)})"
        if choice == 1:
            return f"({kind})bits({self.float_expression(depth - 1)})"
        calls = [f for f in self.functions if f.result == kind and self.callable(f, False)]
        return self.call(self.pick(calls)) if calls and depth > 1 else self.leaf(kind)

    def built_in(self, kind, a, b):
        a, b = f"({kind})({a})", f"({kind})({b})"
        names = ["min", "max", "add_sat", "sub_sat", "rotate", "hadd", "rhadd"]
        if kind in ("int", "uint"):
            names.append("mul_hi")
        name = self.pick(names + ["popcount", "clz", "abs_diff", "clamp"])
        if name in ("popcount", "clz"):
            return f"{name}({a})"
        if name == "abs_diff":
            return f"({kind})abs_diff({a}, {b})"
        if name == "clamp":
            low = self.random.randrange(50)
            return f"clamp({a}, ({kind}){low}, ({kind}){low + self.random.randrange(60)})"
        return f"{name}({a}, {b})"

    def float_expression(self, depth):
        if depth <= 0:
            return self.leaf("float")
        a, b = self.float_expression(depth - 1), self.float_expression(depth - 2)
        choice = self.random.randrange(9)
        if choice < 3:
            return f"({a} {self.pick('+-*/')} {b})"
        if choice == 3:
            return f"fma({a}, {b}, {self.leaf('float')})"
        if choice == 4:
            return f"(float)({self.expression(self.pick(INTEGERS), depth - 1)})"
        if choice == 5:
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        if choice == 6:
            return f"sqrt(fabs({a}))"
        if choice == 7:
            return f"{self.pick(('floor', 'ceil', 'trunc', 'rint', 'fabs'))}({a})"
        return f"(-({a}))"

    def vector_expression(self, kind, depth):
        base, size = base_of(kind), size_of(kind)
        if depth <= 0:
            return self.leaf(kind)
        choice = self.random.randrange(8)
        if choice == 0:
            return self.literal_of_parts(kind, depth)
        if choice == 1:
            return f"({kind})({self.expression(base, depth - 1)})"
        if choice == 2:
            return self.swizzle(kind)
        if choice == 3 and base != "float":
            other = vector(self.pick([b for b in INTEGERS if b != base]), size)
            return f"convert_{kind}({self.expression(other, depth - 1)})"
        a, b = self.expression(kind, depth - 1), self.leaf(kind)
        if base == "float":
            return f"({a} {self.pick('+-*')} {b})"
        if choice == 4:
            mask = kind if not base.startswith("u") else vector(base[1:], size)
            test = f"({a} {self.pick(('<', '<=', '==', '!=', '>'))} {b})"
            return f"as_{kind}({test})" if mask != kind else test
        if choice == 5:
            mask = vector(base.removeprefix("u"), size)
            return self.pick((f"({self.leaf(mask)} ? {a} : {b})", f"select({a}, {b}, {self.leaf(mask)})"))
        if choice == 6:
            return f"{self.pick(('min', 'max', 'add_sat', 'sub_sat'))}({a}, {b})"
        return self.vector_arithmetic(kind, a, b)

    def vector_arithmetic(self, kind, a, b):
        base, size = base_of(kind), size_of(kind)
        shift = f"({kind})({self.random.randrange(BITS[base])})"
        choice = self.random.randrange(6)
        if choice == 0:
            return f"({a} {self.pick('&|^')} {b})"
        if choice == 1:
            return f"({a} >> {shift})"
        if choice == 2 and kind == f"uint{size}":
            return f"rotate({a}, {b})"
        if choice == 3 and base.startswith("u"):
            return f"({a} {self.pick('/%')} ({b} | ({kind})(1)))"
        if base.startswith("u"):
            return f"({a} {self.pick('+-*')} {b})"
        other = vector(unsigned(base), size)
        return f"as_{kind}(as_{other}({a}) {self.pick('+-*')} as_{other}({b}))"

    def literal_of_parts(self, kind, depth):
        base, left, parts = base_of(kind), size_of(kind), []
        while left > 0:
            size = self.pick([n for n in (1, 1, 2, 4, 8) if n <= left])
            parts.append(self.leaf(vector(base, size)) if size > 1 else self.expression(base, min(depth - 1, 1)))
            left -= size
        return f"({kind})({', '.join(parts)})"

    def swizzle(self, kind):
        base, size = base_of(kind), size_of(kind)
        wider = [v for v in self.scope if base_of(v.kind) == base and size_of(v.kind) > 1]
        if not wider:
            return self.leaf(kind)
        from_ = self.pick(wider)
        count = size_of(from_.kind)
        if count == 2 * size and self.chance(60):
            return f"{from_.text}.{self.pick(('lo', 'hi', 'even', 'odd'))}"
        return f"{from_.text}.s{''.join(self.pick(LETTERS[:count]) for _ in range(size))}"

    def call(self, function):
        arguments = []
        for kind, pointer in function.parameters:
            if pointer:
                arguments.append(f"&{self.pick(self.places(kind))}")
            else:
                arguments.append(self.pick(self.readable(kind)) if kind.startswith("struct") else self.expression(kind, 1))
        return f"{function.name}({', '.join(arguments)})"

    def places(self, kind):
        """What a pointer may point to; members of a union are no such places, as pointers do not say so."""
        places = [v.text for v in self.scope if v.kind == kind and not v.constant and ".x." not in v.text]
        return places + [self.element(a) for a in self.arrays if a.kind == kind and not a.constant]

    def callable(self, function, pointers):
        """True when there is something to give it; `pointers`: also by address."""
        structs = [name for name, _ in self.structs]
        for kind, pointer in function.parameters:
            if pointer and not (pointers and self.places(kind)):
                return False
            if kind in structs and not self.readable(kind):
                return False
        return True

    # ---- statements ----

    def writable(self):
        return [v for v in self.scope if not v.constant and base_of(v.kind) in SCALARS]

    def assignment(self):
        choice = self.random.randrange(10)
        private = [a for a in self.arrays if not a.constant]
        if choice < 2 and private:
            array = self.pick(private)
            self.put(f"{self.element(array)} = {self.expression(array.kind, 2)};")
            return
        target = self.pick(self.writable())
        size = size_of(target.kind)
        if choice == 2 and size > 1:
            part = self.pick(LETTERS[:size])
            self.put(f"{target.text}.s{part} = {self.expression(base_of(target.kind), 2)};")
        elif choice == 3 and size in (4, 8, 16):
            half = vector(base_of(target.kind), size // 2)
            self.put(f"{target.text}.{self.pick(('lo', 'hi', 'even', 'odd'))} = {self.expression(half, 1)};")
        elif choice == 4 and target.kind in ("uint", "ulong"):
            self.put(f"{target.text} {self.pick('+-*^|&')}= {self.expression(target.kind, 2)};")
        else:
            self.put(f"{target.text} = {self.expression(target.kind, self.pick((1, 2, 2, 3)))};")

    def nested(self, lines):
        """Statements in a block of their own; what they declare is unknown behind it."""
        known, arrays = len(self.scope), len(self.arrays)
        self.depth += 1
        for _ in range(lines):
            self.statement()
        self.depth -= 1
        del self.scope[known:], self.arrays[arrays:]

    def statement(self):
        self.budget -= 1
        kinds = [self.assignment] * 6 + [self.declaration] * 2 + [self.pointer, self.copy_struct, self.loads, self.call_function]
        if self.depth < 4 and self.budget > 0:
            kinds += [self.branch] * 3 + [self.count_loop] * 2 + [self.while_loop, self.switch]
        if self.in_loop:
            kinds.append(self.leave_loop)
        if self.returns and self.depth > 0:
            kinds.append(self.leave_function)
        self.pick(kinds)()

    def declaration(self):
        kind, name = self.any_kind(), self.new_name("v")
        self.put(f"{kind} {name} = {self.expression(kind, 2)};")
        self.scope.append(Variable(name, kind))

    def pointer(self):
        """A pointer to one of two places, and what is done through it."""
        kind = self.pick(self.writable()).kind
        places = self.places(kind)
        if not places:
            self.assignment()
            return
        name = self.new_name("p")
        one, two = self.pick(places), self.pick(places)
        self.put(f"{{ {kind} *{name} = {self.condition(1)} ? &{one} : &{two}; "
                 f"*{name} = {self.expression(kind, 2)}; {self.pick(places)} = *{name}; }}")

    def call_function(self):
        """A call may write through pointers, so nothing else stands in its statement."""
        calls = [f for f in self.functions if self.callable(f, True)]
        if not calls:
            self.assignment()
            return
        function, name = self.pick(calls), self.new_name("v")
        self.put(f"{function.result} {name} = {self.call(function)};")
        if function.result.startswith("struct"):
            self.add_struct(name, function.result)
        else:
            self.scope.append(Variable(name, function.result))

    def copy_struct(self):
        known = [v for v in self.scope if v.kind in [name for name, _ in self.structs]]
        same = [(a, b) for a in known for b in known if a is not b and a.kind == b.kind and not a.constant]
        if not same:
            return self.assignment()
        target, source = self.pick(same)
        calls = [f for f in self.functions if f.result == target.kind and self.callable(f, False)]
        self.put(f"{target.text} = {self.call(self.pick(calls)) if calls and self.chance(60) else source.text};")
        return None

    def loads(self):
        """Vectors that are loaded from an array and stored into it."""
        arrays = [a for a in self.arrays if not a.constant and a.kind == "uint" and a.count >= 16]
        if not arrays:
            return self.assignment()
        array = self.pick(arrays)
        text, count = array.text, array.count
        size = self.pick(SIZES)
        at = f"{self.leaf('uint')} & {(count // 16 if size > 8 else count // 8 if size > 4 else count // 4) - 1}u"
        vstore = f"vstore{size}({self.expression(vector('uint', size), 1)}, {at}, {text});"
        targets = [v for v in self.writable() if v.kind == vector("uint", size)]
        self.put(f"{self.pick(targets).text} = vload{size}({at}, {text});" if targets and self.chance(50) else vstore)
        return None

    def branch(self):
        self.put(f"if ({self.condition(2)}) {{")
        self.nested(self.random.randrange(1, 4))
        if self.chance(50):
            self.put("} else {")
            self.nested(self.random.randrange(1, 4))
        self.put("}")

    def loop_body(self):
        before, self.in_loop = self.in_loop, True
        self.nested(self.random.randrange(1, 4))
        self.in_loop = before

    def count_loop(self):
        name, bound = self.new_name("i"), self.pick((3, 5, 7))
        end = f"({self.leaf(self.pick(('uint', 'uchar', 'ulong')))} & {bound}u) + 1u" if self.chance(60) else f"{bound}u"
        self.put(f"for (uint {name} = 0; {name} < {end}; {name}++) {{")
        self.scope.append(Variable(name, "uint", constant=True))
        self.loop_body()
        self.scope = [v for v in self.scope if v.text != name]
        self.put("}")

    def while_loop(self):
        name = self.new_name("w")
        self.put(f"uint {name} = ({self.leaf('uint')} & 7u) + 1u;")
        test = f"{name}-- > 1u && {self.condition(1)}"
        if self.chance(50):
            self.put(f"while ({test}) {{")
            self.loop_body()
            self.put("}")
        else:
            self.put("do {")
            self.loop_body()
            self.put(f"}} while ({test});")

    def switch(self):
        before, self.in_loop = self.in_loop, False
        self.put(f"switch ({self.expression('uint', 1)} % 6u) {{")
        for label in range(self.random.randrange(2, 6)):
            self.put(f"case {label}: {{")
            self.nested(self.random.randrange(1, 3))
            self.put("}" + (" break;" if self.chance(70) else ""))
        self.put("default: {")
        self.nested(1)
        self.put("}}")
        self.in_loop = before

    def leave_loop(self):
        self.put(f"if ({self.condition(1)}) {{ {self.pick(('break', 'continue'))}; }}")

    def leave_function(self):
        self.put(f"if ({self.condition(1)}) {{ {self.returns()} }}")

    # ---- types and functions ----

    def make_struct(self):
        name, fields = f"{self.name}_s{len(self.structs)}", []
        for i in range(self.random.randrange(2, 6)):
            inner = [s for s, _ in self.structs]
            if inner and self.chance(25):
                fields.append((f"f{i}", self.pick(inner), 0))
            else:
                fields.append((f"f{i}", self.any_kind(), self.pick((0, 0, 0, 4, 8))))
        text = " ".join(f"{kind} {field}{f'[{count}]' if count else ''};" for field, kind, count in fields)
        if self.chance(40):
            text += " union { uint u; uchar4 b; ushort2 h; } x;"
            fields.append(("x.u", "uint", 0))
            fields.append(("x.b", "uchar4", 0))
            fields.append(("x.h", "ushort2", 0))
        self.lines.append(f"struct {name} {{ {text} }};")
        self.structs.append((f"struct {name}", fields))
        return f"struct {name}"

    def add_struct(self, text, name, constant=False):
        """Makes a variable of such a type known, with all that is in it."""
        if text.count(".") + text.count("->") < 3:
            self.scope.append(Variable(text, name, constant))
        for field, kind, count in dict(self.structs)[name]:
            place = f"{text}.{field}"
            if kind.startswith("struct"):
                self.add_struct(place, kind, constant)
            elif count:
                self.arrays.append(Array(place, kind, count, constant))
            else:
                self.scope.append(Variable(place, kind, constant))

    def set_struct(self, text, name):
        """Assigns all that is in a variable of this type."""
        union = False
        for field, kind, count in dict(self.structs)[name]:
            place = f"{text}.{field}"
            if kind.startswith("struct"):
                self.set_struct(place, kind)
            elif count:
                for i in range(count):
                    self.put(f"{place}[{i}] = {self.leaf(kind)};")
            elif not union:
                self.put(f"{place} = {self.expression(kind, 1)};")
            union = field.startswith("x.")

    def make_function(self):
        name = f"{self.name}_f{len(self.functions)}"
        structs = [s for s, _ in self.structs]
        result = self.pick(structs) if structs and self.chance(30) else self.any_kind()
        parameters = [(self.any_kind(), False) for _ in range(self.random.randrange(1, 4))]
        if structs and self.chance(50):
            parameters.append((self.pick(structs), False))
        if structs and self.chance(40):
            parameters.append((self.pick(structs), True))
        if self.chance(40):
            parameters.append((self.pick(("uint", "int", "ulong")), True))
        return Function(name, result, parameters)

    def put_function(self, function):
        outer = (self.scope, self.arrays, self.budget)
        self.scope, self.arrays, self.budget = [], [], self.random.randrange(4, 10)
        texts = []
        for i, (kind, pointer) in enumerate(function.parameters):
            texts.append(f"{kind} {'*' if pointer else ''}a{i}")
            place = f"(*a{i})" if pointer else f"a{i}"
            if kind.startswith("struct"):
                self.add_struct(place, kind)
            else:
                self.scope.append(Variable(place, kind))
        noinline = "__attribute__((noinline)) " if self.chance(35) else ""
        self.lines.append(f"{noinline}{function.result} {function.name}({', '.join(texts)}) {{")
        self.depth = 0
        self.put("uint n = 3;")
        self.scope.append(Variable("n", "uint"))
        if function.result.startswith("struct"):
            self.put(f"{function.result} r;")
            self.set_struct("r", function.result)
            self.add_struct("r", function.result)
            self.returns = lambda: "return r;"
        else:
            self.returns = lambda: f"return {self.expression(function.result, 1)};"
        while self.budget > 0:
            self.statement()
        self.put(self.returns())
        self.lines.append("}")
        self.returns = None
        self.scope, self.arrays, self.budget = outer

    # ---- what work-items do together ----

    def exchange(self):
        """Each writes a value, and reads another's."""
        kind = self.pick(("uint", "uint", "ulong", "ushort", "float4", "uint3", "uchar"))
        name, target = self.locals[kind], self.new_name("v")
        self.put(f"{name}[lid] = {self.expression(kind, 2)};")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        at = self.pick((f"lid + {self.random.randrange(1, 9)}u", "size - 1u - lid", f"lid ^ {self.random.randrange(8)}u",
                        self.leaf("uint"), f"lid * {self.random.randrange(2, 7)}u"))
        self.put(f"{kind} {target} = {name}[({at}) % size];")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.scope.append(Variable(target, kind))

    def reduction(self):
        kind = self.pick(("uint", "ulong"))
        name, target = self.locals[kind], self.new_name("v")
        sign = self.pick("+^*|&")
        self.put(f"{name}[lid] = {self.expression(kind, 2)};")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.put("for (uint s = power; s > 0; s >>= 1) {")
        self.put(f"    if (lid < s && lid + s < size) {{ {name}[lid] = {name}[lid] {sign} {name}[lid + s]; }}")
        self.put("    barrier(CLK_LOCAL_MEM_FENCE);")
        self.put("}")
        self.put(f"{kind} {target} = {name}[0];")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.scope.append(Variable(target, kind))

    def scan(self):
        name, target = self.locals["uint"], self.new_name("v")
        self.put(f"{name}[lid] = {self.expression('uint', 2)};")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.put("for (uint s = 1; s < size; s <<= 1) {")
        self.put(f"    uint t = lid >= s ? {name}[lid - s] : 0u;")
        self.put("    barrier(CLK_LOCAL_MEM_FENCE);")
        self.put(f"    {name}[lid] += t;")
        self.put("    barrier(CLK_LOCAL_MEM_FENCE);")
        self.put("}")
        self.put(f"uint {target} = {name}[lid];")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.scope.append(Variable(target, "uint"))

    def atomics(self):
        """Each word has one operation, so that the order does not matter."""
        for where, first in (("sums", 0), ("counts", 0)):
            if self.chance(60):
                word = self.random.randrange(7)
                name = ("add", "xor", "or", "and", "min", "max", "sub")[word]
                value = self.expression("uint", 2)
                text = f"atomic_{name}(&{where}[{first + word}], {value});"
                self.put(f"if ({self.condition(1)}) {{ {text} }}" if self.chance(60) else text)

    def locked(self):
        """A section that one work-item at a time is in."""
        self.put(f"if ({self.condition(1)}) {{" if self.chance(50) else "{")
        done = self.new_name("d")
        value = self.leaf("uint")
        self.put(f"    uint {done} = 0;")
        self.put(f"    while (!{done}) {{")
        self.put("        if (atomic_cmpxchg(&lock, 0u, 1u) == 0u) {")
        self.put(f"            guarded[0] += {value}; guarded[1] ^= {value} * 7u;")
        self.put("            mem_fence(CLK_LOCAL_MEM_FENCE);")
        self.put(f"            atomic_xchg(&lock, 0u); {done} = 1;")
        self.put("        }")
        self.put("    }")
        self.put("}")

    def together(self):
        self.pick((self.exchange, self.exchange, self.reduction, self.scan, self.atomics, self.atomics, self.locked))()

    def uniform_part(self):
        """Control flow that all work-items of a group take alike, with barriers inside."""
        known, arrays = len(self.scope), len(self.arrays)
        if self.chance(50):
            self.put(f"if ((uniform + group) % {self.random.randrange(2, 4)}u == {self.random.randrange(2)}u) {{")
        else:
            name = self.new_name("u")
            self.put(f"for (uint {name} = 0; {name} < uniform % {self.random.randrange(2, 5)}u + 1u; {name}++) {{")
            self.scope.append(Variable(name, "uint", constant=True))
        self.depth += 1
        for _ in range(self.random.randrange(1, 3)):
            self.together()
            self.statement()
        self.depth -= 1
        del self.scope[known:], self.arrays[arrays:]
        self.put("}")

    # ---- the kernel ----

    def shape(self):
        x, y = self.pick(((16, 1), (32, 1), (64, 1), (33, 1), (7, 1), (8, 4), (70, 1), (128, 1), (5, 13), (1, 1)))
        return self.random.randrange(1, 4), x, y

    def begin(self, x, y):
        self.put("uint lid = (uint)get_local_id(1) * (uint)get_local_size(0) + (uint)get_local_id(0);")
        self.put("uint size = (uint)get_local_size(0) * (uint)get_local_size(1), group = (uint)get_group_id(0);")
        self.put("uint gid = group * size + lid;")
        self.locals = {}
        for kind in ("uint", "ulong", "ushort", "float4", "uint3", "uchar"):
            self.locals[kind] = f"local_{kind}"
            self.put(f"local {kind} local_{kind}[{x * y}];")
        self.put("local uint counts[8], guarded[2], lock;")
        self.put("if (lid == 0) { lock = 0; guarded[0] = 5; guarded[1] = uniform; "
                 "for (uint i = 0; i < 8; i++) { counts[i] = i * 99u; } }")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        power = 1
        while power * 2 < x * y:
            power *= 2
        self.put(f"const uint power = {power};")
        for name, kind in (("lid", "uint"), ("gid", "uint"), ("uniform", "uint"), ("group", "uint"), ("size", "uint")):
            self.scope.append(Variable(name, kind, constant=True))
        for kind in ("uint", "uint", "int", "ulong", "long", "uchar", "short", "float", self.any_kind(), "uint4"):
            name = self.new_name("v")
            start = {"uint": "in[gid]", "ulong": "in[gid] * 12345678901ul", "float": "(float)in[gid] * 0.25f"}
            self.put(f"{kind} {name} = {start.get(kind, f'({kind})(in[gid] >> {self.random.randrange(9)})')};"
                     if size_of(kind) == 1 else f"{kind} {name} = ({kind})({self.literal(base_of(kind))});")
            self.scope.append(Variable(name, kind))

    def declare_private(self):
        big = self.chance(15)
        for kind, count in (("uint", self.pick((256, 512)) if big else self.pick((4, 16, 32))),
                            (self.any_kind(), self.pick((4, 8)))):
            name = self.new_name("a")
            self.put(f"{kind} {name}[{count}];")
            self.put(f"for (uint i = 0; i < {count}u; i++) {{ {name}[i] = ({kind})({self.leaf('uchar')}); }}")
            self.arrays.append(Array(name, kind, count))
        for kind in [s for s, _ in self.structs] * 2:
            name = self.new_name("s")
            self.put(f"{kind} {name};")
            self.set_struct(name, kind)
            self.add_struct(name, kind)

    def hash_of(self, text, kind):
        base = base_of(kind)
        if size_of(kind) > 1:
            for i in range(size_of(kind)):
                self.hash_of(f"{text}.s{LETTERS[i]}", base)
        else:
            word = f"bits({text})" if base == "float" else f"(uint){text}"
            self.put(f"h = blend(h, {text});" if base in ("long", "ulong") else f"h = h * 31u + {word};")

    def finish(self):
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.put("uint h = counts[lid & 7u] + guarded[lid & 1u];")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.put("out[gid * 2u] = h;")
        if self.chance(40):
            self.put(f"if ({self.condition(1)}) {{ return; }}")
        for variable in self.scope:
            if base_of(variable.kind) in SCALARS:
                self.hash_of(variable.text, variable.kind)
        for array in self.arrays:
            self.put(f"for (uint i = 0; i < {array.count}u; i++) {{")
            self.depth += 1
            self.hash_of(f"{array.text}[i]", array.kind)
            self.depth -= 1
            self.put("}")
        self.put("out[gid * 2u + 1u] = h;")

    def text(self):
        groups, x, y = self.shape()
        for _ in range(self.random.randrange(0, 3)):
            self.make_struct()
        for _ in range(self.random.randrange(0, 4)):
            function = self.make_function()
            self.put_function(function)
            self.functions.append(function)
        self.lines.append(f"// launch {self.name} {groups} {x} {y} {self.random.randrange(1000)}")
        required = f"__attribute__((reqd_work_group_size({x}, {y}, 1))) " if self.chance(25) else ""
        self.lines.append(f"{required}kernel void {self.name}(global const uint *in, global uint *out, "
                          "global uint *sums, uint uniform) {")
        self.depth = 0
        self.begin(x, y)
        self.declare_private()
        while self.budget > 0:
            choice = self.random.randrange(10)
            if choice < 6:
                self.statement()
            elif choice < 8:
                self.together()
                self.budget -= 1
            else:
                self.uniform_part()
                self.budget -= 2
        self.finish()
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"
