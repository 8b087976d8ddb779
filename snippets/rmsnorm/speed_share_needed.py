# reads: snippets/papers/rmsnorm_transformer.csv
# From the operator to the model: saved = share of the norms x what the operator saves.
import csv

with open("rmsnorm_transformer.csv") as file:
    rows = csv.DictReader(line for line in file if not line.startswith("#"))
    seconds = {row["norm"]: float(row["seconds"]) for row in rows}

operator_saves = 0.15  # the article's figure for one norm, and its range for a model
model_saves = [0.07, 0.09]
low, high = (saving / operator_saves for saving in model_saves)
share_in_paper = 1 - seconds["none"] / seconds["LayerNorm"]  # what LayerNorm takes
saved_in_paper = 1 - seconds["RMSNorm"] / seconds["LayerNorm"]
operator_in_paper = saved_in_paper / share_in_paper
print(f"to save 7% to 9% of the model, the norms would have to take {low:.0%} to {high:.0%} of it")
print(
    f"the paper: they take {share_in_paper:.1%}, and RMSNorm removes {operator_in_paper:.0%} of it"
)
