"""Inlines an SVG so that it follows the page: inline styles become attributes, and fixed colours become classes.

Lines and markers lose their transparency, so that each stands out from the page as its color does; areas keep theirs.
Positions are rounded to a hundredth of a point and paths are written from point to point: a fifth of the bytes.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
# the colours of snippets/matplotlibrc, which the theme gives a light and a dark form each
CLASSES = {
    "#0072b2": "c0",
    "#d55e00": "c1",
    "#009e73": "c2",
    "#cc79a7": "c3",
    "#8c6d1f": "c4",
    "#5f5f5f": "c5",
    "#000000": "ink",
    "#262626": "ink",
    "#808080": "faint",
    "#b0b0b0": "grid",
    "#ffffff": "paper",
}
DROPPED = {"metadata"}
PLACED = {"x", "y", "width", "height"}
STEP = re.compile(r"([MLCQZ])([^MLCQZ]*)", re.IGNORECASE)
UNIT = 100  # steps of a position in a point


def inline(text: str, alt: str, name: str) -> str:
    """The SVG as an element of the page, with `alt` as its accessible name; ids are made its own by `name`.

    Raises `ValueError` for an SVG with a script, a link or an image in it: those would be third-party content.
    """
    root = ElementTree.fromstring(text)
    parents = {child: parent for parent in root.iter() for child in parent}
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    for element in list(root.iter()):
        tag = element.tag.rpartition("}")[2]
        if tag in DROPPED:
            parents[element].remove(element)
            continue
        if tag in {"script", "foreignObject", "image", "a"}:
            raise ValueError(f"{name}.svg holds a <{tag}>")
        if tag == "style":
            parents[element].remove(element)
            continue
        element.tag = tag
        _attributes(element, name)
    root.set("xmlns", SVG)
    root.set("role", "img")
    root.set("aria-label", " ".join(alt.split()))
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
    _forget(root)
    return ElementTree.tostring(root, encoding="unicode")


def _attributes(element: ElementTree.Element, name: str) -> None:
    style = dict(part.split(":", 1) for part in element.attrib.pop("style", "").split(";") if ":" in part)
    for key, value in style.items():
        element.set(key.strip(), value.strip())
    if "font" in element.attrib:  # the shorthand has no attribute form
        size = re.search(r"([\d.]+)px", element.attrib.pop("font"))
        if size:
            element.set("font-size", size[1])
    for key in [key for key in element.attrib if key.startswith("{")]:
        value = element.attrib.pop(key)
        if key == f"{{{XLINK}}}href":
            element.set("href", value)
    if "opacity" in element.attrib:  # of an area, whose edge need not be as light
        element.set("fill-opacity", element.attrib.pop("opacity"))
    if "stroke-opacity" in element.attrib and element.tag == "use":  # a marker; a band has no line around it
        element.attrib.pop("fill-opacity", None)
    element.attrib.pop("stroke-opacity", None)
    for key in PLACED & element.attrib.keys():
        element.set(key, " ".join(_digits(_steps(number)) for number in element.attrib[key].split()))
    if "d" in element.attrib:
        element.set("d", path(element.attrib["d"]))
    if element.get("transform", "").startswith("rotate(-0 "):
        element.attrib.pop("transform")
    element.attrib.pop("font-family", None)  # the page's own
    classes = []
    for key in ("fill", "stroke"):
        colour = element.get(key, "").lower()
        if colour in CLASSES:
            classes.append(f"{key}-{CLASSES[colour]}")
            element.attrib.pop(key)
    if element.tag == "text" and not any(one.startswith("fill") for one in classes) and "fill" not in element.attrib:
        classes.append("fill-ink")
    if classes:
        element.set("class", " ".join(classes))
    for key, value in list(element.attrib.items()):
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key == "href" and value.startswith("#"):
            element.set(key, f"#{name}-{value[1:]}")
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def path(absolute: str) -> str:
    """The same path, in relative steps; each is taken from the rounded place before it, so that no error adds up."""
    made, here, start = [], (0, 0), (0, 0)
    for letter, numbers in STEP.findall(absolute):
        places = [_steps(number) for number in numbers.split()]
        points = list(zip(places[::2], places[1::2], strict=True))
        steps = " ".join(f"{_digits(x - here[0])} {_digits(y - here[1])}" for x, y in points)
        made.append(f"{letter.lower()}{steps}")
        here = points[-1] if points else start
        start = here if letter == "M" else start
    return "".join(made).replace(" -", "-")


def _steps(number: str) -> int:
    return round(float(number) * UNIT)


def _digits(steps: int) -> str:
    return f"{steps / UNIT:.2f}".rstrip("0").rstrip(".")


def _forget(root: ElementTree.Element) -> None:
    """Drops the ids that nothing refers to, and the space between elements."""
    values = [value for element in root.iter() for key, value in element.attrib.items() if key != "id"]
    used = {name for value in values for name in re.findall(r"#([^)]+)", value)}
    for element in root.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)
        element.text = element.text if (element.text or "").strip() else None
        element.tail = element.tail if (element.tail or "").strip() else None
