# Warm-up of large runs with pre-norm or reordered norm, in steps where that can be computed
# reads: snippets/papers/warm_up_of_large_runs.csv
import csv

with open("warm_up_of_large_runs.csv") as file:
    rows = list(csv.DictReader(line for line in file if not line.startswith("#")))

steps = {}
for row in rows:
    stated = int(row["stated"])
    if row["unit"] == "steps":
        steps[row["model"]] = stated
    elif row["sequences_per_step"]:
        per_step = int(row["sequences_per_step"]) * int(row["tokens_per_sequence"])
        steps[row["model"]] = stated // per_step
million_tokens = {r["model"]: int(r["stated"]) // 10**6 for r in rows if r["unit"] == "tokens"}
all_of_them_warm_up = all(int(row["stated"]) > 0 for row in rows)
none_is_post_ln = all(row["placement"] != "Post-LN" for row in rows)
for row in rows:
    model = row["model"]
    print(f"{model}: {row['placement']}, {steps.get(model, '?')} steps", end="")
    print(f", {million_tokens[model]} million tokens" if model in million_tokens else "")
