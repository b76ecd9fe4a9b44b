// SPDX-License-Identifier: Apache-2.0
// A made-up collection for the mock server: simple shapes that are filled or not, upright or tilted,
// and a stand-in for the methods that splits them by one of these traits.

export function random(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13; state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5; state >>>= 0;
    return state / 4294967296;
  };
}

const kShapes = ["disc", "square", "triangle", "star", "wave", "cross"];

export function makeCollection(n) {
  const next = random(7);
  const normal = () => Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  const rows = Array.from({ length: n }, (_, i) => {
    const kind = Math.floor((i * kShapes.length) / n);
    return { kind, filled: next() < 0.6 ? 1 : 0, tilted: next() < 0.5 ? 1 : 0, hue: Math.floor(next() * 360), noise: [normal(), normal()] };
  });
  const map = new Float32Array(2 * n);
  rows.forEach((r, i) => {
    const angle = (r.kind / kShapes.length) * 2 * Math.PI;
    map[2 * i] = Math.max(-1, Math.min(1, 0.6 * Math.cos(angle) + 0.16 * (r.filled - 0.5) + 0.05 * r.noise[0]));
    map[2 * i + 1] = Math.max(-1, Math.min(1, 0.6 * Math.sin(angle) + 0.16 * (r.tilted - 0.5) + 0.05 * r.noise[1]));
  });
  const classes = kShapes.map((name, k) => ({ name, count: rows.filter((r) => r.kind === k).length }));
  return { rows, map, classes };
}

export function imageOf(row) {
  const paint = row.filled ? `fill="hsl(${row.hue} 60% 50%)"` : `fill="none" stroke="hsl(${row.hue} 60% 40%)" stroke-width="7"`;
  const shapes = [
    `<circle cx="48" cy="48" r="30" ${paint}/>`, `<rect x="20" y="20" width="56" height="56" ${paint}/>`,
    `<path d="M48 16L80 76H16Z" ${paint}/>`, `<path d="M48 12l10 25 27 2-21 17 7 27-23-15-23 15 7-27-21-17 27-2z" ${paint}/>`,
    `<path d="M10 48q19-40 38 0t38 0v12q-19 40-38 0t-38 0z" ${paint}/>`, `<path d="M36 14h24v22h22v24H60v22H36V60H14V36h22z" ${paint}/>`];
  const turn = row.tilted ? 25 : 0;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><rect width="96" height="96" fill="hsl(${(row.hue + 180) % 360} 20% 92%)"/><g transform="rotate(${turn} 48 48)">${shapes[row.kind]}</g></svg>`;
}

// Splits the rows by a trait that depends on the context; rows near the border are unsure.
export function split(collection, rows, contextName, K, constraints) {
  const trait = collection.classes.findIndex((c) => c.name === contextName) % 2 === 0 ? "filled" : "tilted";
  const next = random(11 + rows.length);
  const wanted = new Map(constraints?.memberships ?? []);
  const decisions = new Float32Array(rows.length * K);
  const labels = new Int32Array(rows.length), margins = new Float32Array(rows.length);
  rows.forEach((row, i) => {
    const r = collection.rows[row];
    const at = K === 2 ? r[trait] : (r.filled * 2 + r.tilted) % K;
    for (let k = 0; k < K; ++k) decisions[i * K + k] = (k === at ? 1 : -1) * (0.2 + next()) + 0.25 * (next() - 0.5);
    const values = Array.from(decisions.slice(i * K, i * K + K));
    labels[i] = wanted.get(row) ?? values.indexOf(Math.max(...values));
    const others = values.filter((_, k) => k !== labels[i]);
    margins[i] = values[labels[i]] - Math.max(...others, -9);
  });
  return { rows: Int32Array.from(rows), labels, margins, decisions };
}

export const kMethods = [
  { name: "dcp", title: "Discriminative context partitioning", summary: "Splits a set so that each part alone is separated from the context.",
    takes_context: true, ranks_contexts: true, takes_constraints: true, needs: ["context"], fields: [
      field("num_clusters", "integer", 2, { min: 1, help: "how many parts" }),
      field("loss", "choice", "squared-hinge", { choices: ["hinge", "squared-hinge", "huber"], help: "how a sample inside the margin is charged" }),
      field("cost", "real", 100, { min: 0, min_excluded: true, help: "price of margin violations (C)" }),
      field("center", "flag", true, { help: "move the origin to the mean of samples and context" }),
      field("num_restarts", "integer", 20, { min: 1, help: "independent starts; the best is kept" }),
      field("max_iterations", "integer", 150, { min: 1, advanced: true, help: "limit of steps in each stage of one start" }),
      field("sizes", "text", "", { advanced: true, help: "limits of the parts' sizes: 4,6 or 10- or 20%-80%" })] },
  { name: "exemplar", title: "Exemplar clustering", summary: "Picks the samples that represent the rest.", takes_context: false, ranks_contexts: false, takes_constraints: false,
    needs: [], fields: [field("num_clusters", "integer", 4, { min: 1, help: "how many exemplars" })] },
  { name: "cac", title: "Context-aware clustering", summary: "Words and phrases from the groups samples occur in.", takes_context: false, ranks_contexts: false,
    takes_constraints: false, needs: ["groups"], fields: [field("num_words", "integer", 20, { min: 1, help: "words" })] },
];

function field(name, kind, value, more) {
  return { name, flag: "--" + name.replaceAll("_", "-"), kind, default: value, choices: [], min: null, max: null, min_excluded: false, word: "", advanced: false, help: "", ...more };
}
