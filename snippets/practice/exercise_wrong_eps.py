# A model trained with one eps and run with another: what the norms of its quiet inputs lose
eps_trained, eps_run = 1e-6, 1e-5
embedding_rms, stream_rms = 0.02, 1.0


def output_rms(r: float, eps: float) -> float:
    return r / (r * r + eps) ** 0.5


ratio = {
    str(r): output_rms(r, eps_run) / output_rms(r, eps_trained) for r in (embedding_rms, stream_rms)
}
embedding_loss = 1 - ratio[str(embedding_rms)]
stream_loss = 1 - ratio[str(stream_rms)]
print(f"rms {embedding_rms}: the output is {embedding_loss:.1%} smaller")
print(f"rms {stream_rms}: the output is {stream_loss:.5%} smaller")
