/* The heat map of the training chapter: `<div class="heat-map"></div>` below the static figure becomes choices, a table of
   squares that are buttons, the curves of the chosen square's seeds and a live readout. The data is a script of its own,
   loaded where there is such a place, so that it works from a disk as well; the tests compare it with the snippet's CSV. */
(() => {
  const place = document.querySelector(".heat-map");
  if (!place) return;
  const here = document.currentScript.src;

  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "line", "text"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const plain = kind => (kind === "no-norm" ? "no norm" : kind);
  const ascending = (a, b) => a - b;
  const middle = sorted => (sorted.length % 2 ? sorted[(sorted.length - 1) / 2] : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2);

  const build = ({ bounds, limit, squares }) => {
    const all = Object.entries(squares).map(([name, square]) => {
      const [network, kind, depth, rate, warmup, steps] = name.split("_");
      const schedule = `${+warmup ? `warm-up over ${warmup} steps` : "no warm-up"}, ${steps} steps`;
      const finite = square.losses.filter(loss => loss !== null).sort(ascending);
      return { ...square, network, kind, schedule, depth: +depth, rate: +rate, steps: +steps, finite, learned: finite.filter(loss => loss <= limit[network]).length };
    });
    const chosen = { network: "published", kind: "Post-LN", schedule: "no warm-up, 1000 steps", depth: 12, rate: 0.01 };
    const labels = { network: "network", kind: "normalization", schedule: "schedule" };
    const selects = Object.entries(labels).map(([name, label]) => {
      const select = make("select", { name });
      select.addEventListener("input", () => { chosen[name] = select.value; update(); });
      return { name, select, label: make("label", {}, `${label} `, select) };
    });
    const table = make("table");
    const svg = make("svg", { viewBox: "0 0 440 270", role: "img" });
    const says = make("output", { "aria-live": "polite" });

    const draw = (square, [low, high]) => {
      const left = 40, right = 430, top = 10, bottom = 226;
      const reach = [Math.floor(low), high + 0.6];
      const x = step => left + (step / square.steps) * (right - left);
      const y = loss => bottom - ((Math.min(loss, reach[1]) - reach[0]) / (reach[1] - reach[0])) * (bottom - top);
      const parts = [];
      for (let tick = reach[0]; tick < reach[1]; tick++) {
        parts.push(make("line", { x1: left, x2: right, y1: y(tick), y2: y(tick), class: "stroke-grid", "stroke-width": 0.6 }));
        parts.push(make("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end", class: "fill-ink", "font-size": 12 }, String(tick)));
      }
      for (const tick of [0, square.steps / 2, square.steps])
        parts.push(make("text", { x: x(tick), y: bottom + 18, "text-anchor": tick === square.steps ? "end" : "middle", class: "fill-ink", "font-size": 12 }, String(tick)));
      for (const [loss, dashes, name] of [[low, "6 4", "entropy floor"], [high, "2 3", "unigram entropy"]]) {
        parts.push(make("line", { x1: left, x2: right, y1: y(loss), y2: y(loss), class: "stroke-c5", "stroke-dasharray": dashes, "stroke-width": 1.2 }));
        parts.push(make("text", { x: left + 4, y: y(loss) - 5, class: "fill-c5", "font-size": 12 }, name));
      }
      square.curves.forEach((curve, seed) => {
        const points = curve.map((loss, i) => [square.window * (i + 1), loss]).filter(([, loss]) => loss !== null);
        const path = points.map(([step, loss], i) => `${i ? "L" : "M"}${x(step).toFixed(1)} ${y(loss).toFixed(1)}`).join("");
        const learned = square.losses[seed] !== null && square.losses[seed] <= limit[square.network];
        if (path) parts.push(make("path", { d: path, class: learned ? "stroke-c0" : "stroke-c1", fill: "none", "stroke-width": 1.3 }));
      });
      parts.push(make("text", { x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle", class: "fill-ink", "font-size": 13 }, "step; training loss in nats, a line for each seed"));
      svg.replaceChildren(...parts);
    };

    const show = square => {
      const { finite, learned, losses } = square;
      Object.assign(chosen, { depth: square.depth, rate: square.rate });
      table.querySelectorAll("button").forEach(button => {
        const pressed = button.square === square;
        button.setAttribute("aria-pressed", pressed);
        button.tabIndex = pressed ? 0 : -1;
      });
      const bad = losses.length - finite.length;
      const range = finite.length ? `Final loss ${finite[0].toFixed(3)} to ${finite.at(-1).toFixed(3)}, median ${middle(finite).toFixed(3)}` : "No final loss";
      const [low, high] = bounds[square.network];
      says.textContent = `${plain(square.kind)}, ${square.depth} layers, learning rate ${square.rate}, ${square.schedule}: ${learned} of ${losses.length} seeds learned` +
        `${bad ? `, ${bad} not finite` : ""}. ${range}. Floor ${low.toFixed(3)}, unigram entropy ${high.toFixed(3)}.`;
      Object.assign(says.dataset, { learned, seeds: losses.length, bad, lowest: finite[0], highest: finite.at(-1) });
      draw(square, bounds[square.network]);
      svg.setAttribute("aria-label", `Training loss against step. ${says.textContent}`);
    };

    const update = () => {
      let left = all;
      for (const { name, select } of selects) {
        const options = [...new Set(left.map(square => square[name]))].sort();
        if (!options.includes(chosen[name])) chosen[name] = options[0];
        select.replaceChildren(...options.map(key => new Option(plain(key), key, false, key === chosen[name])));
        left = left.filter(square => square[name] === chosen[name]);
      }
      const depths = [...new Set(left.map(square => square.depth))].sort(ascending).reverse();
      const rates = [...new Set(left.map(square => square.rate))].sort(ascending);
      const head = make("tr", {}, make("th", { scope: "col" }, "layers"), ...rates.map(rate => make("th", { scope: "col" }, String(rate))));
      const rows = depths.map(depth => make("tr", {}, make("th", { scope: "row" }, String(depth)), ...rates.map(rate => {
        const square = left.find(one => one.depth === depth && one.rate === rate);
        if (!square) return make("td", {}, "–");
        const loss = square.finite.length ? middle(square.finite).toFixed(2) : "not finite";
        const state = square.learned === square.losses.length ? "all" : square.learned ? "some" : "none";
        const button = make("button", { type: "button", class: `learned-${state}` }, make("span", {}, loss), make("small", {}, `${square.learned} of ${square.losses.length}`));
        button.square = square;
        button.addEventListener("click", () => show(square));
        return make("td", {}, button);
      })));
      table.replaceChildren(make("caption", {}, "Median final loss and how many seeds learned, by layers and learning rate"), make("thead", {}, head), make("tbody", {}, ...rows));
      const apart = square => Math.abs(square.depth - chosen.depth) + Math.abs(Math.log10(square.rate / chosen.rate)) * 10;
      show([...left].sort((a, b) => apart(a) - apart(b))[0]);
    };

    const arrows = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    table.addEventListener("keydown", event => {
      const cell = event.target.closest("td"), step = arrows[event.key];
      if (!cell || !step) return;
      event.preventDefault();
      const rows = [...table.tBodies[0].rows];
      let row = rows.indexOf(cell.parentNode), column = cell.cellIndex;
      for (let next; ;) {
        [row, column] = [row + step[0], column + step[1]];
        next = rows[row]?.cells[column];
        if (!next || next.tagName !== "TD") return;
        const button = next.querySelector("button");
        if (button) { button.focus(); show(button.square); return; }
      }
    });

    place.classList.add("turn");
    place.replaceChildren(make("p", { class: "turn-title" }, "Choose a square: the curves of its seeds"), ...selects.map(one => one.label), make("div", { class: "results" }, table), svg, says);
    update();
  };

  const data = make("script", { src: new URL("../data/training_curves.js", here).href });
  data.addEventListener("load", () => build(window.trainingCurves));
  // not before a reader comes near
  new IntersectionObserver((seen, observer) => {
    if (!seen.some(one => one.isIntersecting)) return;
    observer.disconnect();
    document.head.append(data);
  }, { rootMargin: "200px" }).observe(place);
})();
