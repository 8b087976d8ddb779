/* Figures to turn: `<div class="turn" data-turn="NAME"></div>` below a static figure becomes inputs, a curve and a live
   readout. Values are computed by the formula of the snippet that the page shows; the tests compare the two. */
(() => {
  const rms = {
    plain: (gain, layer) => gain ** layer,
    residual: (gain, layer) => (1 + gain ** 2) ** (layer / 2),
    pre: (gain, layer) => (1 + gain ** 2 * layer) ** 0.5,
    post: () => 1,
  };
  const figures = {
    "norm-by-placement": {
      inputs: [
        { name: "placement", label: "placement", options: { plain: "no skip, no norm", residual: "skip, no norm", pre: "pre-norm", post: "post-norm" }, value: "pre" },
        { name: "gain", label: "gain of a block", min: 0.1, max: 3, step: 0.05, value: 1 },
        { name: "layer", label: "layer", min: 0, max: 64, step: 1, value: 32 },
      ],
      axes: ["layer", "RMS of a token"],
      log: true,
      curves: ({ placement, gain }) => [Array.from({ length: 65 }, (_, layer) => [layer, rms[placement](gain, layer)])],
      point: ({ placement, gain, layer }) => [layer, rms[placement](gain, layer)],
      says: ({ layer }, [, y]) => `After ${layer} layers the RMS of a token is ${digits(y)}; at the input it is 1.`,
    },
    "row-statistics": {
      inputs: [
        { name: "mean", label: "mean of the input, μ", min: -5, max: 5, step: 0.05, value: 1.5 },
        { name: "std", label: "standard deviation of the input, σ", min: 0.05, max: 5, step: 0.05, value: 3 },
      ],
      axes: ["μ / σ", "of the output of RMSNorm"],
      curves: () => {
        const t = Array.from({ length: 121 }, (_, i) => -6 + i / 10);
        return [t.map(t => [t, t / Math.hypot(1, t)]), t.map(t => [t, 1 / Math.hypot(1, t)])];
      },
      names: ["row mean", "row std"],
      point: ({ mean, std }) => [Math.max(-6, Math.min(6, mean / std)), mean / Math.hypot(mean, std)],
      says: ({ mean, std }, [, y]) => `Row mean ${digits(y)}, row standard deviation ${digits(std / Math.hypot(mean, std))}.`,
    },
  };

  const digits = y => (y !== 0 && (Math.abs(y) >= 1e5 || Math.abs(y) < 1e-3) ? y.toExponential(2) : String(+y.toPrecision(4)));
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "line", "text", "circle"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const draw = (svg, figure, values) => {
    const curves = figure.curves(values), point = figure.point(values);
    const height = figure.log ? y => Math.log10(Math.max(y, 1e-300)) : y => y;
    const xs = curves[0].map(([x]) => x), ys = curves.flat().map(([, y]) => height(y));
    let [low, high] = figure.log ? [Math.min(0, ...ys), Math.max(0.5, ...ys)] : [-1, 1];
    const left = 52, right = 430, top = 12, bottom = 224;
    const x = v => left + ((v - xs[0]) / (xs.at(-1) - xs[0])) * (right - left);
    const y = v => bottom - ((v - low) / (high - low)) * (bottom - top);
    const parts = [];
    const ticks = figure.log ? [low, (low + high) / 2, high] : [-1, 0, 1];
    for (const tick of ticks) {
      parts.push(make("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "stroke-grid", "stroke-width": 0.6 }));
      const label = figure.log ? digits(+(10 ** tick).toPrecision(2)) : String(tick);
      parts.push(make("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end", class: "fill-ink", "font-size": 12 }, label));
    }
    for (const tick of [xs[0], (xs[0] + xs.at(-1)) / 2, xs.at(-1)])
      parts.push(make("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle", class: "fill-ink", "font-size": 12 }, String(tick)));
    curves.forEach((curve, k) => {
      const path = curve.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(height(b)).toFixed(1)}`).join("");
      parts.push(make("path", { d: path, class: `stroke-c${k}`, fill: "none", "stroke-width": 2, ...(k ? { "stroke-dasharray": "6 4" } : {}) }));
      const end = curve[Math.floor(curve.length * 0.8)];
      if (figure.names) parts.push(make("text", { x: x(end[0]), y: y(height(end[1])) + (k ? -8 : 18), class: `fill-c${k}`, "font-size": 13, "text-anchor": "middle" }, figure.names[k]));
    });
    parts.push(make("circle", { cx: x(point[0]), cy: y(height(point[1])), r: 5, class: "fill-c1" }));
    parts.push(make("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "fill-ink", "font-size": 13 }, figure.axes[0]));
    svg.replaceChildren(...parts);
    return point;
  };

  const build = place => {
    const figure = figures[place.dataset.turn];
    const svg = make("svg", { viewBox: "0 0 440 270", role: "img" });
    const says = make("output", { "aria-live": "polite" });
    const inputs = figure.inputs.map(({ name, label, options, value, ...range }) => {
      const input = options ? make("select", { name }) : make("input", { type: "range", name, ...range, value });
      for (const [key, text] of Object.entries(options || {})) input.append(new Option(text, key, key === value, key === value));
      const shown = make("span", { class: "turn-value" });
      return { input, shown, label: make("label", {}, `${label} `, input, shown) };
    });
    const update = () => {
      const values = Object.fromEntries(inputs.map(({ input }) => [input.name, input.type === "range" ? input.valueAsNumber : input.value]));
      inputs.forEach(({ input, shown }) => { shown.textContent = input.type === "range" ? input.value : ""; });
      const point = draw(svg, figure, values);
      says.textContent = figure.says(values, point);
      says.dataset.value = point[1];
      svg.setAttribute("aria-label", `${figure.axes[1]} against ${figure.axes[0]}. ${says.textContent}`);
    };
    inputs.forEach(({ input }) => input.addEventListener("input", update));
    place.replaceChildren(make("p", { class: "turn-title" }, `Turn it: ${figure.axes[1]} against ${figure.axes[0]}`), ...inputs.map(one => one.label), svg, says);
    update();
  };
  document.querySelectorAll(".turn[data-turn]").forEach(build);
})();
