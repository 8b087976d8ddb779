"""Proves that the table of models is whole, is published as data, and refuses a row that fails instead of losing it.

That a fresh run says what the record says is tested for all snippets in test_chapters.py; this one needs transformers,
which the environment of the tests has.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from evidence import record, snippet
from evidence.project import Project
from evidence.run import Job, Runner

ROOT = Path(__file__).parents[1]
PROJECT = Project(ROOT)
PLAN = "snippets/models/architectures.json"
NAMED = """
nn.Transformer, BERT, GPT-2, GPT-J, GPT-NeoX, OPT, OPT-350M, BLOOM, T5, MPT, Falcon-7B, Falcon-40B,
Phi, LLaMA, Llama 4, Mistral, Mixtral, Gemma, Gemma 2, Gemma 3, Gemma 4, Qwen2, Qwen3, Qwen4-Exp,
OLMo, OLMo 2, OLMo 3, OLMoE, DeepSeek-V2, DeepSeek-V3, DeepSeek-V4, Cohere Command R, GLM-4-9B,
GLM-5, gpt-oss, SmolLM3, nanochat, ModernBERT, MiniMax-Text-01, Granite, Nemotron-4, EXAONE 4,
StableLM, StarCoder2, ViT, Swin v2, PaLM, GPT-3, ViT-22B, DeepNet, Kimi K2
"""


@pytest.fixture(scope="module")
def table() -> record.Record:
    return record.load(ROOT / "snippets/models/model_table")


def test_transformers_is_installed() -> None:
    """Without it the table would only be read, and the site would still build."""
    assert snippet.load(PROJECT, "models/model_table").lacks == []


def test_each_named_model_has_a_row_and_sixty_are_measured(table: record.Record) -> None:
    rows = json.loads(table.files["models.json"])
    assert [name for name in re.split(r",\s+", NAMED.strip()) if name not in {row["model"] for row in rows}] == []
    measured = [row for row in rows if row["evidence"] != "cited, not measured"]
    assert len(measured) == table.values["measured"] >= 60
    assert all(row["norms"] for row in measured)
    assert {row["year"] for row in rows} >= set(range(2017, 2027))


def test_json_and_csv_say_the_same(table: record.Record) -> None:
    rows: list[dict[str, Any]] = json.loads(table.files["models.json"])
    lines = list(csv.DictReader(io.StringIO(table.files["models.csv"].decode())))
    assert [{k: str(v) for k, v in row.items() if k != "norms"} for row in rows] == lines


def test_both_are_published() -> None:
    data = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["extra"]["data"]
    assert data["models.json"] == "snippets/models/model_table/models.json"
    assert data["models.csv"] == "snippets/models/model_table/models.csv"


def test_what_was_left_out_has_a_reason(table: record.Record) -> None:
    lines = list(csv.DictReader(io.StringIO(table.files["left_out.csv"].decode())))
    plan = json.loads((ROOT / PLAN).read_text(encoding="utf-8"))
    assert [line["model"] for line in lines] == [one["model"] for one in plan["models"] if one.get("leave_out")]
    assert all(line["what the run said"] and line["because"] for line in lines)


def typed(name: str) -> list[dict[str, str]]:
    lines = (ROOT / "snippets/models" / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_a_typed_eps_names_the_commit_at_which_it_was_read(table: record.Record) -> None:
    rows = {row["model"] for row in json.loads(table.files["models.json"])}
    for line in typed("released.csv"):
        assert re.fullmatch(r"\[(\S+/\S+)\]\(https://github\.com/\1/blob/[0-9a-f]{40}/\S+\)", line["read_in"]), line
        assert line["model"] in rows
        assert 1e-12 <= float(line["eps"]) <= 1e-4
    names = [line["checkpoint"] for line in typed("released.csv")]
    assert len(set(names)) == len(names)


def test_a_year_is_that_of_a_date_that_was_read_or_is_counted_as_unread() -> None:
    for line in typed("cited.csv"):
        read = (line["dated_by"], line["date_read_in"])
        assert all(read) or not any(read), line
        assert re.fullmatch(r"\d{4}(-\d\d){1,2}" if all(read) else r"\d{4}", line["date"]), line
        if number := re.search(r"arXiv:(\d\d)(\d\d)\.", line["source"]):
            months = 12 * (2000 + int(number[1])) + int(number[2])
            year, month = (int(part) for part in line["date"].split("-")[:2])
            assert abs(months - 12 * year - month) <= 12, line


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"model": "LLaMA", "type": "llama", "config": {"num_attention_heads": 5}}, "no row for LLaMA"),
        (
            {"model": "LLaMA", "type": "llama", "config": {}, "leave_out": "no reason"},
            "LLaMA builds now: take leave_out away",
        ),
        ({"model": "Muse Spark", "type": "muse_spark_text", "config": {}}, "no row for Muse Spark"),
    ],
    ids=["does not build", "builds again", "cannot be told"],
)
def test_a_row_that_fails_stops_the_run(tmp_path: Path, entry: dict[str, Any], said: str) -> None:
    plan = json.loads((ROOT / PLAN).read_text(encoding="utf-8"))
    changed = tmp_path / "architectures.json"
    changed.write_text(json.dumps({"sizes": plan["sizes"], "models": [entry]}), encoding="utf-8")
    job = Job(snippet.load(PROJECT, "models/model_table"), files={PLAN: changed})
    run = Runner(PROJECT).run(job)
    assert run.error
    assert said in run.error
