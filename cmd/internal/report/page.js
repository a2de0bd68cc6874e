"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.body.classList.add("live");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const number = (v) => (v < 0 ? "infinite" : Number(v).toPrecision(4).replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1"));
  const element = (name, text) => {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // Matrices: the lower triangle by rows, as float32.
  const unpack = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const matrices = (box, m) => {
    const entries = m.entries.map(unpack), largest = [m.largest, m.largest_inverse];
    const canvases = [...box.querySelectorAll("canvas")], says = box.querySelector("output");
    const at = (k, i, j) => (j > i ? 0 : entries[k][(i * (i + 1)) / 2 + j]);
    let row = 0, column = 0;
    const draw = () => canvases.forEach((canvas, k) => {
      const context = canvas.getContext("2d"), picture = context.createImageData(m.rows, m.rows);
      const middle = dark.matches ? [20, 23, 27] : [255, 255, 255];
      const red = dark.matches ? [255, 120, 100] : [178, 24, 43], blue = dark.matches ? [110, 180, 255] : [33, 102, 172];
      for (let i = 0, p = 0; i < m.rows; i++) {
        for (let j = 0; j < m.rows; j++, p += 4) {
          const v = at(k, i, j) / largest[k], share = Math.min(1, Math.sqrt(Math.abs(v))), end = v < 0 ? blue : red;
          for (let c = 0; c < 3; c++) picture.data[p + c] = middle[c] + (end[c] - middle[c]) * share;
          picture.data[p + 3] = 255;
        }
      }
      context.putImageData(picture, 0, 0);
    });
    const show = (i, j) => {
      row = Math.max(0, Math.min(m.rows - 1, i));
      column = Math.max(0, Math.min(m.rows - 1, j));
      const steps = (x) => (m.block === 1 ? `${x}` : `${x * m.block}–${Math.min((x + 1) * m.block, m.steps) - 1}`);
      const value = (k) => at(k, row, column).toPrecision(6).replace(/\.?0+$/, "");
      says.textContent = `row ${steps(row)}, column ${steps(column)}: C = ${value(0)}, C⁻¹ = ${value(1)}`;
    };
    for (const canvas of canvases) {
      const point = (event) => {
        const r = canvas.getBoundingClientRect();
        show(Math.floor(((event.clientY - r.top) / r.height) * m.rows), Math.floor(((event.clientX - r.left) / r.width) * m.rows));
      };
      canvas.addEventListener("pointermove", point);
      canvas.addEventListener("pointerdown", point);
      canvas.addEventListener("keydown", (event) => {
        const step = event.shiftKey ? 10 : 1;
        const move = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step] }[event.key];
        if (!move) return;
        event.preventDefault();
        show(row + move[0], column + move[1]);
      });
    }
    dark.addEventListener("change", draw);
    draw();
  };

  // Maps: an attacker is chosen, and every node has the colour of what it leaks to it.
  const map = (box, m) => {
    const svg = box.querySelector("svg"), nodes = [...box.querySelectorAll(".node")], says = box.querySelector("output");
    const cursorRing = box.querySelector(".cursor"), name = box.querySelector(".name"), who = box.querySelector("select");
    const own = box.querySelector(".own"), scale = box.querySelector(".scale"), most = box.querySelector(".most");
    const shared = m.kind === "shared", unit = m.kind === "average" ? "nats" : "μ";
    const labelled = box.querySelector(".label") !== null, byNode = new Map();
    if (shared) {
      m.attackers = m.labels.map((label, i) => ({ name: label, self: [i], std: new Array(m.labels.length).fill(0) }));
      for (const [u, v, std] of m.shared || []) {
        m.attackers[u].std[v] = std;
        m.attackers[v].std[u] = std;
      }
    }
    m.attackers.forEach((a, k) => {
      who.append(new Option(a.name, k));
      if (a.self.length === 1) byNode.set(a.self[0], k);
    });
    const values = (a) => a.std || a.nats || a.mu;
    let low = Infinity, high = 0;
    for (const a of m.attackers) for (const v of values(a)) if (v > 0) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    const share = (v) => (v < 0 ? 1 : v <= 0 ? 0 : high > low ? Math.log(v / low) / Math.log(high / low) : 1);
    let chosen = 0, cursor = m.attackers[0] && m.attackers[0].self.length ? m.attackers[0].self[0] : 0;
    const words = (i) => {
      const a = m.attackers[chosen], label = m.labels[i];
      if (!a) return label;
      if (shared) {
        if (a.self[0] !== i) return a.std[i] > 0 ? `${a.name} and ${label} share noise of ${number(a.std[i])}` : `${a.name} and ${label} share nothing`;
        const partners = a.std.filter((v) => v > 0).length;
        return `${label}: own noise ${number(m.own[i])}, shared with ${partners} ${partners === 1 ? "node" : "nodes"}`;
      }
      if (a.self.includes(i)) return `${m.kind === "average" ? "Observer" : "Attacker"} ${a.name}`;
      if (a.nats) return `${label} leaks to ${a.name}: ${a.nats[i] < 0 ? "everything" : "at most " + number(a.nats[i]) + " nats"}`;
      const hops = a.hops[i] < 0 ? "no path" : a.hops[i] === 1 ? "1 hop" : `${a.hops[i]} hops`;
      let text = `${label} leaks to ${a.name} (${hops}): ${a.mu[i] < 0 ? "a gradient without noise" : "μ ≤ " + number(a.mu[i])}`;
      if (a.epsilon && a.mu[i] >= 0) text += `, ε ≤ ${number(a.epsilon[i])} for δ = ${m.delta}`;
      return text;
    };
    const look = (i, quietly) => {
      cursor = i;
      cursorRing.setAttribute("cx", m.x[i]);
      cursorRing.setAttribute("cy", m.y[i]);
      cursorRing.setAttribute("r", Number(nodes[i].getAttribute("r")) + 6);
      name.textContent = labelled ? "" : m.labels[i];
      name.setAttribute("x", Math.max(60, Math.min(940, m.x[i])));
      name.setAttribute("y", m.y[i] < 60 ? m.y[i] + 46 : m.y[i] - 24);
      if (!quietly) says.textContent = words(i);
    };
    const table = (a) => {
      const v = values(a), rows = m.labels.map((_, i) => i).filter((i) => !a.self.includes(i) && v[i] !== 0);
      rows.sort((x, y) => (v[y] < 0 ? Infinity : v[y]) - (v[x] < 0 ? Infinity : v[x]) || x - y);
      const t = element("table");
      t.append(element("caption", rows.length === 0 ? `${a.name}: nothing` : `${shared ? "Partners of" : "Who leaks most to"} ${a.name}: ${Math.min(10, rows.length)} of ${rows.length}`));
      const line = (cells, tag) => {
        const r = element("tr");
        cells.forEach((c, k) => {
          const cell = element(tag, c);
          if (k > 0) cell.className = "n";
          r.append(cell);
        });
        t.append(r);
      };
      if (rows.length) line(["node", ...(a.hops ? ["hops"] : []), shared ? "standard deviation" : unit, ...(a.epsilon ? ["ε"] : [])], "th");
      for (const i of rows.slice(0, 10)) {
        line([m.labels[i], ...(a.hops ? [a.hops[i] < 0 ? "no path" : a.hops[i]] : []), number(v[i]), ...(a.epsilon ? [number(a.epsilon[i])] : [])], "td");
      }
      most.replaceChildren(t);
    };
    const choose = (k) => {
      const a = m.attackers[k];
      if (!a) return;
      chosen = k;
      who.value = k;
      const v = values(a);
      nodes.forEach((node, i) => {
        const self = a.self.includes(i);
        node.classList.toggle("self", self);
        node.classList.toggle("none", !self && v[i] < 0);
        node.style.fill = self ? "" : `color-mix(in oklab, var(--high) ${Math.round(100 * share(v[i]))}%, var(--low))`;
      });
      own.setAttribute("d", a.self.flatMap((s) => m.labels.map((_, i) => (a.hops ? a.hops[i] === 1 : shared && v[i] > 0) ? `M${m.x[s]},${m.y[s]}L${m.x[i]},${m.y[i]}` : "")).join(""));
      table(a);
      look(a.self.length ? a.self[0] : cursor);
    };
    const pick = (i) => {
      if (byNode.has(i)) choose(byNode.get(i));
      look(i);
      if (!byNode.has(i) && m.attackers[chosen] && !m.attackers[chosen].self.includes(i)) says.textContent += ". What it learns itself was not computed.";
    };
    const nearest = (event) => {
      const r = svg.getBoundingClientRect(), w = svg.viewBox.baseVal;
      const x = ((event.clientX - r.left) / r.width) * w.width, y = ((event.clientY - r.top) / r.height) * w.height;
      let best = 0, least = Infinity;
      m.x.forEach((nx, i) => {
        const d = (nx - x) ** 2 + (m.y[i] - y) ** 2;
        if (d < least) [best, least] = [i, d];
      });
      return least < 60 * 60 ? best : -1;
    };
    svg.addEventListener("click", (event) => {
      const i = nearest(event);
      if (i >= 0) pick(i);
    });
    svg.addEventListener("pointermove", (event) => {
      const i = event.pointerType === "mouse" ? nearest(event) : -1;
      if (i >= 0) look(i);
    });
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        pick(cursor);
        return;
      }
      const move = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
      if (!move) return;
      event.preventDefault();
      let best = -1, least = Infinity; // the nearest node within 45 degrees of the arrow
      m.x.forEach((x, i) => {
        const dx = x - m.x[cursor], dy = m.y[i] - m.y[cursor], along = dx * move[0] + dy * move[1], across = Math.abs(dx * move[1] + dy * move[0]);
        const cost = along + 2 * across;
        if (i !== cursor && along > 0 && across <= along && cost < least) [best, least] = [i, cost];
      });
      if (best >= 0) look(best);
    });
    who.addEventListener("change", () => choose(Number(who.value)));
    if (high > 0) {
      scale.hidden = false;
      const what = shared ? "standard deviation " : unit === "nats" ? "nats " : "μ ";
      scale.querySelector(".low").textContent = what + number(low);
      scale.querySelector(".high").textContent = number(high);
    }
    choose(0);
  };

  for (const m of data.matrices) matrices(document.querySelector(`[data-matrices="${m.id}"]`), m);
  for (const m of data.maps) map(document.querySelector(`[data-map="${m.id}"]`), m);

  // Marks of pictures say their numbers: here at once, and for the tab key, too; without a script by their titles.
  document.querySelectorAll(".pictures circle > title").forEach((title) => {
    title.parentNode.dataset.says = title.textContent;
    title.parentNode.setAttribute("aria-label", title.textContent);
    title.remove();
  });
  const tip = document.getElementById("tip");
  const say = (event) => {
    const mark = [event.target, document.activeElement].find((e) => e.dataset && e.dataset.says);
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.says;
    const r = mark.getBoundingClientRect();
    tip.style.top = `${window.scrollY + r.bottom + 8}px`;
    tip.style.left = `${Math.max(4, Math.min(window.scrollX + r.left, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
  };
  document.addEventListener("pointerover", say);
  document.addEventListener("focusin", say);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
