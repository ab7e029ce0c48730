"""Python of every kind, in small pieces; both front ends must read the same in each."""

from __future__ import annotations

EXPRESSIONS = """
a
a.b.c
( a ) . b
((a))
True, False, None, ...
1, 0x_ff, 0b1, 0o17, 1_000, 00, 1.5, 1e10, 1_0.5, .5, 1j, 0xFFFFFFFFFFFFFFFFFF, 1152921504606846975, 1152921504606846976
1e999
'a', "b", r'\\d', u'c', '', \"\"\"x\"\"\", 'it\\'s', "\\x41\\u00e9\\U0001F600\\101\\N{EM DASH}\\q\\\\"
'a' "b" r'\\c'
b'a', rb'\\d', b'a' b'b'
'\\ud800'
'a' '\\udc00'
f'\\udc00{a}'
f''
f'a'
f'{a}'
f'a{b}c{d}'
f'a{{b}}{c}'
f'{a!r}{b!s}{c!a}'
f'{a:>10}{b:{w}.{p}}{c!r:^{w}}'
f'{a=}{b = }{c=!r}{d=:>5}{ e = !s}{f=:}{g:}'
rf'\\d{a}\\n'
f'\\n{a}\\t'
f'{f(a, b=1)}{a[0]}{a.b}'
f'{a}' 'b' f'{c}' "{d}"
'a' f'b'
f'{ {1: 2}[1] }'
f'{(lambda x: 1)}'
f'{a, b}'
f'{*a, b}'
f'{x:%Y-%m-%d}'
f(a)
f()
f ( a , * b , c = 1 , ** d , )
f(*a, b, k=1, *c, **d, e=2)
f(x for x in y)
f((x for x in y))
f( x for x in y )
f (x for x in y)
(f)(a)(b).c(d)
f(a)(x for x in y if z)
f(a := 1)
a[b]
a[b, c]
a[b,]
a[(b, c)]
a[ : ]
a[1:]
a[:2]
a[::3]
a[1:2:3]
a[1::]
a[ 1 : 2 , :: 3 , ... ]
a[b:=1]
a[b][c].d[e]
lambda: 0
lambda a, /, b, c=1, *d, e, f=2, **g: a + b
lambda *, a: a
lambda *a, **b: a
lambda a,: (yield)
a < b
a < b <= c != d
(a) < (b) < (c)
a is not b, a is b, a not in b, a in b, a is  not b, a not  in b
not a
not  (a)
not not a
a and b or c and not d
(a and b) and c
a and (b and c)
a or b or c
a + b - c * d / e // f % g ** h @ i
(a + b) + c
a + (b + c)
(a) + (b)
-a, +b, ~c, - -d, -(1), -1 ** 2
a << b >> c & d | e ^ f
a if b else c
(a) if (b) else (c)
a if b else c if d else e
(a, b), (a,), (), ((a, b)), ( a , )
a, b
a,
[a, b], [], [a,], [*a, b]
{a, b}, {a,}, {*a, b}
{a: b, c: d}, {}, {**a, b: c,}
*a, b
[x for x in y]
[x for x in y if a if b for z in x if c]
{x for x in y}
{x: z for x in y}
(x for x in y)
((x for x in y))
[(yield) for x in y] if 0 else 0
[x for x, in y]
[x for x, z in y]
[x async for x in y]
[lambda: x for x in y]
(a := 1)
[a := 1, b]
(yield)
(yield a)
(yield a, b)
(yield from a)
await a
await a.b(c)
(await a).b
ünïcödé + 'ü' + f'ü{é}' + b
'😀', a, ñ
ﬁ + ªb
x  .  y  (  z  )
(a
  # a comment ( with ] brackets
  . b
  (c))
a + \\
  b
"""

STATEMENTS = '''
a = 1
---
a = b = c, d = 1
---
a, *b = (c) = d
---
(a), [b, c], d.e, f[g] = 1
---
a: int
---
a: int = 1
---
a.b: "x" = yield
---
a[1]: int = *b, c
---
a += 1; a -= 1; a *= 1; a /= 1; a //= 1; a %= 1; a **= 1; a <<= 1; a >>= 1; a &= 1; a |= 1; a ^= 1; a @= 1
---
a; b ; c;
---
pass; break; continue
---
return
---
return *a, b
---
return (
    a
)
---
raise
---
raise A
---
raise A(b) from c
---
assert a
---
assert a, "b"
---
assert (a, "b")
---
del a
---
del a, b.c, d[e],
---
del (a, b)
---
del (a), b
---
global a, b
nonlocal c
---
import a
---
import a.b.c as d, e , f as g
---
from a import b
---
from a.b import (c as d, e,)
---
from . import a
---
from .. b import *
---
from ... import (
    a,  # why
    b as c
)
---
from .... c import d
---
if a: b
---
if a:
    b
elif c:
    d
elif e:
    pass
else:
    f
---
if a:
    pass
else:
    if b:
        pass
---
if a: b; c;
else: d;
---
for a in b: pass
---
for a, b in c, d:
    pass
else:
    pass
---
for (a) in *b, c: pass
---
async def f():
    async for a in b:
        pass
    async with a as b, c: pass
    await d
    return [x async for x in y]
---
while a: pass
else: pass
---
try:
    a
except:
    b
---
try:
    a
except A: b
except (B, C) as d:
    e
else:
    f
finally:
    g
---
try: a
finally: b
---
with a: pass
---
with a as b, c as (d, e), f: pass
---
with (a): pass
---
with (a, b): pass
---
with (a as b, c,): pass
---
with (a, b) as c: pass
---
with (a), (b): pass
---
with (yield a): pass
---
with a as b.c, d as e[0], f as [g, h]: pass
---
def f(): pass
---
def f(a, /, b: int, c: str = "x", *d: e, f, g: h = 1, **i: j) -> k:
    """Doc."""
---
def f(a, b=1, /): pass
---
def f(*, a=1): pass
---
def f(  # comment: with a colon
    a=(1),  # another :
) :
    "doc" 'string'
    return a
---
@a
@b.c(d)

# comment
@ e [f]
async  def f(a): yield
---
def f():
    def g():
        yield
    lambda: (yield)
    return [x for x in g()]
---
def f(a=1):
    def g(x=(yield)): pass
---
def f():
    class C((yield)): pass
---
def f():
    x = yield from g()
---
def f():
    f"not a doc"
---
def f():
    b"not a doc"
---
def f(): "one line"; pass
---
class C: pass
---
class C(): "doc"
---
class C(A, b.D, metaclass=M, **k):
    """Doc
    of two lines."""
    x: int = 1
    def m(self): return super().m()
---
class C(*a, b=c, ) : pass
---
class C:
    # comment first

    @property
    def a(self): ...
    # comment last
x = 1
---
match = 1
match.x
match (a)
match[a] = case = type
type(a)
---
match a:
    case 1: b
    case "x" "y" | None | True: c
    case -1 | 1.5 | 1+2j: d
    case A.B: e
    case (A.C): f
    case _: g
---
match a.b[0], c:
    case 1, 2: pass
    case (1, x): pass
    case [1, *y]: pass
    case [1, *_,]: pass
    case (x,): pass
    case x,: pass
    case []: pass
    case (): pass
    case [[x, [y]], z]: pass
---
match f(a):
    case A(): b
    case A.B(x, y=1, z=C(w)): c
    case str(x) | bytes(x): d
    case A(1, (2), _): pass
    case {"a": 1, "b": x, B.C: _, **rest}: e
    case {}: f
    case {"k": {"n": 1}, }: pass
    case {**rest}: pass
    case x if x > 3: g
    case _ if h: pass
    case (1 | 2) as x: pass
    case [1 as x, (2 as y)] as z: pass
    case x: i
---
match (yield):
    case _: pass
---
match x:
    case y:
        pass
---
match *a, b:
    case 1: pass
---
match x :
    case 1  :  # comment
        pass

    # comment
    case 2 if ( y ) : pass ;
z = 1
---
if 1:
\tif 2:
\t\ta
\tb
---
x = """a
b"""; y = 1
---
x = f"""a
{b}
  {c!r:
}""".d; y
---
x = ("a"
     "b"  # comment
     f"{c}"
     'd')
'''

F_STRINGS = r'''
f"{a}{b.c}{d.e.f}"
---
f"{a}" f'{b.c}' "{d}" rf'{e}' F"{f}" fR"{g}" Rf'{h}'
---
"{a}" f"{ b }" u"c" f"{d }{ e.f}"
---
(f"{a}"  # a comment with {b} and "quotes"
 f"{b}" \
 "x"
 f"{c}")
---
f"{{a}}{b}{{{c}}}{{{{{d}"
---
f"\{a}\\{b}\N{EM DASH}{c}\x7b{d}\\N{e}"
---
rf"\{a}\\{b}\N{c}{{d}}\{{e}}"
---
f"{a!r}{b!s}{c!a}{d!r:>{w}}{e:{w}.{p}}{f:%H:%M}{g:{w!r}}{h:{x.y}{z[0]}}"
---
f"{a=}{b = }{c=!r}{d = !s:>5}{ e.f =}{g==h}{i!=j}{k<=l}{m>=n}{o<p}{q>r}"
---
f"{a['b']}{c[0:1]}{d({'e': 1})}{f[g[h]]}{(lambda x: x)(1)}{(i := 2)}"
---
f"{'a:b!c={d}'}{':'.join(x)}{'' if a else 'b'}"
---
f'{"a"}{b["c"]}'
---
f"""{a}"b"{'c'}{d["e"]}'{f}' ""{g}\""""
---
f"{a, b}{ (c, d) }{ e, }{*f, g}"
---
f"{ x + y }{-x}{not x}{x if y else z}{await_.x}{x @ y}"
---
f"{[x for x in y if z]}{ {a: b for a, b in c} }{sum(d for d in e)}{(f for f in g)}"
---
f"{f'{x}'}{f'{y.z} {w!r}'}"
---
f"""
{a}
  {
b
  + c}é{ d('ü', e)
}{f
!r}{g:{
h}}
"""
---
f"é{a}ü{b.c}{'ö'}{d('ä').e}" f'{é}{ü.ö}'
---
"é" f"{a('é')}" """é
é""" f"{b}"
---
f"{a}"f"{b}"'c'f'{d}'
---
f"{a	.	b}{c . d}{e.f (g)}"
---
f"{None}{True}{1}{1.5}{...}{'x'}{b'y'}{1_0}{0x1f}"
---
f"{a:{b}{c}}"[0]
---
f"{a::}{b:=}{c:!r}{d:>>}"
---
f'{a["b"]!r:{c["d"]}}{e:{f(g, "h}")}}'
'''
