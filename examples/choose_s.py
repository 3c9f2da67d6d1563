"""Choose the diffusion time on validation labels: one diffusion, many s, any classifier."""

from sklearn.linear_model import LogisticRegression

from graphheat import HeatKernel, datasets

graph = datasets.load("cora")
train, val, test = (graph.split[part] for part in ("train", "val", "test"))
times = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
views = HeatKernel(graph, s=1.0, tol=1e-5).sweep(graph.features, times)

models = [LogisticRegression(C=100).fit(view[train], graph.labels[train]) for view in views]
scores = [m.score(view[val], graph.labels[val]) for m, view in zip(models, views, strict=True)]
for s, score in zip(times, scores, strict=True):
    print(f"s = {s:4.1f}: validation accuracy {score:.3f}")

best = max(range(len(times)), key=scores.__getitem__)
accuracy = models[best].score(views[best][test], graph.labels[test])
print(f"chosen s = {times[best]}: test accuracy {accuracy:.3f}")
