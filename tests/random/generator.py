# SPDX-License-Identifier: MIT
"""Writes random programs in OpenCL C whose results the language defines.

A program is a kernel with types and functions of its own. It has structs and unions by value, float and double, vectors
of all sizes, pointers into structs, arrays and local memory, work-items that exchange values at barriers, reductions,
atomic operations, sections under a lock, uniform and divergent control flow, functions that are called, early returns
and big frames. What has no defined result is not written: signed sums are computed without a sign, divisors are looked
at, conversions from floating point to integers stay in range, and sums that several work-items change are changed in
ways whose order is of no matter. Members of a union are of one size and without padding, and a NaN that is stored in
one has always the same bits. In local memory a work-item has places of its own, and reads others' only between barriers.
"""

import random

SIZES = (2, 3, 4, 8, 16)
BITS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
INTEGERS = tuple(BITS)
FLOATS = ("float", "double")
SCALARS = INTEGERS + FLOATS
BYTES = {**{base: bits // 8 for base, bits in BITS.items()}, "float": 4, "double": 8}
MASKS = {"float": "int", "double": "long"}  # what a comparison of vectors of these gives
LETTERS = "0123456789abcdef"
LOCAL = "LOCAL "  # before a pointer to local memory
LOCAL_KINDS = ("uint", "ulong", "ushort", "float4", "uint3", "uchar", "double")  # a place of each for each work-item
LOCAL_BLOCK = 16  # words of each work-item
LOCAL_RECORD_BYTES = 12 << 10  # for records of all work-items, beside the other places

# Members of unions of so many bytes: types of fields, with the count of an array.
MEMBERS = {
    4: ((("uint", 0),), (("int", 0),), (("float", 0),), (("uchar4", 0),), (("ushort2", 0),), (("char4", 0),),
        (("ushort", 2),), (("short", 0), ("uchar", 2))),
    8: ((("ulong", 0),), (("double", 0),), (("uint2", 0),), (("short4", 0),), (("uchar8", 0),), (("int", 2),),
        (("ushort", 4),), (("float", 0), ("ushort2", 0)), (("uint", 0), ("uchar", 4))),
    16: ((("uint4", 0),), (("long2", 0),), (("ushort8", 0),), (("char16", 0),), (("ulong", 2),), (("int", 4),),
         (("uchar", 16),), (("double", 0), ("uint", 0), ("float", 0)), (("uint2", 0), ("ulong", 0)),
         (("float", 0), ("short", 2), ("ulong", 0))),
}

# A pointer to local memory is a generic one where the language has these.
PRELUDE = """#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifdef __opencl_c_generic_address_space
#define LOCAL
#else
#define LOCAL local
#endif
uint bits_float(float f) { return f == f ? as_uint(f) : 0x7fc00000u; }
ulong bits_double(double f) { return f == f ? as_ulong(f) : 0x7ff8000000000000ul; }
int whole_float(float f) { return f > -1e6f && f < 1e6f ? (int)f : 7; }
int whole_double(double f) { return f > -1e6 && f < 1e6 ? (int)f : 7; }
float plain_float(float f) { return as_float(bits_float(f)); }
double plain_double(double f) { return as_double(bits_double(f)); }
uint total(LOCAL const uint *a, uint n) { uint h = n; for (uint i = 0; i < n; i++) { h = h * 33u ^ a[i]; } return h; }
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


def is_record(kind):
    return kind.startswith(("struct", "union"))


class Variable:
    """Something that can be read, and written unless it is constant: its text, its type, and where it lies.

    `space`: what stands before a pointer to it; `punned`: it shares its bytes with others, in a union.
    """

    def __init__(self, text, kind, constant=False, space="", punned=False):
        self.text, self.kind, self.constant, self.space, self.punned = text, kind, constant, space, punned


class Array:
    """An array that is indexed; its length is a power of two."""

    def __init__(self, text, kind, count, space="", punned=False):
        self.text, self.kind, self.count, self.space, self.punned = text, kind, count, space, punned


class Function:
    """A function of the program: parameters are scalars, vectors and records, by value or by pointer.

    They are (type, space): None for what is given by value.
    """

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
        self.records = {}  # fields of each struct and union: (name, type, count of an array or 0)
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
        return self.float_expression(kind, depth) if kind in FLOATS else self.integer_expression(kind, depth)

    def literal(self, kind):
        if kind in FLOATS:
            return f"{self.pick((0.5, 1.0, -2.25, 3.0, 1e3, -0.125, 7.5, 0.1, 1e30))}{'f' if kind == 'float' else ''}"
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
            kind = self.pick(FLOATS)
            return f"({self.leaf(kind)} {self.pick(('<', '>=', '=='))} {self.float_expression(kind, depth)})"
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
        if choice < 2:
            source = self.pick(FLOATS)
            return f"({kind}){('whole', 'bits')[choice]}_{source}({self.float_expression(source, depth - 1)})"
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

    def float_expression(self, kind, depth):
        if depth <= 0:
            return self.leaf(kind)
        a, b = self.float_expression(kind, depth - 1), self.float_expression(kind, depth - 2)
        choice = self.random.randrange(9)
        if choice < 3:
            return f"({a} {self.pick('+-*/')} {b})"
        if choice == 3:
            return f"fma({a}, {b}, {self.leaf(kind)})"
        if choice == 4:
            return f"({kind})({self.expression(self.pick([b for b in SCALARS if b != kind]), depth - 1)})"
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
        if choice == 3:
            other = vector(self.pick([b for b in (SCALARS if base in FLOATS else INTEGERS) if b != base]), size)
            return f"convert_{kind}({self.expression(other, depth - 1)})"
        a, b = self.expression(kind, depth - 1), self.leaf(kind)
        if base in FLOATS:
            return self.float_vector(kind, choice, a, b)
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

    def float_vector(self, kind, choice, a, b):
        mask = vector(MASKS[base_of(kind)], size_of(kind))
        if choice == 4:
            return f"fma({a}, {b}, {self.leaf(kind)})"
        if choice == 5:
            return self.pick((f"({self.leaf(mask)} ? {a} : {b})", f"select({a}, {b}, {self.leaf(mask)})",
                              f"select({a}, {b}, ({a} {self.pick(('<', '>=', '=='))} {b}))"))
        if choice == 6:
            return f"{self.pick(('floor', 'ceil', 'trunc', 'fabs', '-'))}({a})"
        return f"({a} {self.pick('+-*/')} {b})"

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
        for kind, space in function.parameters:
            if space is not None:
                arguments.append(f"&{self.pick(self.places(kind, space))}")
            else:
                arguments.append(self.pick(self.readable(kind)) if is_record(kind) else self.expression(kind, 1))
        return f"{function.name}({', '.join(arguments)})"

    def places(self, kind, space):
        """What such a pointer may point to; members of a union are no such places, as pointers do not say so."""
        places = [v.text for v in self.scope if v.kind == kind and v.space == space and not v.constant and not v.punned]
        return places + [self.element(a) for a in self.arrays if a.kind == kind and a.space == space and not a.punned]

    def callable(self, function, pointers):
        """True when there is something to give it; `pointers`: also by address."""
        for kind, space in function.parameters:
            if space is not None and not (pointers and self.places(kind, space)):
                return False
            if is_record(kind) and not self.readable(kind):
                return False
        return True

    # ---- statements ----

    def writable(self):
        return [v for v in self.scope if not v.constant and base_of(v.kind) in SCALARS]

    def assignment(self):
        choice = self.random.randrange(10)
        if choice < 2 and self.arrays:
            array = self.pick(self.arrays)
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
            self.store(target.text, target.kind, self.expression(target.kind, self.pick((1, 2, 2, 3))), target.punned)

    def store(self, text, kind, value, punned):
        """Bits that others read as another type are the same on every machine."""
        self.put(f"{text} = plain_{kind}({value});" if punned and kind in FLOATS else f"{text} = {value};")

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
        kinds = [self.assignment] * 6 + [self.declaration] * 2 + [self.pointer] * 2
        kinds += [self.walk_array, self.copy_record, self.loads, self.call_function]
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
        target = self.pick(self.writable())
        kind, space = target.kind, target.space
        places = self.places(kind, space)
        if not places:
            self.assignment()
            return
        name = self.new_name("p")
        one, two, three = self.pick(places), self.pick(places), self.pick(places)
        choice = self.random.randrange(4)
        if choice == 0:
            self.put(f"{{ {space}{kind} *{name}[2]; {name}[0] = &{one}; {name}[1] = &{two}; "
                     f"*{name}[{self.leaf('uint')} & 1u] = {self.expression(kind, 2)}; {three} = *{name}[0]; }}")
        elif choice == 1:
            self.put(f"{{ {space}{kind} *{name} = &{one}, **to_{name} = &{name}; "
                     f"if ({self.condition(1)}) {{ *to_{name} = &{two}; }} "
                     f"*{name} = {self.expression(kind, 2)}; {three} = **to_{name}; }}")
        else:
            self.put(f"{{ {space}{kind} *{name} = {self.condition(1)} ? &{one} : &{two}; "
                     f"*{name} = {self.expression(kind, 2)}; {three} = *{name}; }}")

    def walk_array(self):
        """A pointer that goes through an array."""
        arrays = [a for a in self.arrays if not a.punned]
        targets = [v for v in self.writable() if v.kind == "uint"]
        if not arrays or not targets:
            self.assignment()
            return
        array, name = self.pick(arrays), self.new_name("p")
        self.put(f"for ({array.space}{array.kind} *{name} = {array.text} + {self.index(array.count)}; "
                 f"{name} < {array.text} + {array.count}; {name}++) {{ *{name} = {self.expression(array.kind, 1)}; "
                 f"{self.pick(targets).text} += (uint)({name} - {array.text}); }}")

    def call_function(self):
        """A call may write through pointers, so nothing else stands in its statement."""
        calls = [f for f in self.functions if self.callable(f, True)]
        if not calls:
            self.assignment()
            return
        function, name = self.pick(calls), self.new_name("v")
        self.put(f"{function.result} {name} = {self.call(function)};")
        if is_record(function.result):
            self.add_record(name, function.result)
        else:
            self.scope.append(Variable(name, function.result))

    def copy_record(self):
        known = [v for v in self.scope if v.kind in self.records]
        same = [(a, b) for a in known for b in known if a is not b and a.kind == b.kind and not a.constant]
        if not same:
            return self.assignment()
        target, source = self.pick(same)
        calls = [f for f in self.functions if f.result == target.kind and self.callable(f, False)]
        self.put(f"{target.text} = {self.call(self.pick(calls)) if calls and self.chance(60) else source.text};")
        return None

    def loads(self):
        """Vectors that are loaded from an array and stored into it."""
        arrays = [a for a in self.arrays if a.kind == "uint" and a.count >= 16 and not a.punned]
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

    def make_record(self):
        fields = self.union_fields() if self.chance(40) else self.struct_fields()
        word = "struct" if fields[0][0].startswith("f") else "union"
        name = f"{word} {self.name}_{word[0]}{len(self.records)}"
        self.lines.append(f"{name} {{ {self.members(fields)} }};")
        self.records[name] = fields

    def members(self, fields):
        """The declarations of these; fields with a dot in their name are of a struct without a name."""
        texts, inner = [], {}
        for field, kind, count in fields:
            member, _, rest = field.partition(".")
            text = f"{kind} {rest or member}{f'[{count}]' if count else ''};"
            if not rest:
                texts.append(text)
            elif member in inner:
                inner[member].append(text)
            else:
                inner[member] = [text]
        return " ".join(texts + [f"struct {{ {' '.join(parts)} }} {member};" for member, parts in inner.items()])

    def struct_fields(self):
        fields = []
        for i in range(self.random.randrange(2, 6)):
            if self.records and self.chance(25):
                fields.append((f"f{i}", self.pick(list(self.records)), 0))
            else:
                fields.append((f"f{i}", self.any_kind(), self.pick((0, 0, 0, 4, 8))))
        return fields

    def union_fields(self):
        fields, size = [], self.pick(list(MEMBERS))
        for i, parts in enumerate(self.random.sample(MEMBERS[size], self.random.randrange(2, 4))):
            names = [f"m{i}"] if len(parts) == 1 else [f"m{i}.f{j}" for j in range(len(parts))]
            fields += [(name, *part) for name, part in zip(names, parts)]
        return fields

    def bytes_of(self, kind, count=0):
        """At least as many as it takes."""
        if is_record(kind):
            return sum(self.bytes_of(inner, n) for _, inner, n in self.records[kind]) + 128
        size = size_of(kind)
        return BYTES[base_of(kind)] * (4 if size == 3 else size) * (count or 1)

    def add_record(self, text, name, space="", punned=False):
        """Makes a variable of such a type known, with all that is in it."""
        if text.count(".") + text.count("->") < 3:
            self.scope.append(Variable(text, name, space=space, punned=punned))
        punned = punned or name.startswith("union")
        for field, kind, count in self.records[name]:
            place = f"{text}.{field}"
            if is_record(kind):
                self.add_record(place, kind, space, punned)
            elif count:
                self.arrays.append(Array(place, kind, count, space, punned))
            else:
                self.scope.append(Variable(place, kind, space=space, punned=punned))

    def set_record(self, text, name):
        """Assigns all that is in a variable of this type; of a union one member, which has all its bytes."""
        union = name.startswith("union")
        fields = self.records[name]
        for field, kind, count in fields:
            place = f"{text}.{field}"
            if union and field.partition(".")[0] != fields[0][0].partition(".")[0]:
                continue
            if is_record(kind):
                self.set_record(place, kind)
            elif count:
                for i in range(count):
                    self.put(f"{place}[{i}] = {self.leaf(kind)};")
            else:
                self.store(place, kind, self.expression(kind, 1), union)

    def make_function(self):
        name = f"{self.name}_f{len(self.functions)}"
        records = list(self.records)
        result = self.pick(records) if records and self.chance(30) else self.any_kind()
        parameters = [(self.any_kind(), None) for _ in range(self.random.randrange(1, 4))]
        if records and self.chance(50):
            parameters.append((self.pick(records), None))
        if records and self.chance(40):
            parameters.append((self.pick(records), self.pick(("", "", LOCAL))))
        if self.chance(40):
            parameters.append((self.pick(("uint", "int", "ulong", "double")), ""))
        if self.chance(40):
            parameters.append((self.pick(LOCAL_KINDS), LOCAL))
        return Function(name, result, parameters)

    def put_function(self, function):
        outer = (self.scope, self.arrays, self.budget)
        self.scope, self.arrays, self.budget = [], [], self.random.randrange(4, 10)
        texts = []
        for i, (kind, space) in enumerate(function.parameters):
            texts.append(f"{kind} a{i}" if space is None else f"{space}{kind} *a{i}")
            place = f"a{i}" if space is None else f"(*a{i})"
            if is_record(kind):
                self.add_record(place, kind, space or "")
            else:
                self.scope.append(Variable(place, kind, space=space or ""))
        noinline = "__attribute__((noinline)) " if self.chance(35) else ""
        self.lines.append(f"{noinline}{function.result} {function.name}({', '.join(texts)}) {{")
        self.depth = 0
        self.put("uint n = 3;")
        self.scope.append(Variable("n", "uint"))
        if is_record(function.result):
            self.put(f"{function.result} r;")
            self.set_record("r", function.result)
            self.add_record("r", function.result)
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
        kind = self.pick(("uint", *LOCAL_KINDS))
        name, target = f"local_{kind}", self.new_name("v")
        self.put(f"{name}[lid] = {self.expression(kind, 2)};")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        at = self.pick((f"lid + {self.random.randrange(1, 9)}u", "size - 1u - lid", f"lid ^ {self.random.randrange(8)}u",
                        self.leaf("uint"), f"lid * {self.random.randrange(2, 7)}u"))
        self.put(f"{kind} {target} = {name}[({at}) % size];")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.scope.append(Variable(target, kind))

    def reduction(self):
        kind = self.pick(("uint", "ulong"))
        name, target = f"local_{kind}", self.new_name("v")
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
        name, target = "local_uint", self.new_name("v")
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

    def walk(self):
        """Each writes a value, and goes through others' by a pointer."""
        kind, target = self.pick(("uint", "ulong", "ushort", "uchar")), self.new_name("v")
        name, step = f"local_{kind}", self.random.randrange(1, 4)
        self.put(f"{name}[lid] = {self.expression(kind, 2)};")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.put(f"{kind} {target} = 3;")
        self.put("{")
        self.put(f"    LOCAL const {kind} *at = {name} + ({self.leaf('uint')}) % size, *end = {name} + size;")
        self.put(f"    for (uint i = 0; i < {self.random.randrange(2, 6)}u && at < end; i++) {{")
        self.put(f"        {target} = ({kind})(({wide(kind)}){target} * 31u + *at);")
        self.put(f"        at += end - at > {step} ? {step} : end - at;")
        self.put("    }")
        self.put(f"    {target} ^= ({kind})(end - at);")
        if kind == "uint" and self.chance(50):
            self.put(f"    {target} += total({name} + lid, min(size - lid, {self.random.randrange(2, 9)}u));")
        self.put("}")
        self.put("barrier(CLK_LOCAL_MEM_FENCE);")
        self.scope.append(Variable(target, kind))

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
        self.pick((self.exchange, self.exchange, self.walk, self.reduction, self.scan, self.atomics, self.atomics,
                   self.locked))()

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
        for kind in LOCAL_KINDS:
            self.put(f"local {kind} local_{kind}[{x * y}];")
        self.put(f"local uint local_block[{x * y}][{LOCAL_BLOCK}];")
        records = {kind: f"local_{kind.split()[1]}" for kind in self.records
                   if self.bytes_of(kind) * x * y * len(self.records) <= LOCAL_RECORD_BYTES}
        for kind, name in records.items():
            self.put(f"local {kind} {name}[{x * y}];")
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
        for kind in ("uint", "uint", "int", "ulong", "long", "uchar", "short", *FLOATS, self.any_kind(), "uint4"):
            name = self.new_name("v")
            start = {"uint": "in[gid]", "ulong": "in[gid] * 12345678901ul", "float": "(float)in[gid] * 0.25f",
                     "double": "(double)in[gid] * 0.1"}
            self.put(f"{kind} {name} = {start.get(kind, f'({kind})(in[gid] >> {self.random.randrange(9)})')};"
                     if size_of(kind) == 1 else f"{kind} {name} = ({kind})({self.literal(base_of(kind))});")
            self.scope.append(Variable(name, kind))

        self.begin_local(records)

    def begin_local(self, records):
        """Every work-item's places in local memory: elements with its number."""
        for kind in LOCAL_KINDS:
            self.put(f"local_{kind}[lid] = {self.leaf(kind)};")
            self.scope.append(Variable(f"local_{kind}[lid]", kind, space=LOCAL))
        self.put(f"for (uint i = 0; i < {LOCAL_BLOCK}u; i++) {{ local_block[lid][i] = in[gid] * i; }}")
        self.arrays.append(Array("local_block[lid]", "uint", LOCAL_BLOCK, LOCAL))
        for kind, name in records.items():
            self.set_record(f"{name}[lid]", kind)
            self.add_record(f"{name}[lid]", kind, LOCAL)

    def declare_private(self):
        big = self.chance(15)
        for kind, count in (("uint", self.pick((256, 512)) if big else self.pick((4, 16, 32))),
                            (self.any_kind(), self.pick((4, 8)))):
            name = self.new_name("a")
            self.put(f"{kind} {name}[{count}];")
            self.put(f"for (uint i = 0; i < {count}u; i++) {{ {name}[i] = ({kind})({self.leaf('uchar')}); }}")
            self.arrays.append(Array(name, kind, count))
        for kind in list(self.records) * 2:
            name = self.new_name("s")
            self.put(f"{kind} {name};")
            self.set_record(name, kind)
            self.add_record(name, kind)

    def hash_of(self, text, kind):
        base = base_of(kind)
        if size_of(kind) > 1:
            for i in range(size_of(kind)):
                self.hash_of(f"{text}.s{LETTERS[i]}", base)
        else:
            word = f"bits_{base}({text})" if base in FLOATS else f"(uint){text}"
            word = text if base in ("long", "ulong") else word
            self.put(f"h = blend(h, {word});" if BYTES[base] == 8 else f"h = h * 31u + {word};")

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
        for _ in range(self.random.randrange(0, 4)):
            self.make_record()
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
