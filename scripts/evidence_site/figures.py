"""Inlines an SVG so that it follows the page: inline styles become attributes, and fixed colours become classes."""

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


def inline(text: str, alt: str, name: str) -> str:
    """The SVG as an element of the page, with `alt` as its accessible name; ids are made its own by `name`.

    Raises `ValueError` for an SVG with a script, a link or an image in it: those would be third-party content.
    """
    root = ElementTree.fromstring(text)
    parents = {child: parent for parent in root.iter() for child in parent}
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
    root.attrib.pop("version", None)
    root.set("xmlns", SVG)
    root.set("role", "img")
    root.set("aria-label", " ".join(alt.split()))
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    root.set("width", f"{width:g}")
    root.set("height", f"{height:g}")
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
