# Builds a tiny random model of each architecture, offline, and reads its norms off the running code
# requires: transformers
# limits: 1200 s, 6 GB
# reads: snippets/models/find_norms.py
# reads: snippets/models/architectures.json snippets/models/cited.csv snippets/models/released.csv
import csv
import inspect
import json
import os
import re
import runpy
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from torch import Tensor, nn
from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL

find_norms = runpy.run_path("find_norms.py")["find_norms"]
transformers.logging.set_verbosity_error()
torch.set_grad_enabled(True)

with open("architectures.json", encoding="utf-8") as file:
    plan = json.load(file)


def typed_rows(name: str) -> list[dict[str, str]]:
    """The rows of a file that was typed by hand; its first lines say how."""
    with open(name, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


cited = {line["model"]: line for line in typed_rows("cited.csv")}
released: dict[str, list[str]] = {}
for line in typed_rows("released.csv"):
    released.setdefault(line["model"], []).append(line["eps"])
HEADS = ("Seq2SeqLM", "CausalLM", "MaskedLM", "ImageClassification", "")


def build(entry: dict[str, Any]) -> tuple[nn.Module, Any]:
    """A model of two or so layers and a width of 32, with random weights and no download."""
    torch.manual_seed(0)
    if entry["type"] == "nn.Transformer":
        return nn.Transformer(32, 4, 2, 2, 64, batch_first=True, **entry["config"]), None
    default = AutoConfig.for_model(entry["type"])
    known, alias = {*default.to_dict(), *default.attribute_map}, default.attribute_map
    sizes = {
        k: v for k, v in plan["sizes"].items() if k in known and alias.get(k) not in entry["config"]
    }
    config = AutoConfig.for_model(entry["type"], **(sizes | entry["config"]))
    for head in HEADS:
        auto = getattr(transformers, f"AutoModelFor{head}" if head else "AutoModel")
        if type(config) in auto._model_mapping:
            return auto.from_config(config, attn_implementation="eager"), config
    raise LookupError(f"no class of a model for {entry['type']}")


def example(model: nn.Module, config: Any) -> dict[str, Any]:
    """Inputs that the model takes: token ids, an image, or two sequences."""
    takes = inspect.signature(model.forward).parameters
    ids = torch.arange(3, 15)[None]
    if config is None:
        return {"src": torch.randn(1, 6, 32), "tgt": torch.randn(1, 6, 32)}
    if "pixel_values" in takes and "input_ids" not in takes:
        return {"pixel_values": torch.randn(1, 3, config.image_size, config.image_size)}
    more = {"decoder_input_ids": ids[:, :6]} if "decoder_input_ids" in takes else {}
    return {"input_ids": ids, **more, **({"use_cache": False} if "use_cache" in takes else {})}


def one(values: Any) -> str:
    """The values that occur, each once."""
    return (
        "; ".join(dict.fromkeys(str(value) for value in values if value not in (None, "")))
        or "none"
    )


def last_hidden_state(model: nn.Module, inputs: dict[str, Any], final: list[Any]) -> str:
    """Whether hidden_states[-1] is what the final norm returned, or what it was given."""
    if "src" in inputs or not final:
        return "no final norm" if not final else "not offered"
    seen: dict[str, Tensor] = {}
    module = model.get_submodule(final[-1]["name"].partition(" ")[0])
    hook = module.register_forward_hook(lambda m, args, out: seen.update(before=args[0], after=out))
    with torch.no_grad():
        told = model.eval()(**inputs, output_hidden_states=True)
    hook.remove()
    states = told.get("hidden_states") or told.get("decoder_hidden_states")
    if not states:
        return "not offered"
    same = {k: v.shape == states[-1].shape and torch.equal(v, states[-1]) for k, v in seen.items()}
    return "yes" if same["after"] else "no" if same["before"] else "neither"


def kind(n: dict[str, Any]) -> str:
    """Family and width of a norm of queries, keys or values."""
    shape = n["calls"][0]["x"].shape
    width = "full width" if len(shape) < 4 else "per head"
    width = width if n["width"] == shape[-1] else "in groups"
    return f"{n['family']} {width}{', weightless' if n['weight'] == 'none' else ''}"


def row(entry: dict[str, Any]) -> dict[str, Any]:
    """One architecture's row; raises if the detector cannot tell what a column needs."""
    model, config = build(entry)
    inputs = example(model, config)
    found = find_norms(model, **inputs)
    norms = [n for n in found["norms"] if n["calls"]]

    def at(*starts: str) -> list[dict[str, Any]]:
        return [n for n in norms if any(p.startswith(starts) for p in n["places"])]

    stream = at("pre", "post", "branch output")
    final = [n for n in at("final") if not n["places"][-1].startswith("final of a stack")]
    if not final and not getattr(config, "is_encoder_decoder", False):
        final = at("final of a stack")
    if found["streams"]:
        stream = stream or [n for n in norms if n["width"] == 32]
        final = [n for n in norms if n["name"] in entry["final"]]
    kinds, skips, writes = (
        zip(*found["branches"], strict=True) if found["branches"] else ((), (), ())
    )
    placement, blocks = one(kinds), set(found["blocks"].values())
    told = [*(p for n in stream + final for p in n["places"]), *(n["cast"] for n in stream)]
    told += [n[key] for n in stream for key in ("family", "weight")]
    expected = (
        {"LayerNorm(x)", "RMSNorm(x)"} if "post" in kinds or "pre, skip too" in kinds else {"x"}
    )
    if found["streams"]:
        placement = f"multi-stream ({found['streams']})" + (f", {placement}" if kinds else "")
    elif unknown := [one_told for one_told in told if one_told.startswith("cannot tell")]:
        raise ValueError(unknown[0])
    elif not kinds or not blocks <= expected:
        alone = f"a block with all but its norms zero returns {one(blocks)}"
        raise ValueError(f"cannot tell: the graph says {placement!r}, {alone}")
    slug = re.sub(r"[^a-z0-9]+", "-", entry["model"].lower()).strip("-")
    typed = cited[entry["model"]]
    return {
        "model": entry["model"],
        "year": int(typed["date"][:4]),
        "dated by": typed["dated_by"] or "–",
        "evidence": f"[measured](docs/models/every-norm.md#norms-{slug})",
        "placement": placement,
        "family": one(n["family"] for n in stream),
        "bias": one("yes" if n["bias"] else "no" for n in stream),
        "weight": one(n["weight"] for n in stream),
        "eps": one(n["eps"] for n in stream),
        "eps released": "; ".join(sorted(set(released.get(entry["model"], "–")))),
        "cast order": one(n["cast"] for n in stream),
        "QK-norm": one(kind(n) for n in at("QK")),
        "V-norm": one(kind(n) for n in at("V", "QK and V")),
        "embedding norm": one(n["name"] for n in at("embedding")),
        "final norm": one(n["name"] for n in final),
        "last state normed": last_hidden_state(model, inputs, final),
        "skip times": one(f"{skip:g}" for skip in skips),
        "branch times": one(f"{write:g}" for write in writes),
        "other norms": one(
            p
            for n in norms
            for p in n["places"]
            if p
            in (
                "inside a branch",
                "head",
                "final of a stack",
                "between stages",
                "before the stream",
            )
        ),
        "by hand": one(re.sub(r"\d+", "N", p.partition(":")[0]) for p in found["problems"]),
        "norm parameters": sum(n["parameters"] for n in norms),
        "source": typed["source"],
        "norms": [{key: n[key] for key in SHOWN} | {"places": n["places"]} for n in found["norms"]],
    }


SHOWN = ("name", "family", "width", "weight", "bias", "eps", "eps place", "cast", "parameters")
models, left_out, unexpected = [], [], []
for entry in plan["models"]:
    try:
        models.append(row(entry))
        if entry.get("leave_out"):
            unexpected.append(f"{entry['model']} builds now: take leave_out away")
    except Exception as error:
        if not entry.get("leave_out"):
            raise RuntimeError(f"no row for {entry['model']}") from error
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        left_out.append(
            {
                "model": entry["model"],
                "what the run said": reason[:200],
                "because": entry["leave_out"],
            }
        )
assert not unexpected, unexpected
assert set(released) <= set(cited), set(released) - set(cited)
measured = len(models)
for name, typed in cited.items():
    if typed["placement"]:
        filled: dict[str, Any] = dict.fromkeys(models[0], "–") | {
            "model": name,
            "year": int(typed["date"][:4]),
        }
        filled |= {key: typed[key] or "–" for key in ("placement", "family", "bias", "source")}
        filled |= {
            "QK-norm": typed["qk_norm"] or "–",
            "evidence": "cited, not measured",
            "norms": [],
        }
        filled |= {
            "dated by": typed["dated_by"],
            "eps released": "; ".join(released.get(name, "–")),
        }
        models.append(filled)
cited_only = len(models) - measured
models.sort(key=lambda line: (line["year"], line["model"].lower()))


def write(name: str, rows: list[dict[str, Any]]) -> None:
    with open(name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


write("models.csv", [{k: v for k, v in line.items() if k != "norms"} for line in models])
write("left_out.csv", left_out)
each = []
for filled in models:
    for n in filled["norms"]:
        name = re.sub(r"\d+", "N", n["name"])
        places = "; ".join(dict.fromkeys(n["places"]))
        each.append(
            {"model": filled["model"], "norm": name, "place": places}
            | {
                "family": n["family"],
                "width": n["width"],
                "weight": n["weight"],
                "bias": "yes" if n["bias"] else "no",
                "eps": "none" if n["eps"] is None else f"{n['eps']:g}",
                "eps stands": n["eps place"],
                "cast order": n["cast"],
            }
        )
write("norms.csv", [dict(pairs) for pairs in dict.fromkeys(tuple(norm.items()) for norm in each)])
with open("models.json", "w", encoding="utf-8") as file:
    file.write(
        "[\n" + ",\n".join(json.dumps(line, ensure_ascii=False) for line in models) + "\n]\n"
    )
built = {entry["type"].removesuffix("_text") for entry in plan["models"]}
not_tried = [kind for kind in sorted(CAUSAL) if kind.removesuffix("_text") not in built]
write("not_tried.csv", [{"type": kind, "class": CAUSAL[kind]} for kind in not_tried])
n_causal, n_not_tried = len(CAUSAL), len(not_tried)
norms_tried = sum(len(line["norms"]) for line in models)
version = transformers.__version__
print(f"transformers {version}: {measured} architectures measured, {norms_tried} norms tried")
print(
    f"{cited_only} cited, {len(left_out)} left out: {', '.join(out['model'] for out in left_out)}"
)
