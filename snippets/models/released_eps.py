# The eps of released checkpoints beside the default of the configuration's class
# reads: snippets/models/released.csv snippets/models/model_table/models.csv
import csv
from collections import Counter

with open("released.csv", encoding="utf-8") as file:
    checkpoints = list(csv.DictReader(line for line in file if not line.startswith("#")))
with open("models.csv", encoding="utf-8") as file:
    rows = [row for row in csv.DictReader(file) if row["evidence"].startswith("[measured]")]
default = {row["model"]: {float(eps) for eps in row["eps"].split("; ")} for row in rows}

compared = [line for line in checkpoints if line["model"] in default]
other = [line for line in compared if float(line["eps"]) not in default[line["model"]]]
n_checkpoints, n_compared, n_other = len(checkpoints), len(compared), len(other)
models_read = {line["model"] for line in compared}
n_models_read, n_models_unread = len(models_read), len(default) - len(models_read)
models_other = sorted({line["model"] for line in other})
n_models_other = len(models_other)
read_as = dict(Counter(line["read_as"] for line in checkpoints))
llama = sorted({line["eps"] for line in checkpoints if line["model"] == "LLaMA"})
llama_has_both = llama == ["1e-05", "1e-06"]

# Qwen2.5: the sizes whose base and instruct checkpoints have different values
eps = {line["checkpoint"]: line["eps"] for line in checkpoints}
qwen_sizes = [size for size in ("14B", "32B", "72B") if f"Qwen2.5-{size}" in eps]
base_differs_from_instruct = all(
    (eps[f"Qwen2.5-{size}"], eps[f"Qwen2.5-{size}-Instruct"]) == ("1e-05", "1e-06")
    for size in qwen_sizes
)
n_qwen_sizes = len(qwen_sizes)
farthest = max(other, key=lambda line: float(line["eps"]) / min(default[line["model"]]))
farthest_model = farthest["model"]
farthest_times = round(float(farthest["eps"]) / min(default[farthest_model]))

with open("other_than_default.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("checkpoint", "row", "class default", "released", "read as", "read in"))
    for line in sorted(other, key=lambda line: line["model"].lower()):
        was = "; ".join(f"{value:g}" for value in sorted(default[line["model"]]))
        told = (line["eps"], line["read_as"], line["read_in"])
        writer.writerow((line["checkpoint"], line["model"], was, *told))
print(f"{n_checkpoints} checkpoints, {n_compared} of them of {n_models_read} measured rows")
print(f"{n_other} differ from the default of the class: {', '.join(models_other)}")
