# reads: snippets/papers/rmsnorm_transformer.csv, snippets/papers/rmsnorm_quality.csv
# Quality in the paper's tables: RMSNorm minus LayerNorm, measure by measure.
import csv

article_bleu = [26.5, 27.6]  # what the article gives for RMSNorm in the Transformer


def read(name: str) -> list[dict[str, str]]:
    with open(name) as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


transformer = {row["norm"]: row for row in read("rmsnorm_transformer.csv")}
rows = {f"Transformer-{year}": (f"bleu_{year}", transformer) for year in (2014, 2017)}
gain = {
    name: round(float(table["RMSNorm"][column]) - float(table["LayerNorm"][column]), 2)
    for name, (column, table) in rows.items()
}
for row in read("rmsnorm_quality.csv"):
    gain[row["measure"]] = round(float(row["RMSNorm"]) - float(row["LayerNorm"]), 2)
bleu = [value for name, value in gain.items() if name.endswith(("2014", "2017"))]
measures, worst, best = len(bleu), min(bleu), max(bleu)
above, below = sum(value > 0 for value in bleu), sum(value < 0 for value in bleu)
mean_gain = sum(bleu) / len(bleu)
print(f"BLEU, RMSNorm minus LayerNorm: {bleu}")
print(f"above in {above} of {measures}, below in {below}, mean {mean_gain:.2f}")

pairs = {norm: [row["bleu_2014"], row["bleu_2017"]] for norm, row in transformer.items()}
pair_in_no_row = [str(value) for value in article_bleu] not in pairs.values()
second_in_no_row = all(str(article_bleu[1]) not in pair for pair in pairs.values())
print(f"the article's pair for RMSNorm is in no row of Table 4: {pair_in_no_row}")
