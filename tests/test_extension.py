"""Proves that a page renders as the engine read it: escaped, linked both ways, and refused where the two disagree."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import markdown
import pytest

from conftest import PAGE, UP, Tiny
from evidence import check
from evidence.project import Refusal
from evidence_site import figures
from evidence_site.extension import Current

EXTENSIONS = ["attr_list", "md_in_html", "tables", "pymdownx.arithmatex", "evidence_site.extension"]
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><metadata>x</metadata><defs><clipPath id="c"/></defs>'
    '<path style="fill: none; stroke: #0072b2; stroke-width: 2" clip-path="url(#c)"/>'
    "<text style=\"font: 10px 'DejaVu Sans'; text-anchor: middle\">norm</text></svg>"
)


@pytest.fixture(autouse=True)
def fresh(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tiny.root)
    yield
    Current.state = Current.refused = None


def render(tiny: Tiny, text: str) -> str:
    tiny.page(text)
    Current.state = check.load(tiny.project)
    options = {"pymdownx.arithmatex": {"generic": True}}
    return markdown.Markdown(extensions=EXTENSIONS, extension_configs=options).convert(text)


def test_output_is_shown_as_text(tiny: Tiny) -> None:
    tiny.have("print('…')\n", {}, output="<script>alert(1)</script> **bold** [a](b)\n")
    text = render(tiny, f"[share.py]({UP}/residual/share.py)\n")
    assert "<script>" not in text
    assert html.escape("<script>alert(1)</script> **bold** [a](b)") in text


def test_source_is_shown_as_text(tiny: Tiny) -> None:
    tiny.have("x = '<script>alert(1)</script>'\n", {"x": "…"})
    assert "<script>" not in render(tiny, f"[share.py]({UP}/residual/share.py)\n")


def test_a_number_and_its_evidence_link_to_each_other(tiny: Tiny) -> None:
    tiny.have("share = 0.881\n", {"share": 0.8812})
    text = render(tiny, f"It is [0.881]({UP}/residual/share.py#share), again [0.88]({UP}/residual/share.py#share).\n")
    for name in ("share.share", "share.share-2"):
        assert f'href="#evidence:{name}" id="{name}"' in text
        assert f'<li id="evidence:{name}">' in text
        assert f'href="#{name}"' in text
    assert "measured 0.8812, tolerance 0.0005, 40% of it used" in text


def test_what_a_snippet_reads_can_be_saved_beside_it(tiny: Tiny) -> None:
    tiny.write("snippets/data/a.csv", "1\n")
    tiny.have("# reads: snippets/data/a.csv\nshare = 0.881\n", {"share": 0.881})
    text = render(tiny, f"Say [0.881]({UP}/residual/share.py#share).\n\n[share.py]({UP}/residual/share.py)\n")
    saved = '<a download="a.csv" href="../snippets/data/a.csv">a.csv</a>'
    assert f'<p class="snippet-reads">Save beside it: {saved}</p>' in text
    assert "it runs alone, beside the files above." in text


def test_the_check_block_runs_alone(tiny: Tiny) -> None:
    tiny.have("share = 0.881\n", {"share": 0.881})
    text = render(tiny, f"Say [0.881]({UP}/residual/share.py#share).\n\n[share.py]({UP}/residual/share.py)\n")
    (block,) = re.findall(r'<details class="check-yourself"[^>]*>.*?<code>(.*?)</code></pre></div>', text, re.S)
    code = html.unescape(re.sub(r"<[^>]+>", "", block))
    exec(code, {})
    with pytest.raises(AssertionError, match=re.escape(f"{PAGE}:1 states 0.881; share is 0.5")):
        exec(code.replace("share = 0.881", "share = 0.5"), {})


def test_a_link_that_does_not_render_is_refused(tiny: Tiny) -> None:
    """Python-Markdown makes no link inside an HTML block, though the scanner sees one there."""
    tiny.have("share = 0.881\n", {"share": 0.881})
    with pytest.raises(Refusal, match="did not render as a link"):
        render(tiny, f"<div>\n[0.881]({UP}/residual/share.py#share)\n</div>\n")


def test_while_serving_it_is_collected_instead(tiny: Tiny) -> None:
    tiny.have("share = 0.881\n", {"share": 0.881})
    Current.refused = []
    render(tiny, f"<div>\n[0.881]({UP}/residual/share.py#share)\n</div>\n")
    assert len(Current.refused) == 1


def test_formulas_are_mathml_without_inline_style(tiny: Tiny) -> None:
    text = render(tiny, "Let $a < b$, and\n\n$$\n\\begin{aligned} a &= b\\! \\\\ c &= d \\end{aligned}\n$$\n")
    assert text.count("<math") == 2
    assert "<mo>&lt;</mo>" in text
    assert 'class="cell-right"' in text
    assert " style=" not in text


def test_a_formula_that_is_no_latex_is_refused(tiny: Tiny) -> None:
    with pytest.raises(Refusal, match=r"docs/residual/path.md:3: \\foo"):
        render(tiny, "Text.\n\nLet $\\foo$ be.\n")


def test_a_table_shows_its_citation_and_aligns_numbers(tiny: Tiny) -> None:
    tiny.write("snippets/papers/t.csv", "# Ba et al. 2016, Table 3\nnorm,BLEU\nLayerNorm,26.6 ± 0.1\nnone,–\n")
    text = render(tiny, f'[Caption & more.]({UP}/papers/t.csv "table")\n')
    assert "<caption>Caption &amp; more.</caption>" in text
    assert '<td class="number">26.6 ± 0.1</td>' in text
    assert "Ba et al. 2016, Table 3" in text


def test_a_cell_shows_what_the_data_has(tiny: Tiny) -> None:
    rows = "x&#57;,&#57;&#57;\n&lt;b&gt;,[x](javascript://a)\nc & d,[e&#57;](https://x.org)\n"
    tiny.write("snippets/papers/t.csv", f"# Ba et al. 2016, Table 3\n{rows}")
    text = render(tiny, f'[Caption.]({UP}/papers/t.csv "table")\n')
    for cell in ("x&#57;", "&#57;&#57;", "&lt;b&gt;", "[x](javascript://a)", "c & d", "e&#57;"):
        assert f">{html.escape(cell)}<" in text


def test_a_figure_follows_the_scheme(tiny: Tiny) -> None:
    tiny.snippet()
    tiny.record({}, files={"f.svg": SVG.encode(), "f.csv": b"a\n1\n"})
    text = render(tiny, f'![It "falls" & rises.]({UP}/residual/share/f.svg "Caption.")\n')
    assert 'aria-label="It &quot;falls&quot; &amp; rises."' in text
    assert 'class="stroke-c0"' in text
    assert "#0072b2" not in text
    assert 'clip-path="url(#f-c)"' in text
    assert 'font-size="10"' in text
    assert " style=" not in text
    assert "f.csv" in text


@pytest.mark.parametrize("part", ["<script/>", '<image href="https://x.org/a.png"/>', "<foreignObject/>", "<a/>"])
def test_an_svg_with_foreign_content_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match=r"f\.svg holds a <"):
        figures.inline(SVG.replace("<metadata>", f"{part}<metadata>"), "alt", "f")


def test_every_colour_of_the_style_has_a_light_and_a_dark_form() -> None:
    root = Path(__file__).parents[1]
    used = set(re.findall(r"\b[0-9A-Fa-f]{6}\b", (root / "snippets/matplotlibrc").read_text(encoding="utf-8")))
    assert used
    assert {f"#{colour.lower()}" for colour in used} <= set(figures.CLASSES)
    css = (root / "docs/assets/stable-depth.css").read_text(encoding="utf-8")
    for name in set(figures.CLASSES.values()):
        assert f".stroke-{name} " in css, name
        assert f".fill-{name} " in css, name
