# Statistics of a batch, of a sequence and of a token: only the last are those of LayerNorm.
import torch
import torch.nn.functional as F

seeds = range(1000)
d_model, lengths = 64, [5, 12, 30, 200]
loudness = 100  # a factor on one token
article = {"batch_of_4": [0.998, 4.004], "batch_of_2": [0.996, 3.997], "batch_of_1": [0.992, 3.981]}
article |= {"sequence_1": [0.994, 4.076], "sequence_2": [1.006, 3.918]}  # mean, variance


def draw(seed: int) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    return [torch.randn(n, d_model) * 2.0 + 1.0 for n in lengths]  # each (seq, d_model)


def mean_var(x: torch.Tensor) -> list[float]:
    return [x.mean().item(), x.var(correction=0).item()]  # over all its tokens and features


xs = draw(1)  # the article's seed
measured = {f"batch_of_{n}": mean_var(torch.cat(xs[:n])) for n in (4, 2, 1)}
measured |= {"sequence_1": mean_var(xs[0]), "sequence_2": mean_var(xs[1])}
for name, (mean, var) in measured.items():
    print(f"{name}: mean {mean:.3f}, variance {var:.3f}; the article: {article[name]}")
batch_of_1_is_sequence_1 = measured["batch_of_1"] == measured["sequence_1"]
article_contradicts_itself = article["batch_of_1"] != article["sequence_1"]
mean_sd_1, var_sd_1 = torch.tensor([mean_var(draw(seed)[0]) for seed in seeds]).std(0).tolist()
print(f"sequence 1 over the seeds: mean ±{mean_sd_1:.2f}, variance ±{var_sd_1:.2f}")

quiet_std = {"per_sequence": 0.0, "per_token": 0.0}
per_sequence_leaks = per_token_keeps = True
for seed in seeds:
    x = draw(seed)[1]  # (12, d_model)
    loud = x.clone()
    loud[-1] *= loudness  # the last token
    for way, shape in {"per_sequence": x.shape, "per_token": x.shape[-1:]}.items():
        y, y_loud = (F.layer_norm(z, shape)[:-1] for z in (x, loud))  # the tokens before it
        quiet_std[way] += y_loud.std(-1, correction=0).mean().item() / len(seeds)
        if way == "per_token":
            per_token_keeps &= y.equal(y_loud)
        else:
            per_sequence_leaks &= not y.equal(y_loud)
print("std of the tokens before a loud one:", {way: round(s, 3) for way, s in quiet_std.items()})
