# How the article's statements came out: the verdicts of the ledger, counted.
# reads: snippets/ledger/ledger.toml
import tomllib
from collections import Counter

with open("ledger.toml", "rb") as file:
    verdicts = [row["verdict"] for row in tomllib.load(file)["claim"]]

claims = len(verdicts)
count = dict(Counter(verdicts).most_common())

for verdict, number in count.items():
    print(f"{number:3} of {claims} {verdict}")
