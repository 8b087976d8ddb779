"""Ordinary English and the names, years and references of the field need no link; each exemption is counted."""

from __future__ import annotations

import pytest

from conftest import UP, Tiny
from evidence import bare, check


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("year", "Ba et al. (2016), Zhang and Sennrich 2019; in 2017, since 2020 it was."),
        ("year", "Attention (Vaswani et al., 2017) and NeurIPS 2023."),
        ("arXiv", "arXiv:1607.06450, arXiv:1910.07467v1 and arXiv: 2002.04745."),
        ("reference", "Section 4.2, Eq. 5 of it, Eq. (4), Table A2, Figure 3, Theorem 2(b), Appendix C1 and § 3."),
        ("reference", "Sections 4.1–4.3, Tables 2, 3 and 4, Eqs. (4) and (5), pp. 12-18, Step 1."),
        ("version", "PyTorch 2.13.0, torch 2.13, Python 3.11, CUDA 12, numpy 2.4, `pip install torch==2.13.0`."),
        ("name", "GPT-2, GPT-3.5, BERT, Llama 3.1, LLaMA-65B, Qwen2.5, DeepSeek-V3, CC BY 4.0, Apache 2.0, WMT 14."),
        ("name", "A-53, a 2D tensor, 3-D, 16-bit floats and CIFAR-10."),
        ("percentile", "the 5th to 95th percentile, and the 50th percentile."),
        ("list", "1. One\n2. Two\n3. Three\n\n    1. Deeper\n    2. Deeper"),
        ("heading", "## 1. Set up\n\n### 4.2. The path"),
        ("word", "First, note. A first-order term; at first sight. Half precision; double-check."),
    ],
)
def test_a_harmless_form_is_counted_by_its_kind(tiny: Tiny, kind: str, text: str) -> None:
    tiny.page(f"# Title\n\n{text}\n")
    left, exempt = bare.unbound(check.load(tiny.project)[2], {}, {})
    assert [one.text for one in left] == []
    assert exempt[kind] >= 1


@pytest.mark.parametrize(
    "text",
    [
        "Take one of the two parts; three questions follow, and a second one. Nothing is zero here.",
        "Unfold the manifold; fold it. The scaffold holds. Nonetheless, everything, everywhere, another one.",
        "float32, bf16, fp8, int8, x86, L2, sha256, `x_1`, h264, H100, RTX4090 and ResNet50.",
        "See [the paper](https://arxiv.org/abs/1607.06450) or https://example.org/12/34?x=5 or <https://example.org/6>.",
        "doi:10.1109/CVPR.2016.90 and a note.[^1] Another.[^12]\n\n[^1]: The note.",
        "## The path {#the-path-2}\n\nText.{ .class-3 #id-4 }",
        '<div class="col-2" style="width: 50%" id="x3">\n\ntext\n\n</div>',
        '<svg viewBox="0 0 37 37"><path d="M0 37"/></svg>',
        "<!-- 37 draws, never shown -->",
        "![alt](a37.svg) and [text](b38.md#c39)",
        "1. a\n1. b\n1. c",
        r"$x_{12} + W^{(37)} + \mathbb{E}_{t=3}\, y^{0.5}$ and `layers[0]`, `-1`",
    ],
)
def test_what_states_no_result_needs_no_link(tiny: Tiny, text: str) -> None:
    tiny.page(f"# Title\n\n{text}\n")
    assert tiny.unbound() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2000 seeds, 2048 wide, 2000% and 2016×, a 2000-step run, 2000 by 2000", ["2000", "2048", "2000", "2016"]),
        ("Table 2, 26.6 is; in Figure 3, 96 layers", ["26.6", "96"]),
        ("Table 2 and 0.5 of it", ["0.5"]),
        ("at step 100 and after steps 200", ["100", "200"]),
        ("Figure 0.5", ["0.5"]),
        ("Table 12% and page 12.5 %", ["12", "12.5"]),
        ("BERT 0.88 and ResNet 76.3, GPT 96, Gemma 12%", ["0.88", "76.3", "96", "12"]),
        ("torch 2 and numpy 96", ["2", "96"]),
        ("1024.1234", ["1024.1234"]),
        ("rank-8, layer-12, a depth-96 stack", ["8", "12", "96"]),
        ("# 96 layers\n## 4.2 times", ["96", "4.2"]),
        ("5th place, the 12th layer", ["5", "12"]),
        ("First the block", ["First"]),
        ("5-bit and 128-bit", ["5", "128"]),
        ("1507.1234 and 2003.12345", ["1507.1234", "2003.12345"]),
        ("we claim 97 percent of Table 12 per cent", ["97", "12"]),
        ("## 0.97. Share", ["0.97"]),
        ("&#x39&#55", ["&#x39", "&#55"]),
        ("grows ca.97 and ...96 too", ["97", "96"]),
        ("$x_{0.97}$", ["0.97"]),
    ],
)
def test_what_only_looks_harmless_is_listed(tiny: Tiny, text: str, expected: list[str]) -> None:
    tiny.page(f"# Title\n\n{text}\n")
    found = [one for _, one in tiny.unbound()]
    assert [one for one in expected if one not in found] == []


def test_every_exemption_is_counted(tiny: Tiny) -> None:
    tiny.have("share = 0.881\nn = 37  # 37 of them\n", {"share": 0.881, "n": 37}, output="0.9 and 12\n")
    tiny.page(
        f"# Title\n\n[0.881]({UP}/residual/share.py#share), 0.881, 88.1%, GPT-2, 2017, 12.\n\n"
        f"[share.py]({UP}/residual/share.py)\n\n`37`, $2x$.\n\n<!-- illustration: shape -->\n```text\n12 of 38\n```\n"
    )
    snippets, records, found = check.load(tiny.project)
    left, exempt = bare.unbound(found, snippets, records)
    assert left == []
    assert {kind: count for kind, count in exempt.items() if count} == {
        "equal to a bound one": 2,
        "name": 1,
        "year": 1,
        "printed by the page's snippet": 1,
        "setting": 1,
        "structure": 1,
        "illustration": 2,
        "repeats its own code": 1,
    }


def test_json_says_where(tiny: Tiny) -> None:
    tiny.page("# Title\n\n37\n")
    (one,) = bare.unbound(check.load(tiny.project)[2], {}, {})[0]
    assert one.to_json() == {"page": "docs/residual/path.md", "line": 3, "text": "37"}
