# Placement and family of norm by year: one dot for each measured architecture
# reads: snippets/models/model_table/models.csv snippets/models/model_table/norms.csv
import csv
from collections import Counter

import matplotlib.pyplot as plt

with open("models.csv", encoding="utf-8") as file:
    models = [line for line in csv.DictReader(file) if line["evidence"].startswith("[measured]")]
with open("norms.csv", encoding="utf-8") as file:
    norms = list(csv.DictReader(file))
names = {line["model"] for line in models}
cut = 2023  # the year of LLaMA
lanes = ["post", "pre", "parallel", "sandwich", "reordered", "several streams"]


def lane(line: dict[str, str]) -> str:
    words = line["placement"].replace("multi-stream", "several streams")
    return next(name for name in reversed(lanes) if name in words)


def count(since: int, until: int, column: str, word: str) -> int:
    span = [line for line in models if since <= int(line["year"]) <= until]
    return sum(word in line[column] for line in span)


measured, families = len(models), Counter(line["family"] for line in models)
before = sum(int(line["year"]) < cut for line in models)
since = measured - before
rms_before, rms_since = (count(*span, "family", "RMSNorm") for span in ((0, cut - 1), (cut, 9999)))
rms_before_names = [m["model"] for m in models if int(m["year"]) < cut and "RMSNorm" in m["family"]]
t5_and_its_heir = rms_before_names == ["T5", "Switch Transformers"]
year_from = Counter(m["dated by"] for m in models)
n_released, n_added = year_from["release or paper"], year_from["addition to the library"]
n_year_by_number, n_year_unread = year_from["arXiv number"], year_from["–"]
post_since_2021 = [m["model"] for m in models if int(m["year"]) > 2020 and lane(m) == "post"]
bias_since = sum("yes" in m["bias"] for m in models if int(m["year"]) >= cut)
qk_until_2023 = [m["model"] for m in models if int(m["year"]) <= 2023 and m["QK-norm"] != "none"]
recent = [m for m in models if int(m["year"]) >= 2025]
qk_recent = sum(m["QK-norm"] != "none" for m in recent)
n_recent = len(recent)
one_plus_w = [m["model"] for m in models if "1 + w" in m["weight"]]
weightless = [m["model"] for m in models if m["weight"] == "none"]
eps_values = sorted({float(e) for m in models for e in m["eps"].split("; ")})
eps_kinds = len(eps_values)
last_state_not_normed = [m["model"] for m in models if m["last state normed"] == "no"]
cast_kinds = Counter(m["cast order"] for m in models if m["family"] == "RMSNorm")
cast_last, cast_early = cast_kinds["fp32 to the end"], cast_kinds["fp32, cast, then the weight"]
qk_families = Counter(m["QK-norm"] for m in models if m["QK-norm"] != "none")
by_lane = Counter(lane(m) for m in models)
bias_before = sum("yes" in m["bias"] for m in models if int(m["year"]) < cut)


def stands(model: str, ending: str) -> str:
    found = {n["place"] for n in norms if n["model"] == model and n["norm"].endswith(ending)}
    return "; ".join(sorted(found))


after = "post_attention_layernorm"
attention_norm = {m: stands(m, after) for m in ("LLaMA", "Gemma 2", "OLMo 2")}
llama_reads_the_stream = attention_norm["LLaMA"] == "pre"
gemma_and_olmo_norm_the_branch = {attention_norm[m] for m in ("Gemma 2", "OLMo 2")} == {
    "branch output"
}
lfm2_embedding_norm_is_final = stands("LFM2", "embedding_norm") == "final"
opt_final_in_each_block = stands("OPT", "layers.N.final_layer_norm") == "pre"
swin2_before_is_after = stands("Swin v2", "layernorm_before") == "branch output"
nanochat_norm_twice = stands("nanochat", "model.norm")
nanochat_norm_is_both = nanochat_norm_twice == "embedding; final"
minimax_skip_too = "skip" in stands("MiniMax-Text-01", "input_layernorm")
glm_post_attention_is_pre = stands("GLM-4-0414", after) == "pre"
qwen3 = next(m for m in models if m["model"] == "Qwen3")
qwen3_is_pre_rms_with_qk = (qwen3["placement"], qwen3["family"]) == ("pre", "RMSNorm")
qwen3_is_pre_rms_with_qk = qwen3_is_pre_rms_with_qk and qwen3["QK-norm"] == "RMSNorm per head"
t5 = next(m for m in models if m["model"] == "T5")
t5_is_pre_rms = (t5["placement"], t5["family"], t5["bias"]) == ("pre", "RMSNorm", "no")
form = {m["model"]: (m["placement"], m["family"]) for m in models}
post_ln = {form[name] for name in ("nn.Transformer", "GPT", "BERT")}
post_ln_2017_2018 = post_ln == {("post", "LayerNorm")}
gpt2_is_pre_ln = form["GPT-2"] == ("pre", "LayerNorm")
llama_is_pre_rms = form["LLaMA"] == ("pre", "RMSNorm")
article_holds_for_four = post_ln_2017_2018 and gpt2_is_pre_ln and llama_is_pre_rms
n_post_late, n_qk_until_2023 = len(post_since_2021), len(qk_until_2023)
n_one_plus_w, n_last_state_not_normed = len(one_plus_w), len(last_state_not_normed)
vit_last_state_is_not_normed = {"ViT", "CLIP text"} <= set(last_state_not_normed)
gemma4_is_plain_w = {m["weight"] for m in models if m["model"] == "Gemma 4"} == {"w"}
streams_are_of_2026 = {m["year"] for m in models if lane(m) == "several streams"} == {"2026"}

fig, ax = plt.subplots(figsize=(5.6, 4.2))
cells: Counter[tuple[int, str]] = Counter()
colors = {"LayerNorm": "C1", "RMSNorm": "C0"}
for line in sorted(models, key=lambda line: line["family"]):
    at = (int(line["year"]), lane(line))
    x, y = at[0] - 0.36 + 0.18 * (cells[at] % 5), lanes.index(at[1]) + 0.13 * (cells[at] // 5)
    ax.plot(x, y, "o", color=colors[line["family"].split(";")[0]])
    cells[at] += 1
ax.set_yticks(range(len(lanes)), lanes)
ax.set(xlabel="year", ylim=(len(lanes), -0.6))
ax.text(2017, 2.4, "LayerNorm", color="C1")
ax.text(2017, 2.75, "RMSNorm", color="C0")
plt.savefig("timeline.svg")
with open("timeline.csv", "w", newline="", encoding="utf-8") as file:
    rows = sorted(Counter((m["year"], lane(m), m["family"]) for m in models).items())
    csv.writer(file, lineterminator="\n").writerows(
        [("year", "placement", "family", "models"), *((*key, n) for key, n in rows)]
    )
print(f"{measured} architectures; RMSNorm in {rms_before} of {before} before {cut}")
print(f"and in {rms_since} of {since} since; QK-norm in {qk_recent} of {n_recent} since 2025")
for model, place in attention_norm.items():
    print(f"{after} in {model}: {place}")
