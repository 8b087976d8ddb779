"""A statement: a number (or a phrase) in a sentence, linked to the value that must bear it out.

What the link's title may say:

    (none)              an int must be equal (exact), a float must round to the digits as written (rounded)
    ±0.002  or  ±2%     a band around the number as written
    1.5 to 2.5          a band with two ends
    n=200 ±0.01         over many seeds (statistical): n must be the length of the snippet's `seeds`
    ratio 1.5 to 2.5    a ratio of two timings of one run
    setting             a parameter: equal to the variable
    definition: source  not measured: stated by the source that the link points to
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMERAL = re.compile(
    r"(?<![\w.])(?<![A-Za-z][-‑])(?P<sign>[+\-−]?)(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE](?P<exponent>[+\-−]?\d+))?"
    r"(?:\s?[×·]\s?10(?:(?P<super>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\^\{?(?P<caret>[+\-−]?\d+)\}?))?(?![\d]|\.\d)"
)
POWER = re.compile(r"(?<![\w.])(?P<base>10|2)(?:(?P<super>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\^\{?(?P<caret>[+\-−]?\d+)\}?)")
WORDS = {
    "zero": 0, "half": 0.5, "once": 1, "one": 1, "twice": 2, "double": 2, "two": 2, "triple": 3, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "tenfold": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
TITLE = re.compile(
    r"(?:(?P<setting>setting)|(?P<ratio>ratio\s+)?(?:n\s*=\s*(?P<n>[\d,]+),?\s+)?"
    r"(?:±\s?(?P<band>[\d.,]+(?:e[+-]?\d+)?)(?P<percent>\s?%)?|(?P<low>\S+)\s+to\s+(?P<high>\S+)))"
)
NOISE = 1e-6  # a float32 result below this may be rounding noise: a relative band around it means nothing


class Malformed(ValueError):
    """A statement that cannot be judged; the message says why and what to write instead."""


@dataclass(frozen=True)
class Number:
    """`value` as written, `unit` that of the last written digit (for 0.88: 0.01), `whole` if it has no decimals."""

    value: float
    unit: float
    whole: bool


@dataclass(frozen=True)
class Verdict:
    """What a statement came to. `used` is the share of the tolerance; above 1 the statement does not hold."""

    kind: str
    stated: float | str | bool
    measured: Any
    tolerance: float | None
    used: float | None
    holds: bool
    assertion: str  # Python, over the snippet's live variables


def numerals(text: str) -> list[re.Match[str]]:
    """The numerals of a text. Digits inside names (GPT-2, fp16, x_1) are none."""
    powers = list(POWER.finditer(text))
    inside = [range(*match.span()) for match in powers]
    numbers = [m for m in NUMERAL.finditer(text) if not any(m.start() in span for span in inside)]
    return sorted(powers + numbers, key=lambda match: match.start())


def number(text: str) -> Number:
    """The one number that a link's text states. A following % divides by a hundred.

    Raises `Malformed` if there is none, or more than one.
    """
    found = numerals(text)
    if not found:
        words = [WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in WORDS]
        if len(words) == 1:
            return Number(words[0], 1, float(words[0]).is_integer())
    if len(found) != 1:
        raise Malformed(f"a link states one number, and {text!r} has {len(found)}; link each by itself")
    match = found[0]
    exponent = (match["super"] or "").translate(SUPERSCRIPTS) or (match["caret"] or "").replace("−", "-")
    if "base" in match.re.groupindex:
        value = Decimal(match["base"]) ** int(exponent)
        whole, unit = int(exponent) >= 0, value
    else:
        value = Decimal(match["digits"].replace(",", "")) * (-1 if match["sign"] in {"-", "−"} else 1)
        decimals = Decimal(1).scaleb(int(value.as_tuple().exponent))
        scale = Decimal(10) ** (int((match["exponent"] or "0").replace("−", "-")) + int(exponent or 0))
        whole = decimals == 1 and scale == 1
        value, unit = value * scale, decimals * scale
    if re.match(r"\s?%|\spercent\b", text[match.end() :]):
        value, unit, whole = value / 100, unit / 100, False
    return Number(float(value), float(unit), whole)


def lookup(values: dict[str, Any], fragment: str) -> tuple[Any, str]:
    """The value a fragment names (`norms/0`, `gain/pre`) and the Python expression for it.

    Raises `Malformed` for a variable that the snippet does not have.
    """
    name, *steps = fragment.split("/")
    if name not in values:
        near = difflib.get_close_matches(name, values, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has: {', '.join(sorted(values)) or 'none'}"
        raise Malformed(f"the snippet has no recorded variable {name!r}{hint}")
    value, expression = values[name], name
    for step in steps:
        try:
            if isinstance(value, dict):
                key = next(key for key in value if str(key) == step)
            else:
                key = int(step)
            value, expression = value[key], f"{expression}[{key!r}]"
        except (StopIteration, ValueError, IndexError, TypeError):
            raise Malformed(f"{expression} has no entry {step!r}") from None
    return value, expression


def judge(text: str, title: str | None, fragment: str, values: dict[str, Any], cited: bool = False) -> Verdict:
    """Holds the linked `text` against the value that `fragment` names in `values`.

    Raises `Malformed` if the link states nothing that could be refuted.
    """
    value, expression = lookup(values, fragment)
    if isinstance(value, bool):
        if title:
            raise Malformed(f"{expression} is a condition; it takes no title")
        return Verdict("condition", True, value, 0, 0.0 if value else math.inf, value, expression)
    if isinstance(value, str):
        if title:
            raise Malformed(f"{expression} is a text; it takes no title")
        plain = text.strip("`*_ ")
        holds = plain == value
        return Verdict("exact", plain, value, 0, 0.0 if holds else math.inf, holds, f"{expression} == {plain!r}")
    if not isinstance(value, (int, float)):
        raise Malformed(f"{expression} is a {type(value).__name__}; a link names one number, condition or text")
    if not math.isfinite(value):
        raise Malformed(f"{expression} is {value}; state it as a condition, for example `overflows = not isfinite(x)`")
    said = number(text)
    kind, low, high, n = _band(said, title, value)
    if n is not None:
        seeds = values.get("seeds")
        if not isinstance(seeds, list) or len(seeds) != n:
            have = f"{len(seeds)}" if isinstance(seeds, list) else "no list `seeds`"
            raise Malformed(f"the title says n={n}, the snippet has {have}")
    if low is None or high is None:
        if kind == "setting" or cited or (isinstance(value, int) and said.whole):
            kind = "setting" if kind == "setting" else "cited" if cited else "exact"
            holds = said.value == value
            shown = int(said.value) if said.whole else said.value
            return Verdict(kind, shown, value, 0, 0.0 if holds else math.inf, holds, f"{expression} == {shown!r}")
        low, high = said.value - said.unit / 2, said.value + said.unit / 2
    return _within(kind, said.value, value, _tidy(low), _tidy(high), expression)


def _within(kind: str, stated: float, value: float, low: float, high: float, expression: str) -> Verdict:
    difference = value - stated
    tolerance = _tidy(high - stated if difference >= 0 else stated - low)
    if math.isclose(high - stated, stated - low, rel_tol=1e-6):
        # the same arithmetic as in the assertion, so that page and test cannot disagree
        holds, test = abs(difference) <= tolerance, f"abs({expression} - {stated!r}) <= {tolerance!r}"
    else:
        holds, test = low <= value <= high, f"{low!r} <= {expression} <= {high!r}"
    used = abs(difference) / tolerance if tolerance else (0.0 if holds else math.inf)
    return Verdict(kind, stated, value, tolerance, used, holds, test)


def _band(said: Number, title: str | None, value: float) -> tuple[str, float | None, float | None, int | None]:
    """Kind, lower and upper end (None: the digits as written), and n."""
    if title is None:
        return "rounded", None, None, None
    match = TITLE.fullmatch(title.strip())
    try:
        if not match:
            raise ValueError
        if match["setting"]:
            return "setting", None, None, None
        n = int(match["n"].replace(",", "")) if match["n"] else None
        if match["band"]:
            band = float(match["band"].replace(",", ""))
            if match["percent"]:
                if min(abs(said.value), abs(value)) < NOISE:
                    raise Malformed(
                        f"a relative band around {said.value:g}, a number near zero, means nothing; write ±…"
                    )
                band = abs(said.value) * band / 100
            low, high = said.value - band, said.value + band
        else:
            low, high = number(match["low"]).value, number(match["high"]).value
    except Malformed as error:
        raise error
    except ValueError:
        raise Malformed(
            f"malformed title {title!r}; a title is ±0.01, ±2%, 1.5 to 2.5, any of them after n=200 or ratio, "
            "or setting, or definition: source"
        ) from None
    if not low < high or not low <= said.value <= high:
        raise Malformed(f"the band {low:g} to {high:g} does not hold the stated {said.value:g}")
    kind = "ratio" if match["ratio"] else "statistical" if n is not None else "rounded"
    wide = max(high - said.value, said.value - low)
    if kind == "ratio":
        if low <= 0 or high > 2.5 * low:
            raise Malformed(
                f"the band {low:g} to {high:g} says nothing about a ratio: its ends differ by over 2.5 times"
            )
    elif said.value and wide >= 10 ** math.floor(math.log10(abs(said.value))) / 2:
        raise Malformed(f"the band ±{wide:g} is wide enough to accept another leading digit of {said.value:g}")
    elif not said.value and wide >= 2 * said.unit:
        raise Malformed(f"the band ±{wide:g} is wider than the digits of a stated zero; write more or fewer digits")
    return kind, low, high, n


def _tidy(number: float) -> float:
    """Without the last bits of binary arithmetic, so that the reader's assertion shows 0.0005."""
    return float(f"{number:.12g}")
